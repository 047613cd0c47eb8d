// SPDX-License-Identifier: MIT
// openmp/taskloop.cpp -- a loop whose chunks are tasks
#include "task_groups.hpp"
#include "task_reductions.hpp"
#include "tasks.hpp"

namespace lockstep::openmp {

namespace {

/// How many iterations the tasks have: the first `longer` one step more than the others, or `last` in the last one.
struct loop_division {
  ull tasks;
  ull iterations;
  ull longer = 0;
  ull last = 0;  ///< 0: as the others
};

loop_division divide_evenly(ull total, ull tasks) noexcept {
  return {tasks, total / tasks, total % tasks, 0};
}

/// Tasks of exactly so many, and a last one of what is left.
loop_division divide_exactly(ull total, ull iterations) noexcept {
  return {total / iterations + (total % iterations != 0), iterations, 0, total % iterations};
}

/// `wanted`: tasks, or iterations of a task (loop_has_grainsize); 0: our choice.
loop_division divide(ull total, unsigned flags, ull wanted, unsigned members) noexcept {
  if ((flags & loop_has_grainsize) != 0) {
    if (wanted == 0) wanted = 1;
    if (wanted >= total) return {1, total};
    return (flags & loop_is_strict) != 0 ? divide_exactly(total, wanted)
                                         : divide_evenly(total, total / wanted);
  }
  if (wanted == 0) wanted = members;
  return wanted >= total ? loop_division{total, 1} : divide_evenly(total, wanted);
}

template <class Number>
ull count_iterations(bool goes_up, Number first, Number end, Number step) noexcept {
  if (goes_up ? first >= end : first <= end) return 0;
  const ull distance = goes_up ? static_cast<ull>(end) - static_cast<ull>(first)
                               : static_cast<ull>(first) - static_cast<ull>(end);
  const ull stride = goes_up ? static_cast<ull>(step) : 0 - static_cast<ull>(step);
  return distance / stride + (distance % stride != 0);
}

template <class Number>
void run_taskloop(const task_request& what, unsigned flags, ull wanted, Number first, Number end,
                  Number step) noexcept {
  part& self = here();
  // The task's data begins with its bounds; the array of its reductions follows.
  std::uintptr_t* const reductions =
      (flags & loop_reduces) != 0 ? static_cast<std::uintptr_t**>(what.data)[2] : nullptr;
  const ull total = count_iterations((flags & loop_goes_up) != 0, first, end, step);
  if (total == 0 || is_cancelled_here(self)) {
    if (reductions != nullptr) reductions[2] = 0;  // the program has nothing to combine
    return;
  }
  const bool has_group = (flags & loop_without_group) == 0;
  if (has_group) {
    task_group& group = begin_taskgroup(self);
    if (reductions != nullptr) {
      make_copies(reductions, self.size);
      group.reductions = reductions;
    }
  }
  const bool is_undeferred = (flags & loop_if) == 0;
  const loop_division parts = divide(total, flags, wanted, self.size);
  ull at = static_cast<ull>(first);
  for (ull i = 0; i < parts.tasks; ++i) {
    const ull iterations = i + 1 == parts.tasks && parts.last != 0
                               ? parts.last
                               : parts.iterations + (i < parts.longer);
    const ull next = at + iterations * static_cast<ull>(step);
    const auto set_bounds = [at, next](void* argument) {
      static_cast<Number*>(argument)[0] = static_cast<Number>(at);
      static_cast<Number*>(argument)[1] = static_cast<Number>(next);
    };
    if (is_undeferred) {
      run_copy_at_once(self, what, set_bounds);
    } else {
      make_task(self, what, set_bounds);
    }
    at = next;
  }
  if (has_group) end_taskgroup(self);
}

task_request request(outlined_function function, void* data, copy_function copy, long size,
                     long align, unsigned flags, int priority) noexcept {
  const bool is_final = here().running->is_final || (flags & task_final) != 0;
  return {function,
          data,
          copy,
          static_cast<std::size_t>(size),
          align > 0 ? static_cast<std::size_t>(align) : 1,
          is_final,
          allowed_priority(priority)};
}

}  // namespace

}  // namespace lockstep::openmp

using namespace lockstep::openmp;

OPENMP_API void GOMP_taskloop(outlined_function function, void* data, copy_function copy, long size,
                              long align, unsigned flags, unsigned long wanted, int priority,
                              long first, long end, long step) {
  run_taskloop(request(function, data, copy, size, align, flags, priority), flags, wanted, first,
               end, step);
}
OPENMP_API void GOMP_taskloop_ull(outlined_function function, void* data, copy_function copy,
                                  long size, long align, unsigned flags, unsigned long wanted,
                                  int priority, ull first, ull end, ull step) {
  run_taskloop(request(function, data, copy, size, align, flags, priority), flags, wanted, first,
               end, step);
}
