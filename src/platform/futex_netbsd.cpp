// SPDX-License-Identifier: MIT
// src/platform/futex_netbsd.cpp -- sleeping in NetBSD's __futex (layer: platform)
//
// Compiled and linked for NetBSD; run on a stand-in of the call only
// (tests/platform/other_systems.hpp).
//
// The system has the call from version 10 on. A program that is built on an older one takes the portable futex.
#include <lockstep/detail/platform/system.hpp>

#if defined(__NetBSD__)
#include <sys/syscall.h>
#endif
#if defined(SYS___futex) && !LOCKSTEP_FORCE_PORTABLE_FUTEX

#include <errno.h>
#include <sys/time.h>
#include <unistd.h>

#include <climits>
#include <cstdint>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

struct netbsd_futex {
  // From sys/futex.h, which is for the system's own programs: as in Linux, and private to the process.
  enum : int { plain_wake = 1 | 1 << 7, wait_bitset = 9 | 1 << 7, match_any = -1 };

  static void call(const wait_word* word, int operation, int value, const timespec* time) noexcept {
    const int saved = errno;
    ::syscall(SYS___futex, word, operation, value, time, nullptr, 0, match_any);
    errno = saved;
  }
};

LOCKSTEP_INLINE const char* native_futex::name() noexcept { return "netbsd futex"; }

LOCKSTEP_INLINE void native_futex::prepare_for_fork() {}
LOCKSTEP_INLINE void native_futex::wait(const wait_word& word, std::uint32_t expected,
                                        std::uint64_t deadline) {
  constexpr std::uint64_t second = 1000000000, longest = std::uint64_t{INT_MAX} * second;
  const std::uint64_t time = deadline < longest ? deadline : longest;
  timespec until;
  until.tv_sec = static_cast<time_t>(time / second);
  until.tv_nsec = static_cast<long>(time % second);
  netbsd_futex::call(&word, netbsd_futex::wait_bitset, static_cast<int>(expected),
                     deadline != no_deadline ? &until : nullptr);
}

LOCKSTEP_INLINE void native_futex::wake_one(const wait_word* word) {
  netbsd_futex::call(word, netbsd_futex::plain_wake, 1, nullptr);
}

LOCKSTEP_INLINE void native_futex::wake_all(const wait_word* word) {
  netbsd_futex::call(word, netbsd_futex::plain_wake, INT_MAX, nullptr);
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif
