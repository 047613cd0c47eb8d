// SPDX-License-Identifier: MIT
// lockstep/detail/region/member_state.hpp -- what a member knows of itself and of its region (layer: region)
//
// One object for each member of a group, on lines of its own; only the member's thread uses it while a region runs,
// but for the values that it hands to others. The boards of the group, the loops and the reductions take it; `member`
// is the user's handle on it.
#ifndef LOCKSTEP_DETAIL_REGION_MEMBER_STATE_HPP
#define LOCKSTEP_DETAIL_REGION_MEMBER_STATE_HPP

#include <cstddef>
#include <cstdint>

#include "../../call_site.hpp"
#include "../base/cells.hpp"
#include "../base/range_parts.hpp"
#include "../trace/hooks.hpp"
#include "../trace/ledger_board.hpp"
#include "../wait/wait_engine.hpp"
#include "stop_source.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {

namespace detail {

/// How often a member looks whether others come before it runs their shares: 1.5 us. A member that is in time comes
/// within two line transfers, at most 0.5 us.
constexpr unsigned polls_for_late_members = 48;

/// The construct that a member is in.
struct construct_note {
  const char* kind;  ///< the name of its function; null: not known
  source_place where;
  std::size_t extent;  ///< the iterations of a loop, the size of a value: the same on all members
  std::uint64_t came;  ///< tick, where somebody watches; 0 from the first meeting in it on
};

/// The segment that a member ends where it meets the others, for the ledger. Times are ticks.
struct segment_note {
  std::uint64_t begin, arrival;
  std::uint32_t region, phase;
};

class member_state {
 public:
  static constexpr std::size_t no_rank = ~std::size_t{0};
  static constexpr std::size_t no_blocks = ~std::size_t{0};

 private:
  // Before the public data, so that what every construct reads lies on one line.
  group* shared_ = nullptr;
  stop_source* stop_ = nullptr;
  std::size_t rank_ = 0, size_ = 1;
  std::uint32_t region_ = 0;
  std::size_t rank_in_team_ = no_rank;

 public:
  member_state() noexcept = default;
  /// Of a member that is alone in its region, which is number 1 of `stop`.
  explicit member_state(stop_source& stop) noexcept : stop_(&stop), region_(1) {}
  member_state(member_state&&) = default;
  member_state& operator=(member_state&&) = default;

  /// Once, by the group that has it. (Tests of single boards have none.)
  void belong_to(group* shared, stop_source* stop, std::size_t rank) noexcept {
    shared_ = shared;
    stop_ = stop;
    rank_ = rank_in_team_ = rank;
  }
  /// Of a sub-team's member.
  void set_rank_in_team(std::size_t rank) noexcept { rank_in_team_ = rank; }
  /// The member begins its part of a region of `size` members, after `phase_before` of the barrier. In group.hpp.
  void enter(std::size_t size, std::uint32_t region, std::uint32_t phase_before) noexcept;

  std::size_t rank() const noexcept { return rank_; }
  /// Of the region: its members are the ranks below it.
  std::size_t size() const noexcept { return size_; }
  bool is_alone() const noexcept { return size_ == 1; }
  /// Of this member in its team's region, also where this is a sub-team; no_rank for a member that runs alone inside
  /// another region.
  std::size_t rank_in_team() const noexcept { return rank_in_team_; }
  /// The number of the region.
  std::uint32_t region() const noexcept { return region_; }
  /// What the members share. Requires: !is_alone().
  group& shared() const noexcept { return *shared_; }

  /// This member's block of a range.
  index_range block_of(index_range range) const noexcept {
    return static_block(range.first, range.last, rank_, size_);
  }

  const stop_source& stop() const noexcept { return *stop_; }
  /// True once the region was stopped; what came before the request is seen.
  bool is_stopped() const noexcept { return stop_->requested(region_); }
  /// The same for a member that only ends its part early.
  bool may_stop() const noexcept { return stop_->requested_relaxed(region_); }
  /// False once this member knows that the region is stopped, so that values of others may be gone.
  bool goes_on() const noexcept { return is_alone() ? !is_stopped() : !has_left; }
  void request_stop() const { stop_->request(region_); }

  /// Begins a construct that all members come to: for observers, and in builds that diagnose misuse, see
  /// check_constructs() of group.hpp.
  void come_to(const char* kind, call_site where, std::size_t extent = 0) noexcept {
    if (LOCKSTEP_UNLIKELY(observers() != 0)) return come_observed(kind, where, extent);
    if (!diagnoses_misuse) return;
    in_construct = {kind, where, extent, 0};
    tell_construct();
  }
  LOCKSTEP_FAST_OBSERVER void come_observed(const char* kind, call_site where,
                                            std::size_t extent) noexcept;
  /// Which member it is, for observers.
  observed_member observed() const noexcept {
    return {shared_, region_, static_cast<std::uint32_t>(rank_), static_cast<std::uint32_t>(size_)};
  }
  /// Before the member arrives in the next phase: as the cells of that phase.
  void tell_construct() noexcept {
    if (diagnoses_misuse) told[next_phase() & 1u] = in_construct;
  }

