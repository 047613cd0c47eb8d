// SPDX-License-Identifier: MIT
// task, taskwait, taskyield, taskgroup, taskloop, and their reductions.
#include <cstddef>
#include <cstdint>

#include "api/depend.hpp"
#include "runtime/ompt.hpp"
#include "runtime/synchronization.hpp"
#include "runtime/task_groups.hpp"
#include "runtime/tasks.hpp"

using namespace lockstep::openmp;

namespace {

/// The bits of GOMP_task's and GOMP_taskloop's flags.
enum task_flag : unsigned {
  task_untied = 1u << 0,
  task_final = 1u << 1,
  task_mergeable = 1u << 2,
  task_depends = 1u << 3,
  task_has_priority = 1u << 4,
  loop_goes_up = 1u << 8,
  loop_has_grainsize = 1u << 9,
  loop_if = 1u << 10,  ///< not set: if(false)
  loop_without_group = 1u << 11,
  loop_reduces = 1u << 12,
  task_is_detached = 1u << 13,
  loop_is_strict = 1u << 14
};

task_request request_of(const part& self, outlined_function function, void* data,
                        copy_function copy, long size, long align, unsigned flags,
                        int priority) noexcept {
  return {function,
          data,
          copy,
          static_cast<std::size_t>(size),
          align > 0 ? static_cast<std::size_t>(align) : 1,
          self.running->is_final || (flags & task_final) != 0,
          allowed_priority(priority)};
}

int traits_of(unsigned flags) noexcept {
  return ((flags & task_untied) != 0 ? ompt::task_untied : 0) |
         ((flags & task_mergeable) != 0 ? ompt::task_mergeable : 0);
}

[[gnu::noinline]] void make_special_task(outlined_function function, void* data, copy_function copy,
                                         long size, long align, bool may_wait, unsigned flags,
                                         void** depend, int priority, void* event) noexcept {
  part& self = here();
  // A task that is run at once waits for nobody, so it skips the work for rare options.
  if (copy == nullptr && event == nullptr && !process_settings().has_special_tasks &&
      (!may_wait || self.is_alone()) && !has_unfinished(self.running->family)) {
    const bool is_final = self.running->is_final || (flags & task_final) != 0;
    return run_at_once(self, function, data, is_final);
  }
  make_task(self, request_of(self, function, data, copy, size, align, flags, priority),
            {!may_wait, listed(depend), event, traits_of(flags)});
}

[[gnu::noinline]] void queue_plain_task(part& self, outlined_function function, void* data,
                                        long size, long align, unsigned flags) noexcept {
  const task_request what = request_of(self, function, data, nullptr, size, align, flags, 0);
  queue_task(self, what, [](void*) {}, false, false);
}

/// Makes a task without special options, as most are. A separate function, so that tasks that are run at once do not
/// pay for it.
[[gnu::noinline]] void make_plain_task(outlined_function function, void* data, long size,
                                       long align, bool may_wait, unsigned flags) noexcept {
  part& self = here();
  if (!may_wait || runs_tasks_at_once(self)) {
    const bool is_final = self.running->is_final || (flags & task_final) != 0;
    return run_at_once(self, function, data, is_final);
  }
  queue_plain_task(self, function, data, size, align, flags);
}

}  // namespace

// Programs of older compilers pass fewer arguments. What stands in the place of the missing ones belongs to the caller,
// and must not even be written to. A compiler may keep variables of a function in the places of its arguments, so this
// function has no variables.
OPENMP_IN_BOTH(void, GOMP_task)(outlined_function function, void* data, copy_function copy,
                                long size, long align, bool may_wait, unsigned flags, void** depend,
                                int priority, void* event) {
  if (copy == nullptr && (flags & (task_depends | task_has_priority | task_is_detached)) == 0 &&
      !process_settings().has_special_tasks)
    return make_plain_task(function, data, size, align, may_wait, flags);
  note_call_in_place();
  make_special_task(function, data, copy, size, align, may_wait, flags,
                    (flags & task_depends) != 0 ? depend : nullptr,
                    (flags & task_has_priority) != 0 ? priority : 0,
                    (flags & task_is_detached) != 0 ? event : nullptr);
}

OPENMP_IN_BOTH(void, GOMP_taskwait)() { wait_for_children(entered()); }
OPENMP_IN_BOTH(void, GOMP_taskwait_depend)(void** depend) {
  wait_for_dependences(entered(), listed(depend));
}

