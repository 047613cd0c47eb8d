// SPDX-License-Identifier: MIT
// lockstep/detail/platform/system.hpp -- the seam for what the system does for us (layer: platform)
//
// The rest of the library asks the system only through the names below the seam: for sleeping, waking, yielding, the
// clock, the process-wide fence, the number of CPUs, and the data of a thread. A test program may define
// LOCKSTEP_SYSTEM_SEAM as a header of its own, in quotes, which declares the same names in the same namespace. Together
// with the atomic seam, that puts the shipped code under a controlled scheduler (tests/model). Units with different
// seams share no objects (config.hpp). The names above the seam are what systems have. src/platform/ has the bodies.
//
// The contract of a futex
//   FUTEX-1  wait(word, expected, deadline) returns at once if word != expected. Otherwise it may put the thread to
//       sleep. It returns after a wake on that word, at the deadline, after a signal, or for no reason. It reports
//       nothing: the caller looks at its condition again.
//   FUTEX-2  wake_one(word) lets at least one thread return that sleeps in wait() on the word, wake_all(word) lets all
//       of them return. They only use the address: the word may be gone already.
//   FUTEX-3  To wakes, comparing and falling asleep are one step: if the word is changed and a wake follows, no waiter
//       that compared before the change stays asleep.
//   FUTEX-4  Deadlines are times of steady_nanoseconds(). The deadline no_deadline (clock.hpp) never comes.
//   FUTEX-5  In the C++ memory model these calls order nothing. Order comes from the atomics.
#ifndef LOCKSTEP_DETAIL_PLATFORM_SYSTEM_HPP
#define LOCKSTEP_DETAIL_PLATFORM_SYSTEM_HPP

#include <cstdint>

#include <lockstep/detail/platform/atomic.hpp>
#include <lockstep/detail/platform/clock.hpp>
#include <lockstep/detail/platform/config.hpp>
#include <lockstep/detail/platform/process_fence.hpp>
#include <lockstep/detail/platform/this_thread.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// The futex of the system, or the portable one: src/platform/native_system.hpp.
struct native_futex {
  static const char* name() noexcept;
  /// In a child, handlers that were registered after this call run when its tables have been put right.
  static void prepare_for_fork();
  static void wait(const wait_word& word, std::uint32_t expected, std::uint64_t deadline);
  static void wake(const wait_word* word, bool all);
  static void wake_one(const wait_word* word) { wake(word, false); }
  static void wake_all(const wait_word* word) { wake(word, true); }
};
static_assert(sizeof(wait_word) == 4, "threads sleep on words of 32 bits");

/// The same for a word in memory that several processes have mapped, each at an address of its own. Systems other than
/// Linux have none: a wait is a nap (50 us, on Windows 1 ms or more), and a wake does nothing. FUTEX-1 allows that.
struct shared_futex {
  static void wait(const wait_word& word, std::uint32_t expected, std::uint64_t deadline);
  static void wake_all(const wait_word* word);
};

/// Lets another runnable thread have this CPU.
void yield_native_thread() noexcept;

/// Sets how late timers of the calling thread may be, so that the system can handle several at once. Requires: not 0.
void set_native_timer_slack(std::uint64_t nanoseconds) noexcept;
/// Shortens it to `nanoseconds` if it is longer. Returns what it was, for set_timer_slack(); 0 if nothing was changed.
std::uint64_t shorten_native_timer_slack(std::uint64_t nanoseconds) noexcept;

/// The CPU that the calling thread runs on, or did a moment ago; -1 if unknown.
int native_current_cpu() noexcept;
/// Moves the calling thread from `cpu` to another CPU of its affinity mask: takes `cpu` out of the mask for a moment.
/// Then the mask is as before, or as another thread has set it meanwhile. False if nothing was changed.
bool move_off_native_cpu(unsigned cpu) noexcept;
/// Whether more threads want to run on the machine than it has CPUs, so that no CPU is free. False where the system
/// does not tell. Takes some 10 us.
bool is_native_machine_full() noexcept;

/// Asks the system each time: about 100 us.
unsigned count_usable_cpus();

/// A hint: the calling thread is about to write to this line, which others read. On x86 the builtin fetches for reading
/// unless the compiler knows the processor, so PREFETCHW is written out. Processors without it ignore it.
inline void fetch_for_writing(const void* line) noexcept {
#if defined(__GNUC__) && defined(__x86_64__)
  __asm__ volatile("prefetchw %0" : : "m"(*static_cast<const unsigned char*>(line)));
#elif defined(__GNUC__)
  __builtin_prefetch(line, 1);
#else
  static_cast<void>(line);
#endif
}

struct nested_region;  ///< src/platform/process.hpp

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#if defined(LOCKSTEP_SYSTEM_SEAM)
#include LOCKSTEP_SYSTEM_SEAM

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

inline unsigned cpus_for_waits() { return usable_cpus(); }
inline const nested_region*& innermost_region() noexcept {
  return per_thread<const nested_region*, struct name_of_innermost>();
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
#else

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

inline void futex_wait(const wait_word& word, std::uint32_t expected, std::uint64_t deadline) {
  native_futex::wait(word, expected, deadline);
}
inline void futex_wake_one(const wait_word* word) { native_futex::wake_one(word); }
inline void futex_wake_all(const wait_word* word) { native_futex::wake_all(word); }

/// Lets another runnable thread have this CPU, if there is one.
inline void yield_thread() noexcept { yield_native_thread(); }

/// The pause between two looks of a polling loop: the next look differs only if other threads have run.
inline void polling_pause() noexcept { cpu_relax(); }

/// The clock of all deadlines and budgets.
inline std::uint64_t monotonic_nanoseconds() noexcept { return steady_nanoseconds(); }

/// The two sides of the process-wide fence.
inline void fence_light() noexcept { process_fence::light(); }
inline bool fence_heavy() noexcept { return process_fence::heavy(); }

/// count_usable_cpus() as it was at the first call in the process. That call is too slow for waits, which use
/// cpus_for_waits().
unsigned usable_cpus();
/// usable_cpus() if it has been called, else the number of CPUs in the affinity mask.
unsigned cpus_for_waits() noexcept;

inline std::uint64_t shorten_timer_slack(std::uint64_t nanoseconds) noexcept {
  return shorten_native_timer_slack(nanoseconds);
}
inline void set_timer_slack(std::uint64_t nanoseconds) noexcept {
  set_native_timer_slack(nanoseconds);
}

inline int current_cpu() noexcept { return native_current_cpu(); }
inline bool move_off_cpu(unsigned cpu) noexcept { return move_off_native_cpu(cpu); }
inline bool is_machine_full() noexcept { return is_native_machine_full(); }

inline std::uint64_t number_of_this_thread() noexcept { return this_thread_slot().number; }

/// The region that the calling thread is in, the same in all modules; null at first.
inline const nested_region*& innermost_region() noexcept { return this_thread_slot().innermost; }

/// The calling thread's own Type of that name, one in each module; all bits are zero at first.
template <class Type, class Name>
Type& per_thread() noexcept {
  static thread_local Type value = Type();
  return value;
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif

#endif  // LOCKSTEP_DETAIL_PLATFORM_SYSTEM_HPP
