// SPDX-License-Identifier: MIT
// lockstep/detail/platform/this_thread.hpp -- naming and telling the calling thread (layer: platform)
//
// A name is a wish: where the system has no such call, or refuses, false is returned and nothing changes. On which CPUs
// a thread runs: binding.hpp.
//
// A thread_local of a header is one for each module. this_thread_slot() is one for each thread: found through a key of
// the system, then remembered in a thread_local of the module.
//
//   SLOT-1  Two threads that live at the same time have different slots.
//   SLOT-2  No two threads ever have the same number, in the process, in its children, and after a thread's end.
//           A thread that forks keeps its number and its slot.
//
// The system reuses the memory of threads. A slot belongs to such a place and is used again with it, so that
// there are about as many slots as there were threads at a time. The key has no destructor, which would be
// code of a module that may be gone; it is empty in a new thread, and so tells it from the one before it.
//
// Memory order (# marks the line)
//   #  access             order    pairs  why it suffices
//   1  first.load         acquire  2      a slot is whole before it is in the list
//   2  first.compare_exch release  1      as 1
//   3  threads.fetch_add  relaxed  -      hands out numbers, nothing else
//   4  key.load           relaxed  -      a key is a number that the system gave, ready to be used
//   5  key.compare_exch   relaxed  -      as 4
//
// Cost   this_thread_slot(): a thread_local and a branch. The first time in a thread and module: about 50 ns.
#ifndef LOCKSTEP_DETAIL_PLATFORM_THIS_THREAD_HPP
#define LOCKSTEP_DETAIL_PLATFORM_THIS_THREAD_HPP

#include <cstdint>

#include <lockstep/detail/platform/binding.hpp>
#include <lockstep/detail/platform/config.hpp>
#include <lockstep/detail/platform/process.hpp>

#if defined(__unix__) || defined(__APPLE__)
#include <sched.h>
#elif defined(_WIN32)
#include <lockstep/detail/platform/windows.hpp>
#else
#include <thread>
#endif

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// What the calling thread has in all modules: looked up, and made if there is none.
thread_slot* find_thread_slot() noexcept;

inline thread_slot& this_thread_slot() noexcept {
  static thread_local thread_slot* known = nullptr;
  if (known == nullptr) known = find_thread_slot();
  return *known;
}

/// Lets another runnable thread have this CPU.
inline void yield_native_thread() noexcept {
#if defined(__unix__) || defined(__APPLE__)
  sched_yield();
#elif defined(_WIN32)
  SwitchToThread();
#else
  std::this_thread::yield();
#endif
}

#if defined(__linux__) || defined(__APPLE__) || defined(_WIN32) || defined(__FreeBSD__) || \
    defined(__OpenBSD__) || defined(__NetBSD__)
constexpr bool can_name_threads = true;
#else
constexpr bool can_name_threads = false;
#endif

/// Gives the calling thread a name that debuggers and `top -H` show; cut to what the system takes.
bool name_this_thread(const char* name) noexcept;

/// How late timers of the calling thread may be, in nanoseconds, so that several can come together. set: not 0.
void set_native_timer_slack(std::uint64_t nanoseconds) noexcept;
/// Makes it `nanoseconds` if it is longer. What it was before, for set_timer_slack(); 0 if nothing was changed.
std::uint64_t shorten_native_timer_slack(std::uint64_t nanoseconds) noexcept;

/// A number of the calling thread that no other thread of the process or of its children ever has. Not the
/// system's, which a child of fork() in a namespace of its own may meet again. The rest of the library asks
/// number_of_this_thread() of system.hpp.
inline std::uint64_t system_thread_number() noexcept { return this_thread_slot().number; }

/// What debuggers and `top -H` call the calling thread: for messages.
std::uint64_t shown_thread_number() noexcept;

/// What a message calls a thread: "thread 4711 'lockstep 3'". The number is not the one in the text.
struct thread_label {
  std::uint64_t number;
  char text[48];
};

thread_label label_of_this_thread() noexcept;

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_PLATFORM_THIS_THREAD_HPP
