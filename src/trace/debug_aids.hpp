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
//
// Memory order (# marks the line)
//   #  access      order    pairs  why it suffices
//   1  seed.load   relaxed  -      a number that stands for itself (1 of debug_aids.cpp)
#ifndef LOCKSTEP_SRC_TRACE_DEBUG_AIDS_HPP
#define LOCKSTEP_SRC_TRACE_DEBUG_AIDS_HPP

#include <cstdint>
#include <cstring>

#include <lockstep/detail/platform/clock.hpp>
#include <lockstep/watchdog.hpp>
#include "../platform/system.hpp"
#include "../platform/system_texts.hpp"
#include "thread_log.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// Reads LOCKSTEP_WATCHDOG, in small letters: SECONDS[,abort][,signal]. False, and `result` stays, if it is wrong.
inline bool parse_watchdog(const char* word, watchdog_options& result) noexcept {
  unsigned long long whole = 0, part = 0, scale = 1;
  constexpr unsigned long long most = 31536000;  // a year
  if (!read_number(word, most, whole)) return false;
  if (*word == '.') {
    for (++word; *word >= '0' && *word <= '9'; ++word) {
      if (scale == 1000000000u) continue;
      part = part * 10 + static_cast<unsigned long long>(*word - '0');
      scale *= 10;
    }
    if (scale == 1) return false;
  }
  watchdog_options said;
  const unsigned long long time = whole * 1000000000u + part * (1000000000u / scale);
  if (time == 0) return false;
  said.after(std::chrono::nanoseconds(static_cast<std::chrono::nanoseconds::rep>(time)));
  while (*word == ',') {
    ++word;
    if (std::strncmp(word, "abort", 5) == 0) {
      said.aborts(true);
      word += 5;
    } else if (std::strncmp(word, "signal", 6) == 0) {
      said.on_signal(true);
      word += 6;
    } else {
      return false;
    }
  }
  if (*word != 0) return false;
  result = said;
  return true;
}
/// Reads LOCKSTEP_DELAY, a number. False, and `seed` stays, if it is wrong.
inline bool parse_delay(const char* word, std::uint64_t& seed) noexcept {
  unsigned long long number = 0;
  if (!read_number(word, ~0ull, number) || *word != 0) return false;
  seed = number;
  return true;
}

/// The delay at one point, in nanoseconds. A pure function.
inline std::uint64_t delay_at(std::uint64_t seed, std::uint64_t thread,
                              std::uint64_t point) noexcept {
  // As splitmix64, over all three numbers.
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
/// Delays the calling thread, which has this log.
LOCKSTEP_NOINLINE inline void delay_thread(thread_log& log) noexcept {
  const std::uint64_t number = log.delays++;
  const std::uint64_t seed = process().delay_seed.load(memory_order_relaxed);  // 1
  const std::uint64_t time = delay_at(seed, log.track(), number);
  if (time == 0) return;
  const std::uint64_t begin = native::monotonic_nanoseconds();
  while (native::monotonic_nanoseconds() - begin < time) {
    if (time >= 20000) native_system::yield();
  }
}
/// `on`: the observers that are on.
inline void delay_if_on(thread_log& log, std::uint32_t on) noexcept {
  if (LOCKSTEP_UNLIKELY((on & observer::delays) != 0)) delay_thread(log);
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_TRACE_DEBUG_AIDS_HPP
