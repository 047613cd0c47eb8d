// SPDX-License-Identifier: MIT
// src/trace/delay_hooks.hpp -- seeded delays where threads synchronise (layer: trace)
//
// A program that lacks a barrier or a wait may work for years, because its threads happen to run in a good order.
// LOCKSTEP_DELAY=seed delays threads where they synchronise: before and after a wait that outlasts its first poll, before
// a member arrives and after it goes on, before and after its part of a region; in builds that diagnose misuse also
// before it locks, unlocks and notifies. A thread draws its delays
// from the seed, its number, and how many it has drawn.
//
//   DELAY-1  The same seed, thread and number of the point have the same delay. The thread's number is its track
//            (thread_log.hpp): in which order the threads of the process have come to the first point.
//   DELAY-2  Half of the points have none; others 0.1 to 5 us, few 20 to 200 us, and one of 64 up to 2 ms, in which
//            others run.
//
// Memory order (# marks the line)
//   #  access       order    pairs  why it suffices
//   1  seed.load    relaxed  -      a number that stands for itself
//   2  drawn        relaxed  -      the thread's own
#ifndef LOCKSTEP_SRC_TRACE_DELAY_HOOKS_HPP
#define LOCKSTEP_SRC_TRACE_DELAY_HOOKS_HPP

#include <cstdint>

#include <lockstep/detail/platform/clock.hpp>
#include <lockstep/detail/platform/system.hpp>
#include "thread_log.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// The delay of one point, in nanoseconds: pure.
inline std::uint64_t delay_at(std::uint64_t seed, std::uint64_t thread,
                              std::uint64_t point) noexcept {
  // splitmix64, over all three.
  std::uint64_t bits = seed * 0x9E3779B97F4A7C15u + thread * 0xD1B54A32D192ED03u + point + 1;
  bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9u + 0x94D049BB133111EBu * (point + 1);
  bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EBu;
  bits ^= bits >> 31;
  const std::uint64_t kind = bits & 63u, fraction = (bits >> 32) & 0xFFFFu;
  if (kind < 32) return 0;
  if (kind < 56) return 100 + fraction * 4900 / 65536;
  if (kind < 63) return 20000 + fraction * 180000 / 65536;
  return 200000 + fraction * 1800000 / 65536;
}

/// Called where observer::delays is on, on the thread itself; see sync_point() of hooks.hpp, too.
struct delay_hooks {
  static void point(thread_log& log) noexcept {
    const std::uint64_t number = log.delays.load(memory_order_relaxed);          // 2
    log.delays.store(number + 1, memory_order_relaxed);                          // 2
    const std::uint64_t seed = process().delay_seed.load(memory_order_relaxed);  // 1
    const std::uint64_t time = delay_at(seed, log.track(), number);
    if (time == 0) return;
    const std::uint64_t begin = steady_nanoseconds();
    while (steady_nanoseconds() - begin < time) {
      if (time >= 20000) yield_native_thread();
    }
  }
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_TRACE_DELAY_HOOKS_HPP
