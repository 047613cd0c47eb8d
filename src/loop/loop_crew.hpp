// SPDX-License-Identifier: MIT
// src/loop/loop_crew.hpp -- a loop that is a region, from its plan to its end (layer: loop)
//
// Each member has a share of the loop, and a share has one or several parts. A thread claims parts (region_board.hpp):
// first of its own share, then of shares that are late. The loop's function sees a part as a loop_share, which knows its
// share, and not the thread that runs it. The caller asks loop_pace.hpp how to run the loop, and tells it what it cost.
// For team_core.hpp.
//
//   CREW-1  A member runs its own share as long as it is in time, so that data stay where they are.
//   CREW-2  When its own share is done, the caller takes parts of every share that has some left. Where members may be
//           about to come, it first waits a moment. Then it waits only for threads that have begun a part.
//   CREW-3  Workers take parts of others where shares have several, or members have to share CPUs.
//   CREW-4  In a loop that was stopped, parts are claimed and not run.
//   CREW-5  If a part calls fork(), the caller has nothing left to do for the loop in the child process. Any other
//           thread cannot go on there.
//   CREW-6  In a probe (PACE-1) the caller begins alone, and announces the rest when that is worth it. So a short loop
//           of an unknown place costs only some looks at the clock. The parts that it has run are claimed like all
//           others, but not run again: `begun` counts them. Their claims must not be ahead of the line (PART-3), so the
//           claim words do not count them.
//   CREW-7  A loop may begin without waking its members. After each part the caller checks whether the rest is worth a
//           wake-up, and then wakes them.
//   CREW-8  Loops that workers slept through are noted for anticipation.hpp, if they missed enough time. PACE-6 decides
//           when the workers are woken for that.
//
// Memory order (# marks the line)
//   #  access             order    pairs  why it suffices
//   1  tickets.store      relaxed  -      between loops; the announcement orders it
//   2  begun.store        relaxed  -      as 1
//   3  begun.load         relaxed  -      in a part that was claimed: after the announcement was read
//   4  tickets.fetch_add  relaxed  -      hands out numbers
//
// Cost   most loops are not measured. A measured one: two to four looks at the clock, 20 to 25 ns each. Measured are
//        the first loops of a place, then one in 16, and all longer than 10 us.
#ifndef LOCKSTEP_SRC_LOOP_LOOP_CREW_HPP
#define LOCKSTEP_SRC_LOOP_LOOP_CREW_HPP

#include <cstddef>
#include <cstdint>
#include <cstdio>

#include <lockstep/detail/base/cells.hpp>
#include <lockstep/detail/platform/clock.hpp>
#include <lockstep/schedule.hpp>
#include "../observe/hooks.hpp"
#include "../region/region_board.hpp"
#include "loop_pace.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// Which part of which loop. `parts`: of each of the `shares`.
struct loop_part {
  std::uint32_t region, shares, parts;
  std::size_t rank;
  std::uint32_t part;
};

/// A part of a loop as the loop's function sees it.
class loop_share {
 public:
  /// `tickets`: 0 when the loop begins. `which` must live as long.
  loop_share(const stop_source& stop, atomic<std::size_t>& tickets, const loop_part& which,
             cell* beside = nullptr) noexcept
      : stop_(stop), tickets_(tickets), of_(which), beside_(beside) {}

  /// The rank of the member whose share it is.
  std::size_t rank() const noexcept { return of_.rank; }
  /// How many shares there are.
  std::size_t size() const noexcept { return of_.shares; }
  bool is_alone() const noexcept { return of_.shares == 1; }
  std::uint32_t parts() const noexcept { return of_.parts; }
  /// This part's number among the parts of all shares.
  std::size_t number() const noexcept { return of_.rank * of_.parts + of_.part; }
  std::uint32_t region() const noexcept { return of_.region; }
  const stop_source& stop() const noexcept { return stop_; }
  bool is_stopped() const noexcept { return stop_.requested(of_.region); }

  /// This part of a range: a block for each share, and of that one for each part.
  index_range block_of(index_range range) const noexcept {
    const index_range share = static_block(range.first, range.last, of_.rank, of_.shares);
    return of_.parts == 1 ? share : static_block(share.first, share.last, of_.part, of_.parts);
  }
  /// The next number (0, 1, ...) from a counter that all shares use.
  std::size_t take() const noexcept {
    return tickets_.fetch_add(1, memory_order_relaxed);  // 4
  }
  /// A cell that travels with the report of this share; null if the share has several parts.
  cell* beside_report() const noexcept { return beside_; }

 private:
  const stop_source& stop_;
  atomic<std::size_t>& tickets_;
  const loop_part& of_;
  cell* const beside_;
};

