// SPDX-License-Identifier: MIT
// src/platform/openbsd_system.hpp -- OpenBSD (layer: platform)
//
// Compiled; its futex is run on a stand-in of the call only (tests/platform/other_systems.hpp). Sleeps end on a tick of the
// system, 10 ms apart.
#ifndef LOCKSTEP_SRC_PLATFORM_OPENBSD_SYSTEM_HPP
#define LOCKSTEP_SRC_PLATFORM_OPENBSD_SYSTEM_HPP

#if defined(__OpenBSD__)

#include <stdint.h>
#include <sys/time.h>
// After what they need.
#include <pthread_np.h>
#include <sys/futex.h>

#include "posix_system.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

struct openbsd_system : bsd_system {
  static bool has_fine_timers() noexcept { return false; }

  /// The call takes how long to sleep, not until when: a waiter that is preempted before it sleeps oversleeps so much.
  struct futex {
    static const char* name() noexcept { return "openbsd futex"; }
    static void wait(const wait_word& word, std::uint32_t expected, std::uint64_t deadline) {
      const std::uint64_t now = deadline != no_deadline ? steady_nanoseconds() : 0;
      if (deadline <= now) return;
      const timespec rest = system_time<timespec>(deadline - now);
      call(&word, FUTEX_WAIT_PRIVATE, static_cast<int>(expected),
           deadline != no_deadline ? &rest : nullptr);
    }
    static void wake(const wait_word* word, bool all) {
      call(word, FUTEX_WAKE_PRIVATE, all ? INT_MAX : 1, nullptr);
    }

   private:
    static void call(const wait_word* word, int operation, int value,
                     const timespec* time) noexcept {
      const kept_error kept;
      void* const address = const_cast<wait_word*>(word);
      ::futex(static_cast<std::uint32_t*>(address), operation, value, time, nullptr);
    }
  };

  static bool set_name(const char* name) noexcept {
    pthread_set_name_np(pthread_self(), name);
    return true;
  }
  static void get_name(char* text, std::size_t size) noexcept {
    pthread_get_name_np(pthread_self(), text, size);
  }
  static std::uint64_t thread_number() noexcept { return static_cast<std::uint64_t>(getthrid()); }
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif

#endif  // LOCKSTEP_SRC_PLATFORM_OPENBSD_SYSTEM_HPP
