// SPDX-License-Identifier: MIT
// src/platform/futex_openbsd.cpp -- sleeping in OpenBSD's futex (layer: platform)
//
// Compiled for OpenBSD; run on a stand-in of the call only
// (tests/platform/other_systems.hpp).
//
// The call takes how long to sleep, not until when: a waiter that is preempted before it sleeps oversleeps so much.
#include <lockstep/detail/platform/system.hpp>

#if defined(__OpenBSD__) && !LOCKSTEP_FORCE_PORTABLE_FUTEX

#include <stdint.h>
#include <sys/time.h>
// After what it needs.
#include <sys/futex.h>

#include "posix.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

struct openbsd_futex {
  static void call(const wait_word* word, int operation, int value, const timespec* time) noexcept {
    const kept_errno kept;
    void* const address = const_cast<wait_word*>(word);
    ::futex(static_cast<std::uint32_t*>(address), operation, value, time, nullptr);
  }
};

LOCKSTEP_INLINE const char* native_futex::name() noexcept { return "openbsd futex"; }

LOCKSTEP_INLINE void native_futex::wait(const wait_word& word, std::uint32_t expected,
                                        std::uint64_t deadline) {
  const std::uint64_t now = deadline != no_deadline ? steady_nanoseconds() : 0;
  if (deadline <= now) return;
  const timespec rest = system_time<timespec>(deadline - now);
  openbsd_futex::call(&word, FUTEX_WAIT_PRIVATE, static_cast<int>(expected),
                      deadline != no_deadline ? &rest : nullptr);
}

LOCKSTEP_INLINE void native_futex::wake(const wait_word* word, bool all) {
  openbsd_futex::call(word, FUTEX_WAKE_PRIVATE, all ? INT_MAX : 1, nullptr);
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif
