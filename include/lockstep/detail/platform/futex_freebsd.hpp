// SPDX-License-Identifier: MIT
// lockstep/detail/platform/futex_freebsd.hpp -- sleeping in FreeBSD's _umtx_op (layer: platform)
//
// The contract is in futex.hpp. Compiled and linked for FreeBSD; run on a stand-in of the call only
// (tests/platform/other_systems.hpp).
//
// Deadlines are times of CLOCK_MONOTONIC, which is std::chrono::steady_clock there.
#ifndef LOCKSTEP_DETAIL_PLATFORM_FUTEX_FREEBSD_HPP
#define LOCKSTEP_DETAIL_PLATFORM_FUTEX_FREEBSD_HPP

#if defined(__FreeBSD__)

#include <errno.h>
#include <sys/types.h>
#include <sys/umtx.h>
#include <time.h>

#include <climits>
#include <cstdint>

#include <lockstep/detail/platform/atomic.hpp>
#include <lockstep/detail/platform/clock.hpp>
#include <lockstep/detail/platform/config.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

struct freebsd_futex {
  static const char* name() noexcept { return "_umtx_op"; }
  /// A child process has nothing to put right here.
  static void prepare_for_fork() noexcept {}

  static void wait(const wait_word& word, std::uint32_t expected, std::uint64_t deadline) noexcept {
    constexpr std::uint64_t second = 1000000000, longest = std::uint64_t{INT_MAX} * second;
    const std::uint64_t time = deadline < longest ? deadline : longest;
    _umtx_time until;
    until._timeout.tv_sec = static_cast<time_t>(time / second);
    until._timeout.tv_nsec = static_cast<long>(time % second);
    until._flags = UMTX_ABSTIME;
    until._clockid = CLOCK_MONOTONIC;
    const bool is_timed = deadline != no_deadline;
    // The size of the time goes where a pointer would.
    void* const size = reinterpret_cast<void*>(std::uintptr_t{sizeof until});
    const int saved = errno;
    _umtx_op(const_cast<wait_word*>(&word), UMTX_OP_WAIT_UINT_PRIVATE, expected,
             is_timed ? size : nullptr, is_timed ? &until : nullptr);
    errno = saved;
  }

  static void wake_one(const wait_word* word) noexcept { wake(word, 1); }
  static void wake_all(const wait_word* word) noexcept { wake(word, INT_MAX); }

 private:
  static void wake(const wait_word* word, unsigned long count) noexcept {
    const int saved = errno;
    _umtx_op(const_cast<wait_word*>(word), UMTX_OP_WAKE_PRIVATE, count, nullptr, nullptr);
    errno = saved;
  }
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif

#endif  // LOCKSTEP_DETAIL_PLATFORM_FUTEX_FREEBSD_HPP
