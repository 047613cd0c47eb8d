// SPDX-License-Identifier: MIT
// lockstep/platform/this_thread.hpp -- placing and naming the calling thread (layer: platform)
//
// Both are wishes: where the system has no such call, or refuses, they return false and nothing changes.
#pragma once

#include <cstddef>

#if defined(__linux__)
#include <pthread.h>
#include <sched.h>
#endif

namespace lockstep {
namespace platform {

/// Binds the calling thread to one CPU.
inline bool pin_this_thread(unsigned cpu) noexcept {
#if defined(__linux__)
  if (cpu >= CPU_SETSIZE) return false;
  cpu_set_t mask;
  CPU_ZERO(&mask);
  CPU_SET(cpu, &mask);
  return sched_setaffinity(0, sizeof mask, &mask) == 0;
#else
  (void)cpu;
  return false;
#endif
}

/// Gives the calling thread a name that debuggers and `top -H` show; cut to what the system takes.
inline bool name_this_thread(const char* name) noexcept {
#if defined(__linux__)
  char short_name[16] = {};
  for (std::size_t i = 0; i + 1 < sizeof short_name && name[i] != 0; ++i) short_name[i] = name[i];
  return pthread_setname_np(pthread_self(), short_name) == 0;
#else
  (void)name;
  return false;
#endif
}

}  // namespace platform
}  // namespace lockstep
