// SPDX-License-Identifier: MIT
// src/trace/debug_aids.hpp -- reads LOCKSTEP_WATCHDOG and LOCKSTEP_DELAY, and delays threads (layer: trace)
//
// A program that lacks a barrier or a wait may work for years, because its threads happen to run in a good order.
// LOCKSTEP_DELAY=seed delays threads where they synchronise: before and after a wait that outlasts its first poll,
// before a member arrives and after it goes on, before and after its part of a region. In builds that diagnose misuse
// it also delays threads before they lock, unlock and notify.
//
//   DELAY-1  A delay depends only on the seed, the thread, and how many such points it has passed. A thread's number is
//            its track (thread_log.hpp): the order in which threads of the process came to their first hook.
//   DELAY-2  Half of the points have no delay, 24 of 64 have 0.1 to 5 us, 7 have 20 to 200 us, and one has 0.2 to 2 ms.
//            In delays from 20 us on the thread yields, so that others run.
#ifndef LOCKSTEP_SRC_TRACE_DEBUG_AIDS_HPP
#define LOCKSTEP_SRC_TRACE_DEBUG_AIDS_HPP

#include <cstdint>

#include <lockstep/watchdog.hpp>
#include "thread_log.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// Reads LOCKSTEP_WATCHDOG, in small letters: SECONDS[,abort][,signal]. False, and `result` stays, if it is wrong.
bool parse_watchdog(const char* word, watchdog_options& result) noexcept;
/// Reads LOCKSTEP_DELAY, a number. False, and `seed` stays, if it is wrong.
bool parse_delay(const char* word, std::uint64_t& seed) noexcept;

/// The delay at one point, in nanoseconds. A pure function.
std::uint64_t delay_at(std::uint64_t seed, std::uint64_t thread, std::uint64_t point) noexcept;
/// Delays the calling thread, which has this log.
void delay_thread(thread_log& log) noexcept;
/// `on`: the observers that are on.
inline void delay_if_on(thread_log& log, std::uint32_t on) noexcept {
  if (LOCKSTEP_UNLIKELY((on & observer::delays) != 0)) delay_thread(log);
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_TRACE_DEBUG_AIDS_HPP