/// What the caller does before a loop of several shares, and after one that was not stopped. `beside`: the cells that
/// travelled with the reports.
struct loop_ends {
  function_ref<void(const loop_plan& plan, cell* cells)> prepare;
  function_ref<void(const loop_plan& plan, region_board& beside)> finish;
};

/// How a loop went.
struct loop_outcome {
  bool is_complete;  ///< not stopped
  bool all_came;     ///< each share was begun by its member
};

class loop_crew {
 public:
  /// `seen`: for observers; null: they see nothing.
  loop_crew(region_board& forks, stop_source& stop, first_error& errors,
            const loop_pace::helpers& team, const team_view* seen = nullptr)
      : board_(forks),
        stop_(stop),
        errors_(errors),
        is_crowded_(team.are_crowded),
        team_(seen),
        pace_(team) {}

  // The caller calls plan(), announces the loop unless it is_alone(), and calls lead().

  /// How to run the loop.
  LOCKSTEP_HOT const loop_plan& plan(const loop_request& of) {
    if (woken_at_ != 0 && (is_asleep_ || plan_.is_timed)) learn_wake_up();
    const std::size_t most = of.place != nullptr ? pace_.its_team().at_once : of.iterations;
    of_ = of;
    is_asleep_ = most > 1 && board_.has_sleepers(most);
    plan_ = pace_.plan(of, is_asleep_);
    plan_.is_timed |= pace_.is_worth_telling(plan_.missed);
    counts_[0].value.tickets.store(0, memory_order_relaxed);  // 1
    counts_[0].value.begun.store(0, memory_order_relaxed);    // 2
    if (plan_.is_timed) {
      // Plans help each other's members: what is left of them is not known.
      const bool may_wake = is_asleep_ && !is_alone() && !plan_.wakes && of_.place != nullptr;
      may_wake_ = may_wake ? plan_.shares : 0;
      parts_ = own_parts_ = 0;
      planned_at_ = start_ = monotonic_nanoseconds();
      pace_.began_after(static_cast<double>(start_ - own_end_));
      own_end_ = start_;
    }
    return plan_;
  }
  /// Whether the caller begins alone.
  bool is_alone() const noexcept { return plan_.shares == 1 || plan_.is_probe; }

  /// Runs the caller's share, and what late members leave. On return every share is done. True if each was begun by its
  /// member.
  LOCKSTEP_HOT bool lead(std::uint32_t region, const job& what) {
    if (plan_.is_timed && !is_alone()) {
      if (is_asleep_ && plan_.wakes) note_wake_up(planned_at_);
      start_ = own_end_ = monotonic_nanoseconds();  // the announcement is no time of iterations
    }
    const bool is_done = LOCKSTEP_UNLIKELY(plan_.is_probe) && !announce_rest(region, what);
    if (plan_.parts == 1) {
      // Reads `what`, not the line just published: that is on its way to the others.
      run_part(0, {region, plan_.shares, 1, 0, 0}, what);
      if (plan_.is_timed) note_parts(true);
    }
    bool all_came = true;
    if (plan_.shares > 1 && !is_done) {
      const bool has_patience = plan_.parts == 1 && !is_crowded_ && !(is_asleep_ && plan_.wakes) &&
                                trust_in_others_.asks();
      const auto have_come = [this] { return board_.have_reported(0, board_.current()); };
      if (!has_patience || !come_in_time(have_come)) {
        all_came = !take_told(0, 0, board_.current());
        board_.collect(0, board_.current());  // asked again: in a child of fork() it is another one
      }
      trust_in_others_.learn(all_came);
      if (all_came && !is_asleep_ && !plan_.is_probe) pace_.came_by_themselves();
    }
    if (plan_.is_timed && of_.place != nullptr) learn();
    if (LOCKSTEP_UNLIKELY(pace_.is_worth_telling(plan_.missed))) tell_sleepers();
    return all_came;
  }

  /// For observers: how the loop is run, and why.
  LOCKSTEP_NOINLINE void tell() const noexcept {
    char name[48] = "loop inline";
    if (plan_.shares > 1) std::snprintf(name, sizeof name, "loop on %u members", plan_.shares);
    const char* why = of_.place == nullptr ? "a share for each was asked for"
                      : of_.grain != 0     ? "the grain was given"
                      : plan_.shares == 1  ? "it would not gain"
                                           : "it gains";
    if (plan_.is_probe) why = "it is not known: the caller begins";
    if (plan_.shares == 1 && of_.iterations < 2) why = "there is one iteration at most";
    if (plan_.missed > 0) why = "members sleep: they are not woken for so little";
    note_mark(mark_kind::decision, name, why, of_.iterations);
    if (is_asleep_ && plan_.shares > 1 && plan_.wakes) {
      note_mark(mark_kind::woken, "woken", "for a loop", plan_.shares);
    }
  }

