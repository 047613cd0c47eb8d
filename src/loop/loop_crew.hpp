// SPDX-License-Identifier: MIT
// src/loop/loop_crew.hpp -- how the threads of a team run the parts of a loop (layer: loop)
//
// In a region that is one loop (team_loops.hpp) each member has a share, and a share has one or several parts. A thread
// claims parts (share_board.hpp): first of its own share, then of shares that are late. The loop's function sees a part
// as a loop_share. For team_core.hpp.
//
//   CREW-1  A member runs its own share as long as it is in time, so that data stay where they are.
//   CREW-2  When its own share is done, the caller takes parts of every share that has some left. Where members may be
//           about to come, it first waits a moment. Then it waits only for threads that have begun a part.
//   CREW-3  Workers take parts of others where shares have several, or members have to share CPUs.
//   CREW-4  In a loop that was stopped, parts are claimed and not run.
//   CREW-5  If a part calls fork(), the caller has nothing of the loop left to do in the child process. Any other
//           thread cannot go on there.
//   CREW-6  The caller may run parts of its share before it announces the loop. They are claimed like all others, and
//           not run again. `begun` counts them. Claim words do not: they must not be ahead of the line (PART-3).
//
// Memory order (# marks the line)
//   #  access             order    pairs  why it suffices
//   1  tickets.store      relaxed  -      between loops; the announcement orders it
//   2  begun.store        relaxed  -      as 1
//   3  begun.load         relaxed  -      in a part that was claimed: after the announcement was read
#ifndef LOCKSTEP_SRC_LOOP_LOOP_CREW_HPP
#define LOCKSTEP_SRC_LOOP_LOOP_CREW_HPP

#include <cstddef>
#include <cstdint>

#include "../observe/hooks.hpp"
#include "../region/region_board.hpp"
#include "loop_share.hpp"
#include "loop_steering.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

class loop_crew {
 public:
  /// `team`: for observers; null: they see nothing.
  loop_crew(region_board& forks, stop_source& stop, first_error& errors, bool is_crowded,
            const team_view* team = nullptr)
      : board_(forks), stop_(stop), errors_(errors), is_crowded_(is_crowded), team_(team) {}
  loop_crew(const loop_crew&) = delete;
  loop_crew& operator=(const loop_crew&) = delete;

  /// The caller runs a loop that it has announced. On return every share is done. True if every other member came in
  /// time. `timing` may be null.
  LOCKSTEP_NOINLINE bool lead(const region_head& head, const job& what, bool is_woken,
                              loop_timing* timing) {
    const announcement at = board_.current();
    if (at.parts() == 1) {
      // Reads `what`, not the line just published: that is on its way to the others.
      const observed_share seen(team_, 0, head.region);
      run_part(common_of(head, at), 0, 0, what);
      seen.end_part();
      if (timing != nullptr) timing->after_parts(true);
      const bool has_patience = !is_crowded_ && !is_woken && trust_in_others_.asks();
      if (has_patience && board_.collect_shortly(0, board_.current(), polls_for_late_members)) {
        trust_in_others_.paid();
        return true;
      }
    }
    const bool took = take_told(0, 0, at, timing);
    if (took) {
      trust_in_others_.failed();
    } else {
      trust_in_others_.paid();
    }
    board_.collect(0, board_.current());
    return !took;
  }
  /// Before the loop is announced, the caller runs the parts [part, end) of the share of `rank`.
  void run_unannounced(const region_head& head, std::uint32_t parts, const job& what,
                       std::size_t rank, std::uint32_t part, std::uint32_t end) {
    const loop_common common = common_of(head, announcement(1, head.size, parts));
    for (; part < end; ++part) run_part(common, rank, part, what);
  }
  /// The caller runs a loop of one share.
  void run_whole(const region_head& head, const job& what) {
    run_part(common_of(head, announcement(1, 1, 1)), 0, 0, what);
  }

  /// A worker runs a part that it has claimed, and then all that it can claim.
  void serve(std::size_t self, assignment claimed) {
    const announcement at = claimed.announced;
    run_claimed_part(self, self, claimed, true);
    if (at.parts() == 1 && !is_crowded_) return;
    while (board_.claim(self, claimed)) run_claimed_part(self, self, claimed, true);
    const std::size_t looks = is_crowded_ || at.size() <= 9 ? at.size() - 1 : 8;
    std::size_t other = self;
    for (std::size_t i = 0; i < looks; ++i) {
      if (++other >= at.size()) other = at.parts() > 1 ? 0 : 1;
      if (other == self) return;
      while (board_.claim(other, claimed)) run_claimed_part(self, other, claimed, true);
    }
  }

