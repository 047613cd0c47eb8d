// SPDX-License-Identifier: MIT
// openmp/runtime/tasks.cpp -- task, taskwait, events of detached tasks, and taskloop
//
// The thread that encounters a task runs it at once if OpenMP demands it (if, final), if no other member is there, or
// if the pool is full. Then the task needs neither memory nor the pool's lock. Two kinds are never run so. A detached
// task may be unfinished after its function has returned. A task that depends on unfinished ones is queued even by a
// thread alone, because just this thread may later fulfil the event that the task waits for.
#include "tasks.hpp"

#include <vector>

#include "ompt.hpp"
#include "synchronization.hpp"
#include "task_dependences.hpp"
#include "task_groups.hpp"

namespace lockstep::openmp {

namespace {

/// What happens to a new task.
struct task_plan {
  bool is_undeferred;
  bool runs_now;  ///< if it depends on nothing unfinished
  bool is_call;   ///< it runs within the calling task, without a place in the pool
  const dependence_list* depend;
};

constexpr dependence_list no_dependences;

// Inline, as add_to_pool_untold(): the plan stays in registers.
[[gnu::always_inline]] inline task_plan plan_of(part& self, const task_details& details,
                                                bool has_event) noexcept {
  const task& parent = *self.running;
  task_plan plan{details.is_undeferred || parent.is_final, true, false, &details.depend};
  if (!has_event && (plan.is_undeferred || self.is_alone()) && !has_unfinished(parent.family))
    plan.depend = &no_dependences;
  if (!plan.is_undeferred) plan.runs_now = runs_tasks_at_once(self);
  plan.is_call = !has_event && (plan.is_undeferred || (plan.runs_now && plan.depend->count == 0));
  return plan;
}

void wait_for_dependences_untold(part& self, const dependence_list& depend,
                                 ompt::task_info* told) noexcept {
  task_family* const family = self.running->family;
  if (has_unfinished(family)) family->pool->wait_for_dependences(self, *family, depend, told);
}

void tell_dependences(ompt::task_info& of, const dependence_list& depend) noexcept {
  if (depend.count == 0 || !ompt::dependences::is_wanted()) return;
  std::vector<ompt::dependence> all(depend.count);
  for (std::size_t i = 0; i < depend.count; ++i) {
    const dependence one = depend.at(i);
    all[i].variable.pointer = one.address;
    all[i].type = one.is_all_memory()                     ? ompt::dependence_type::out_all_memory
                  : one.is_mutual                         ? ompt::dependence_type::mutexinoutset
                  : one.kind == dependence_kind::inoutset ? ompt::dependence_type::inoutset
                  : one.kind == dependence_kind::in       ? ompt::dependence_type::in
                                                          : ompt::dependence_type::inout;
  }
  ompt::tell_dependences(of, all.data(), all.size());
}

/// Gives a task a place in the pool.
[[gnu::always_inline]] inline void add_to_pool_untold(part& self, explicit_task& one,
                                                      task_plan plan) noexcept {
  note_tasks(self);
  task& parent = *self.running;
  task_pool& tasks = self.shared->tasks;
  detail::atomic<bool> has_ended{false};
  if (plan.is_undeferred) {
    one.is_awaited = true;
    one.tells_end = &has_ended;
  }
  if (tasks.add(self, parent, one, *plan.depend, plan.runs_now)) tasks.run_now(self, one);
  if (plan.is_undeferred) tasks.wait_for_end(self, *parent.family, has_ended);
}

/// Calls a task that was made only because the compiler needed its memory, or because a tool is told of it.
[[gnu::always_inline]] inline void run_within(part& self, explicit_task& one,
                                              const dependence_list& depend) noexcept {
  task_pool& tasks = self.shared->tasks;
  if (depend.count != 0)
    wait_for_dependences_untold(self, depend, has_tool() ? &info_of(one) : nullptr);
  tasks.begin_within(self, one);
  one.function(one.argument);
  tasks.end_within(self, one);
}
[[gnu::noinline, gnu::cold]] void run_within_told(part& self, explicit_task& one,
                                                  const dependence_list& depend) noexcept {
  info_of(one).at.exit.pointer = __builtin_frame_address(0);
  run_within(self, one, depend);
}

[[gnu::noinline, gnu::cold]] void add_to_pool_told(part& self, explicit_task& one,
                                                   task_plan plan) noexcept {
  const ompt::call_scope call(self);  // tasks may run meanwhile
  add_to_pool_untold(self, one, plan);
}

[[gnu::always_inline]] inline void add_to_pool(part& self, explicit_task& one,
                                               task_plan plan) noexcept {
  return has_tool() ? add_to_pool_told(self, one, plan) : add_to_pool_untold(self, one, plan);
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
  const task_plan plan = plan_of(self, details, details.event != nullptr);
  if (plan.is_call && !has_tool()) {
    if (plan.depend->count != 0) wait_for_dependences_untold(self, *plan.depend, nullptr);
    if (what.copy == nullptr) return run_at_once(self, what.function, what.data, what.is_final);
    return run_copy_at_once(self, what, [](void*) {});
  }
  explicit_task& one = shared_of(self).tasks.make(self, *self.running, what.size, what.align,
                                                  plan.is_call ? 0 : plan.depend->count);
  describe(one, what);
  if (details.event != nullptr) {
    one.has_event = true;
    *static_cast<void**>(details.event) = &one;
    if (what.data != nullptr)
      *static_cast<void**>(what.data) = &one;  // the compiler puts the task's copy there
  }
  what.fill(one.argument);
  if (has_tool()) tell_task(self, one, details, what.size);
  if (plan.is_call) return run_within_told(self, one, *plan.depend);
  add_to_pool(self, one, plan);
}

void start_task(part& self, explicit_task& one, const task_details& details,
                const void* end) noexcept {
  const task_plan plan = plan_of(self, details, one.has_event);
  if (has_tool()) {
    const char* const begin = static_cast<const char*>(one.argument);
    tell_task(self, one, details, static_cast<std::size_t>(static_cast<const char*>(end) - begin));
  }
  if (plan.is_call) return run_within(self, one, *plan.depend);
  if (plan.depend->count != 0) self.shared->tasks.make_uses(one, end, plan.depend->count);
  add_to_pool(self, one, plan);
}

void tell_task(part& self, explicit_task& one, const task_details& details,
               std::size_t size) noexcept {
  ompt::task_info& told = info_of(one);
  const bool is_undeferred = details.is_undeferred || self.running->is_final || self.is_alone();
  told.memory = one.argument;
  told.memory_size = size;
  ompt::tell_creation(self, told,
                      ompt::task_explicit | details.traits |
                          (is_undeferred ? ompt::task_undeferred : 0) |
                          (one.is_final ? ompt::task_final : 0),
                      details.depend.count != 0);
  tell_dependences(told, details.depend);
}

namespace {

void wait_for_children_untold(part& self) noexcept {
  task_family* const family = self.running->family;
  if (has_unfinished(family)) family->pool->wait_for_children(self, *family);
}

[[gnu::noinline, gnu::cold]] void wait_for_children_told(part& self) noexcept {
  const ompt::sync_scope told(self, ompt::sync_kind::taskwait);
  wait_for_children_untold(self);
}

/// The wait is shown as a task that ends when the wait does.
[[gnu::noinline, gnu::cold]] void wait_for_dependences_told(
    part& self, const dependence_list& depend) noexcept {
  ompt::task_info told;
  ompt::tell_creation(self, told,
                      ompt::task_taskwait | ompt::task_undeferred | ompt::task_mergeable,
                      depend.count != 0);
  tell_dependences(told, depend);
  wait_for_dependences_untold(self, depend, &told);
  ompt::task_schedule::tell(&told.own, ompt::task_status::taskwait_complete, &self.tool->own);
}

}  // namespace

void wait_for_children(part& self) noexcept {
  if (has_tool()) return wait_for_children_told(self);
  wait_for_children_untold(self);
}

void wait_for_dependences(part& self, const dependence_list& depend) noexcept {
  if (has_tool()) return wait_for_dependences_told(self, depend);
  wait_for_dependences_untold(self, depend, nullptr);
}

void make_waiting_task(part& self, const dependence_list& depend) noexcept {
  make_task(self, task_request{[](void*) {}, nullptr, nullptr, 0, 1}, {false, depend});
}

// --- taskloop ---

namespace {

/// How many iterations each task has. The first `longer` tasks have one step more than the others, or the last one has
/// `last`.
struct loop_division {
  ull tasks;
  ull iterations;
  ull longer = 0;
  ull last = 0;  ///< 0: as many as the others
};

loop_division divide_evenly(ull total, ull tasks) noexcept {
  return {tasks, total / tasks, total % tasks, 0};
}

/// Tasks of exactly this many iterations, and a last one with the rest.
loop_division divide_exactly(ull total, ull iterations) noexcept {
  return {total / iterations + (total % iterations != 0), iterations, 0, total % iterations};
}

loop_division divide(ull total, const taskloop_request& how, unsigned members) noexcept {
  ull wanted = how.wanted;
  if (how.has_grainsize) {
    if (wanted == 0) wanted = 1;
    if (wanted >= total) return {1, total};
    return how.is_strict ? divide_exactly(total, wanted) : divide_evenly(total, total / wanted);
  }
  if (wanted == 0) wanted = members;
  return wanted >= total ? loop_division{total, 1} : divide_evenly(total, wanted);
}

/// The tasks of a taskloop.
struct loop_tasks : task_range {
  task_request what;
  loop_division parts;
  ull first, step;
  bounds_writer bounds;

