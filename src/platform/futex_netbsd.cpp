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

#include <unistd.h>

#include "posix.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

struct netbsd_futex {
  // From sys/futex.h, which is for the system's own programs: as in Linux, and private to the process.
  enum : int { plain_wake = 1 | 1 << 7, wait_bitset = 9 | 1 << 7, match_any = -1 };

  static void call(const wait_word* word, int operation, int value, const timespec* time) noexcept {
    const kept_errno kept;
    ::syscall(SYS___futex, word, operation, value, time, nullptr, 0, match_any);
  }
};

LOCKSTEP_INLINE const char* native_futex::name() noexcept { return "netbsd futex"; }

LOCKSTEP_INLINE void native_futex::wait(const wait_word& word, std::uint32_t expected,
                                        std::uint64_t deadline) {
  const timespec until = system_time<timespec>(deadline);
  netbsd_futex::call(&word, netbsd_futex::wait_bitset, static_cast<int>(expected),
                     deadline != no_deadline ? &until : nullptr);
}

LOCKSTEP_INLINE void native_futex::wake(const wait_word* word, bool all) {
  netbsd_futex::call(word, netbsd_futex::plain_wake, all ? INT_MAX : 1, nullptr);
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif
