// SPDX-License-Identifier: MIT
// lockstep/detail/team/loop_crew.hpp -- how the threads of a team run the parts of a loop (layer: team)
//
// Each thread that comes claims parts (loop_claims.hpp): first of its own share, then of shares that are late. For
// team_core.hpp.
//
//   CREW-1  A member runs its own share as long as it is in time, so that data stay where they are.
//   CREW-2  When its own share is done, the caller takes parts of every share that has some left: after a moment, where
//           members may be just coming. It waits only for threads that have begun a part.
//   CREW-3  Workers take parts of others where shares have several, or members have to share CPUs.
//   CREW-4  In a loop that was stopped, parts are claimed and not run.
//   CREW-5  In a child process, after a fork() in a part, nothing of the loop is left to do for the caller; another
//           thread cannot go on there.
//
// Memory order (# marks the line)
//   #  access         order    pairs  why it suffices
//   1  tickets.store  relaxed  -      between loops; the announcement orders it
#ifndef LOCKSTEP_DETAIL_TEAM_LOOP_CREW_HPP
#define LOCKSTEP_DETAIL_TEAM_LOOP_CREW_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "fork_board.hpp"
#include "loop_share.hpp"
#include "loop_steering.hpp"
#include "stop_source.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// What travelled with the reports of a loop, for its caller.
class loop_values {
 public:
  explicit loop_values(fork_board& of) noexcept : of_(of) {}
  cell& operator()(std::size_t rank) const noexcept { return of_.beside_report(rank); }

 private:
  fork_board& of_;
};

/// What the caller of a loop does before it and, unless it was stopped, after it. Null functions: nothing.
struct loop_ends {
  void* data;
  void (*prepare)(void* data, const loop_plan& plan, loop_cells& cells);
  void (*finish)(void* data, const loop_plan& plan, const loop_values& values);
};

class loop_crew {
 public:
  loop_crew(fork_board& forks, stop_source& stop, first_error& errors, bool is_crowded)
      : forks_(forks), stop_(stop), errors_(errors), is_crowded_(is_crowded) {}
  loop_crew(const loop_crew&) = delete;
  loop_crew& operator=(const loop_crew&) = delete;

  /// The caller runs a loop that it has announced. Every share is done when it returns. True if every other member came
  /// in time. `steering` is told of each part that the caller has run: a loop_steering, but in tests.
  template <class Steering>
  LOCKSTEP_NOINLINE bool lead(const region_head& head, job& what, bool is_woken,
                              Steering& steering) {
    const announcement at = forks_.current();
    if (at.parts() == 1) {
      // Not through the line just published: it is on its way to the others.
      run_part(common_of(head, at), 0, 0, what);
      steering.after_part(true);
      const bool has_patience = !is_crowded_ && !is_woken && patience_.asks();
      if (has_patience && forks_.collect_shortly(0, forks_.current(), polls_for_late_members)) {
        patience_.paid();
        return true;
      }
    }
    const bool took = take_told(0, 0, at, &steering);
    if (took) {
      patience_.failed();
    } else {
      patience_.paid();
    }
    forks_.collect(0, forks_.current());
    return !took;
  }
  /// The caller runs it as the only one.
  void run_alone(const region_head& head, job& what) {
    run_part(common_of(head, announcement(1, 1, 1)), 0, 0, what);
  }

  /// A worker runs a part that it has claimed, and what it can claim after it.
  void serve(std::size_t self, order claimed) {
    const announcement at = claimed.announced;
    play(self, self, claimed, true);
    if (at.parts() == 1 && !is_crowded_) return;
    while (forks_.claim(self, claimed)) play(self, self, claimed, true);
    const std::size_t looks =
        is_crowded_ ? at.size() - 1 : (std::min<std::size_t>)(at.size() - 1, 8);
    std::size_t other = self;
    for (std::size_t i = 0; i < looks; ++i) {
      if (++other >= at.size()) other = at.parts() > 1 ? 0 : 1;
      if (other == self) return;
      while (forks_.claim(other, claimed)) play(self, other, claimed, true);
    }
  }

  /// Before a loop with tickets.
  void reset_tickets() noexcept {
    tickets_[0].value.store(0, detail::memory_order_relaxed);  // 1
  }
  /// In a child process, inside a region; and when that ends.
  void be_alone(bool alone) noexcept { is_alone_ = alone; }
  bool is_alone() const noexcept { return is_alone_; }

 private:
  struct no_steering {
    static void after_part(bool) noexcept {}
  };

  loop_common common_of(const region_head& head, announcement at) noexcept {
    return {stop_, tickets_[0].value, head.region, head.size, at.parts()};
  }

  /// `self` runs a claimed part of the share of `rank`.
  void play(std::size_t self, std::size_t rank, const order& claimed, bool wakes) {
    if (claimed.part == 0 && rank != 0) forks_.relay(rank, claimed, wakes);
    run_part(common_of(claimed.head(), claimed.announced), rank, claimed.part, claimed.line->what);
    if (is_alone_) {
      if (self != 0) end_of_lone_child();
      return;
    }
    if (!forks_.finish_part(rank, claimed)) return;
    if (rank != 0 && forks_.is_leader(rank)) {
      take_told(self, rank, claimed.announced, static_cast<no_steering*>(nullptr));
      if (is_alone_) return;
      forks_.collect(rank, claimed.announced);
    }
    forks_.report(rank, claimed.announced);
  }

  /// Claims and runs what is left of the shares of the members that `rank` has told of the loop. True if there was
  /// some, but for the share of `self`. Only the caller steers.
  template <class Steering>
  bool take_told(std::size_t self, std::size_t rank, announcement at, Steering* steering) {
    bool took = false;
    forks_.for_each_told(rank, at, [&](std::size_t watcher) {
      order claimed;
      while (!is_alone_ && !forks_.has_reported(watcher, at) && forks_.claim(watcher, claimed)) {
        play(self, watcher, claimed, false);
        took |= watcher != self;
        if (steering != nullptr) steering->after_part(watcher == self);
      }
    });
    return took;
  }

  void run_part(const loop_common& common, std::size_t rank, std::uint32_t part, job& what) {
    if (common.shares > 1 && stop_.requested_relaxed(common.region)) return;
    loop_share me(common, rank, part, common.parts == 1 ? &forks_.beside_report(rank) : nullptr);
    call_guarded(stop_, common.region, errors_, first_error::position_of(rank, part), what, me);
  }

  fork_board& forks_;
  stop_source& stop_;
  first_error& errors_;
  const bool is_crowded_;
  bool is_alone_ = false;
  detail::aligned_array<detail::padded<detail::atomic<std::size_t>>> tickets_{1};
  detail::line_gap callers_apart_;
  stage_trust patience_;  // of the caller
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TEAM_LOOP_CREW_HPP
