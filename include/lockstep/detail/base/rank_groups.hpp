// SPDX-License-Identifier: MIT
// lockstep/detail/base/rank_groups.hpp -- which ranks are near each other: groups in groups, a value (layer: base)
//
// Trees over the members of a team follow these groups: a member tells others in its group, and one member of each
// other group. A value without groups says that all are equally near, or that nothing is known. Then trees go by rank.
//
//   GROUPS-1  The sequence has each rank once. On every level, the members of a group follow each other in it.
//   GROUPS-2  On every level, a group begins in the sequence with its lowest rank, and its parts come in the order of
//             their lowest ranks. So rank 0 is first. The lowest rank leads the group: a region in which any member of
//             the group takes part has the leader, too.
#ifndef LOCKSTEP_DETAIL_BASE_RANK_GROUPS_HPP
#define LOCKSTEP_DETAIL_BASE_RANK_GROUPS_HPP

#include <cstddef>
#include <cstdint>
#include <vector>

#include <lockstep/detail/platform/config.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

class rank_groups {
 public:
  /// Package, node, last-level cache.
  static constexpr unsigned levels = 3;

  /// Where a rank is, from the widest level to the narrowest. The numbers are arbitrary: equal numbers of a level mean
  /// the same place only if the numbers of all wider levels are equal, too.
  struct place {
    unsigned at[levels];
  };

  /// Without groups.
  rank_groups() = default;
  /// For places.size() ranks. Without groups if they are all at one place.
  explicit rank_groups(const std::vector<place>& places);

  bool has_groups() const noexcept { return !sequence_.empty(); }

  /// The rank at a position of the sequence.
  std::size_t rank_at(std::size_t position) const noexcept {
    return sequence_.empty() ? position : sequence_[position].rank;
  }
  /// Whether a group of `level`, or of a wider one, begins at a position. On level `levels` each rank is a group.
  bool begins_at(std::size_t position, unsigned level) const noexcept {
    return level == levels || position == 0 ||
           (!sequence_.empty() && sequence_[position].widest_new <= level);
  }

 private:
  struct entry {
    std::uint32_t rank;
    std::uint32_t widest_new;  ///< the widest level on which a group begins here
  };

  std::vector<entry> sequence_;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_BASE_RANK_GROUPS_HPP
