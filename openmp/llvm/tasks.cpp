// SPDX-License-Identifier: MIT
// task, taskwait, taskyield, depend, events of detached tasks, and taskloop.
//
// The program asks for memory, fills it in, and then tells what should happen to the task. Our memory of a task
// (explicit_task) is followed by three things: what else we know of it, the compiler's part (kmp_task_t with the
// variables that are private to the task), and the addresses of the variables that it shares.
//
// An untied task is a function that the program calls part by part. At the end of each part it asks for the next one,
// as it asks for a new task. The thread that has run a part also runs the next one.
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "ident.hpp"
#include "runtime/message.hpp"
#include "runtime/ompt.hpp"
#include "runtime/task_groups.hpp"
#include "runtime/tasks.hpp"

namespace lockstep::openmp::llvm {
namespace {

using i32 = std::int32_t;

struct task_data;
using task_routine = std::int32_t (*)(std::int32_t thread, task_data* of);

/// kmp_task_t. Variables follow.
struct task_data {
  void* shared;
  task_routine routine;
  std::int32_t part;  ///< of an untied task: where it goes on. The program sets it
  union {
    task_routine destructors;  ///< if task_has_destructors
    std::int32_t unused;
  };
  union {
    std::int32_t priority;  ///< if task_has_priority
    task_routine unused_too;
  };
};
static_assert(sizeof(task_data) == 40, "as compilers have it");

/// The bits of __kmpc_omp_task_alloc()'s flags that have a meaning here.
enum task_flag : std::uint32_t {
  task_is_tied = 1,
  task_is_final = 2,
  task_is_mergeable = 4,
  task_has_destructors = 8,
  task_is_proxy = 0x10,  ///< it ends with a call of __kmpc_proxy_task_completed()
  task_has_priority = 0x20
};

/// What lies before the compiler's part.
struct alignas(16) task_front {
  std::uint32_t flags;
  std::uint32_t size;  ///< of all that follows
  std::uint16_t at;    ///< bytes from the begin of the explicit_task
  bool is_running;     ///< it is untied, and runs
  bool goes_on;        ///< it has another part to run

  task_data* data() noexcept { return reinterpret_cast<task_data*>(this + 1); }
  /// The explicit_task whose memory this is in.
  explicit_task& task() noexcept {
    return *reinterpret_cast<explicit_task*>(reinterpret_cast<char*>(this) - at);
  }
  const char* end() noexcept { return reinterpret_cast<const char*>(this + 1) + size; }
};
static_assert((sizeof(explicit_task) + sizeof(task_front)) % 64 == 0,
              "a task's variables begin on a line");

inline task_front& front_of(task_data* of) noexcept {
  return *(reinterpret_cast<task_front*>(of) - 1);
}

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

/// A task with destructors is called even if it is cancelled.
[[gnu::always_inline]] inline void run_and_destroy(task_front& of, std::int32_t thread) noexcept {
  if ((of.flags & task_has_destructors) == 0 || !is_cancelled_here(here())) run_parts(of, thread);
  destroy(of, thread);
}

/// With a tool. The program's code begins above this frame of the stack.
[[gnu::noinline, gnu::cold]] void run_told(task_front& of) noexcept {
  here().tool->at.exit.pointer = __builtin_frame_address(0);
  run_and_destroy(of, thread_id());
}

/// The outlined function of all tasks. `argument`: a task_front.
void run_task(void* argument) noexcept {
  task_front& of = *static_cast<task_front*>(argument);
  if (has_tool()) return run_told(of);
  const std::int32_t thread = thread_id();
  if (__builtin_expect((of.flags & (task_is_tied | task_has_destructors)) == task_is_tied, 1)) {
    of.data()->routine(thread, of.data());
    return;
  }
  run_and_destroy(of, thread);
}

/// Makes a task. All its memory but the variables is set.
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

/// Ends a task that is not to run.
void drop_task(part& self, task_front& of) noexcept {
  destroy(of, thread_id());
  self.shared->tasks.drop(self, of.task());
}

/// Starts a task, which runs now or later.
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
OPENMP_API void __kmpc_omp_taskwait_deps_51(ident*, i32, i32 count, const named_address* of,
                                            i32 others, const named_address* more, i32 is_nowait) {
  part& self = entered();
  const named_addresses all{of, static_cast<std::size_t>(count), more};
  if (is_nowait == 0) return wait_for_dependences(self, listed(all, others));
  make_waiting_task(self, listed(all, others));
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

// --- taskloop. The program makes one task as the pattern. Each task is a copy of it with its own bounds. If variables
// have constructors, or the program wants the last iteration's values, the program finishes each copy. ---

namespace {

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
