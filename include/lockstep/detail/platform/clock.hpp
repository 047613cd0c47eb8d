// SPDX-License-Identifier: MIT
// lockstep/detail/platform/clock.hpp -- the two clocks (layer: platform)
//
// steady_nanoseconds()  never jumps, is what timeouts use, 25 ns a call here
// tick_clock            the processor's counter, 10 ns a call, for stamps that are many and close; rate() tells how many
//                       ticks a second has (measured once, in 2 ms, where the system does not say)
//
// Ticks of different CPUs are comparable where the counter is invariant and synchronised, which holds
// for x86 processors of the last 15 years and by definition for AArch64. Elsewhere the tick clock *is*
// the monotonic clock.
#ifndef LOCKSTEP_DETAIL_PLATFORM_CLOCK_HPP
#define LOCKSTEP_DETAIL_PLATFORM_CLOCK_HPP

#include <cstdint>

#include <lockstep/detail/platform/config.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// The point of the monotonic clock that never comes.
constexpr std::uint64_t no_deadline = ~std::uint64_t{0};

std::uint64_t steady_nanoseconds() noexcept;

struct tick_clock {
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
  static double rate();

  /// A difference of two stamps in nanoseconds.
  static double nanoseconds(std::uint64_t ticks);
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_PLATFORM_CLOCK_HPP
