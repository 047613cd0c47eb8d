// SPDX-License-Identifier: MIT
// openmp/runtime/taskloop.hpp -- a loop whose chunks are tasks
#ifndef LOCKSTEP_OPENMP_RUNTIME_TASKLOOP_HPP
#define LOCKSTEP_OPENMP_RUNTIME_TASKLOOP_HPP

#include <cstdint>

#include "tasks.hpp"

namespace lockstep::openmp {

/// What `taskloop` says beside what a task has.
struct taskloop_request {
  ull wanted = 0;  ///< tasks, or iterations of a task (has_grainsize); 0: our choice
  std::uintptr_t* reductions = nullptr;
  bool goes_up = true;
  bool has_grainsize = false, is_strict = false;
  bool is_undeferred = false;  ///< if(false)
  bool has_group = true;
};

/// The tasks get their bounds in the first two words of their data.
void run_taskloop(part& self, const task_request& what, const taskloop_request& how, long first,
                  long end, long step) noexcept;
void run_taskloop(part& self, const task_request& what, const taskloop_request& how, ull first,
                  ull end, ull step) noexcept;

}  // namespace lockstep::openmp

#endif  // LOCKSTEP_OPENMP_RUNTIME_TASKLOOP_HPP
