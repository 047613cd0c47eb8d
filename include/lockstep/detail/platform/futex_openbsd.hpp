// SPDX-License-Identifier: MIT
// lockstep/detail/platform/futex_openbsd.hpp -- sleeping in OpenBSD's futex (layer: platform)
//
// The contract is in futex.hpp. Compiled for OpenBSD; run on a stand-in of the call only
// (tests/platform/other_systems.hpp).
//
// The call takes how long to sleep, not until when: a waiter that is preempted before it sleeps oversleeps so much.
#ifndef LOCKSTEP_DETAIL_PLATFORM_FUTEX_OPENBSD_HPP
#define LOCKSTEP_DETAIL_PLATFORM_FUTEX_OPENBSD_HPP

#if defined(__OpenBSD__)

#include <errno.h>
#include <stdint.h>
#include <sys/time.h>
// After what it needs.
#include <sys/futex.h>

#include <climits>
#include <cstdint>

#include <lockstep/detail/platform/atomic.hpp>
#include <lockstep/detail/platform/clock.hpp>
#include <lockstep/detail/platform/config.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

struct openbsd_futex {
  static const char* name() noexcept { return "openbsd futex"; }
  /// A child process has nothing to put right here.
  static void prepare_for_fork() noexcept {}

  static void wait(const wait_word& word, std::uint32_t expected, std::uint64_t deadline) noexcept {
    constexpr std::uint64_t second = 1000000000, longest = std::uint64_t{INT_MAX} * second;
    timespec rest = {0, 0};
    if (deadline != no_deadline) {
      const std::uint64_t now = steady_nanoseconds();
      if (deadline <= now) return;
      const std::uint64_t time = deadline - now < longest ? deadline - now : longest;
      rest.tv_sec = static_cast<time_t>(time / second);
      rest.tv_nsec = static_cast<long>(time % second);
    }
    call(&word, FUTEX_WAIT_PRIVATE, static_cast<int>(expected),
         deadline != no_deadline ? &rest : nullptr);
  }

  static void wake_one(const wait_word* word) noexcept {
    call(word, FUTEX_WAKE_PRIVATE, 1, nullptr);
  }
  static void wake_all(const wait_word* word) noexcept {
    call(word, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr);
  }

 private:
  static void call(const wait_word* word, int operation, int value, const timespec* time) noexcept {
    const int saved = errno;
    void* const address = const_cast<wait_word*>(word);
    ::futex(static_cast<std::uint32_t*>(address), operation, value, time, nullptr);
    errno = saved;
  }
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif

#endif  // LOCKSTEP_DETAIL_PLATFORM_FUTEX_OPENBSD_HPP
