// SPDX-License-Identifier: MIT
// openmp/task_pool.hpp -- the explicit tasks of a region that have not ended, and who runs them
//
// One for each shared_region. A thread that makes a task puts it here; threads that wait (at a barrier, the end of a
// region, taskwait, the end of a taskgroup) run what is ready.
//
//   POOL-1  Tasks are counted by the parity of the barriers that the part which made their outermost ancestor had passed.
//           A member leaves its barrier when all members have arrived, and no task of that parity is unfinished. Tasks
//           that others make after the barrier do not hold it up: nobody is two barriers ahead.
//   POOL-2  Whoever makes a task ready changes the count of ready tasks first, and then wakes those that sleep in the
//           barrier (PUBLISH-3 of published_words.hpp).
#ifndef LOCKSTEP_OPENMP_TASK_POOL_HPP
#define LOCKSTEP_OPENMP_TASK_POOL_HPP

#include <cstdint>

#include <lockstep/detail/platform/atomic.hpp>

#include "task.hpp"

namespace lockstep::openmp {

struct part;

class task_pool {
 public:
  task_pool() noexcept = default;
  task_pool(const task_pool&) = delete;
  task_pool& operator=(const task_pool&) = delete;

  /// Whether a task is ready to be run. Any thread, at any time; acquire.
  bool has_ready() const noexcept;
  /// Runs tasks of the pool until none is ready. By a member that waits at a barrier.
  void run_ready(part& self) noexcept;
  /// Whether tasks of this parity have not ended. Acquire: what ended tasks did is seen where it is false.
  bool has_unfinished(std::uint32_t parity) const noexcept;
  /// Runs ready tasks, and waits, until no task of this parity is unfinished. After all members have arrived.
  void finish(part& self, std::uint32_t parity) noexcept;
};

}  // namespace lockstep::openmp

#endif  // LOCKSTEP_OPENMP_TASK_POOL_HPP
