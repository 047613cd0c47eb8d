// SPDX-License-Identifier: MIT
// lockstep/detail/platform/futex.hpp -- sleeping until a word changes: the contract (layer: platform)
//
//   F1  futex_wait(word, expected, deadline) returns at once if word != expected. Otherwise it may put
//       the thread to sleep; it returns after a wake on that word, at the deadline, after a signal, or
//       for no reason. It reports nothing: the caller looks at its condition again.
//   F2  futex_wake_one / futex_wake_all on a word let at least one / every thread return that sleeps in
//       futex_wait on it. They only use the address: the word may be gone already.
//   F3  The comparison in F1 and the falling asleep are one step with respect to F2: if the word is
//       changed and a wake follows, no waiter that compared before the change stays asleep.
//   F4  Deadlines are monotonic nanoseconds as of steady_nanoseconds(); no_deadline (clock.hpp) never comes.
//   F5  Nothing is ordered by these calls for the C++ memory model; order comes from the atomics.
//
// One file per system. LOCKSTEP_FORCE_PORTABLE_FUTEX=1 chooses the portable one (mutex and condition
// variable) where a native one exists; it must be the same in the whole program.
#ifndef LOCKSTEP_DETAIL_PLATFORM_FUTEX_HPP
#define LOCKSTEP_DETAIL_PLATFORM_FUTEX_HPP

#if defined(__linux__) && !(defined(LOCKSTEP_FORCE_PORTABLE_FUTEX) && LOCKSTEP_FORCE_PORTABLE_FUTEX)
#include "futex_linux.hpp"
namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {
using native_futex = linux_futex;
}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
#else
#include "futex_portable.hpp"
namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {
using native_futex = portable_futex;
}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
#endif

#endif  // LOCKSTEP_DETAIL_PLATFORM_FUTEX_HPP
