// SPDX-License-Identifier: MIT
// lockstep/detail/platform/this_thread.hpp -- placing, naming and telling the calling thread (layer: platform)
//
// Placing and naming are wishes: where the system has no such call, or refuses, they return false and nothing changes.
//
// A thread_local of a header is one for each module. this_thread_slot() is one for each thread: found through a key of
// the system, then remembered in a thread_local of the module.
//
//   THREAD-1  Two threads that live at the same time have different slots.
//   THREAD-2  No two threads ever have the same number, in the process, in its children, and after a thread's end.
//             A thread that forks keeps its number and its slot.
//
// Cost   this_thread_slot(): a thread_local and a branch. The first time in a thread and module: about 50 ns.
#ifndef LOCKSTEP_DETAIL_PLATFORM_THIS_THREAD_HPP
#define LOCKSTEP_DETAIL_PLATFORM_THIS_THREAD_HPP

#include <cstdint>

#include "config.hpp"
#include "process.hpp"

#if defined(__unix__) || defined(__APPLE__)
#include <sched.h>
#else
#include <thread>
#endif

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// What the calling thread has in all modules: looked up, and made if there is none.
LOCKSTEP_COLD thread_slot* find_thread_slot() noexcept;

inline thread_slot& this_thread_slot() noexcept {
  static thread_local thread_slot* known = nullptr;
  if (known == nullptr) known = find_thread_slot();
  return *known;
}

/// Lets another runnable thread have this CPU.
inline void yield_native_thread() noexcept {
#if defined(__unix__) || defined(__APPLE__)
  sched_yield();
#else
  std::this_thread::yield();
#endif
}

/// Binds the calling thread to one CPU.
LOCKSTEP_COLD bool pin_this_thread(unsigned cpu) noexcept;

/// The CPU that the calling thread runs on, or did a moment ago; -1 if unknown.
inline int native_current_cpu() noexcept {
#if defined(__linux__)
  return sched_getcpu();
#else
  return -1;
#endif
}

/// Moves the calling thread to another CPU of its affinity mask, if there is one: takes `cpu` out of the mask for a
/// moment. The mask is then as it was before, or as somebody else has made it meanwhile. False if nothing was changed.
LOCKSTEP_COLD bool leave_native_cpu(unsigned cpu) noexcept;

/// Gives the calling thread a name that debuggers and `top -H` show; cut to what the system takes.
LOCKSTEP_COLD bool name_this_thread(const char* name) noexcept;

/// How late timers of the calling thread may be, in nanoseconds, so that several can come together. set: not 0.
LOCKSTEP_COLD void set_native_timer_slack(std::uint64_t nanoseconds) noexcept;
/// Makes it `nanoseconds` if it is longer. What it was before, for set_timer_slack(); 0 if nothing was changed.
LOCKSTEP_COLD std::uint64_t shorten_native_timer_slack(std::uint64_t nanoseconds) noexcept;

/// A number of the calling thread that no other thread of the process or of its children ever has. Not the
/// system's, which a child of fork() in a namespace of its own may meet again. The rest of the library asks
/// number_of_this_thread() of system.hpp.
inline std::uint64_t system_thread_number() noexcept { return this_thread_slot().number; }

/// What debuggers and `top -H` call the calling thread: for messages.
LOCKSTEP_COLD std::uint64_t shown_thread_number() noexcept;

/// What a message calls a thread: "thread 4711 'lockstep 3'". The number is not the one in the text.
struct thread_label {
  std::uint64_t number;
  char text[48];
};

LOCKSTEP_COLD thread_label label_of_this_thread() noexcept;

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#if LOCKSTEP_HAS_BODIES
#include "this_thread.ipp"
#endif

#endif  // LOCKSTEP_DETAIL_PLATFORM_THIS_THREAD_HPP
