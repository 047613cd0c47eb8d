// SPDX-License-Identifier: MIT
// lockstep/detail/platform/futex.hpp -- sleeping until a word changes: the contract (layer: platform)
//
//   FUTEX-1  futex_wait(word, expected, deadline) returns at once if word != expected. Otherwise it may put
//       the thread to sleep; it returns after a wake on that word, at the deadline, after a signal, or
//       for no reason. It reports nothing: the caller looks at its condition again.
//   FUTEX-2  futex_wake_one / futex_wake_all on a word let at least one / every thread return that sleeps in
//       futex_wait on it. They only use the address: the word may be gone already.
//   FUTEX-3  The comparison in FUTEX-1 and the falling asleep are one step with respect to FUTEX-2: if the word is
//       changed and a wake follows, no waiter that compared before the change stays asleep.
//   FUTEX-4  Deadlines are monotonic nanoseconds as of steady_nanoseconds(); no_deadline (clock.hpp) never comes.
//   FUTEX-5  Nothing is ordered by these calls for the C++ memory model; order comes from the atomics.
//
// Which file keeps the contract
//   Linux               futex_linux.hpp     futex(2)
//   Windows             futex_windows.hpp   WaitOnAddress from Windows 8 on; before, the portable one
//   macOS, iOS          futex_apple.hpp     os_sync_wait_on_address, or __ulock_wait
//   FreeBSD             futex_freebsd.hpp   _umtx_op
//   OpenBSD             futex_openbsd.hpp   futex(2)
//   NetBSD 10 and later futex_netbsd.hpp    __futex; before, the portable one
//   WebAssembly         futex_wasm.hpp      memory.atomic.wait32; the page's own thread does not sleep
//   all others          futex_portable.hpp  a table of mutexes and condition variables; the compiler says so
// LOCKSTEP_FORCE_PORTABLE_FUTEX=1 chooses the portable one on every system; it must be the same in the whole program.
#ifndef LOCKSTEP_DETAIL_PLATFORM_FUTEX_HPP
#define LOCKSTEP_DETAIL_PLATFORM_FUTEX_HPP

#include <lockstep/detail/platform/atomic.hpp>
#include <lockstep/detail/platform/config.hpp>

#if defined(__NetBSD__)
#include <sys/syscall.h>
#endif

#if defined(LOCKSTEP_FORCE_PORTABLE_FUTEX) && LOCKSTEP_FORCE_PORTABLE_FUTEX
#include <lockstep/detail/platform/futex_portable.hpp>
#define LOCKSTEP_NATIVE_FUTEX portable_futex
#elif defined(__linux__)
#include <lockstep/detail/platform/futex_linux.hpp>
#define LOCKSTEP_NATIVE_FUTEX linux_futex
#elif defined(_WIN32)
#include <lockstep/detail/platform/futex_windows.hpp>
#define LOCKSTEP_NATIVE_FUTEX windows_futex
#elif defined(__APPLE__)
#include <lockstep/detail/platform/futex_apple.hpp>
#define LOCKSTEP_NATIVE_FUTEX apple_futex
#elif defined(__FreeBSD__)
#include <lockstep/detail/platform/futex_freebsd.hpp>
#define LOCKSTEP_NATIVE_FUTEX freebsd_futex
#elif defined(__OpenBSD__)
#include <lockstep/detail/platform/futex_openbsd.hpp>
#define LOCKSTEP_NATIVE_FUTEX openbsd_futex
#elif defined(__NetBSD__) && defined(SYS___futex)
#include <lockstep/detail/platform/futex_netbsd.hpp>
#define LOCKSTEP_NATIVE_FUTEX netbsd_futex
#elif defined(__wasm__)
#include <lockstep/detail/platform/futex_wasm.hpp>
#define LOCKSTEP_NATIVE_FUTEX wasm_futex
#else
#include <lockstep/detail/platform/futex_portable.hpp>
#define LOCKSTEP_NATIVE_FUTEX portable_futex
#if !defined(__NetBSD__)
#pragma message( \
    "lockstep does not know this system: threads sleep in condition variables, as with LOCKSTEP_FORCE_PORTABLE_FUTEX=1")
#endif
#endif

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

static_assert(sizeof(wait_word) == 4, "threads sleep on words of 32 bits");

using native_futex = LOCKSTEP_NATIVE_FUTEX;

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_PLATFORM_FUTEX_HPP
