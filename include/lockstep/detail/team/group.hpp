// SPDX-License-Identifier: MIT
// lockstep/detail/team/group.hpp -- what the members of a region or a sub-team share (layer: team)
//
// A group is made once and used by region after region. Each member has a place in it, on lines of its
// own; a seat is a member's handle on both. The boards do the waiting; who runs the regions calls begin()
// and end(). For users: member.hpp.
//
//   A1  Between end() and begin() every board is at rest: phases equal, places of constructs empty, steps 0.
//       After a region that was stopped they are made so by force: nobody is in it any more.
//   A2  Cells are 16 bytes for a value, or a pointer to one that its writer keeps. A member writes its cells
//       of phase p + 1 before it arrives in it, and those of p + 3 after all have read them (G2). So does who runs its
//       share in its place (late_shares.hpp): it has seen all arrive in phase p, and its own cells are as old.
//   A3  When a region is over, whether it was stopped or not, no value is left that a cell points to. Those of
//       sub-teams end with these, in the region.
//
// Memory order (# marks the line; each weakening must fail a test)
//   #  access      order    pairs  why it suffices
//   1  kept.load   relaxed  -      the end of the region orders it after 2
//   2  kept.store  relaxed  -      as 1
//
// Cost   about 2 KiB a member and 20 KiB, once.
#ifndef LOCKSTEP_DETAIL_TEAM_GROUP_HPP
#define LOCKSTEP_DETAIL_TEAM_GROUP_HPP

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>

#include "dependants.hpp"
#include "loop_board.hpp"
#include "progress_board.hpp"
#include "reduction_tree.hpp"
#include "share_claims.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// What keeps the values alive that cells point to.
struct keeper {
  virtual ~keeper() = default;
};

/// What one member has for itself.
struct member_state {
  place_in_barrier place;
  std::uint32_t construct = 0;     ///< the number of its next shared construct, if it has had one
  bool has_construct = false;      ///< in this region
  std::uint32_t loops = 0;         ///< whose shares were claimed (share_claims.hpp)
  std::uint32_t last_by_rank = 0;  ///< the phase in which it ran a loop by rank last
  stage_trust looks;     ///< whether looks at the claims of others have found any that were late
  stage_trust patience;  ///< whether the others came while it polled for them
  cell nodes[2][reduction_tree::most_nodes - 1];
  std::unique_ptr<keeper> kept[2];  ///< for the cells of two phases
  std::unique_ptr<keeper> kept_result;
  std::unique_ptr<keeper> kept_leaves;

  void destroy_kept_values() {
    kept[0].reset();
    kept[1].reset();
    kept_result.reset();
    kept_leaves.reset();
  }
  void forget_kept_values() noexcept {
    for (std::unique_ptr<keeper>* each : {&kept[0], &kept[1], &kept_result, &kept_leaves}) {
      static_cast<void>(each->release());
    }
  }
};

class group {
 public:
  /// Sub-teams pass the group of the region, which their own sub-teams end with as well. `finds_cpu`: see parting.hpp. Tests
  /// pass a smaller limit for flags.
  group(std::size_t most, wait_policy policy, stop_source& stop, group* of_region = nullptr,
        bool finds_cpu = false, std::size_t most_flags = reducing_barrier::usual_most_flags)
      : barrier(most, policy, stop, most_flags, finds_cpu),
        loops(policy, stop),
        progress(most, policy, stop),
        claims(most),
        leaves(reduction_tree::most_leaves),
        of_region_(of_region != nullptr ? *of_region : *this),
        members_(most) {
    for (std::size_t rank = 0; rank < most; ++rank) members_[rank].value.place.rank = rank;
  }
  group(const group&) = delete;
  group& operator=(const group&) = delete;

  reducing_barrier barrier;
  loop_board loops;
  progress_board progress;
  share_claims claims;
  detail::aligned_array<cell> leaves;  ///< of reductions whose leaves are handed out

  group& of_region() noexcept { return of_region_; }
  /// Of the region, at whatever depth.
  dependants& sub_groups() noexcept { return of_region_.sub_groups_; }

  std::size_t most() const noexcept { return members_.size(); }
  member_state& state(std::size_t rank) noexcept { return members_[rank].value; }

  /// The k-th cell of a member for the phase in which it arrives next, or has arrived.
  cell& cell_of(std::size_t rank, std::uint32_t phase, std::size_t k) noexcept {
    return k == 0 ? barrier.value_of(rank, phase) : state(rank).nodes[phase & 1u][k - 1];
  }

  /// Before a region of `size` members: the phase that they begin after. By who runs the regions.
  std::uint32_t begin(std::size_t size) noexcept {
    const std::uint32_t phase = state(0).place.phase;
    if (size == 1 || size == size_) return phase;  // who is alone meets nobody
    barrier.reset(phase);  // who comes back, and the other kind of barrier, has stood still
    reset_claims();
    size_ = size;
    return phase;
  }

  /// A member begins its part.
  member_state& enter(std::size_t rank, std::size_t size, std::uint32_t region,
                      std::uint32_t phase) noexcept {
    member_state& self = state(rank);
    self.place.size = size;
    self.place.region = region;
    self.place.phase = phase;
    self.place.has_left = false;
    self.has_construct = false;
    self.last_by_rank = phase - 1;  // in no phase of this region
    return self;
  }

  /// After a region, when every member has ended its part.
  void end(bool was_stopped) {
    if (was_stopped) {
      state(0).place.phase = 0;
      barrier.reset(0);
      reset_claims();
      loops.reset();
      progress.reset();
      sub_groups_.destroy_all();
      return;
    }
    if (state(0).has_construct) loops.set_first_construct(state(0).construct);
    if (progress.used()) progress.reset();
  }

  /// A member keeps a value in its member_state.
  void note_kept_values() noexcept {
    if (kept_.load(detail::memory_order_relaxed) == 0) {  // 1
      kept_.store(1, detail::memory_order_relaxed);       // 2
    }
  }
  /// Destroys the values that members keep, when every member has ended its part, and nobody reads them any
  /// more. Regions that kept none pay for a look. By who runs the regions, marked as inside (nesting.hpp).
  void destroy_kept_values() {
    if (kept_.load(detail::memory_order_relaxed) == 0) return;  // 1
    for (std::size_t rank = 0; rank < most(); ++rank) state(rank).destroy_kept_values();
    kept_.store(0, detail::memory_order_relaxed);  // 2
  }
  /// In a child process: a value that another thread was about to make or end is nothing to touch.
  void forget_kept_values() noexcept {
    for (std::size_t rank = 0; rank < most(); ++rank) state(rank).forget_kept_values();
  }

 private:
  void reset_claims() noexcept {
    claims.reset();
    for (std::size_t rank = 0; rank < most(); ++rank) state(rank).loops = 0;
  }

  group& of_region_;
  dependants sub_groups_;
  detail::aligned_array<detail::padded<member_state>> members_;
  std::size_t size_ = 0;
  detail::wait_word kept_{0};
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TEAM_GROUP_HPP