  /// The first iteration of a task. For the index after the last task: the end.
  ull start_of(ull index) const noexcept {
    const ull longer = index < parts.longer ? index : parts.longer;
    const ull before = index == parts.tasks && parts.last != 0
                           ? (index - 1) * parts.iterations + parts.last
                           : index * parts.iterations + longer;
    return first + before * step;
  }
  /// The function `set` for make_task() and similar ones.
  auto bounds_of(ull index) const noexcept {
    return [this, at = start_of(index), next = start_of(index + 1)](void* argument) {
      if (bounds.write != nullptr) return bounds.write(argument, bounds, at, next);
      static_cast<ull*>(argument)[0] = at;
      static_cast<ull*>(argument)[1] = next;
    };
  }
};

void run_range(part& self, loop_tasks& all) noexcept {
  task_pool& tasks = self.shared->tasks;
  all.around = self.running;
  tasks.open_range(self, all);
  std::uint64_t at = 0, end = 0;
  while (tasks.take_from(self, all, at, end)) {
    for (; at != end; ++at) {
      if (is_cancelled_here(self)) return tasks.close_range(self, all);
      run_copy_at_once(self, all.what, all.bounds_of(at));
    }
  }
}

explicit_task& make_part(part& self, const task_range& of, std::uint64_t begin,
                         std::uint64_t end) noexcept {
  const loop_tasks& all = static_cast<const loop_tasks&>(of);
  explicit_task& one =
      self.shared->tasks.make(self, *of.around, sizeof(loop_tasks) + all.what.size + all.what.align,
                              alignof(loop_tasks), 0);
  loop_tasks& own = *::new (one.argument) loop_tasks(all);
  own.begin = begin;
  own.end = end;
  const auto behind = reinterpret_cast<std::uintptr_t>(&own + 1);
  own.what.data = reinterpret_cast<void*>(round_up(behind, own.what.align));
  all.what.fill(own.what.data);
  one.function = [](void* argument) { run_range(here(), *static_cast<loop_tasks*>(argument)); };
  return one;
}

void tell_chunk_of(const loop_tasks& all, ull index) noexcept {
  const ull start = all.start_of(index), next = all.start_of(index + 1);
  ompt::this_thread().next_chunk = {start, (next - start) / all.step};
}

}  // namespace

void run_taskloop(part& self, const task_request& what, const taskloop_request& how) noexcept {
  loop_tasks all;
  all.what = what;
  all.parts = divide(how.iterations, how, self.size);
  all.first = how.first;
  all.step = how.step;
  all.bounds = how.bounds;
  all.begin = 0;
  all.end = all.parts.tasks;
  const bool is_undeferred = how.is_undeferred || self.running->is_final || self.is_alone();
  const bool is_plain = what.copy == nullptr && what.priority == 0 && how.make_one == nullptr;
  if (has_tool())
    ompt::tell_work(self, ompt::work_kind::taskloop, ompt::endpoint::begin, how.iterations);
  if (!is_undeferred && is_plain && !has_tool()) {
    note_tasks(self);
    all.siblings = &self.shared->tasks.family_of(*self.running);
    all.group = self.running->group;
    all.maker = &self.shared->tasks.tasks_of(self);
    all.parity = self.barriers & 1;
    all.make_part = make_part;
    return run_range(self, all);
  }
  for (ull i = 0; i < all.parts.tasks; ++i) {
    if (has_tool()) tell_chunk_of(all, i);
    if (how.make_one != nullptr) {
      how.make_one(self, what.data, how, all.start_of(i), all.start_of(i + 1),
                   i + 1 == all.parts.tasks);
    } else {
      make_task(self, what, all.bounds_of(i), is_undeferred);
    }
  }
  if (has_tool())
    ompt::tell_work(self, ompt::work_kind::taskloop, ompt::endpoint::end, how.iterations);
}

}  // namespace lockstep::openmp
