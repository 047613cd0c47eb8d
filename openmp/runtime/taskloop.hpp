// SPDX-License-Identifier: MIT
// openmp/runtime/taskloop.hpp -- a loop whose chunks are tasks
#ifndef LOCKSTEP_OPENMP_RUNTIME_TASKLOOP_HPP
#define LOCKSTEP_OPENMP_RUNTIME_TASKLOOP_HPP

#include <cstdint>

#include "tasks.hpp"

namespace lockstep::openmp {

/// Writes the bounds of a task into its data, at places that compilers choose: the first iteration, and the one after
/// the last.
struct bounds_writer {
  /// Null: the bounds are the first two words, as with GCC.
  void (*write)(void* argument, const bounds_writer& how, ull first, ull behind) noexcept = nullptr;
  ull step = 1;
  std::uint32_t first_at = 0, last_at = 0, shared_at = 0;
};

/// What `taskloop` has besides what a task has. Numbers are modulo 2^64.
struct taskloop_request {
  ull iterations, first, step;
  ull wanted = 0;  ///< number of tasks, or iterations of a task (has_grainsize); 0: our choice
  bool has_grainsize = false, is_strict = false;
  bool is_undeferred = false;  ///< if(false)
  bounds_writer bounds = {};
  /// Makes one of the tasks. Null: the tasks are copies of the data.
  void (*make_one)(part& self, void* data, const taskloop_request& how, ull first, ull behind,
                   bool is_last) noexcept = nullptr;
};

/// Requires: there are iterations.
void run_taskloop(part& self, const task_request& what, const taskloop_request& how) noexcept;

}  // namespace lockstep::openmp

#endif  // LOCKSTEP_OPENMP_RUNTIME_TASKLOOP_HPP
