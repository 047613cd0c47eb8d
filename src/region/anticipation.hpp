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
//   EXPECT-2  It polls for at most member_pace::longest_poll(), and yields the CPU now and then. A worker that does
//             not get the CPU back within 2 ms has lost a time slice, and stops polling for a while.
//   EXPECT-3  The timer slack of the thread is short during a sleep with a deadline, and restored after it.
//   EXPECT-4  A worker learns the gaps of loops that it slept through as if it had been awake. It expects the next loop
//             relative to the last of them.
//
// Cost   a region that comes within 0.4 us: no call of this. A sleep with a deadline: 2 system calls around
//        it, and from a millisecond on the fence of the mark (published_words.hpp).
/// Waits for a worker's next region, by what is known of the gaps before. It polls while the region may come at any
/// moment, and sleeps while it cannot come. If what it expected does not come, it sleeps until it is woken. If it has
/// learned nothing, or was wrong too often, it waits like any other wait (wait_engine.hpp). For the adaptive policy of
/// a team that is not crowded.
/// Requires: a first poll has failed. `missed`: noted by the caller; the worker has `heard` this many of them.
void wait_for_region(waitable& what, wait_policy policy, cpu_separation& all, std::size_t rank,
                     const missed_loops& missed, std::uint32_t& heard);

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_REGION_ANTICIPATION_HPP
