// SPDX-License-Identifier: MIT
// lockstep/detail/platform/this_thread.hpp -- what the calling thread has, in all modules alike (layer: platform)
//
// A thread_local of a header is one for each module. this_thread_slot() is one for each thread: found through a key of
// the system, then remembered in a thread_local of the module. How: src/platform/this_thread.cpp.
//
//   SLOT-1  Two threads that live at the same time have different slots.
//   SLOT-2  No two threads ever have the same number, in the process, in its children, and after a thread's end.
//           A thread that forks keeps its number and its slot.
//
// Cost   this_thread_slot(): a thread_local and a branch. The first time in a thread and module: about 50 ns.
#ifndef LOCKSTEP_DETAIL_PLATFORM_THIS_THREAD_HPP
#define LOCKSTEP_DETAIL_PLATFORM_THIS_THREAD_HPP

#include <cstdint>

#include <lockstep/detail/platform/config.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

struct nested_region;

struct thread_slot {
  const nested_region* innermost;  ///< the region that it is in
  std::uint64_t number;
  std::uintptr_t place;
  thread_slot* next;
  void* log;  ///< what observers know of the thread; null: nothing yet
};

/// Looked up, and made if there is none.
thread_slot* find_thread_slot() noexcept;

inline thread_slot& this_thread_slot() noexcept {
  static thread_local thread_slot* known = nullptr;
  if (known == nullptr) known = find_thread_slot();
  return *known;
}

/// A number of the calling thread that no other thread of the process or of its children ever has. Not the
/// system's, which a child of fork() in a namespace of its own may meet again. The rest of the library asks
/// number_of_this_thread() of system.hpp.
inline std::uint64_t system_thread_number() noexcept { return this_thread_slot().number; }

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
