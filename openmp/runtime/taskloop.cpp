// SPDX-License-Identifier: MIT
#include "taskloop.hpp"

#include "ompt.hpp"

#include "tasks.hpp"

namespace lockstep::openmp {

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
