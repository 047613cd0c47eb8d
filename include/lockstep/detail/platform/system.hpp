// SPDX-License-Identifier: MIT
// lockstep/detail/platform/system.hpp -- the seam for what the system does for us (layer: platform)
//
// Sleeping, waking, yielding, the processor's own waits, the clock, the process-wide fence, the number of CPUs, threads and what
// each has for itself: the rest of the library asks the system for these only through the names below. A
// test program may define LOCKSTEP_SYSTEM_SEAM to a header of its own, in quotes, which declares the
// same names in the same namespace; with the atomic seam it puts the shipped code under a controlled
// scheduler (tests/model). Units with another seam do not share objects with others (config.hpp).
//
// Memory order (# marks the line)
//   #  access         order    pairs  why it suffices
//   1  count.load     relaxed  -      a number that stands for itself
//   2  count changes  relaxed  -      as 1
#ifndef LOCKSTEP_DETAIL_PLATFORM_SYSTEM_HPP
#define LOCKSTEP_DETAIL_PLATFORM_SYSTEM_HPP

#include <cstdint>

#include <lockstep/detail/platform/atomic.hpp>
#include <lockstep/detail/platform/clock.hpp>
#include <lockstep/detail/platform/config.hpp>
#include <lockstep/detail/platform/cpus.hpp>
#include <lockstep/detail/platform/fork_tables.hpp>
#include <lockstep/detail/platform/futex.hpp>
#include <lockstep/detail/platform/process.hpp>
#include <lockstep/detail/platform/process_fence.hpp>
#include <lockstep/detail/platform/processor_wait.hpp>
#include <lockstep/detail/platform/this_thread.hpp>

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

/// The futex contract FUTEX-1 to FUTEX-5 of futex.hpp.
inline void futex_wait(const wait_word& word, std::uint32_t expected, std::uint64_t deadline) {
  native_futex::wait(word, expected, deadline);
}
inline void futex_wake_one(const wait_word* word) { native_futex::wake_one(word); }
inline void futex_wake_all(const wait_word* word) { native_futex::wake_all(word); }

/// Lets another runnable thread have this CPU, if there is one.
inline void yield_thread() noexcept { yield_native_thread(); }

/// Between two looks of a polling loop: the next look differs only if other threads go on.
inline void polling_pause() noexcept { cpu_relax(); }

/// The contract LINE-1 to LINE-5 of processor_wait.hpp.
inline std::uint64_t shortest_line_wait() noexcept { return processor_wait::shortest(); }
inline void arm_line(const void* word) noexcept { processor_wait::arm(word); }
inline void wait_on_line(std::uint64_t nanoseconds) noexcept { processor_wait::wait(nanoseconds); }

/// The clock of all deadlines and budgets.
inline std::uint64_t monotonic_nanoseconds() noexcept { return steady_nanoseconds(); }

/// The two sides of the process-wide fence (process_fence.hpp).
inline void fence_light() noexcept { process_fence::light(); }
inline bool fence_heavy() noexcept { return process_fence::heavy(); }

/// count_usable_cpus() as it was when the process first asked. Asks the system at that time: waits do not,
/// they take cpus_for_waits().
struct cpus_of_process {
  static unsigned usable();
};
inline unsigned usable_cpus() { return cpus_of_process::usable(); }

/// The same if it is known, else the CPUs of the affinity mask.
unsigned count_cpus_for_waits() noexcept;
inline unsigned cpus_for_waits() noexcept {
  const std::uint32_t usable = process().usable_cpus.load(memory_order_relaxed);  // 1
  return usable != 0 ? usable : count_cpus_for_waits();
}

/// How late the calling thread's timed sleeps may end (this_thread.hpp).
inline std::uint64_t shorten_timer_slack(std::uint64_t nanoseconds) noexcept {
  return shorten_native_timer_slack(nanoseconds);
}
inline void set_timer_slack(std::uint64_t nanoseconds) noexcept {
  set_native_timer_slack(nanoseconds);
}

/// Where the calling thread runs, and how it gets elsewhere (this_thread.hpp).
inline int current_cpu() noexcept { return native_current_cpu(); }
inline bool move_off_cpu(unsigned cpu) noexcept { return move_off_native_cpu(cpu); }
inline bool is_machine_full() noexcept { return is_native_machine_full(); }

inline std::uint64_t number_of_this_thread() noexcept { return system_thread_number(); }

/// The region that the calling thread is in, for all modules; null at first.
inline const nested_region*& innermost_region() noexcept { return this_thread_slot().innermost; }

/// The Type of that name that belongs to the calling thread, in this module; all zero bits at first.
template <class Type, class Name>
Type& per_thread() noexcept {
  static thread_local Type value = Type();
  return value;
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif

#if (defined(__unix__) || defined(__APPLE__)) && !defined(LOCKSTEP_SYSTEM_SEAM)
#include <pthread.h>
#elif defined(_WIN32) && !defined(LOCKSTEP_SYSTEM_SEAM)
#include <errno.h>
#include <process.h>

#include <new>
#else
#include <system_error>
#include <thread>
#endif

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// A thread that calls a plain function: what a team starts its workers with. A std::thread, without what that includes
/// where the system has threads of its own.
#if (defined(__unix__) || defined(__APPLE__)) && !defined(LOCKSTEP_SYSTEM_SEAM)
class plain_thread {
 public:
  /// f(of). Returns 0, or the number of the system's error.
  int start(void* (*f)(void*), void* of) noexcept {
    return pthread_create(&native_, nullptr, f, of);
  }
  void join() noexcept { pthread_join(native_, nullptr); }

 private:
  pthread_t native_ = pthread_t();
};
#elif defined(_WIN32) && !defined(LOCKSTEP_SYSTEM_SEAM)
class plain_thread {
 public:
  int start(void* (*f)(void*), void* of) noexcept {
    call* const what = new (std::nothrow) call{f, of};
    if (what == nullptr) return ENOMEM;
    native_ = reinterpret_cast<void*>(_beginthreadex(nullptr, 0, run, what, 0, nullptr));
    if (native_ != nullptr) return 0;
    delete what;
    return EAGAIN;
  }
  void join() noexcept {
    WaitForSingleObject(native_, 0xffffffff);
    CloseHandle(native_);
  }

 private:
  struct call {
    void* (*f)(void*);
    void* of;
  };
  static unsigned __stdcall run(void* of) {
    const call what = *static_cast<call*>(of);
    delete static_cast<call*>(of);
    what.f(what.of);
    return 0;
  }

  void* native_ = nullptr;
};
#else
class plain_thread {
#if defined(LOCKSTEP_SYSTEM_SEAM)
  using thread = system_thread;
#else
  using thread = std::thread;
#endif

 public:
  int start(void* (*f)(void*), void* of) {
#if LOCKSTEP_HAS_EXCEPTIONS
    try {
      native_.reset(new thread(f, of));
    } catch (const std::system_error& error) {
      return error.code().value();
    }
#else
    native_.reset(new thread(f, of));
#endif
    return 0;
  }
  void join() { native_->join(); }

 private:
  owner<thread> native_;
};
#endif

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_PLATFORM_SYSTEM_HPP
