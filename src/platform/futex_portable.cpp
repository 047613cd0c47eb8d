// SPDX-License-Identifier: MIT
// src/platform/futex_portable.cpp -- the portable futex as that of the system (layer: platform)
//
// Where LOCKSTEP_FORCE_PORTABLE_FUTEX asks for it, on NetBSD before 10, and on systems that have no file here:
//   futex_linux    futex(2)
//   futex_windows  WaitOnAddress from Windows 8 on; before, the portable one
//   futex_apple    os_sync_wait_on_address, or __ulock_wait
//   futex_freebsd  _umtx_op
//   futex_openbsd  futex(2)
//   futex_netbsd   __futex of NetBSD 10
//   futex_wasm     memory.atomic.wait32; the page's own thread does not sleep
#include <lockstep/detail/platform/system.hpp>

#include <cstring>

#include "futex_portable.hpp"
#if defined(__NetBSD__)
#include <sys/syscall.h>
#endif

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// Some systems find out at run time that they have none of their own.
LOCKSTEP_INLINE void native_futex::prepare_for_fork() {
  if (std::strcmp(name(), portable_futex::name()) == 0) portable_futex::prepare_for_fork();
}

#if LOCKSTEP_FORCE_PORTABLE_FUTEX ||                                                         \
    !(defined(__linux__) || defined(_WIN32) || defined(__APPLE__) || defined(__FreeBSD__) || \
      defined(__OpenBSD__) || defined(SYS___futex) || defined(__wasm__))
#if !LOCKSTEP_FORCE_PORTABLE_FUTEX && !defined(__NetBSD__)
#pragma message( \
    "lockstep does not know this system: threads sleep in condition variables, as with LOCKSTEP_FORCE_PORTABLE_FUTEX=1")
#endif

LOCKSTEP_INLINE const char* native_futex::name() noexcept { return portable_futex::name(); }
LOCKSTEP_INLINE void native_futex::wait(const wait_word& word, std::uint32_t expected,
                                        std::uint64_t deadline) {
  portable_futex::wait(word, expected, deadline);
}
LOCKSTEP_INLINE void native_futex::wake(const wait_word* word, bool) {
  portable_futex::wake_all(word);
}
#endif

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