  /// A worker runs a part that it has claimed, and then all that it can claim.
  void serve(std::size_t self, assignment claimed) {
    const announcement at = claimed.announced;
    run_claimed_part(self, self, claimed, true);
    if (at.parts() == 1 && !is_crowded_) return;
    const std::size_t looks = is_crowded_ || at.size() <= 9 ? at.size() : 9;
    std::size_t of = self;
    for (std::size_t i = 0; i < looks; ++i) {
      while (board_.claim(of, claimed)) run_claimed_part(self, of, claimed, true);
      if (++of >= at.size()) of = at.parts() > 1 ? 0 : 1;
      if (of == self) return;
    }
  }

  /// After a fork() in a region, the crew in the child process is orphaned until that region ends.
  void set_orphaned(bool orphaned) noexcept { is_orphaned_ = orphaned; }
  bool is_orphaned() const noexcept { return is_orphaned_; }

 protected:  // for tests
  /// The caller runs the parts [part, end) of the share of `rank` before the loop is announced.
  void run_unannounced(std::uint32_t region, const job& what, std::size_t rank, std::uint32_t part,
                       std::uint32_t end) {
    for (; part < end; ++part) run_part(0, {region, plan_.shares, plan_.parts, rank, part}, what);
  }
  /// Announces the loop of which the caller has run `begun` parts of its share.
  void announce(std::uint32_t region, const job& what, std::uint32_t begun, bool wakes) {
    counts_[0].value.begun.store(begun, memory_order_relaxed);  // 2
    board_.announce({region, plan_.shares}, what, plan_.parts, wakes);
  }

 private:
  /// CREW-6. False if the caller has run the whole loop.
  LOCKSTEP_NOINLINE bool announce_rest(std::uint32_t region, const job& what) {
    std::uint32_t done = 0;
    for (std::uint32_t next = 1; next < plan_.parts; next *= 2) {
      run_unannounced(region, what, 0, done, next);
      note_parts(true, next - done);
      done = next;
      if (is_orphaned_ || !pace_.is_rest_worth(left_at(own_end_), is_asleep_)) continue;
      announce(region, what, done, true);
      if (is_asleep_) note_wake_up(own_end_);
      return true;
    }
    for (std::uint32_t rank = 0; rank < plan_.shares; ++rank) {
      run_unannounced(region, what, rank, rank == 0 ? done : 0, plan_.parts);
    }
    note_parts(true, plan_.shares * plan_.parts - done);
    return false;
  }

  /// `self` runs a claimed part of the share of `rank`.
  LOCKSTEP_HOT void run_claimed_part(std::size_t self, std::size_t rank, const assignment& claimed,
                                     bool wakes) {
    if (claimed.part == 0 && rank != 0) board_.relay(rank, claimed, wakes);
    if (LOCKSTEP_UNLIKELY(observers() != 0) && self != rank) {
      note_mark(mark_kind::share_taken_over, "share taken over", nullptr, rank);
    }
    if (rank != 0 || claimed.part >= counts_[0].value.begun.load(memory_order_relaxed)) {  // 3
      const region_head head = claimed.head();
      run_part(self, {head.region, head.size, claimed.announced.parts(), rank, claimed.part},
               claimed.line->what);
    }
    if (is_orphaned_) {
      if (self != 0) end_of_lone_child();
      return;
    }
    if (!board_.finish_part(rank, claimed)) return;
    if (rank != 0 && board_.is_leader(rank)) {
      take_told(self, rank, claimed.announced);
      if (is_orphaned_) return;
      board_.collect(rank, claimed.announced);
    }
    board_.report(rank, claimed.announced);
  }

  /// Claims and runs what is left of the shares of the members to which `rank` has announced the loop. True if it ran a
  /// part of another share than that of `self`.
  LOCKSTEP_NOINLINE bool take_told(std::size_t self, std::size_t rank, announcement at) {
    bool took = false;
    board_.for_each_told(rank, at, [&](std::size_t late) {
      assignment claimed;
      while (!is_orphaned_ && !board_.has_reported(late, at) && board_.claim(late, claimed)) {
        run_claimed_part(self, late, claimed, false);
        took |= late != self;
        const bool is_begun =
            late == 0 && claimed.part < counts_[0].value.begun.load(memory_order_relaxed);  // 3
        if (self == 0 && plan_.is_timed && !is_begun) note_parts(late == 0);
      }
    });
    return took;
  }

