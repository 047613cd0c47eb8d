// SPDX-License-Identifier: MIT
// openmp/runtime/task_groups.cpp -- taskgroups, and values that tasks reduce
//
// Memory order (# marks the line)
//   #  access              order    pairs  why it suffices
//   1  is_cancelled.store  relaxed  -      a request to do less; nothing is read by it
//   2  is_cancelled.load   relaxed  -      as 1
#include "task_groups.hpp"

#include <cstdlib>
#include <cstring>
#include <new>

#include "message.hpp"
#include "ompt.hpp"
#include "shared_region.hpp"

namespace lockstep::openmp {

namespace {

task_group& make_group(bool is_of_construct) noexcept {
  task_group* const made = new (std::nothrow) task_group;
  if (made == nullptr) fail("Out of memory allocating %zu bytes", sizeof(task_group));
  made->is_of_construct = is_of_construct;
  return *made;
}

/// The innermost group that the program made, and not a construct with reductions.
task_group* group_of_program(const task& of) noexcept {
  task_group* group = of.group;
  while (group != nullptr && group->is_of_construct) group = group->outer;
  return group;
}

}  // namespace

task_group& begin_taskgroup(part& self, bool is_of_construct) noexcept {
  task_group& group = make_group(is_of_construct);
  group.outer = self.running->group;
  if (!self.is_alone()) group.maker = &self.shared->tasks.tasks_of(self);
  self.running->group = &group;
  if (has_tool() && !is_of_construct) ompt::begin_sync(self, ompt::sync_kind::taskgroup);
  return group;
}

namespace {

void end_untold(part& self) noexcept {
  task_group* const group = self.running->group;
  if (group->has_unfinished()) self.shared->tasks.wait_for_group(self, *group);
  self.running->group = group->outer;
  delete group;
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

void cancel_taskgroup(task& of) noexcept {
  task_group* const group = group_of_program(of);
  if (group != nullptr) group->is_cancelled.store(true, detail::memory_order_relaxed);  // 1
}

bool is_taskgroup_cancelled(const task& of) noexcept {
  const task_group* const group = group_of_program(of);
  return group != nullptr && group->is_cancelled.load(detail::memory_order_relaxed);  // 2
}

// --- reductions ---

namespace {

/// The words of the array.
enum {
  count_at = 0,
  size_at = 1,
  copies_at = 2,
  end_at = 6,
  variables_at = 7,
  words_of_variable = 3
};

/// `address` is that of the variable, or of any member's copy.
bool find_copy(const std::uintptr_t* reductions, std::uintptr_t address, unsigned rank,
               found_copy& found) noexcept {
  const std::uintptr_t start = reductions[copies_at];
  const std::uintptr_t size = reductions[size_at];
  const bool is_copy = address >= start && address < reductions[end_at];
  const std::uintptr_t offset = is_copy ? (address - start) % size : 0;
  for (std::uintptr_t i = 0; i < reductions[count_at]; ++i) {
    const std::uintptr_t* const variable = reductions + variables_at + i * words_of_variable;
    if (is_copy ? variable[1] == offset : variable[0] == address) {
      found = {variable[0], start + rank * size + variable[1], variable[2]};
      return true;
    }
  }
  return false;
}

}  // namespace

found_copy copy_of(const part& self, std::uintptr_t address, bool described) noexcept {
  found_copy found{};
  for (const task_group* group = self.running->group; group != nullptr; group = group->outer) {
    if (group->reductions != nullptr && group->describes_copies == described &&
        find_copy(group->reductions, address, self.rank, found))
      return found;
  }
  fail(
      "in_reduction of a variable that no taskgroup, taskloop or other construct around the task "
      "reduces");
}

void make_copies(std::uintptr_t* reductions, unsigned members) noexcept {
  const std::size_t all = reductions[size_at] * members;
  const std::size_t align = reductions[copies_at] < 64 ? 64 : reductions[copies_at];
  void* const copies = std::aligned_alloc(align, (all + align - 1) / align * align);
  if (copies == nullptr) fail("Out of memory allocating %zu bytes", all);
  std::memset(copies, 0, all);
  reductions[copies_at] = reinterpret_cast<std::uintptr_t>(copies);
  reductions[end_at] = reductions[copies_at] + all;
}

void free_copies(std::uintptr_t* reductions) noexcept {
  std::free(reinterpret_cast<void*>(reductions[copies_at]));
}

task_group* begin_parallel_reductions(std::uintptr_t* reductions, unsigned members) noexcept {
  make_copies(reductions, members);
  task_group& group = make_group(true);
  group.reductions = reductions;
  return &group;
}

void end_parallel_reductions(task_group* of) noexcept { delete of; }

void begin_construct_reductions(part& self, std::uintptr_t* reductions,
                                std::uintptr_t*& first_of_all) noexcept {
  task_pool& tasks = shared_of(self).tasks;
  if (first_of_all == nullptr) {
    make_copies(reductions, self.size);
    first_of_all = reinterpret_cast<std::uintptr_t*>(
        tasks.keep(reinterpret_cast<void*>(reductions[copies_at])));
  }
  kept_memory* const kept = reinterpret_cast<kept_memory*>(first_of_all);
  tasks.join(*kept);
  reductions[copies_at] = reinterpret_cast<std::uintptr_t>(kept->start);
  reductions[end_at] = reductions[copies_at] + reductions[size_at] * self.size;
  task_group& group = begin_taskgroup(self, true);
  group.maker = &tasks.tasks_of(self);
  group.reductions = reductions;
  group.kept = kept;
}

void end_construct_reductions(part& self, bool is_cancelled) noexcept {
  kept_memory* const kept = self.running->group->kept;
  end_taskgroup(self);
  self.shared->tasks.leave(*kept, is_cancelled);
}

}  // namespace lockstep::openmp
