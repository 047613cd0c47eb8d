// SPDX-License-Identifier: MIT
#include "taskloop.hpp"

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

template <class Number>
ull count_iterations(bool goes_up, Number first, Number end, Number step) noexcept {
  if (goes_up ? first >= end : first <= end) return 0;
  const ull distance = goes_up ? static_cast<ull>(end) - static_cast<ull>(first)
                               : static_cast<ull>(first) - static_cast<ull>(end);
  const ull stride = goes_up ? static_cast<ull>(step) : 0 - static_cast<ull>(step);
  return distance / stride + (distance % stride != 0);
}

/// The tasks of a taskloop.
template <class Number>
struct loop_tasks : task_range {
  task_request what;
  loop_division parts;
  ull first, step;

  /// The first iteration of a task, or of the one behind the last.
  ull start_of(ull index) const noexcept {
    const ull longer = index < parts.longer ? index : parts.longer;
    const ull before = index == parts.tasks && parts.last != 0
                           ? (index - 1) * parts.iterations + parts.last
                           : index * parts.iterations + longer;
    return first + before * step;
  }
  /// For make_task() and its like.
  auto bounds_of(ull index) const noexcept {
    return [at = start_of(index), next = start_of(index + 1)](void* argument) {
      static_cast<Number*>(argument)[0] = static_cast<Number>(at);
      static_cast<Number*>(argument)[1] = static_cast<Number>(next);
    };
  }
};

template <class Number>
void run_range(part& self, loop_tasks<Number>& all) noexcept {
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

template <class Number>
explicit_task& make_part(part& self, const task_range& of, std::uint64_t begin,
                         std::uint64_t end) noexcept {
  using tasks = loop_tasks<Number>;
  const tasks& all = static_cast<const tasks&>(of);
  explicit_task& one = self.shared->tasks.make(
      self, *of.around, sizeof(tasks) + all.what.size + all.what.align, alignof(tasks), 0);
  tasks& own = *::new (one.argument) tasks(all);
  own.begin = begin;
  own.end = end;
  const auto behind = reinterpret_cast<std::uintptr_t>(&own + 1);
  own.what.data =
      reinterpret_cast<void*>((behind + own.what.align - 1) / own.what.align * own.what.align);
  all.what.fill(own.what.data);
  one.function = [](void* argument) { run_range(here(), *static_cast<tasks*>(argument)); };
  return one;
}

template <class Number>
void run_all(part& self, const task_request& what, const taskloop_request& how, Number first,
             Number end, Number step) noexcept {
  std::uintptr_t* const reductions = how.reductions;
  const ull total = count_iterations(how.goes_up, first, end, step);
  if (total == 0 || is_cancelled_here(self)) {
    if (reductions != nullptr) reductions[2] = 0;  // the program has nothing to combine
    return;
  }
  if (how.has_group) {
    task_group& group = begin_taskgroup(self);
    if (reductions != nullptr) {
      make_copies(reductions, self.size);
      group.reductions = reductions;
    }
  }
  loop_tasks<Number> all;
  all.what = what;
  all.parts = divide(total, how, self.size);
  all.first = static_cast<ull>(first);
  all.step = static_cast<ull>(step);
  all.begin = 0;
  all.end = all.parts.tasks;
  const bool is_undeferred = how.is_undeferred || self.running->is_final || self.is_alone();
  if (!is_undeferred && what.copy == nullptr && what.priority == 0) {
    note_tasks(self);
    all.siblings = &self.shared->tasks.family_of(*self.running);
    all.group = self.running->group;
    all.maker = &self.shared->tasks.tasks_of(self);
    all.parity = self.barriers & 1;
    all.make_part = make_part<Number>;
    run_range(self, all);
  } else {
    for (ull i = 0; i < all.parts.tasks; ++i) {
      if (is_undeferred) {
        run_copy_at_once(self, what, all.bounds_of(i));
      } else {
        make_task(self, what, all.bounds_of(i));
      }
    }
  }
  if (how.has_group) end_taskgroup(self);
}

}  // namespace

void run_taskloop(part& self, const task_request& what, const taskloop_request& how, long first,
                  long end, long step) noexcept {
  run_all(self, what, how, first, end, step);
}
void run_taskloop(part& self, const task_request& what, const taskloop_request& how, ull first,
                  ull end, ull step) noexcept {
  run_all(self, what, how, first, end, step);
}

}  // namespace lockstep::openmp
