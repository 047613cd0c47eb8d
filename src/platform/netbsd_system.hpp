// SPDX-License-Identifier: MIT
// src/platform/netbsd_system.hpp -- NetBSD (layer: platform)
//
// Compiled and linked; its futex is run on a stand-in of the call only (tests/platform/other_systems.hpp). The system has
// the call from version 10 on. A program that is built on an older one takes the portable futex. Sleeps end on a tick of the
// system, 10 ms apart.
#ifndef LOCKSTEP_SRC_PLATFORM_NETBSD_SYSTEM_HPP
#define LOCKSTEP_SRC_PLATFORM_NETBSD_SYSTEM_HPP

#if defined(__NetBSD__)

#include <lwp.h>
#include <sys/syscall.h>

#include "posix_system.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

struct netbsd_system : bsd_system {
  static bool has_fine_timers() noexcept { return false; }

#if defined(SYS___futex)
  struct futex {
    static const char* name() noexcept { return "netbsd futex"; }
    static void wait(const wait_word& word, std::uint32_t expected, std::uint64_t deadline) {
      const timespec until = system_time<timespec>(deadline);
      call(&word, wait_bitset, static_cast<int>(expected),
           deadline != no_deadline ? &until : nullptr);
    }
    static void wake(const wait_word* word, bool all) {
      call(word, plain_wake, all ? INT_MAX : 1, nullptr);
    }

   private:
    // From sys/futex.h, which is for the system's own programs: as in Linux, and private to the process.
    enum : int { plain_wake = 1 | 1 << 7, wait_bitset = 9 | 1 << 7, match_any = -1 };

    static void call(const wait_word* word, int operation, int value,
                     const timespec* time) noexcept {
      const kept_error kept;
      ::syscall(SYS___futex, word, operation, value, time, nullptr, 0, match_any);
    }
  };
#endif

  static bool set_name(const char* name) noexcept {
    const short_name<PTHREAD_MAX_NAMELEN_NP> shown(name);
    return pthread_setname_np(pthread_self(), "%s", const_cast<char*>(shown.text)) == 0;
  }
  static void get_name(char* text, std::size_t size) noexcept {
    pthread_getname_np(pthread_self(), text, size);
  }
  static std::uint64_t thread_number() noexcept { return static_cast<std::uint64_t>(_lwp_self()); }
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif

#endif  // LOCKSTEP_SRC_PLATFORM_NETBSD_SYSTEM_HPP
