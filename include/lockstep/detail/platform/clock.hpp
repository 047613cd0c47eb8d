// SPDX-License-Identifier: MIT
// lockstep/detail/platform/clock.hpp -- the two clocks (layer: platform)
//
// monotonic_nanoseconds()  never jumps, is what timeouts use, 25 ns a call here
// tick_clock               the processor's counter, 10 ns a call, for stamps that are many and close;
//                          rate() tells how many ticks a second has (measured once, in 2 ms, where the
//                          system does not say)
//
// Ticks of different CPUs are comparable where the counter is invariant and synchronised, which holds
// for x86 processors of the last 15 years and by definition for AArch64. Elsewhere the tick clock *is*
// the monotonic clock.
//
// Memory order (# marks the line)
//   #  access         order    pairs  why it suffices
//   1  measured       relaxed  -      a number that stands for itself; the first one stays
#ifndef LOCKSTEP_DETAIL_PLATFORM_CLOCK_HPP
#define LOCKSTEP_DETAIL_PLATFORM_CLOCK_HPP

#include <cstdint>

#include <lockstep/detail/platform/atomic.hpp>

#if defined(_WIN32)
union _LARGE_INTEGER;
extern "C" {
__declspec(dllimport) int __stdcall QueryPerformanceCounter(_LARGE_INTEGER*);
__declspec(dllimport) int __stdcall QueryPerformanceFrequency(_LARGE_INTEGER*);
}
#else
#include <chrono>
#endif

#if defined(_MSC_VER) && (defined(_M_X64) || defined(_M_IX86))
#include <intrin.h>
#endif

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// The point of the monotonic clock that never comes.
constexpr std::uint64_t no_deadline = ~std::uint64_t{0};

#if defined(_WIN32)

// Not std::chrono::steady_clock: libstdc++ without POSIX threads has the time of day there.
inline std::uint64_t steady_nanoseconds() noexcept {
  constexpr std::uint64_t second = 1000000000;
  std::uint64_t ticks = 0, rate = 1;
  void *const to_ticks = &ticks, *const to_rate = &rate;
  QueryPerformanceCounter(static_cast<_LARGE_INTEGER*>(to_ticks));
  QueryPerformanceFrequency(static_cast<_LARGE_INTEGER*>(to_rate));
  return ticks / rate * second + ticks % rate * second / rate;
}

#else

inline std::uint64_t steady_nanoseconds() noexcept {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                        std::chrono::steady_clock::now().time_since_epoch())
                                        .count());
}

#endif

class tick_clock {
 public:
  static std::uint64_t now() noexcept {
#if defined(_MSC_VER) && (defined(_M_X64) || defined(_M_IX86))
    return __rdtsc();
#elif defined(__x86_64__) || defined(__i386__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    std::uint64_t ticks;
    __asm__ __volatile__("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#else
    return steady_nanoseconds();
#endif
  }

  /// Ticks per second. The first call may take 2 ms.
  static double rate() {
    // Not a guarded static: a child of fork() would wait for a thread that measures no more.
    static unseamed_atomic<double> measured{0};
    double known = measured.load(memory_order_relaxed);  // 1
    if (known > 0) return known;
    const double rate = measure_rate();
    return measured.compare_exchange_strong(known, rate, memory_order_relaxed,  // 1
                                            memory_order_relaxed)               // 1
               ? rate
               : known;
  }

  /// A difference of two stamps in nanoseconds.
  static double nanoseconds(std::uint64_t ticks) {
    return static_cast<double>(ticks) * 1e9 / rate();
  }

 private:
  struct both_clocks {
    std::uint64_t time;
    std::uint64_t tick;
  };

  /// The closest of a few readings: one that was preempted in the middle is not the closest.
  static both_clocks read_both() noexcept {
    both_clocks best = {0, 0};
    std::uint64_t closest = ~std::uint64_t{0};
    for (int i = 0; i < 8; ++i) {
      const std::uint64_t before = now(), time = steady_nanoseconds(), after = now();
      if (after - before >= closest) continue;
      closest = after - before;
      best.time = time;
      best.tick = before + closest / 2;
    }
    return best;
  }

  static double measure_rate() {
#if defined(__aarch64__) && !defined(_MSC_VER)
    std::uint64_t frequency;
    __asm__ __volatile__("mrs %0, cntfrq_el0" : "=r"(frequency));
    return static_cast<double>(frequency);
#else
    constexpr std::uint64_t window = 2000000;
    const both_clocks first = read_both();
    while (steady_nanoseconds() - first.time < window) continue;
    const both_clocks last = read_both();
    return static_cast<double>(last.tick - first.tick) * 1e9 /
           static_cast<double>(last.time - first.time);
#endif
  }
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_PLATFORM_CLOCK_HPP
