// SPDX-License-Identifier: MIT
// src/platform/futex_freebsd.cpp -- sleeping in FreeBSD's _umtx_op (layer: platform)
//
// Compiled and linked for FreeBSD; run on a stand-in of the call only
// (tests/platform/other_systems.hpp).
//
// Deadlines are times of CLOCK_MONOTONIC, which is std::chrono::steady_clock there.
#include <lockstep/detail/platform/system.hpp>

#if defined(__FreeBSD__) && !LOCKSTEP_FORCE_PORTABLE_FUTEX

#include <errno.h>
#include <sys/types.h>
#include <sys/umtx.h>
#include <time.h>

#include <climits>
#include <cstdint>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

struct freebsd_futex {
  static void wake(const wait_word* word, unsigned long count) noexcept {
    const int saved = errno;
    _umtx_op(const_cast<wait_word*>(word), UMTX_OP_WAKE_PRIVATE, count, nullptr, nullptr);
    errno = saved;
  }
};

LOCKSTEP_INLINE const char* native_futex::name() noexcept { return "_umtx_op"; }

LOCKSTEP_INLINE void native_futex::prepare_for_fork() {}
LOCKSTEP_INLINE void native_futex::wait(const wait_word& word, std::uint32_t expected,
                                        std::uint64_t deadline) {
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

LOCKSTEP_INLINE void native_futex::wake_one(const wait_word* word) { freebsd_futex::wake(word, 1); }

LOCKSTEP_INLINE void native_futex::wake_all(const wait_word* word) {
  freebsd_futex::wake(word, INT_MAX);
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif
