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
//   Windows 8 and later futex_windows.hpp   WaitOnAddress; before, the portable one
//   all others          futex_portable.hpp  a table of mutexes and condition variables
// LOCKSTEP_FORCE_PORTABLE_FUTEX=1 chooses the portable one everywhere; it must be the same in the whole program.
#ifndef LOCKSTEP_DETAIL_PLATFORM_FUTEX_HPP
#define LOCKSTEP_DETAIL_PLATFORM_FUTEX_HPP

#include "atomic.hpp"
#include "config.hpp"

#if defined(LOCKSTEP_FORCE_PORTABLE_FUTEX) && LOCKSTEP_FORCE_PORTABLE_FUTEX
#include "futex_portable.hpp"
#elif defined(__linux__)
#include "futex_linux.hpp"
#elif defined(_WIN32)
#include "futex_windows.hpp"
#else
#include "futex_portable.hpp"
#endif

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

static_assert(sizeof(wait_word) == 4, "threads sleep on words of 32 bits");

#if defined(LOCKSTEP_FORCE_PORTABLE_FUTEX) && LOCKSTEP_FORCE_PORTABLE_FUTEX
using native_futex = portable_futex;
#elif defined(__linux__)
using native_futex = linux_futex;
#elif defined(_WIN32)
using native_futex = windows_futex;
#else
using native_futex = portable_futex;
#endif

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_PLATFORM_FUTEX_HPP
