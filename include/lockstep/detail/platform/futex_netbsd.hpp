// SPDX-License-Identifier: MIT
// lockstep/detail/platform/futex_netbsd.hpp -- sleeping in NetBSD's __futex (layer: platform)
//
// The contract is in futex.hpp. Compiled and linked for NetBSD; run on a stand-in of the call only
// (tests/platform/other_systems.hpp).
//
// The system has the call from version 10 on. A program that is built on an older one takes the portable futex.
#ifndef LOCKSTEP_DETAIL_PLATFORM_FUTEX_NETBSD_HPP
#define LOCKSTEP_DETAIL_PLATFORM_FUTEX_NETBSD_HPP

#if defined(__NetBSD__)

#include <errno.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <climits>
#include <cstdint>

#include <lockstep/detail/platform/atomic.hpp>
#include <lockstep/detail/platform/clock.hpp>
#include <lockstep/detail/platform/config.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

struct netbsd_futex {
  static const char* name() noexcept { return "netbsd futex"; }
  /// A child process has nothing to put right here.
  static void prepare_for_fork() noexcept {}

  static void wait(const wait_word& word, std::uint32_t expected, std::uint64_t deadline) noexcept {
    constexpr std::uint64_t second = 1000000000, longest = std::uint64_t{INT_MAX} * second;
    const std::uint64_t time = deadline < longest ? deadline : longest;
    timespec until;
    until.tv_sec = static_cast<time_t>(time / second);
    until.tv_nsec = static_cast<long>(time % second);
    call(&word, wait_bitset, static_cast<int>(expected),
         deadline != no_deadline ? &until : nullptr);
  }

  static void wake_one(const wait_word* word) noexcept { call(word, plain_wake, 1, nullptr); }
  static void wake_all(const wait_word* word) noexcept { call(word, plain_wake, INT_MAX, nullptr); }

 private:
  // From sys/futex.h, which is for the system's own programs: as in Linux, and private to the process.
  enum : int { plain_wake = 1 | 1 << 7, wait_bitset = 9 | 1 << 7, match_any = -1 };

  static void call(const wait_word* word, int operation, int value, const timespec* time) noexcept {
    const int saved = errno;
    ::syscall(SYS___futex, word, operation, value, time, nullptr, 0, match_any);
    errno = saved;
  }
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif

#endif  // LOCKSTEP_DETAIL_PLATFORM_FUTEX_NETBSD_HPP
