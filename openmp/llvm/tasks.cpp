// SPDX-License-Identifier: MIT
// task, taskwait, taskyield, taskgroup, depend, and events of detached tasks.
//
// An untied task is a function that the program calls part by part. At the end of each part it asks for the next one,
// as it asks for a new task. The thread that has run a part also runs the next one.
#include "tasks.hpp"

#include "runtime/message.hpp"
#include "runtime/ompt.hpp"
#include "runtime/task_groups.hpp"
#include "runtime/tasks.hpp"

namespace lockstep::openmp::llvm {
namespace {

void destroy(task_front& of, std::int32_t thread) noexcept {
  if ((of.flags & task_has_destructors) != 0) of.data()->destructors(thread, of.data());
}

int traits_of(const task_front& of) noexcept {
  return ((of.flags & task_is_tied) == 0 ? ompt::task_untied : 0) |
         ((of.flags & task_is_mergeable) != 0 ? ompt::task_mergeable : 0);
}

[[gnu::always_inline]] inline void run_parts(task_front& of, std::int32_t thread) noexcept {
  task_data* const data = of.data();
  of.is_running = (of.flags & task_is_tied) == 0;
  do {
    of.goes_on = false;
    data->routine(thread, data);
  } while (of.goes_on);
}

/// With a tool. The program's code begins above this frame of the stack.
[[gnu::noinline, gnu::cold]] void run_told(task_front& of) noexcept {
  const std::int32_t thread = thread_id();
  here().tool->at.exit.pointer = __builtin_frame_address(0);
  if ((of.flags & task_has_destructors) == 0 || !is_cancelled_here(here())) run_parts(of, thread);
  destroy(of, thread);
}

}  // namespace

void run_task(void* argument) noexcept {
  task_front& of = *static_cast<task_front*>(argument);
  if (has_tool()) return run_told(of);
  const std::int32_t thread = thread_id();
  if (__builtin_expect((of.flags & (task_is_tied | task_has_destructors)) == task_is_tied, 1)) {
    of.data()->routine(thread, of.data());
    return;
  }
  // A task with destructors is called even if it is cancelled.
  if ((of.flags & task_has_destructors) == 0 || !is_cancelled_here(here())) run_parts(of, thread);
  destroy(of, thread);
}

task_front& make_task(part& self, std::uint32_t flags, std::size_t size) noexcept {
  const task& parent = *self.running;
  explicit_task& one =
      shared_of(self).tasks.make(self, parent, sizeof(task_front) + size, alignof(task_front), 0);
  one.function = run_task;
  one.is_final = parent.is_final || (flags & task_is_final) != 0;
  one.runs_always = (flags & task_has_destructors) != 0;
  one.has_event = (flags & task_is_proxy) != 0;
  const auto at = static_cast<char*>(one.argument) - reinterpret_cast<char*>(&one);
  return *::new (one.argument) task_front{flags, static_cast<std::uint32_t>(size),
                                          static_cast<std::uint16_t>(at), false, false};
}

void drop_task(part& self, task_front& of) noexcept {
  destroy(of, thread_id());
  self.shared->tasks.drop(self, of.task());
}

void start(part& self, task_front& of, bool is_undeferred, const dependence_list& depend) noexcept {
  if (__builtin_expect(process_settings().can_cancel, 0) && is_cancelled_here(self))
    return drop_task(self, of);
  explicit_task& one = of.task();
  if (__builtin_expect((of.flags & task_has_priority) != 0, 0)) {
    one.priority = allowed_priority(of.data()->priority);
    one.has_priority = one.priority != 0;
  }
  start_task(self, one, {is_undeferred, depend, nullptr, traits_of(of)}, of.end());
}

namespace {

using i32 = std::int32_t;

/// kmp_depend_info.
struct named_address {
  std::intptr_t address;
  std::size_t length;
  std::uint8_t kind;
};
enum : std::uint8_t {
  is_in = 1,
  is_out = 2,
  is_mutexinoutset = 4,
  is_inoutset = 8,
  is_all_memory = 0x80
};

/// Two arrays of addresses. Compilers put all into the first one.
struct named_addresses {
  const named_address* first;
  std::size_t count;
  const named_address* others;
};

dependence dependence_of(const void* written, std::size_t index) noexcept {
  const named_addresses& all = *static_cast<const named_addresses*>(written);
  const named_address& one = index < all.count ? all.first[index] : all.others[index - all.count];
  if ((one.kind & is_all_memory) != 0 || one.address == -1) return {nullptr, dependence_kind::out};
  void* const address = reinterpret_cast<void*>(one.address);
  if ((one.kind & (is_out | is_mutexinoutset)) != 0)
    return {address, dependence_kind::out, (one.kind & is_mutexinoutset) != 0};  // DEPEND-3
  if ((one.kind & is_inoutset) != 0) return {address, dependence_kind::inoutset};
  if ((one.kind & is_in) != 0) return {address, dependence_kind::in};
  fail("unknown kind of dependence %u", one.kind);
}

/// Valid as long as `of` lives.
dependence_list listed(const named_addresses& of, i32 others) noexcept {
  return {of.count + static_cast<std::size_t>(others), &of, dependence_of};
}

task_data* allocate(part& self, i32 flags, std::size_t size, std::size_t shared_size,
                    task_routine routine) noexcept {
  const std::size_t shared_at = (size + 7) / 8 * 8;
  task_front& made = make_task(self, static_cast<std::uint32_t>(flags), shared_at + shared_size);
  task_data* const data = made.data();
  data->shared = shared_size != 0 ? reinterpret_cast<char*>(data) + shared_at : nullptr;
  // No function: it is only a task that others depend on.
  data->routine = routine != nullptr ? routine : [](i32, task_data*) -> i32 { return 0; };
  data->part = 0;
  return data;
}

/// Starts a new task, or the next part of the untied one that is running.
void start_or_go_on(part& self, task_data* data, const dependence_list& depend) noexcept {
  task_front& of = front_of(data);
  if (__builtin_expect(of.is_running, 0)) {
    of.goes_on = true;
  } else {
    start(self, of, false, depend);
  }
}

}  // namespace

OPENMP_API task_data* __kmpc_omp_task_alloc(ident*, i32, i32 flags, std::size_t size,
                                            std::size_t shared_size, task_routine routine) {
  return allocate(entered(), flags, size, shared_size, routine);
}
/// A task of a target construct. It runs here, because there are no devices.
OPENMP_API task_data* __kmpc_omp_target_task_alloc(ident*, i32, i32 flags, std::size_t size,
                                                   std::size_t shared_size, task_routine routine,
                                                   std::int64_t) {
  return allocate(entered(), flags, size, shared_size, routine);
}

// Functions that make a task return 0: the calling task goes on.
OPENMP_API i32 __kmpc_omp_task(ident*, i32, task_data* data) {
  start_or_go_on(entered(), data, {});
  return 0;
}
OPENMP_API i32 __kmpc_omp_task_parts(ident*, i32, task_data* data) {
  start_or_go_on(entered(), data, {});
  return 0;
}
OPENMP_API i32 __kmpc_omp_task_with_deps(ident*, i32, task_data* data, i32 count,
                                         const named_address* of, i32 others,
                                         const named_address* more) {
  const named_addresses all{of, static_cast<std::size_t>(count), more};
  start_or_go_on(entered(), data, listed(all, others));
  return 0;
}
/// Gives the place on which a task should run, by the data that it uses. We ignore it: the task runs where it was made,
/// if that thread has time.
OPENMP_API i32 __kmpc_omp_reg_task_with_affinity(ident*, i32, task_data*, i32, void*) { return 0; }

/// The program calls the function of an undeferred task itself, between these two calls.
OPENMP_API void __kmpc_omp_task_begin_if0(ident*, i32, task_data* data) {
  part& self = entered();
  task_front& of = front_of(data);
  of.is_running = (of.flags & task_is_tied) == 0;
  explicit_task& one = of.task();
  if (has_tool()) tell_task(self, one, {true, {}, nullptr, traits_of(of)}, of.size);
  self.shared->tasks.begin_within(self, one);
  if (has_tool()) ompt::set_exit_of_program(self);
}
OPENMP_API void __kmpc_omp_task_complete_if0(ident*, i32, task_data* data) {
  part& self = entered();
  task_front& of = front_of(data);
  const i32 thread = thread_id();
  if (of.goes_on) run_parts(of, thread);
  destroy(of, thread);
  self.shared->tasks.end_within(self, of.task());
}

OPENMP_API i32 __kmpc_omp_taskwait(ident*, i32) {
  wait_for_children(entered());
  return 0;
}
OPENMP_API void __kmpc_omp_wait_deps(ident*, i32, i32 count, const named_address* of, i32 others,
                                     const named_address* more) {
  const named_addresses all{of, static_cast<std::size_t>(count), more};
  wait_for_dependences(entered(), listed(all, others));
}
/// With nowait it is a task that does nothing.
OPENMP_API void __kmpc_omp_taskwait_deps_51(ident*, i32, i32 count, const named_address* of,
                                            i32 others, const named_address* more, i32 is_nowait) {
  part& self = entered();
  const named_addresses all{of, static_cast<std::size_t>(count), more};
  if (is_nowait == 0) return wait_for_dependences(self, listed(all, others));
  make_task(self, task_request{[](void*) {}, nullptr, nullptr, 0, 1}, {false, listed(all, others)});
}
OPENMP_API i32 __kmpc_omp_taskyield(ident*, i32, int) {
  part& self = entered();
  if (self.tasks != nullptr) self.shared->tasks.yield(self);
  return 0;
}

/// Returns what omp_fulfill_event() takes.
OPENMP_API void* __kmpc_task_allow_completion_event(ident*, i32, task_data* data) {
  explicit_task& one = front_of(data).task();
  one.has_event = true;
  return &one;
}
OPENMP_API void __kmpc_proxy_task_completed(i32, task_data* data) {
  task_pool::fulfil(front_of(data).task());
}
/// The same, called by a thread that OpenMP may not know.
OPENMP_API void __kmpc_proxy_task_completed_ooo(task_data* data) {
  task_pool::fulfil(front_of(data).task());
}

}  // namespace lockstep::openmp::llvm
