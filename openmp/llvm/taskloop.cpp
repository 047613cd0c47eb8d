// SPDX-License-Identifier: MIT
// taskloop. The program makes one task as the pattern. Each task is a copy of it with its own bounds. If variables have
// constructors, or the program wants the last iteration's values, the program finishes each copy.
#include "runtime/taskloop.hpp"

#include <cstring>

#include "runtime/ompt.hpp"
#include "runtime/task_groups.hpp"
#include "runtime/tasks.hpp"
#include "tasks.hpp"

namespace lockstep::openmp::llvm {
namespace {

using i32 = std::int32_t;
using u64 = std::uint64_t;
using finish_function = void (*)(task_data* copy, task_data* pattern, i32 has_last);

struct loop_of_copies : taskloop_request {
  finish_function finish = nullptr;
};

void write_bounds(void* argument, const bounds_writer& how, ull first, ull behind) noexcept {
  task_data* const data = static_cast<task_front*>(argument)->data();
  char* const start_of_task = reinterpret_cast<char*>(data);
  const u64 bounds[] = {first, behind - how.step};
  std::memcpy(start_of_task + how.first_at, &bounds[0], sizeof bounds[0]);
  std::memcpy(start_of_task + how.last_at, &bounds[1], sizeof bounds[1]);
  if (how.shared_at != 0) data->shared = start_of_task + how.shared_at;
}

void make_finished(part& self, void* pattern, const taskloop_request& how, ull first, ull behind,
                   bool is_last) noexcept {
  task_front& of = *static_cast<task_front*>(pattern);
  task_front& made = make_task(self, of.flags, of.size);
  std::memcpy(static_cast<void*>(made.data()), of.data(), of.size);
  write_bounds(&made, how.bounds, first, behind);
  const finish_function finish = static_cast<const loop_of_copies&>(how).finish;
  if (finish != nullptr) finish(made.data(), of.data(), is_last);
  start(self, made, how.is_undeferred, {});
}

/// `lower` and `upper` point into the pattern.
void run(part& self, task_data* data, bool is_if, u64* lower, u64* upper, std::int64_t step,
         bool has_group, i32 unit, u64 wanted, bool is_strict, finish_function finish) noexcept {
  task_front& of = front_of(data);
  explicit_task& pattern = of.task();
  const ull distance = step > 0 ? *upper - *lower : *lower - *upper;
  const ull stride = step > 0 ? static_cast<ull>(step) : 0 - static_cast<ull>(step);
  loop_of_copies how;
  how.first = *lower;
  how.step = static_cast<ull>(step);
  how.iterations = distance / stride + 1;  // 0: 1 to 0
  if (how.iterations == 0 || is_cancelled_here(self)) return drop_task(self, of);
  how.has_grainsize = unit == 1;
  how.wanted =
      unit != 0 ? wanted : 10 * ull{self.size};  // as with LLVM's runtime: iterations may differ
  how.is_strict = is_strict;
  how.is_undeferred = !is_if;
  const auto place_of = [data](void* at) {
    return static_cast<std::uint32_t>(static_cast<char*>(at) - reinterpret_cast<char*>(data));
  };
  how.bounds = {write_bounds, how.step, place_of(lower), place_of(upper),
                data->shared != nullptr ? place_of(data->shared) : 0};
  if (finish != nullptr || (of.flags & task_has_destructors) != 0) how.make_one = make_finished;
  how.finish = finish;
  const int priority = (of.flags & task_has_priority) != 0 ? allowed_priority(data->priority) : 0;
  if (has_group) begin_taskgroup(self);
  run_taskloop(self,
               {run_task, &of, nullptr, sizeof of + of.size, alignof(task_front), pattern.is_final,
                priority},
               how);
  if (has_group) end_taskgroup(self);
  drop_task(self, of);
}

}  // namespace

/// `unit` tells what `wanted` is: 1: a number of iterations (grainsize), 2: a number of tasks, 0: neither.
OPENMP_API void __kmpc_taskloop(ident*, i32, task_data* data, i32 is_if, u64* lower, u64* upper,
                                std::int64_t step, i32 nogroup, i32 unit, u64 wanted,
                                finish_function finish) {
  run(entered(), data, is_if != 0, lower, upper, step, nogroup == 0, unit, wanted, false, finish);
}
OPENMP_API void __kmpc_taskloop_5(ident*, i32, task_data* data, i32 is_if, u64* lower, u64* upper,
                                  std::int64_t step, i32 nogroup, i32 unit, u64 wanted,
                                  i32 is_strict, finish_function finish) {
  run(entered(), data, is_if != 0, lower, upper, step, nogroup == 0, unit, wanted, is_strict != 0,
      finish);
}

}  // namespace lockstep::openmp::llvm
