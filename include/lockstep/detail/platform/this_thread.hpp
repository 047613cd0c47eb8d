// SPDX-License-Identifier: MIT
// lockstep/detail/platform/this_thread.hpp -- what the calling thread has, in all modules alike (layer: platform)
//
// A thread_local in a header exists once in each module. A slot exists once for a thread, and all modules share it: a
// key of the system leads to it, and a thread_local of the module remembers it. How: src/platform/this_thread.cpp.
//
//   SLOT-1  Two threads that live at the same time have different slots.
//   SLOT-2  In a process no two threads ever have the same number, also after a thread's end. A thread that forks keeps
//           its number and its slot in the child. New threads there get numbers that none had before the fork().
//
// Cost   this_thread_slot(): a thread_local and a branch. The first call of a thread in a module: about 50 ns.
#ifndef LOCKSTEP_DETAIL_PLATFORM_THIS_THREAD_HPP
#define LOCKSTEP_DETAIL_PLATFORM_THIS_THREAD_HPP

#include <cstdint>

#include <lockstep/detail/platform/config.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

struct nested_region;

struct thread_slot {
  const nested_region* innermost;  ///< the region that the thread is in
  std::uint64_t number;
  std::uintptr_t place;
  thread_slot* next;
  void* log;  ///< what observers know of the thread; null: nothing yet
};

/// Looks the slot up, and makes it if there is none.
thread_slot* find_thread_slot() noexcept;

inline thread_slot& this_thread_slot() noexcept {
  static thread_local thread_slot* known = nullptr;
  if (known == nullptr) known = find_thread_slot();
  return *known;
}

/// The number of SLOT-2. The system's own number will not do: a child of fork() in a namespace of its own may meet it
/// again. The rest of the library calls number_of_this_thread(), which a test may replace (src/platform/system.hpp).
inline std::uint64_t system_thread_number() noexcept { return this_thread_slot().number; }

/// What a message calls a thread: "thread 4711 'lockstep 3'". The text has the system's number, `number` is SLOT-2's.
struct thread_label {
  std::uint64_t number;
  char name[16], text[48];
};
thread_label label_of_this_thread() noexcept;

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#if defined(LOCKSTEP_SYSTEM_SEAM)
#include LOCKSTEP_SYSTEM_SEAM
#else

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

inline std::uint64_t number_of_this_thread() noexcept { return system_thread_number(); }

/// On how many CPUs the process may run, as it was at the first call.
unsigned usable_cpus();

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif

#endif  // LOCKSTEP_DETAIL_PLATFORM_THIS_THREAD_HPP
