// SPDX-License-Identifier: MIT
// src/trace/debug_aids.hpp -- what LOCKSTEP_WATCHDOG and LOCKSTEP_DELAY say, and the delays (layer: trace)
//
// A program that lacks a barrier or a wait may work for years, because its threads happen to run in a good order.
// LOCKSTEP_DELAY=seed delays threads where they synchronise: before and after a wait that outlasts its first poll, before
// a member arrives and after it goes on, before and after its part of a region; in builds that diagnose misuse also
// before it locks, unlocks and notifies. A thread draws its delays from the seed, its number, and how many it has drawn.
//
//   DELAY-1  The same seed, thread and number of the point have the same delay. The thread's number is its track
//            (thread_log.hpp): in which order the threads of the process have come to the first point.
//   DELAY-2  Half of the points have none; others 0.1 to 5 us, few 20 to 200 us, and one of 64 up to 2 ms, in which
//            others run.
#ifndef LOCKSTEP_SRC_TRACE_DEBUG_AIDS_HPP
#define LOCKSTEP_SRC_TRACE_DEBUG_AIDS_HPP

#include <cstdint>

#include <lockstep/watchdog.hpp>
#include "thread_log.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// LOCKSTEP_WATCHDOG: SECONDS[,abort][,signal]. False if it is none; `result` is as it was then. In small letters.
bool parse_watchdog(const char* word, watchdog_options& result) noexcept;
/// LOCKSTEP_DELAY: a number.
bool parse_delay(const char* word, std::uint64_t& seed) noexcept;

/// The delay of one point, in nanoseconds: pure.
std::uint64_t delay_at(std::uint64_t seed, std::uint64_t thread, std::uint64_t point) noexcept;
/// The calling thread, whose log that is, passes a point at which it is delayed.
void delay_thread(thread_log& log) noexcept;
/// `on`: who watches.
inline void delay_if_on(thread_log& log, std::uint32_t on) noexcept {
  if (LOCKSTEP_UNLIKELY((on & observer::delays) != 0)) delay_thread(log);
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_TRACE_DEBUG_AIDS_HPP
