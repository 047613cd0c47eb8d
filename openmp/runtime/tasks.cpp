// SPDX-License-Identifier: MIT
// openmp/runtime/tasks.cpp -- task, taskwait, taskyield, and events of detached tasks
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

/// A task with a place in the pool.
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

void make_task(part& self, const task_request& what, const task_details& details) noexcept {
  if (is_cancelled_here(self)) return;
  const task& parent = *self.running;
  const bool is_undeferred = details.is_undeferred || parent.is_final;
  void** depend = details.depend;
  if (depend != nullptr && details.event == nullptr && (is_undeferred || self.is_alone()) &&
      !has_unfinished(parent.family)) {
    depend = nullptr;
  }
  const bool runs_now = is_undeferred || runs_tasks_at_once(self);
  if (details.event == nullptr && (is_undeferred || (runs_now && depend == nullptr))) {
    if (depend != nullptr) wait_for_dependences(self, depend);
    if (what.copy == nullptr) return run_at_once(self, what.function, what.data, what.is_final);
    return run_copy_at_once(self, what, [](void*) {});
  }
  make_in_pool(self, what, is_undeferred, runs_now, depend, details.event);
}

void wait_for_children(part& self) noexcept {
  task_family* const family = self.running->family;
  if (has_unfinished(family)) family->pool->wait_for_children(self, *family);
}

void wait_for_dependences(part& self, void** depend) noexcept {
  task_family* const family = self.running->family;
  if (has_unfinished(family)) family->pool->wait_for_dependences(self, *family, depend);
}

}  // namespace lockstep::openmp