  /// Blocks until all have arrived; false once the region is stopped. This and those below are in group.hpp.
  bool sync();
  /// come_to() and sync() with one look for observers.
  bool sync_in(const char* kind, call_site where);
  LOCKSTEP_FAST_OBSERVER bool sync_in_observed(const char* kind, call_site where);
  bool sync_unobserved();
  /// The same where somebody watches.
  LOCKSTEP_FAST_OBSERVER bool sync_observed();
  /// The same in meetings that are not only counted.
  LOCKSTEP_OBSERVER bool sync_in_seen(const char* kind, call_site where);
  LOCKSTEP_OBSERVER bool sync_seen();
  /// The same with values, as team_barrier::meet(). Requires: !is_alone().
  template <class Combine>
  bool meet(cell& out, Combine combine);
  template <class Combine, class Arrival>
  bool meet(cell& out, Combine combine, Arrival& arrival);
  /// Around a meeting, for observers. No guard object: what it would need for exceptions costs a sum 20 ns. Where a
  /// combination throws, the end is not told.
  bool begin_meeting(bool arrives = true) noexcept {
    return LOCKSTEP_UNLIKELY(observers() != 0) && meeting_begins(arrives);
  }
  void end_meeting(bool is_seen) noexcept {
    if (LOCKSTEP_UNLIKELY(is_seen)) meeting_ends();
  }
  /// False: nobody is to see the meeting, or the ledger has counted it already. Then the member meets as it does where
  /// nobody watches.
  LOCKSTEP_FAST_OBSERVER bool meeting_begins(bool arrives) noexcept;
  /// meeting_begins() where that does not suffice.
  LOCKSTEP_OBSERVER bool meeting_is_seen(bool arrives) noexcept;
  LOCKSTEP_OBSERVER void construct_is_seen(const char* kind, call_site where,
                                           std::size_t extent) noexcept;
  LOCKSTEP_OBSERVER void meeting_ends() noexcept;
  /// For the ledger, in a meeting: once, while the member waits or when it was let go.
  LOCKSTEP_OBSERVER void count_meeting() noexcept;
  /// The phase in which this member arrives next: that of the cells which it writes before.
  std::uint32_t next_phase() const noexcept { return phase + 1; }

  /// This member runs a construct that does not wait at its end: see loops.hpp. `length`: of a range that is cut into
  /// a block for each rank.
  void note_without_wait(std::size_t length = no_blocks) noexcept {
    const bool is_like_others = last_without_wait != phase || blocks_without_wait == length;
    blocks_without_wait = is_like_others ? length : no_blocks;
    last_without_wait = phase;
  }
  void note_loop_by_rank(std::size_t length) noexcept {
    note_without_wait(length);
    last_by_rank = phase;
  }
  /// Whether it has met the others since: then all that such constructs wrote is there.
  bool has_waited() const noexcept { return last_without_wait != phase; }
  /// In a construct that it has come to: a wait for all before that begins. False once the region is stopped.
  bool wait_before_construct();
  /// The number of the next construct that members share.
  std::uint32_t next_construct() noexcept;

  void destroy_kept_values() {
    for (owner<kept_values>& each : kept) each.reset();
    kept_result.reset();
    kept_leaves.reset();
  }
  void forget_kept_values() noexcept {
    for (owner<kept_values>& each : kept) static_cast<void>(each.release());
    static_cast<void>(kept_result.release());
    static_cast<void>(kept_leaves.release());
  }

  // For the barrier.
  std::uint32_t phase = 0;  ///< the last phase this member has arrived in
  bool has_left = false;    ///< released because the region is stopped: it meets nobody any more
  wait_history history = {};

  // For loops.
  bool has_construct = false;           ///< it has come to a shared construct in this region
  std::uint32_t construct = 0;          ///< if so, the number of the next one
  std::uint32_t loops = 0;              ///< whose shares were claimed (share_claims.hpp)
  std::uint32_t last_by_rank = 0;       ///< the phase in which it ran a loop by rank last
  std::uint32_t last_without_wait = 0;  ///< the same of any construct without a wait
  /// The length of the range, if all those constructs ran blocks of ranges of one length; else no_blocks.
  std::size_t blocks_without_wait = no_blocks;
  backoff_trust looks;     ///< whether looks at the claims of others have found any that were late
  backoff_trust patience;  ///< whether the others came while it polled for them

  // For reductions: more cells than the barrier has, and the values that do not fit.
  cell nodes[2][reduction_tree::most_nodes - 1];
  owner<kept_values> kept[2];  ///< for the cells of two phases
  owner<kept_values> kept_result;
  owner<kept_values> kept_leaves;

  // For observers.
  thread_log* meets_in = nullptr;     ///< the log of the meeting that it is in, or null
  open_part* part = nullptr;          ///< the part that it is in, or null
  member_ledger* accounts = nullptr;  ///< null: none are kept
  segment_note segments[2] = {};      ///< told to the others, in two phases

  // For messages.
  construct_note in_construct = {};
  construct_note told[2] = {};  ///< to the others, in two phases
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_REGION_MEMBER_STATE_HPP
