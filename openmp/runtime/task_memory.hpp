// SPDX-License-Identifier: MIT
// openmp/runtime/task_memory.hpp -- which regions make tasks
//
// A region that makes tasks ends with a barrier, at which its members run them; all others end without. Which do is
// guessed by the region's function: its module says what it calls of us, and a region that made tasks all the same is
// remembered.
#ifndef LOCKSTEP_OPENMP_RUNTIME_TASK_MEMORY_HPP
#define LOCKSTEP_OPENMP_RUNTIME_TASK_MEMORY_HPP

#include "part.hpp"

namespace lockstep::openmp {

/// Whether a region of this function may make tasks.
bool may_make_tasks(outlined_function of) noexcept;
/// It does.
void remember_tasks(outlined_function of) noexcept;

/// A task is made in the part's region.
inline void note_tasks(part& self) noexcept {
  if (__builtin_expect(!self.ends_with_barrier, 0) && self.function != nullptr)
    remember_tasks(self.function);
}

}  // namespace lockstep::openmp

#endif  // LOCKSTEP_OPENMP_RUNTIME_TASK_MEMORY_HPP
