// SPDX-License-Identifier: MIT
// src/region/anticipation.hpp -- a worker sleeps until shortly before its next region is due (layer: region)
//
// Time steps, frames and blocks repeat. A worker that knows the last gaps between its regions can sleep until shortly
// before the next one is due, and be awake when it comes. It has the speed of a thread that polls, and takes the
// CPU time of a thread that sleeps. What is expected when: member_pace.hpp.
//
// Memory order, of missed_loops (# marks the line)
//   #  access       order    pairs  why it suffices
//   1  time.store   relaxed  -      MISSED-1
//   2  time.load    relaxed  -      MISSED-1
//   3  count.store  relaxed  -      MISSED-1
//   4  count.load   relaxed  -      MISSED-1
#ifndef LOCKSTEP_SRC_REGION_ANTICIPATION_HPP
#define LOCKSTEP_SRC_REGION_ANTICIPATION_HPP

#include <cstddef>
#include <cstdint>

#include <lockstep/detail/platform/atomic.hpp>
#include <lockstep/detail/platform/config.hpp>
#include <lockstep/wait_policy.hpp>
#include "../observe/hooks.hpp"
#include "../platform/system.hpp"
#include "../wait/cpu_separation.hpp"
#include "../wait/wait_engine.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// The times of loops that the workers slept through: a loop shorter than a wake-up runs on its caller alone. The
/// caller notes it here by three stores. A worker that wakes up, for whatever reason, reads what it missed.
//
//   MISSED-1  One thread notes at a time; any thread may read. A reader may see wrong times while a loop is noted, or
//             after more than `capacity` new ones. They change when a worker polls, but no result: nothing is ordered.
class missed_loops {
 public:
  static constexpr std::uint32_t capacity = 16;  // as many gaps as a member remembers

  /// On the monotonic clock, in nanoseconds.
  void note(std::uint64_t begin, std::uint64_t end) noexcept {
    const std::uint32_t before = count();
    times_[before % capacity][0].store(begin, memory_order_relaxed);  // 1
    times_[before % capacity][1].store(end, memory_order_relaxed);    // 1
    count_.store(before + 1, memory_order_relaxed);                   // 3
  }
  /// How many there were so far; wraps.
  std::uint32_t count() const noexcept { return count_.load(memory_order_relaxed); }  // 4
  /// Calls f(begin, end) for those since count() was `heard`.
  template <class Function>
  void for_each_since(std::uint32_t& heard, const Function& f) const {
    const std::uint32_t all = count();
    if (all - heard > capacity) heard = all - capacity;
    for (; heard != all; ++heard) {
      const unseamed_atomic<std::uint64_t>* const of = times_[heard % capacity];
      f(of[0].load(memory_order_relaxed), of[1].load(memory_order_relaxed));  // 2
    }
  }

 private:
  unseamed_atomic<std::uint64_t> times_[capacity][2] = {};
  unseamed_atomic<std::uint32_t> count_{0};
};

//   EXPECT-1  It returns only after ready() was true. It sleeps only through Waitable::sleep, which announces the
//             sleeper and then looks again, and may end at its deadline: so no wake-up is lost (WAIT-2).
//   EXPECT-2  It polls for at most member_pace::longest_poll(). It yields the CPU now and then, but not while no other
//             member has noted this one: only a stranger would get it, for a time slice. A worker that does not get
//             the CPU back within 2 ms has lost a time slice. If the machine is full, it stops polling for a while.
//   EXPECT-3  The timer slack of the thread is short during a sleep with a deadline, and restored after it.
//   EXPECT-4  A worker learns the gaps of loops that it slept through as if it had been awake. It expects the next loop
//             relative to the last of them.
//   EXPECT-5  A worker that sees the caller on its CPU yields before it polls: the caller needs this CPU to get to the
//             next region. Polls of 3 us before that yield took a fifth of the time of regions of 5 us.
//
// Cost   a region that comes within 0.4 us: no call of this. A sleep with a deadline: 2 system calls around
//        it, and from a millisecond on the fence of the mark (published_words.hpp).

