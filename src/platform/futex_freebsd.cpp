// SPDX-License-Identifier: MIT
// src/platform/futex_freebsd.cpp -- sleeping in FreeBSD's _umtx_op (layer: platform)
//
// Compiled and linked for FreeBSD; run on a stand-in of the call only
// (tests/platform/other_systems.hpp).
//
// Deadlines are times of CLOCK_MONOTONIC, which is std::chrono::steady_clock there.
#include <lockstep/detail/platform/system.hpp>

#if defined(__FreeBSD__) && !LOCKSTEP_FORCE_PORTABLE_FUTEX

#include <sys/types.h>
#include <sys/umtx.h>

#include "posix.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

LOCKSTEP_INLINE const char* native_futex::name() noexcept { return "_umtx_op"; }

LOCKSTEP_INLINE void native_futex::wait(const wait_word& word, std::uint32_t expected,
                                        std::uint64_t deadline) {
  _umtx_time until;
  until._timeout = system_time<timespec>(deadline);
  until._flags = UMTX_ABSTIME;
  until._clockid = CLOCK_MONOTONIC;
  const bool is_timed = deadline != no_deadline;
  // The size of the time goes where a pointer would.
  void* const size = reinterpret_cast<void*>(std::uintptr_t{sizeof until});
  const kept_errno kept;
  _umtx_op(const_cast<wait_word*>(&word), UMTX_OP_WAIT_UINT_PRIVATE, expected,
           is_timed ? size : nullptr, is_timed ? &until : nullptr);
}

LOCKSTEP_INLINE void native_futex::wake(const wait_word* word, bool all) {
  const kept_errno kept;
  _umtx_op(const_cast<wait_word*>(word), UMTX_OP_WAKE_PRIVATE, all ? INT_MAX : 1, nullptr, nullptr);
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif
