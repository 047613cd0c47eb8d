// SPDX-License-Identifier: MIT
// openmp/runtime/task_groups.hpp -- taskgroups: begin, end and cancel one
#ifndef LOCKSTEP_OPENMP_RUNTIME_TASK_GROUPS_HPP
#define LOCKSTEP_OPENMP_RUNTIME_TASK_GROUPS_HPP

#include "part.hpp"
#include "task_pool.hpp"

namespace lockstep::openmp {

/// Begins a group around all that the running task does from now on. end_taskgroup() ends it.
task_group& begin_taskgroup(part& self, bool is_of_construct = false) noexcept;
/// Waits until all tasks of the innermost group of the running task have ended.
void end_taskgroup(part& self) noexcept;

/// `cancel taskgroup`, by a task in it. Returns true.
bool cancel_taskgroup(task& of) noexcept;
/// Whether the innermost taskgroup of a task was cancelled. Tasks of it that have not begun are dropped.
bool is_taskgroup_cancelled(const task& of) noexcept;

}  // namespace lockstep::openmp

#endif  // LOCKSTEP_OPENMP_RUNTIME_TASK_GROUPS_HPP
