// SPDX-License-Identifier: MIT
// lockstep/platform/at_fork.hpp -- what a child process has to put right (layer: platform)
//
// fork() copies the memory, but only the calling thread: tables of threads must forget the others.
#ifndef LOCKSTEP_PLATFORM_AT_FORK_HPP
#define LOCKSTEP_PLATFORM_AT_FORK_HPP

#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#endif

namespace lockstep {
namespace platform {

/// From now on, around every fork(): before() and after() on the thread that calls it, child() on the
/// child's only thread; nullptr for nothing. False if the system has no such call, or refuses.
inline bool call_at_fork(void (*before)(), void (*after)(), void (*child)()) noexcept {
#if defined(__unix__) || defined(__APPLE__)
  return pthread_atfork(before, after, child) == 0;
#else
  (void)before, (void)after, (void)child;
  return false;
#endif
}

}  // namespace platform
}  // namespace lockstep

#endif  // LOCKSTEP_PLATFORM_AT_FORK_HPP