  /// By the thread of rank `self`. Does nothing in a loop that was stopped.
  LOCKSTEP_HOT void run_part(std::size_t self, const loop_part& of, const job& what) {
    if (of.shares != 1 && stop_.requested(of.region)) return;
    open_part* seen = nullptr;
    member_ledger* account = nullptr;
    if (LOCKSTEP_UNLIKELY(observers() != 0) && team_ != nullptr) {
      if (of.shares != 1) account = share_begins(*team_, self, of.region);
      seen = loop_part_begins(
          {team_->team, of.region, static_cast<std::uint32_t>(of.rank), of.shares}, of.part);
    }
    loop_share me(stop_, counts_[0].value.tickets, of,
                  of.parts == 1 ? &board_.beside_report(of.rank) : nullptr);
    call_guarded(stop_, of.region, errors_, me.number(), what, me);
    if (LOCKSTEP_UNLIKELY(seen != nullptr)) loop_part_ends(*seen);
    if (LOCKSTEP_UNLIKELY(account != nullptr)) share_ends(*account);
  }

  // What the caller measures.

  /// The caller has run `count` parts of its own share, or of another. CREW-7.
  void note_parts(bool is_own, std::uint32_t count = 1) {
    parts_ += count;
    if (is_own) {
      own_parts_ += count;
      own_end_ = monotonic_nanoseconds();
    }
    if (may_wake_ != 0) wake_if_long(is_own ? own_end_ : monotonic_nanoseconds());
  }
  LOCKSTEP_NOINLINE void wake_if_long(std::uint64_t time) {
    if (!pace_.is_rest_worth(left_at(time), true)) return;
    if (observers() != 0) note_mark(mark_kind::woken, "woken", "the loop is long", may_wake_);
    board_.wake(may_wake_);
    note_wake_up(time);
    may_wake_ = 0;
  }
  /// The work that is left, in nanoseconds. Requires: a part was run.
  double left_at(std::uint64_t time) const noexcept {
    const double each = static_cast<double>(time - start_) / static_cast<double>(parts_);
    return each * static_cast<double>(all_parts() - parts_);
  }
  std::size_t all_parts() const noexcept { return std::size_t{plan_.shares} * plan_.parts; }

  void learn() {
    std::size_t own = of_.iterations;
    if (own_parts_ != all_parts()) own = own / all_parts() * own_parts_;
    const bool is_short_share = plan_.share_time > 0;
    if (is_short_share) pace_.learn_join(monotonic_nanoseconds() - planned_at_, plan_.share_time);
    const auto time = static_cast<double>(own_end_ - start_);
    pace_.learn_iterations(*of_.place, own, time, is_short_share, is_asleep_);
  }
  /// The call that woke members began at `time`, and has returned. It is no time of iterations.
  void note_wake_up(std::uint64_t time) {
    woken_at_ = time;
    woken_until_ = monotonic_nanoseconds();
    start_ += woken_until_ - time;
    own_end_ += woken_until_ - time;
  }
  /// A member that is woken on the caller's CPU comes at once, and delays the caller's return from the call.
  void learn_wake_up() {
    const std::uint64_t came = board_.last_coming(1);
    if (came <= woken_at_) return;
    pace_.learn_wake(static_cast<double>(larger(came, woken_until_) - woken_at_));
    woken_at_ = 0;
  }

  /// CREW-8.
  LOCKSTEP_NOINLINE void tell_sleepers() {
    board_.note_missed(start_, monotonic_nanoseconds());
    if (!pace_.is_worth_waking_after(plan_.missed)) return;
    if (observers() != 0) {
      note_mark(mark_kind::woken, "woken", "they slept through loops", plan_.shares);
    }
    board_.announce_nothing();
  }

  region_board& board_;
  stop_source& stop_;
  first_error& errors_;
  const bool is_crowded_;  // not read from pace_: its line is the caller's
  const team_view* const team_;
  bool is_orphaned_ = false;
  struct counts {
    atomic<std::size_t> tickets{0};
    wait_word begun{0};  ///< parts of the caller's share: CREW-6
  };
  aligned_array<padded<counts>> counts_{1};
  line_gap callers_apart_;
  // The caller's own.
  backoff_trust trust_in_others_;
  loop_pace pace_;
  loop_request of_{0, nullptr, 0, true, call_site::none()};
  std::size_t parts_ = 0, own_parts_ = 0;  ///< that the caller has run; those of its own share
  std::uint64_t own_end_ = 0;              ///< when the caller's last own part ended
  std::uint64_t planned_at_ = 0;           ///< when the loop was planned, before it was announced
  std::uint64_t woken_at_ = 0;             ///< 0: no wake-up is being measured
  std::uint64_t woken_until_ = 0;          ///< when the caller could go on

 protected:
  loop_plan plan_;
  bool is_asleep_ = false;      ///< members slept when the loop began
  std::uint32_t may_wake_ = 0;  ///< how many members are woken once the loop turns out to be long
  std::uint64_t start_ = 0;     ///< when the caller's first part began
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_LOOP_LOOP_CREW_HPP
