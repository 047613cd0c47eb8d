// SPDX-License-Identifier: MIT
// src/platform/futex_openbsd.cpp -- sleeping in OpenBSD's futex (layer: platform)
//
// Compiled for OpenBSD; run on a stand-in of the call only
// (tests/platform/other_systems.hpp).
//
// The call takes how long to sleep, not until when: a waiter that is preempted before it sleeps oversleeps so much.
#include <lockstep/detail/platform/system.hpp>

#if defined(__OpenBSD__) && !LOCKSTEP_FORCE_PORTABLE_FUTEX

#include <errno.h>
#include <stdint.h>
#include <sys/time.h>
// After what it needs.
#include <sys/futex.h>

#include <climits>
#include <cstdint>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

struct openbsd_futex {
  static void call(const wait_word* word, int operation, int value, const timespec* time) noexcept {
    const int saved = errno;
    void* const address = const_cast<wait_word*>(word);
    ::futex(static_cast<std::uint32_t*>(address), operation, value, time, nullptr);
    errno = saved;
  }
};

LOCKSTEP_INLINE const char* native_futex::name() noexcept { return "openbsd futex"; }

LOCKSTEP_INLINE void native_futex::prepare_for_fork() {}
LOCKSTEP_INLINE void native_futex::wait(const wait_word& word, std::uint32_t expected,
                                        std::uint64_t deadline) {
  constexpr std::uint64_t second = 1000000000, longest = std::uint64_t{INT_MAX} * second;
  timespec rest = {0, 0};
  if (deadline != no_deadline) {
    const std::uint64_t now = steady_nanoseconds();
    if (deadline <= now) return;
    const std::uint64_t time = deadline - now < longest ? deadline - now : longest;
    rest.tv_sec = static_cast<time_t>(time / second);
    rest.tv_nsec = static_cast<long>(time % second);
  }
  openbsd_futex::call(&word, FUTEX_WAIT_PRIVATE, static_cast<int>(expected),
                      deadline != no_deadline ? &rest : nullptr);
}

LOCKSTEP_INLINE void native_futex::wake_one(const wait_word* word) {
  openbsd_futex::call(word, FUTEX_WAKE_PRIVATE, 1, nullptr);
}

LOCKSTEP_INLINE void native_futex::wake_all(const wait_word* word) {
  openbsd_futex::call(word, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr);
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif
