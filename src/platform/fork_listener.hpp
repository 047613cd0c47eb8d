// SPDX-License-Identifier: MIT
// src/platform/fork_listener.hpp -- an object that is told when it has been copied into a child (layer: platform)
//
// One that owns threads has a fork_listener as its last member; in the child, the function of each is called, while no
// other thread exists yet.
//
//   PROCESS-6  The list is locked around every fork(), so that it is whole in the child.
//   PROCESS-7  The list is one for the process.
//   PROCESS-8  Where the system has no such call, in_child() is never called.
//   PROCESS-9  The list is on the heap, not in its owners. These may be on the stack of a thread that the child does not
//              have; new threads of the child get that memory for their own stacks, and the list must not reach into it.
#ifndef LOCKSTEP_SRC_PLATFORM_FORK_LISTENER_HPP
#define LOCKSTEP_SRC_PLATFORM_FORK_LISTENER_HPP

#include <lockstep/detail/platform/config.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

class fork_listener {
 public:
  /// From now on, until its destructor, in_child(owner) is called in each child, before fork() returns there. It must
  /// not start threads or allocate. The owner must be complete that long: another thread may fork at any time.
  fork_listener(void* owner, void (*in_child)(void*));
  ~fork_listener();
  fork_listener(const fork_listener&) = delete;
  fork_listener& operator=(const fork_listener&) = delete;

 private:
  struct all;
  struct entry;

  entry* entry_ = nullptr;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_PLATFORM_FORK_LISTENER_HPP
