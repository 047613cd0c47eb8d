// SPDX-License-Identifier: MIT
// openmp/tasks.cpp -- task, taskwait, taskyield, and events of detached tasks
//
// A task is run at once, by the thread that encounters it, where OpenMP says so (if, final), where nobody else is there,
// and where the pool is full. Then it needs neither memory nor the pool's lock. Not so a detached task: it may be
// unfinished after its function has returned; nor one that depends on unfinished ones: it is queued even by a thread alone,
// since the event that it waits for may be fulfilled later by just this thread.
#include "tasks.hpp"

#include "barrier.hpp"
#include "task_dependences.hpp"
#include "task_groups.hpp"

namespace lockstep::openmp {

namespace {

bool has_unfinished(const task_family* family) noexcept {
  return family != nullptr && family->has_unfinished();
}

/// A task with a place in the pool. `is_undeferred`: the caller goes on when it has ended.
void make_in_pool(part& self, const task_request& what, bool is_undeferred, bool runs_now,
                  void** depend, void* event) noexcept {
  note_tasks(self);
  task& parent = *self.running;
  task_pool& tasks = shared_of(self).tasks;
  explicit_task& one = tasks.make(self, parent, what.size, what.align,
                                  depend == nullptr ? 0 : count_dependences(depend));
  describe(one, what);
  if (event != nullptr) {
    one.has_event = true;
    *static_cast<void**>(event) = &one;
    if (what.data != nullptr)
      *static_cast<void**>(what.data) = &one;  // the compiler puts the task's copy there
  }
  what.fill(one.argument);
  detail::atomic<bool> has_ended{false};
  if (is_undeferred) {
    one.is_awaited = true;
    one.tells_end = &has_ended;
  }
  if (tasks.add(self, parent, one, depend, runs_now)) tasks.run_now(self, one);
  if (is_undeferred) tasks.wait_for_end(self, *parent.family, has_ended);
}

}  // namespace

void run_at_once(part& self, outlined_function function, void* data, bool is_final) noexcept {
  task& parent = *self.running;
  task now;
  now.inherit(parent);
  now.is_explicit = true;
  now.is_final = is_final;
  now.begun_at = self.tasks != nullptr ? self.tasks->ready.back : 0;
  self.running = &now;
  function(data);
  self.running = &parent;
  if (__builtin_expect(now.family != nullptr, 0)) end_family(self, now);
}

bool is_cancelled_here(const part& self) noexcept {
  return process_settings().can_cancel &&
         (is_region_cancelled(self) || is_taskgroup_cancelled(*self.running));
}

void wait_for_dependences(part& self, void** depend) noexcept {
  task_family* const family = self.running->family;
  if (has_unfinished(family)) family->pool->wait_for_dependences(self, *family, depend);
}

}  // namespace lockstep::openmp

using namespace lockstep::openmp;

namespace {

/// What GOMP_task was called with.
struct task_call {
  outlined_function function;
  void* data;
  copy_function copy;
  std::size_t size, align;
  bool may_wait;
  unsigned flags;
  void** depend;  ///< null: none
  int priority;
  void* event;  ///< null: none
};

[[gnu::noinline]] void make_task(const task_call& call) noexcept {
  part& self = here();
  if (is_cancelled_here(self)) return;
  const task& parent = *self.running;
  const task_request what{call.function,
                          call.data,
                          call.copy,
                          call.size,
                          call.align,
                          parent.is_final || (call.flags & task_final) != 0,
                          allowed_priority(call.priority)};
  const bool is_undeferred = !call.may_wait || parent.is_final;
  void** depend = call.depend;
  if (depend != nullptr && call.event == nullptr && (is_undeferred || self.is_alone()) &&
      !has_unfinished(parent.family)) {
    depend = nullptr;
  }
  const bool runs_now = is_undeferred || runs_tasks_at_once(self);
  if (call.event == nullptr && (is_undeferred || (runs_now && depend == nullptr))) {
    if (depend != nullptr) wait_for_dependences(self, depend);
    if (call.copy == nullptr) return run_at_once(self, what.function, what.data, what.is_final);
    return run_copy_at_once(self, what, [](void*) {});
  }
  make_in_pool(self, what, is_undeferred, runs_now, depend, call.event);
}

/// Most tasks have nothing special. Where they are run at once they do not pay for what others have.
[[gnu::noinline]] void make_plain_task(outlined_function function, void* data, long size,
                                       long align, bool may_wait, unsigned flags) noexcept {
  part& self = here();
  if (!process_settings().can_cancel && (!may_wait || runs_tasks_at_once(self))) {
    const bool is_final = self.running->is_final || (flags & task_final) != 0;
    return run_at_once(self, function, data, is_final);
  }
  make_task({function, data, nullptr, static_cast<std::size_t>(size),
             align > 0 ? static_cast<std::size_t>(align) : 1, may_wait, flags, nullptr, 0,
             nullptr});
}

}  // namespace

// Programs of older compilers pass fewer arguments. What stands in the place of the last ones belongs to the caller, and
// is not even to be written to. A compiler may keep variables of a function in the places of its arguments, so this one
// has none.
OPENMP_API void GOMP_task(outlined_function function, void* data, copy_function copy, long size,
                          long align, bool may_wait, unsigned flags, void** depend, int priority,
                          void* event) {
  if (copy == nullptr && (flags & (task_depends | task_has_priority | task_is_detached)) == 0)
    return make_plain_task(function, data, size, align, may_wait, flags);
  make_task({function, data, copy, static_cast<std::size_t>(size),
             align > 0 ? static_cast<std::size_t>(align) : 1, may_wait, flags,
             (flags & task_depends) != 0 ? depend : nullptr,
             (flags & task_has_priority) != 0 ? priority : 0,
             (flags & task_is_detached) != 0 ? event : nullptr});
}

OPENMP_API void GOMP_taskwait() {
  part& self = here();
  task_family* const family = self.running->family;
  if (has_unfinished(family)) family->pool->wait_for_children(self, *family);
}

OPENMP_API void GOMP_taskwait_depend(void** depend) { wait_for_dependences(here(), depend); }

OPENMP_API void GOMP_taskyield() {
  part& self = here();
  if (self.tasks != nullptr) self.shared->tasks.yield(self);
}

/// By any thread, also one that OpenMP does not know. `event`: what GOMP_task has put into the event's variable.
OPENMP_API void omp_fulfill_event(std::uintptr_t event) {
  task_pool::fulfil(*reinterpret_cast<explicit_task*>(event));
}

/// taskwait with depend and nowait, of compilers since GCC 13: a task that does nothing.
OPENMP_API void GOMP_taskwait_depend_nowait(void** depend) {
  GOMP_task([](void*) {}, nullptr, nullptr, 0, 1, true, task_depends, depend, 0, nullptr);
}
