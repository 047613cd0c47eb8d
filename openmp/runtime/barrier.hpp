// SPDX-License-Identifier: MIT
// openmp/runtime/barrier.hpp -- all members of a region wait for all, and run tasks meanwhile
//
// It is the barrier of lockstep's team. A member that waits there is called to help where tasks are ready
// (team_barrier.hpp). When all have arrived, those tasks that were made before are finished (POOL-1 of task_pool.hpp).
#ifndef LOCKSTEP_OPENMP_RUNTIME_BARRIER_HPP
#define LOCKSTEP_OPENMP_RUNTIME_BARRIER_HPP

#include "part.hpp"

namespace lockstep::openmp {

/// Blocks until all members of the region have called it as often, and all tasks made before have ended. False, and
/// without waiting, once the region is cancelled. `kind`: what observers call it.
bool pass_barrier(part& self, const char* kind = "barrier") noexcept;

/// A task has become ready: those that sleep in the barrier of this region look again (POOL-2).
void wake_barrier(detail::member_state& at) noexcept;

/// Whether `cancel parallel` has ended the region early.
bool is_region_cancelled(const part& self) noexcept;

}  // namespace lockstep::openmp

#endif  // LOCKSTEP_OPENMP_RUNTIME_BARRIER_HPP
