// SPDX-License-Identifier: MIT
// lockstep/detail/base/rank_groups.hpp -- which ranks are near each other: groups in groups, a value (layer: base)
//
// Trees over the members of a team follow these groups: a member tells others in its group, and one member of each other
// group. A value without groups says that all are equally near, or that nobody knows: then a tree goes by rank alone.
//
//   GROUPS-1  The sequence has each rank once. The members of a group, on whatever level, follow each other in it.
//   GROUPS-2  A group, on whatever level, begins in the sequence with its lowest rank, and its parts come in the order
//             of their lowest ranks. So rank 0 is first; and whoever leads a group by being its lowest rank takes part
//             in each region that any of the group takes part in.
#ifndef LOCKSTEP_DETAIL_BASE_RANK_GROUPS_HPP
#define LOCKSTEP_DETAIL_BASE_RANK_GROUPS_HPP

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "../platform/config.hpp"

#if LOCKSTEP_HAS_BODIES
#include <cstdlib>
#endif

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

class rank_groups {
 public:
  /// Package, node, last-level cache.
  static constexpr unsigned levels = 3;

  /// Where a rank is, from the widest level to the narrowest: any numbers, of which equal ones mean the same only where
  /// all before them are equal, too.
  struct place {
    unsigned at[levels];
  };

  /// Without groups.
  rank_groups() = default;
  /// Of places.size() ranks. Without groups if they are all at one place.
  LOCKSTEP_COLD explicit rank_groups(const std::vector<place>& places);

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

#if LOCKSTEP_HAS_BODIES

struct rank_in_groups {
  unsigned
      keys[rank_groups::levels + 1];  // the lowest rank of each group that it is in, and itself
};

LOCKSTEP_COLD int compare_keys(const void* left, const void* right) noexcept {
  const unsigned *a = static_cast<const rank_in_groups*>(left)->keys,
                 *b = static_cast<const rank_in_groups*>(right)->keys;
  unsigned i = 0;
  while (i < rank_groups::levels && a[i] == b[i]) ++i;
  return a[i] < b[i] ? -1 : a[i] > b[i] ? 1 : 0;
}

LOCKSTEP_COLD rank_groups::rank_groups(const std::vector<place>& places) {
  // First by place and rank: so each group, on each level, is a run, and its lowest rank is found going through it.
  const std::size_t size = places.size();
  std::vector<rank_in_groups> ranks(size), named(size);
  for (unsigned rank = 0; rank < size; ++rank) {
    for (unsigned level = 0; level < levels; ++level)
      ranks[rank].keys[level] = places[rank].at[level];
    ranks[rank].keys[levels] = rank;
  }
  if (size == 0) return;
  std::qsort(ranks.data(), size, sizeof ranks[0], compare_keys);
  for (std::size_t i = 0; i < size; ++i) named[i].keys[levels] = ranks[i].keys[levels];
  for (unsigned level = levels; level-- > 0;) {
    for (std::size_t begin = 0, end = 0; begin < size; begin = end) {
      unsigned lowest = ranks[begin].keys[levels];
      for (end = begin; end < size; ++end) {
        unsigned k = 0;
        while (k <= level && ranks[end].keys[k] == ranks[begin].keys[k]) ++k;
        if (k <= level) break;
        if (ranks[end].keys[levels] < lowest) lowest = ranks[end].keys[levels];
      }
      for (std::size_t i = begin; i < end; ++i) named[i].keys[level] = lowest;
    }
  }
  // Then by the lowest ranks of the groups: GROUPS-2.
  std::qsort(named.data(), size, sizeof named[0], compare_keys);
  bool has_two = false;
  std::vector<entry> sequence(size);
  for (std::size_t i = 0; i < size; ++i) {
    unsigned level = 0;
    while (i > 0 && level < levels && named[i].keys[level] == named[i - 1].keys[level]) ++level;
    sequence[i] = {named[i].keys[levels], level};
    has_two = has_two || (i > 0 && level < levels);
  }
  if (has_two) sequence_ = std::move(sequence);
}

#endif

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_BASE_RANK_GROUPS_HPP
