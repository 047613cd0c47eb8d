// SPDX-License-Identifier: MIT
// src/platform/clock.cpp -- the bodies of clock.hpp (layer: platform)
#include <lockstep/detail/platform/clock.hpp>

#include <chrono>

#include "once.hpp"
#include "windows.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

#if defined(_WIN32)
// Not std::chrono::steady_clock, which is the time of day in libstdc++ without POSIX threads.
LOCKSTEP_INLINE std::uint64_t native::monotonic_nanoseconds() noexcept {
  constexpr std::uint64_t second = 1000000000;
  std::uint64_t ticks = 0, rate = 1;
  void *const to_ticks = &ticks, *const to_rate = &rate;
  QueryPerformanceCounter(static_cast<_LARGE_INTEGER*>(to_ticks));
  QueryPerformanceFrequency(static_cast<_LARGE_INTEGER*>(to_rate));
  return ticks / rate * second + ticks % rate * second / rate;
}
#else
LOCKSTEP_INLINE std::uint64_t native::monotonic_nanoseconds() noexcept {
  const std::chrono::nanoseconds time = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(time.count());
}
#endif

#if defined(__aarch64__) && !defined(_MSC_VER)

LOCKSTEP_INLINE double measure_tick_rate() {
  std::uint64_t frequency;
  __asm__ __volatile__("mrs %0, cntfrq_el0" : "=r"(frequency));
  return static_cast<double>(frequency);
}

#else

struct both_clocks {
  std::uint64_t time;
  std::uint64_t tick;
};

/// Takes the shortest of a few readings: one during which the thread was preempted is longer.
LOCKSTEP_INLINE both_clocks read_both_clocks() noexcept {
  both_clocks best = {0, 0};
  std::uint64_t closest = ~std::uint64_t{0};
  for (int i = 0; i < 8; ++i) {
    const std::uint64_t before = tick_clock::now(), time = native::monotonic_nanoseconds(),
                        after = tick_clock::now();
    if (after - before >= closest) continue;
    closest = after - before;
    best.time = time;
    best.tick = before + closest / 2;
  }
  return best;
}

LOCKSTEP_INLINE double measure_tick_rate() {
  constexpr std::uint64_t window = 2000000;
  const both_clocks first = read_both_clocks();
  while (native::monotonic_nanoseconds() - first.time < window) continue;
  const both_clocks last = read_both_clocks();
  return static_cast<double>(last.tick - first.tick) * 1e9 /
         static_cast<double>(last.time - first.time);
}

#endif

LOCKSTEP_INLINE double tick_clock::rate() {
  static found_once<double> measured;
  return measured.get(measure_tick_rate);
}

LOCKSTEP_INLINE double tick_clock::nanoseconds(std::uint64_t ticks) {
  return static_cast<double>(ticks) * 1e9 / rate();
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