/// What a worker does while it expects its next region: EXPECT-1 to EXPECT-4.
struct expected_region {
  static constexpr std::uint64_t time_between_yields = 3000, short_slack = 1000;

  waitable& what;
  member_pace& pace;
  const missed_loops& missed;
  std::uint32_t& heard;  ///< how many missed loops were learned
  std::uint64_t now;

  /// Whether the worker has missed loops.
  bool hears() noexcept {
    const std::uint32_t before = heard;
    missed.for_each_since(
        heard, [this](std::uint64_t begin, std::uint64_t end) { pace.missed(begin, end); });
    return heard != before;
  }
  /// Whether it became ready.
  bool poll(std::uint64_t until) {
    for (std::uint64_t yields_at = now + time_between_yields; now < until;) {
      const std::uint64_t before = now;
      bool is_ready = wait_engine::poll(what);
      if (!is_ready && before >= yields_at) {
        if (!what.is_separated()) yield_thread();
        is_ready = what.ready();
        yields_at = monotonic_nanoseconds() + time_between_yields;
      }
      now = monotonic_nanoseconds();
      if (pace.looked_after(now - before)) pace.lost_slice(load_of_machine());
      if (is_ready) return true;
      if (!pace.expects() || missed.count() != heard) return false;
    }
    return false;
  }
  bool sleep(std::uint64_t until) {
    const std::uint64_t slack = shorten_timer_slack(short_slack);
    what.sleep(until);
    if (slack != 0) set_timer_slack(slack);
    now = monotonic_nanoseconds();
    return what.ready();
  }
};

/// Waits for a worker's next region, by what is known of the gaps before. It polls while the region may come at any
/// moment, and sleeps while it cannot come. If what it expected does not come, it sleeps until it is woken. If it has
/// learned nothing, or was wrong too often, it waits like any other wait (wait_engine.hpp). For the adaptive policy of
/// a team that is not crowded.
/// Requires: a first poll has failed. `missed`: noted by the caller; the worker has `heard` this many of them. `phase`: of
/// the last region that it has seen.
LOCKSTEP_HOT inline void wait_for_region(waitable& what, wait_policy policy, cpu_separation& all,
                                         std::size_t rank, const missed_loops& missed,
                                         std::uint32_t& heard, std::uint32_t phase) {
  using rung = wait_engine::rung;
  member_pace& pace = all.pace_of(rank);
  observed_wait seen(what.subject());
  const auto climb = [&](rung first, rung last) {
    return wait_engine::climb(what, policy, pace.regions, no_deadline, first, last, &seen);
  };
  const std::uint64_t start = monotonic_nanoseconds();
  if (pace.take_had_no_cpu() && !all.is_apart(rank, 0)) all.shares_cpu(rank);
  if (pace.regions.spinning.asks() && climb(rung::poll, rung::poll)) return;
  pace.wait_begins(start, phase);
  expected_region due{what, pace, missed, heard, start};
  due.hears();
  // If it expects nothing, the climb below looks.
  if (pace.expects() && all.look_for(rank, 0)) yield_thread();
  due.now = monotonic_nanoseconds();
  bool is_ready = what.ready(), was_expected = false;
  rung next = rung::yield;
  while (!is_ready && pace.expects()) {
    next = rung::sleep;
    const member_pace::step step = pace.next_step(due.now);
    if (step.what == member_pace::step::kind::rest) break;
    was_expected = step.what == member_pace::step::kind::poll;
    seen.enter(was_expected ? wait_stage::spin : wait_stage::sleep);
    is_ready = was_expected ? due.poll(step.until) : due.sleep(step.until);
    if (!is_ready) due.hears();
  }
  if (!is_ready) {
    was_expected = false;
    climb(next, rung::sleep);
    due.now = monotonic_nanoseconds();
  }
  if (LOCKSTEP_UNLIKELY(observers() != 0) && next == rung::sleep) {
    note_mark(was_expected ? mark_kind::anticipated : mark_kind::missed_wake_up,
              was_expected ? "anticipated" : "missed wake-up", nullptr, 0);
  }
  pace.wait_ends(due.now, !due.hears());
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_REGION_ANTICIPATION_HPP
