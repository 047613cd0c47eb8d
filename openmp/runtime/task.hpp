// SPDX-License-Identifier: MIT
// openmp/runtime/task.hpp -- a task: its control variables, the taskgroup that it is in, the family of its children
//
// An implicit task is a member's part of a region (part.hpp); an explicit one is what `#pragma omp task` makes. What
// happens to explicit tasks is in task_pool.hpp and tasks.cpp.
#ifndef LOCKSTEP_OPENMP_RUNTIME_TASK_HPP
#define LOCKSTEP_OPENMP_RUNTIME_TASK_HPP

#include <cstdint>
#include <new>

#include "control_variables.hpp"

namespace lockstep::openmp {

struct task_group;   ///< of task_pool.hpp
struct task_family;  ///< of task_pool.hpp

/// What implicit and explicit tasks have in common.
//
//   TASK-1  Many tasks share the variables of the region: if each member read its own task's, that would cost it a line
//           transfer at the begin of each region. A task that changes one makes a copy first. What `variables` points
//           to lives as long as the task: the region's, those of the thread's initial task, or `own`.
struct task {
  union {
    task_variables own;  ///< used if `variables` points here; otherwise not initialised
  };
  const task_variables* variables = nullptr;  ///< for reading; changes go through own_variables()
  task_group* group = nullptr;                ///< the innermost taskgroup that it is in, or null
  task_family* family =
      nullptr;  ///< its children; null if all of them were run at once, and left nothing behind
  std::uint64_t begun_at =
      0;  ///< where its member's deque ended when it began (POOL-3 of task_pool.hpp)
  bool is_explicit = false;
  bool is_pooled = false;  ///< an explicit_task of a task_pool
  bool is_final = false;   ///< all tasks that it makes are run at once
  /// How many tasks are around it, up to the implicit one; at most `deepest`.
  std::uint16_t depth = 0;
  static constexpr std::uint16_t deepest = 1000;

  task() noexcept {}
  task(const task&) = delete;
  task& operator=(const task&) = delete;

  task_variables& own_variables() noexcept {
    if (variables != &own) {
      variables = ::new (&own) task_variables(*variables);
    }
    return own;
  }
  /// A child begins with its parent's present variables. Later changes of the parent do not reach it.
  void inherit(const task& parent) noexcept {
    if (parent.variables == &parent.own) {
      variables = ::new (&own) task_variables(parent.own);
    } else {
      variables = parent.variables;
    }
    group = parent.group;
    depth = parent.depth < deepest ? static_cast<std::uint16_t>(parent.depth + 1) : deepest;
  }
};

}  // namespace lockstep::openmp

#endif  // LOCKSTEP_OPENMP_RUNTIME_TASK_HPP
