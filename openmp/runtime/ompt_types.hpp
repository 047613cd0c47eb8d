// SPDX-License-Identifier: MIT
// openmp/runtime/ompt_types.hpp -- the binary interface to tools: chapter 19 of OpenMP 5.2
//
// Names are those of the specification without their prefix, and values are the specification's. A callback is an
// `event`: its number, and the function that the tool has set for it.
#ifndef LOCKSTEP_OPENMP_RUNTIME_OMPT_TYPES_HPP
#define LOCKSTEP_OPENMP_RUNTIME_OMPT_TYPES_HPP

#include <cstddef>
#include <cstdint>

#include <lockstep/detail/platform/atomic.hpp>

namespace lockstep::openmp::ompt {

/// ompt_data_t: a word of the tool's.
union data {
  std::uint64_t value;
  void* pointer;
};

enum frame_flag : int {
  frame_runtime = 0,
  frame_application = 1,
  frame_cfa = 0x10,
  frame_pointer = 0x20
};

/// ompt_frame_t: where on the stack a task's code begins, and where it has called us.
struct frame {
  data exit{}, enter{};
  int exit_flags = frame_runtime | frame_pointer, enter_flags = frame_runtime | frame_cfa;
};

enum class endpoint : int { begin = 1, end = 2 };
enum class thread_kind : int { initial = 1, worker = 2, other = 3 };

enum parallel_flag : int {
  invoker_program = 1,
  invoker_runtime = 2,
  parallel_league = 0x40000000,
  parallel_team = static_cast<int>(0x80000000u)
};

enum task_flag : int {
  task_initial = 1,
  task_implicit = 2,
  task_explicit = 4,
  task_taskwait = 0x10,
  task_undeferred = 0x08000000,
  task_untied = 0x10000000,
  task_final = 0x20000000,
  task_mergeable = 0x40000000
};

enum class task_status : int {
  complete = 1,
  yield = 2,
  cancel = 3,
  detach = 4,
  early_fulfill = 5,
  late_fulfill = 6,
  switches = 7,
  taskwait_complete = 8
};

enum class sync_kind : int {
  barrier_explicit = 3,
  barrier_implementation = 4,
  taskwait = 5,
  taskgroup = 6,
  reduction = 7,
  barrier_implicit_workshare = 8,
  barrier_implicit_parallel = 9
};

enum class work_kind : int {
  none = 0,  ///< our own value
  sections = 2,
  single_executor = 3,
  single_other = 4,
  workshare = 5,
  distribute = 6,
  taskloop = 7,
  scope = 8,
  loop_static = 10,
  loop_dynamic = 11,
  loop_guided = 12,
  loop_other = 13
};

enum class dispatch_kind : int {
  section = 2,
  loop_chunk = 3,
  taskloop_chunk = 4,
  distribute_chunk = 5
};

struct dispatch_chunk {
  std::uint64_t start, iterations;
};

enum class mutex_kind : int {
  lock = 1,
  test_lock = 2,
  nest_lock = 3,
  test_nest_lock = 4,
  critical = 5,
  atomic = 6,
  ordered = 7
};

enum class dependence_type : int {
  in = 1,
  out = 2,
  inout = 3,
  mutexinoutset = 4,
  source = 5,
  sink = 6,
  inoutset = 7,
  out_all_memory = 34
};

struct dependence {
  data variable;
  dependence_type type;
};

enum cancel_flag : int {
  cancel_parallel = 1,
  cancel_sections = 2,
  cancel_loop = 4,
  cancel_taskgroup = 8,
  cancel_activated = 0x10,
  cancel_detected = 0x20,
  cancel_discarded_task = 0x40
};

enum class severity : int { warning = 1, fatal = 2 };

enum class state : int {
  work_serial = 0,
  work_parallel = 1,
  work_reduction = 2,
  wait_barrier_implicit_parallel = 0x11,
  wait_barrier_implicit_workshare = 0x12,
  wait_barrier_explicit = 0x14,
  wait_barrier_implementation = 0x15,
  wait_taskwait = 0x20,
  wait_taskgroup = 0x21,
  wait_mutex = 0x40,
  wait_lock = 0x41,
  wait_critical = 0x42,
  wait_atomic = 0x43,
  wait_ordered = 0x44,
  idle = 0x100,
  overhead = 0x101,
  undefined = 0x102
};

enum class set_result : int {
  error = 0,
  never = 1,
  impossible = 2,
  sometimes = 3,
  sometimes_paired = 4,
  always = 5
};

using function = void (*)();
using lookup_function = function (*)(const char* name);

/// ompt_start_tool_result_t.
struct start_result {
  int (*initialize)(lookup_function lookup, int initial_device, data* of_tool);
  void (*finalize)(data* of_tool);
  data of_tool;
};
using start_function = start_result* (*)(unsigned version, const char* runtime);

/// The functions that the tool has set, by their events' numbers.
//
// Memory order (# marks the line)
//   #  access          order    pairs  why it suffices
//   1  callback.load   relaxed  -      a function of the tool; what it needs the tool has made before it set it
//   2  callback.store  relaxed  -      as 1
constexpr unsigned most_events = 38;
extern detail::atomic<function> callbacks[most_events];

template <unsigned number, class... Arguments>
struct event {
  static bool is_wanted() noexcept {
    return callbacks[number].load(detail::memory_order_relaxed) != nullptr;  // 1
  }
  static void tell(Arguments... with) noexcept {
    const function callback = callbacks[number].load(detail::memory_order_relaxed);  // 1
    if (callback != nullptr) reinterpret_cast<void (*)(Arguments...)>(callback)(with...);
  }
};

using code = const void*;  ///< an address in the program's code: where it has called us
using wait_id = std::uint64_t;

using thread_begin = event<1, thread_kind, data*>;
using thread_end = event<2, data*>;
using parallel_begin = event<3, data*, const frame*, data*, unsigned, int, code>;
using parallel_end = event<4, data*, data*, int, code>;
using task_create = event<5, data*, const frame*, data*, int, int, code>;
using task_schedule = event<6, data*, task_status, data*>;
using implicit_task = event<7, endpoint, data*, data*, unsigned, unsigned, int>;
using sync_region_wait = event<16, sync_kind, endpoint, data*, data*, code>;
using mutex_released = event<17, mutex_kind, wait_id, code>;
using dependences = event<18, data*, const dependence*, int>;
using task_dependence = event<19, data*, data*>;
using work = event<20, work_kind, endpoint, data*, data*, std::uint64_t, code>;
using masked = event<21, endpoint, data*, data*, code>;
using sync_region = event<23, sync_kind, endpoint, data*, data*, code>;
using lock_init = event<24, mutex_kind, unsigned, unsigned, wait_id, code>;
using lock_destroy = event<25, mutex_kind, wait_id, code>;
using mutex_acquire = event<26, mutex_kind, unsigned, unsigned, wait_id, code>;
using mutex_acquired = event<27, mutex_kind, wait_id, code>;
using nest_lock = event<28, endpoint, wait_id, code>;
using flush = event<29, data*, code>;
using cancel = event<30, data*, int, code>;
using reduction = event<31, sync_kind, endpoint, data*, data*, code>;
using dispatch = event<32, data*, data*, dispatch_kind, data>;
using error = event<37, severity, const char*, std::size_t, code>;
constexpr unsigned control_tool_event = 11;  ///< the only one that returns something

}  // namespace lockstep::openmp::ompt

#endif  // LOCKSTEP_OPENMP_RUNTIME_OMPT_TYPES_HPP
