// SPDX-License-Identifier: MIT
// lockstep/detail/platform/clock.hpp -- the two clocks, and the pause of polling loops (layer: platform)
//
// monotonic_nanoseconds()  the monotonic clock, which timeouts use: 25 ns a call
// tick_clock               the processor's counter, for many stamps close to each other: 10 ns a call. rate() is its ticks
//                          a second; where the system does not tell that, it is measured once, in 2 ms
//
// Ticks of different CPUs are comparable where the counter is invariant and synchronised. This holds for x86 processors
// of the last 15 years, and by definition for AArch64. On other processors the tick clock *is* the monotonic clock.
#ifndef LOCKSTEP_DETAIL_PLATFORM_CLOCK_HPP
#define LOCKSTEP_DETAIL_PLATFORM_CLOCK_HPP

#include <cstdint>

#include <lockstep/detail/platform/config.hpp>

#if defined(_MSC_VER) && (defined(_M_X64) || defined(_M_IX86) || defined(_M_ARM64))
#include <intrin.h>
#endif

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// The point of the monotonic clock that never comes.
constexpr std::uint64_t no_deadline = ~std::uint64_t{0};

/// What the machine has, also where a test replaces it: the library takes these names from src/platform/system.hpp.
namespace native {

/// The clock of all deadlines and budgets.
std::uint64_t monotonic_nanoseconds() noexcept;

/// The pause of a polling loop: the next look differs only if other threads have run. It lets a hyper-thread sibling run
/// and keeps the memory pipeline from guessing ahead. It costs 4 to 140 cycles, depending on the processor (26 ns on the
/// EPYC that the project is measured on). So never use a count of pauses as a measure of time.
inline void polling_pause() noexcept {
#if defined(_MSC_VER) && (defined(_M_X64) || defined(_M_IX86))
  _mm_pause();
#elif defined(_MSC_VER) && defined(_M_ARM64)
  __yield();
#elif defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  // ISB waits for about as long as x86's PAUSE; YIELD is a no-op on most cores.
  __asm__ __volatile__("isb" ::: "memory");
#elif defined(__arm__) && (__ARM_ARCH >= 7 || defined(__ARM_ARCH_6K__) || defined(__ARM_ARCH_6KZ__))
  __asm__ __volatile__("yield" ::: "memory");
#elif defined(__riscv)
  __asm__ __volatile__(".insn i 0x0F, 0, x0, x0, 0x010" ::: "memory");
#elif defined(__powerpc64__)
  __asm__ __volatile__("or 27,27,27" ::: "memory");
#endif
}

}  // namespace native

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
    return native::monotonic_nanoseconds();
#endif
  }

  /// Ticks per second. The first call may take 2 ms.
  static double rate();

  /// Converts the difference of two stamps to nanoseconds.
  static double nanoseconds(std::uint64_t ticks);
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_PLATFORM_CLOCK_HPP
