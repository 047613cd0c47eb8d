// SPDX-License-Identifier: MIT
// openmp/task.hpp -- a task: its control variables, its place among the other tasks
//
// An implicit task is a member's part of a region (part.hpp); an explicit one is what `#pragma omp task` makes. What
// happens to explicit tasks is in task_pool.hpp and tasks.cpp.
#ifndef LOCKSTEP_OPENMP_TASK_HPP
#define LOCKSTEP_OPENMP_TASK_HPP

#include <cstdint>

#include "control_variables.hpp"

namespace lockstep::openmp {

struct task_group;        ///< of task_pool.hpp
struct task_dependences;  ///< of task_dependences.hpp
struct explicit_task;     ///< of task_pool.hpp

/// What implicit and explicit tasks have in common.
//
//   TASK-1  Many tasks share the variables of the region: reading a task's own would cost each member a line transfer at
//           the begin of each region. Who changes one makes a copy first. What `variables` points to lives as long as the
//           task: the region's, those of the thread's initial task, or `own`.
struct task {
  const task_variables* variables = nullptr;  ///< to be read; to be changed through own_variables()
  task* parent = nullptr;       ///< that encountered it; null for implicit and initial tasks
  task_group* group = nullptr;  ///< the innermost taskgroup that it is in, or null
  explicit_task* children = nullptr;          ///< first of those that have not ended; guarded by the pool's lock
  std::uint32_t unfinished_children = 0;      ///< guarded likewise
  task_dependences* dependences = nullptr;    ///< addresses that its children named in depend(); null: none
  bool is_explicit = false;
  bool is_final = false;  ///< all that it makes is run at once
  task_variables own;     ///< if `variables` says so

  task_variables& own_variables() noexcept {
    if (variables != &own) {
      own = *variables;
      variables = &own;
    }
    return own;
  }
};

}  // namespace lockstep::openmp

#endif  // LOCKSTEP_OPENMP_TASK_HPP