OPENMP_IN_BOTH(void, GOMP_taskyield)() {
  part& self = entered();
  if (self.tasks != nullptr) self.shared->tasks.yield(self);
}

/// Of compilers since GCC 13.
OPENMP_API void GOMP_taskwait_depend_nowait(void** depend) {
  make_waiting_task(entered(), listed(depend));
}

// --- taskgroup ---

OPENMP_IN_BOTH(void, GOMP_taskgroup_start)() { begin_taskgroup(entered()); }
OPENMP_IN_BOTH(void, GOMP_taskgroup_end)() {
  part& self = entered();
  if (self.running->group != nullptr) end_taskgroup(self);
}

// --- taskloop ---

namespace {

/// The task's data begins with its bounds, and the array of its reductions follows.
void run(part& self, outlined_function function, void* data, copy_function copy, long size,
         long align, unsigned flags, unsigned long wanted, int priority,
         const loop_spec& range) noexcept {
  std::uintptr_t* const reductions =
      (flags & loop_reduces) != 0 ? static_cast<std::uintptr_t**>(data)[2] : nullptr;
  taskloop_request how{range.count, range.base, range.increment, wanted};
  if (how.iterations == 0 || is_cancelled_here(self)) {
    if (reductions != nullptr) reductions[2] = 0;  // the program has nothing to combine
    return;
  }
  how.has_grainsize = (flags & loop_has_grainsize) != 0;
  how.is_strict = (flags & loop_is_strict) != 0;
  how.is_undeferred = (flags & loop_if) == 0;
  const bool has_group = (flags & loop_without_group) == 0;
  if (has_group) {
    task_group& group = begin_taskgroup(self);
    if (reductions != nullptr) {
      make_copies(reductions, self.size);
      group.reductions = reductions;
    }
  }
  run_taskloop(self, request_of(self, function, data, copy, size, align, flags, priority), how);
  if (has_group) end_taskgroup(self);
}

}  // namespace

OPENMP_IN_BOTH(void, GOMP_taskloop)(outlined_function function, void* data, copy_function copy,
                                    long size, long align, unsigned flags, unsigned long wanted,
                                    int priority, long first, long end, long step) {
  run(entered(), function, data, copy, size, align, flags, wanted, priority,
      loop_spec::of((flags & loop_goes_up) != 0, first, end, step));
}
OPENMP_IN_BOTH(void, GOMP_taskloop_ull)(outlined_function function, void* data, copy_function copy,
                                        long size, long align, unsigned flags, unsigned long wanted,
                                        int priority, ull first, ull end, ull step) {
  run(entered(), function, data, copy, size, align, flags, wanted, priority,
      loop_spec::of((flags & loop_goes_up) != 0, first, end, step));
}

// --- reductions ---

OPENMP_IN_BOTH(void, GOMP_taskgroup_reduction_register)(std::uintptr_t* reductions) {
  part& self = here();
  task_group* const group = self.running->group;
  make_copies(reductions, self.size);
  group->reductions = reductions;
}

/// Called after the program has combined the copies. The group may have ended.
OPENMP_IN_BOTH(void, GOMP_taskgroup_reduction_unregister)(std::uintptr_t* reductions) {
  free_copies(reductions);
}

/// For a task with in_reduction: replaces `count` addresses by those of the calling member's copies. Appends the
/// addresses of the first `originals` variables themselves.
OPENMP_IN_BOTH(void, GOMP_task_reduction_remap)(std::size_t count, std::size_t originals,
                                                void** addresses) {
  const part& self = here();
  for (std::size_t i = 0; i < count; ++i) {
    const found_copy found = copy_of(self, reinterpret_cast<std::uintptr_t>(addresses[i]), false);
    addresses[i] = reinterpret_cast<void*>(found.own);
    if (i < originals) addresses[count + i] = reinterpret_cast<void*>(found.original);
  }
}

/// The end of a loop, of sections or of a scope with reductions. Member 0 has combined all copies. If the region is
/// cancelled, each member has destroyed its own copies instead.
OPENMP_IN_BOTH(void, GOMP_workshare_task_reduction_unregister)(bool is_cancelled) {
  part& self = here();
  end_construct_reductions(self, is_cancelled);
  if (!is_cancelled) pass_barrier(self);
}
