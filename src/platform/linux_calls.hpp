// SPDX-License-Identifier: MIT
// src/platform/linux_calls.hpp -- Linux's futex(2) and membarrier(2), also for the header to copy (layer: platform)
//
// FUTEX_WAIT_BITSET takes an absolute time of CLOCK_MONOTONIC, so a wait that returns early and is repeated keeps its
// deadline. If a kernel or sandbox refuses the call (ENOSYS, or EPERM from a filter), the waiter sleeps for 50 us
// instead and returns: it polls, which is slower, but it is never stuck, even if wakes are refused, too.
//
// Cost   a wait that must sleep: one call and a context switch. A wake: one call, about 0.23 us without a sleeper, 7 us
//        with a sleeper on a halted virtual CPU (measured on 2 CPUs of an EPYC, 6.18). For a word that several
//        processes share the kernel looks up the page as well: 0.1 us.
#ifndef LOCKSTEP_SRC_PLATFORM_LINUX_CALLS_HPP
#define LOCKSTEP_SRC_PLATFORM_LINUX_CALLS_HPP

#if defined(__linux__)

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdint>

#include <lockstep/detail/platform/atomic.hpp>
#include <lockstep/detail/platform/clock.hpp>

#include "posix.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// `Scope`: FUTEX_PRIVATE_FLAG if all threads belong to this process, else 0.
template <int Scope>
struct linux_futex {
  static_assert(sizeof(wait_word) == sizeof(std::uint32_t), "a futex is a plain 32-bit word");

  static const char* name() noexcept { return "linux futex"; }
  static void wait(const wait_word& word, std::uint32_t expected, std::uint64_t deadline) noexcept {
    if (!call(&word, FUTEX_WAIT_BITSET | Scope, expected, deadline)) nap();
  }
  static void wake(const wait_word* word, bool all) noexcept {
    call(word, FUTEX_WAKE | Scope, all ? INT_MAX : 1, no_deadline);
  }

 private:
  // Of the call's times. Not those of timespec: on 32-bit systems its time_t may be wider.
#if defined(__LP64__) || defined(__x86_64__)
  using kernel_long = std::int64_t;
#else
  using kernel_long = std::int32_t;
#endif

  /// False if the system refuses it. 32-bit systems have a second call, for 64-bit times. Old systems lack it. New systems
  /// may lack the first call.
  static bool call(const wait_word* word, int operation, std::uint32_t value,
                   std::uint64_t deadline) noexcept {
    const kept_error kept;
    const bool is_timed = deadline != no_deadline;
    const std::uint64_t second = 1000000000;
    const std::uint64_t seconds = std::min<std::uint64_t>(deadline / second, INT_MAX);
#if defined(SYS_futex_time64)
    const std::int64_t wide[] = {static_cast<std::int64_t>(seconds),
                                 static_cast<std::int64_t>(deadline % second)};
    if (syscall(SYS_futex_time64, word, operation, value, is_timed ? wide : nullptr, nullptr,
                FUTEX_BITSET_MATCH_ANY) >= 0 ||
        !is_refusal(errno)) {
      return true;
    }
#endif
#if defined(SYS_futex)
    const kernel_long time[] = {static_cast<kernel_long>(seconds),
                                static_cast<kernel_long>(deadline % second)};
    return syscall(SYS_futex, word, operation, value, is_timed ? time : nullptr, nullptr,
                   FUTEX_BITSET_MATCH_ANY) >= 0 ||
           !is_refusal(errno);
#else
    return false;
#endif
  }
  static bool is_refusal(int error) noexcept { return error == ENOSYS || error == EPERM; }
};

/// The private expedited barrier. The calls return false if it is refused.
struct linux_barrier {
  // From linux/membarrier.h, which older distributions lack.
  enum : int { private_expedited = 1 << 3, register_private_expedited = 1 << 4 };

  static bool is_granted() noexcept { return call(register_private_expedited); }
  static bool pass() noexcept { return call(private_expedited); }
  static const char* name() noexcept { return "membarrier, the sleeper pays"; }

 private:
  static bool call(int command) noexcept {
#if defined(SYS_membarrier)
    const kept_error kept;
    return syscall(SYS_membarrier, command, 0, 0) == 0;
#else
    return command == 0;  // false: the headers are of a kernel without it
#endif
  }
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif

#endif  // LOCKSTEP_SRC_PLATFORM_LINUX_CALLS_HPP
