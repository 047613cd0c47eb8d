// SPDX-License-Identifier: MIT
// openmp/runtime/task_groups.hpp -- taskgroups, and values that tasks reduce: each member has private copies, which the
// program combines
//
// The compiler describes the variables of a construct with task reductions in an array of words on the stack:
//   0  how many variables
//   1  size of one member's private copies, a multiple of 64
//   2  their alignment; once registered: where the copies of member 0 are, those of the others follow
//   3  -1, not used here
//   4, 5  not used here
//   6  ours: the end of all copies
//   then 3 words for each variable: its address, the place of its copy among a member's, a description (LLVM's front)
// Copies are zeroed. Beside each copy the compiler notes whether the member has initialised it. It combines the copies
// at the construct's end, by words 1 and 2.
//
//   REDUCE-1  Arrays belong to taskgroups: one of the program (task_reduction), or one that is made around the
//             construct (taskloop; loops, sections, scope and parallel with reduction(task, ...)). A task looks in the
//             groups around it, the innermost first.
//   REDUCE-2  The members of a loop, of sections or of a scope have an array each, and share the copies. The first
//             member to come makes them, the last to leave frees them.
#ifndef LOCKSTEP_OPENMP_RUNTIME_TASK_GROUPS_HPP
#define LOCKSTEP_OPENMP_RUNTIME_TASK_GROUPS_HPP

#include <cstdint>

#include "part.hpp"
#include "task_pool.hpp"

namespace lockstep::openmp {

/// Begins a group around all that the running task does from now on. end_taskgroup() ends it.
task_group& begin_taskgroup(part& self, bool is_of_construct = false) noexcept;
/// Waits until all tasks of the innermost group of the running task have ended.
void end_taskgroup(part& self) noexcept;

/// `cancel taskgroup`, by a task in it.
void cancel_taskgroup(task& of) noexcept;
/// Whether the innermost taskgroup of a task was cancelled. Tasks of it that have not begun are dropped.
bool is_taskgroup_cancelled(const task& of) noexcept;

// --- reductions ---

/// Makes private copies for this many members.
void make_copies(std::uintptr_t* reductions, unsigned members) noexcept;
void free_copies(std::uintptr_t* reductions) noexcept;

/// A variable that tasks reduce, and the copy of the member that asks.
struct found_copy {
  std::uintptr_t original, own;
  std::uintptr_t description;  ///< the third word of the variable in the array
};
/// `address` is that of the variable, or of any member's copy. `described`: whether the array has descriptions. Ends
/// the program if nothing around the task reduces the variable by such copies.
found_copy copy_of(const part& self, std::uintptr_t address, bool described) noexcept;

/// Called once for a region with reduction(task, ...), before it begins. Returns the group that its implicit tasks are
/// in. free_copies() frees its copies.
task_group* begin_parallel_reductions(std::uintptr_t* reductions, unsigned members) noexcept;
void end_parallel_reductions(task_group* of) noexcept;

/// Called by each member that comes to a loop, to sections or a scope, under a lock of the construct. `first_of_all` is
/// null when the first member comes, and the same for all. end_construct_reductions() ends it.
void begin_construct_reductions(part& self, std::uintptr_t* reductions,
                                std::uintptr_t*& first_of_all) noexcept;
/// Called once the copies were combined, or each member of a cancelled region has destroyed its own.
void end_construct_reductions(part& self, bool is_cancelled) noexcept;

}  // namespace lockstep::openmp

#endif  // LOCKSTEP_OPENMP_RUNTIME_TASK_GROUPS_HPP
