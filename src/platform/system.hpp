// SPDX-License-Identifier: MIT
// src/platform/system.hpp -- the seam for what the system does for us (layer: platform)
//
// The rest of the library asks the system only through these names: for sleeping, waking, yielding, the clock, the
// process-wide fence, the number of CPUs, and the data of a thread. A test program may define LOCKSTEP_SYSTEM_SEAM as a
// header of its own, in quotes, which declares the same names in the same namespace, and those of this_thread.hpp,
// which includes it. Together with the atomic seam, that puts the shipped code under a controlled scheduler
// (tests/model). Units with different seams share no objects (config.hpp). What systems have is in native_system.hpp.
//
// The contract of a futex
//   FUTEX-1  wait(word, expected, deadline) returns at once if word != expected. Otherwise it may put the thread to
//       sleep. It returns after a wake on that word, at the deadline, after a signal, or for no reason. It reports
//       nothing: the caller looks at its condition again.
//   FUTEX-2  wake_one(word) lets at least one thread return that sleeps in wait() on the word, wake_all(word) lets all
//       of them return. They only use the address: the word may be gone already.
//   FUTEX-3  To wakes, comparing and falling asleep are one step: if the word is changed and a wake follows, no waiter
//       that compared before the change stays asleep.
//   FUTEX-4  Deadlines are times of native::monotonic_nanoseconds(). The deadline no_deadline (clock.hpp) never comes.
//   FUTEX-5  In the C++ memory model these calls order nothing. Order comes from the atomics.
#ifndef LOCKSTEP_SRC_PLATFORM_SYSTEM_HPP
#define LOCKSTEP_SRC_PLATFORM_SYSTEM_HPP

#include <cstdint>

#include <lockstep/detail/platform/atomic.hpp>
#include <lockstep/detail/platform/clock.hpp>
#include <lockstep/detail/platform/config.hpp>
#include <lockstep/detail/platform/this_thread.hpp>

#include "native_system.hpp"
#include "process_fence.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

struct nested_region;  ///< process.hpp

#if defined(LOCKSTEP_SYSTEM_SEAM)

/// A test's system is one process.
using shared_futex = futex;
inline unsigned cpus_for_waits() { return usable_cpus(); }
inline const nested_region*& innermost_region() noexcept {
  return per_thread<const nested_region*, struct name_of_innermost>();
}

#else

/// For words of this process.
using futex = native_futex;
/// The same for a word in memory that several processes have mapped, each at an address of its own. Systems other than
/// Linux have none: a wait is a nap (50 us, on Windows 1 ms or more), and a wake does nothing. FUTEX-1 allows that.
using shared_futex = native_system::shared_futex;

/// Lets another runnable thread have this CPU, if there is one.
inline void yield_thread() noexcept { native_system::yield(); }

// clock.hpp and process_fence.hpp.
using native::fence_heavy;
using native::fence_light;
using native::monotonic_nanoseconds;
using native::polling_pause;

/// usable_cpus() if it has been called, else the number of CPUs in the affinity mask: that call is too slow for waits.
unsigned cpus_for_waits() noexcept;

/// Sets how late timers of the calling thread may be, so that the system can handle several at once. Requires: not 0.
inline void set_timer_slack(std::uint64_t nanoseconds) noexcept {
  native_system::set_timer_slack(nanoseconds);
}
/// Shortens that time to `nanoseconds` if it is longer. Returns what it was, for set_timer_slack(); 0 if nothing was
/// changed.
inline std::uint64_t shorten_timer_slack(std::uint64_t nanoseconds) noexcept {
  const std::uint64_t before = native_system::timer_slack();
  if (before <= nanoseconds) return 0;
  native_system::set_timer_slack(nanoseconds);
  return before;
}

/// The CPU that the calling thread runs on, or did a moment ago; -1 if unknown.
inline int current_cpu() noexcept { return native_system::current_cpu(); }
/// Moves the calling thread from `cpu` to another CPU of its affinity mask: takes `cpu` out of the mask for a moment.
/// Then the mask is as before, or as another thread has set it meanwhile. False if nothing was changed.
inline bool move_off_cpu(unsigned cpu) noexcept { return native_system::move_off(cpu); }
/// Takes some 10 us.
inline machine_load load_of_machine() noexcept { return native_system::load_of_machine(); }

/// The region that the calling thread is in, the same in all modules; null at first.
inline const nested_region*& innermost_region() noexcept { return this_thread_slot().innermost; }

/// The calling thread's own Type of that name, one in each module; all bits are zero at first.
template <class Type, class Name>
Type& per_thread() noexcept {
  static thread_local Type value = Type();
  return value;
}

#endif

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_PLATFORM_SYSTEM_HPP
