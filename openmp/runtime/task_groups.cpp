// SPDX-License-Identifier: MIT
// openmp/runtime/task_groups.cpp -- taskgroups
//
// Memory order (# marks the line)
//   #  access              order    pairs  why it suffices
//   1  is_cancelled.store  relaxed  -      a request to do less; nothing is read by it
//   2  is_cancelled.load   relaxed  -      as 1
#include "task_groups.hpp"

#include <cstdlib>
#include <new>

#include "message.hpp"
#include "ompt.hpp"
#include "shared_region.hpp"

namespace lockstep::openmp {

namespace {

/// The innermost group that the program made, and not a construct with reductions.
task_group* group_of_program(const task& of) noexcept {
  task_group* group = of.group;
  while (group != nullptr && group->is_of_construct) group = group->outer;
  return group;
}

}  // namespace

task_group& begin_taskgroup(part& self, bool is_of_construct) noexcept {
  void* const memory = std::malloc(sizeof(task_group));
  if (memory == nullptr) fail("Out of memory allocating %zu bytes", sizeof(task_group));
  task_group* const group = ::new (memory) task_group;
  group->outer = self.running->group;
  group->is_of_construct = is_of_construct;
  if (!self.is_alone()) group->maker = &self.shared->tasks.tasks_of(self);
  self.running->group = group;
  if (has_tool() && !is_of_construct) ompt::begin_sync(self, ompt::sync_kind::taskgroup);
  return *group;
}

namespace {

void end_untold(part& self) noexcept {
  task_group* const group = self.running->group;
  if (group->has_unfinished()) self.shared->tasks.wait_for_group(self, *group);
  self.running->group = group->outer;
  group->~task_group();
  std::free(group);
}

[[gnu::noinline, gnu::cold]] void end_told(part& self) noexcept {
  const ompt::sync_scope told(self, ompt::sync_kind::taskgroup, true);
  end_untold(self);
}

}  // namespace

void end_taskgroup(part& self) noexcept {
  const bool is_told = has_tool() && !self.running->group->is_of_construct;
  return is_told ? end_told(self) : end_untold(self);
}

bool cancel_taskgroup(task& of) noexcept {
  task_group* const group = group_of_program(of);
  if (group != nullptr) group->is_cancelled.store(true, detail::memory_order_relaxed);  // 1
  return true;
}

bool is_taskgroup_cancelled(const task& of) noexcept {
  const task_group* const group = group_of_program(of);
  return group != nullptr && group->is_cancelled.load(detail::memory_order_relaxed);  // 2
}

}  // namespace lockstep::openmp