  /// Before a loop.
  void reset_counts() noexcept {
    counts_[0].value.tickets.store(0, detail::memory_order_relaxed);  // 1
    counts_[0].value.begun.store(0, detail::memory_order_relaxed);    // 2
  }
  /// Before a loop is announced: the caller has run `parts` parts of its share.
  void note_begun(std::uint32_t parts) noexcept {
    counts_[0].value.begun.store(parts, detail::memory_order_relaxed);  // 2
  }
  /// After a fork() in a region, the crew in the child process is orphaned until that region ends.
  void set_orphaned(bool orphaned) noexcept { is_orphaned_ = orphaned; }
  bool is_orphaned() const noexcept { return is_orphaned_; }

 private:
  loop_common common_of(const region_head& head, announcement at) noexcept {
    return {stop_, counts_[0].value.tickets, head.region, head.size, at.parts()};
  }

  /// `self` runs a claimed part of the share of `rank`.
  LOCKSTEP_NOINLINE void run_claimed_part(std::size_t self, std::size_t rank,
                                          const assignment& claimed, bool wakes) {
    if (claimed.part == 0 && rank != 0) board_.relay(rank, claimed, wakes);
    if (LOCKSTEP_UNLIKELY(observers() != 0) && self != rank) {
      note_mark(mark_kind::share_taken_over, "share taken over", nullptr, rank);
    }
    if (rank != 0 || claimed.part >= counts_[0].value.begun.load(memory_order_relaxed)) {  // 3
      const observed_share seen(team_, self, claimed.head().region);
      run_part(common_of(claimed.head(), claimed.announced), rank, claimed.part,
               claimed.line->what);
      seen.end_part();
    }
    if (is_orphaned_) {
      if (self != 0) end_of_lone_child();
      return;
    }
    if (!board_.finish_part(rank, claimed)) return;
    if (rank != 0 && board_.is_leader(rank)) {
      take_told(self, rank, claimed.announced, nullptr);
      if (is_orphaned_) return;
      board_.collect(rank, claimed.announced);
    }
    board_.report(rank, claimed.announced);
  }

  /// Claims and runs what is left of the shares of the members to which `rank` has announced the loop. True if it ran a
  /// part of another share than that of `self`.
  LOCKSTEP_NOINLINE bool take_told(std::size_t self, std::size_t rank, announcement at,
                                   loop_timing* timing) {
    bool took = false;
    board_.for_each_told(rank, at, [&](std::size_t watcher) {
      if (take_share(self, watcher, at, timing)) took |= watcher != self;
    });
    return took;
  }
  /// The same for one share.
  LOCKSTEP_NOINLINE bool take_share(std::size_t self, std::size_t watcher, announcement at,
                                    loop_timing* timing) {
    bool took = false;
    assignment claimed;
    while (!is_orphaned_ && !board_.has_reported(watcher, at) && board_.claim(watcher, claimed)) {
      run_claimed_part(self, watcher, claimed, false);
      took = true;
      if (timing != nullptr) timing->after_parts(watcher == self);
    }
    return took;
  }

  LOCKSTEP_NOINLINE void run_part(const loop_common& common, std::size_t rank, std::uint32_t part,
                                  const job& what) {
    if (common.shares > 1 && stop_.requested_relaxed(common.region)) return;
    open_part* seen = nullptr;
    if (LOCKSTEP_UNLIKELY(observers() != 0) && team_ != nullptr) {
      seen = loop_part_begins(
          {team_->team, common.region, static_cast<std::uint32_t>(rank), common.shares}, part);
    }
    loop_share me(common, rank, part, common.parts == 1 ? &board_.beside_report(rank) : nullptr);
    call_guarded(stop_, common.region, errors_, first_error::position_of(rank, part), what, me);
    if (LOCKSTEP_UNLIKELY(seen != nullptr)) loop_part_ends(*seen);
  }

  region_board& board_;
  stop_source& stop_;
  first_error& errors_;
  const bool is_crowded_;
  const team_view* const team_;
  bool is_orphaned_ = false;
  struct counts {
    detail::atomic<std::size_t> tickets{0};
    detail::wait_word begun{0};  ///< parts of the caller's share: CREW-6
  };
  detail::aligned_array<detail::padded<counts>> counts_{1};
  detail::line_gap callers_apart_;
  backoff_trust trust_in_others_;  // of the caller
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_LOOP_LOOP_CREW_HPP
