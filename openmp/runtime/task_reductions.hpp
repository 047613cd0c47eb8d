// SPDX-License-Identifier: MIT
// openmp/runtime/task_reductions.hpp -- values that tasks reduce: each member has private copies, which the program combines
//
// The compiler describes the variables of a construct with task reductions in an array of words on the stack:
//   0  how many variables
//   1  size of one member's private copies, a multiple of 64
//   2  their alignment; once registered: where the copies of member 0 are, those of the others follow
//   3  -1, not used here
//   4, 5  not used here
//   6  ours: the end of all copies
//   then 3 words for each variable: its address, where its copy is in a member's, not used here
// Copies are zeroed: beside each the compiler keeps whether the member has initialised it. It combines them at the
// construct's end, by words 1 and 2.
//
//   REDUCE-1  Arrays hang on taskgroups: that of the program (task_reduction), or one around the construct (taskloop; loops,
//             sections, scope and parallel with reduction(task, ...)). A task looks in the groups around it, the
//             innermost first.
//   REDUCE-2  The members of a loop, of sections or of a scope have an array each, and share the copies. The first that
//             comes makes them, the last that leaves frees them.
#ifndef LOCKSTEP_OPENMP_RUNTIME_TASK_REDUCTIONS_HPP
#define LOCKSTEP_OPENMP_RUNTIME_TASK_REDUCTIONS_HPP

#include <cstdint>

#include "part.hpp"

namespace lockstep::openmp {

/// Makes private copies for so many members.
void make_copies(std::uintptr_t* reductions, unsigned members) noexcept;
void free_copies(std::uintptr_t* reductions) noexcept;

/// Where a variable that tasks reduce is, and the copy of the member that asks.
struct found_copy {
  std::uintptr_t original, own;
  std::uintptr_t description;  ///< what the array says of it beside
};
/// `address`: of the variable, or of any member's copy. Ends the program where nothing around the task reduces it by copies
/// that are `described`, or not.
found_copy copy_of(const part& self, std::uintptr_t address, bool described) noexcept;

/// Once for a region with reduction(task, ...), before it begins: the group that its implicit tasks are in. Its copies
/// are freed by free_copies().
task_group* begin_parallel_reductions(std::uintptr_t* reductions, unsigned members) noexcept;
void end_parallel_reductions(task_group* of) noexcept;

/// By each member that comes to a loop, to sections or a scope. Under a lock of the construct; `first_of_all` is null when
/// the first member comes, and the same for all. Ends by end_construct_reductions().
void begin_construct_reductions(part& self, std::uintptr_t* reductions,
                                std::uintptr_t*& first_of_all) noexcept;
/// Once the copies were combined, or each member of a cancelled region has destroyed its own.
void end_construct_reductions(part& self, bool is_cancelled) noexcept;

}  // namespace lockstep::openmp

#endif  // LOCKSTEP_OPENMP_RUNTIME_TASK_REDUCTIONS_HPP
