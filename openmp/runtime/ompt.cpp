// SPDX-License-Identifier: MIT
// What tools are told of threads, regions, tasks and waits: see ompt.hpp.
#include "ompt.hpp"

#include <functional>
#include <new>
#include <utility>

#include "message.hpp"

namespace lockstep::openmp::ompt {

detail::atomic<function> callbacks[most_events]{};

namespace {

thread_info& make_thread(thread_kind kind) noexcept {
  thread_info* const made = new (std::nothrow) thread_info;
  if (made == nullptr) fail("Out of memory");
  this_record.tool = made;
  thread_begin::tell(kind, &made->own);
  return *made;
}

wait_id id_of(const void* lock) noexcept { return reinterpret_cast<std::uintptr_t>(lock); }

/// The number of a lock's implementation, as ompt_enumerate_mutex_impls numbers them.
unsigned implementation_of(mutex_kind kind) noexcept {
  return kind == mutex_kind::critical || kind == mutex_kind::atomic ? 2 : 1;
}

state wait_state_of(mutex_kind kind) noexcept {
  switch (kind) {
    case mutex_kind::critical: return state::wait_critical;
    case mutex_kind::atomic: return state::wait_atomic;
    case mutex_kind::ordered: return state::wait_ordered;
    default: return state::wait_lock;
  }
}

state wait_state_of(sync_kind kind) noexcept {
  switch (kind) {
    case sync_kind::taskwait: return state::wait_taskwait;
    case sync_kind::taskgroup: return state::wait_taskgroup;
    case sync_kind::reduction: return state::work_reduction;
    case sync_kind::barrier_implicit_parallel: return state::wait_barrier_implicit_parallel;
    case sync_kind::barrier_implicit_workshare: return state::wait_barrier_implicit_workshare;
    case sync_kind::barrier_implementation: return state::wait_barrier_implementation;
    default: return state::wait_barrier_explicit;
  }
}

state work_state_of(const task_info& of) noexcept {
  return (of.region->flags & parallel_team) != 0 ? state::work_parallel : state::work_serial;
}

/// Begins the implicit task of a thread, of a team or of a member.
void begin_implicit(part& self, region_info& of, task_info& own, int flags,
                    unsigned number) noexcept {
  own.region = &of;
  own.flags = flags;
  own.around = of.encountering;
  self.tool = &own;
  this_thread().now = work_state_of(own);
  implicit_task::tell(endpoint::begin, &of.own, &own.own, of.size, number, flags);
}

}  // namespace

thread_info& this_thread() noexcept {
  thread_info* const known = this_record.tool;
  return known != nullptr ? *known : make_thread(thread_kind::other);
}

void note_call(code from, void* frame) noexcept {
  static_cast<void>(here());
  thread_info& thread = this_thread();
  thread.from = from;
  thread.frame = frame;
}

call_scope::call_scope(part& self) noexcept
    : thread(this_thread()), task(*self.tool), from(thread.from), before_(task.at.enter.pointer) {
  task.at.enter.pointer = thread.frame;
}

sync_scope::sync_scope(part& self, sync_kind kind, bool has_begun) noexcept
    : call_(self), kind_(kind), state_(call_.thread, wait_state_of(kind)) {
  data* const region = &call_.task.region->own;
  if (!has_begun) sync_region::tell(kind_, endpoint::begin, region, &call_.task.own, call_.from);
  sync_region_wait::tell(kind_, endpoint::begin, region, &call_.task.own, call_.from);
}

sync_scope::~sync_scope() {
  data* const region = &call_.task.region->own;
  sync_region_wait::tell(kind_, endpoint::end, region, &call_.task.own, call_.from);
  sync_region::tell(kind_, endpoint::end, region, &call_.task.own, call_.from);
}

void begin_sync(part& self, sync_kind kind) noexcept {
  const call_scope call(self);
  sync_region::tell(kind, endpoint::begin, &call.task.region->own, &call.task.own, call.from);
}

// Threads.

void begin_initial_thread(part& initial) noexcept {
  start_tool();
  thread_info& thread =
      this_record.tool != nullptr ? *this_record.tool : make_thread(thread_kind::initial);
  begin_implicit(initial, thread.initial, thread.initial.primary, task_initial, 1);
}

void end_initial_thread(part& initial) noexcept {
  end_work(initial);
  // Passes its region, although the specification says otherwise: tools that were written for LLVM's runtime read it.
  implicit_task::tell(endpoint::end, &initial.tool->region->own, &initial.tool->own, 0, 1,
                      task_initial);
  thread_end::tell(&this_thread().own);
}

void begin_worker() noexcept { make_thread(thread_kind::worker).now = state::idle; }

void end_worker() noexcept {
  thread_end::tell(&this_thread().own);
  forget_this_thread();
}

void forget_this_thread() noexcept {
  delete this_record.tool;
  this_record.tool = nullptr;
}

// Regions.

region_scope::region_scope(part& encountering, unsigned requested, unsigned size,
                           int flags) noexcept
    : self_(encountering), call_(encountering), state_(call_.thread, state::overhead) {
  info.size = size;
  info.flags = flags;
  info.from = call_.from;
  info.encountering = &call_.task;
  parallel_begin::tell(&call_.task.own, &call_.task.at, &info.own, requested, flags, call_.from);
}

region_scope::~region_scope() {
  if ((info.flags & parallel_team) != 0) {
    // Member 0's task is the running one once more, to end its part.
    self_.tool = &info.primary;
    end_part(self_);
    self_.tool = &call_.task;
  }
  call_.thread.now = state::overhead;
  parallel_end::tell(&info.own, &call_.task.own, info.flags, call_.from);
}

void begin_part(part& self, region_info& of, task_info& own) noexcept {
  own.rank = self.rank;
  begin_implicit(self, of, own, task_implicit, self.rank);
}

void arrive_at_end(part& self) noexcept {
  task_info& own = *self.tool;
  own.at.exit.pointer = nullptr;
  end_work(self);
  const code from = own.rank == 0 ? own.region->from : nullptr;
  this_thread().now = state::wait_barrier_implicit_parallel;
  constexpr sync_kind kind = sync_kind::barrier_implicit_parallel;
  sync_region::tell(kind, endpoint::begin, &own.region->own, &own.own, from);
  sync_region_wait::tell(kind, endpoint::begin, &own.region->own, &own.own, from);
}

void end_part(part& self) noexcept {
  task_info& own = *self.tool;
  const code from = own.rank == 0 ? own.region->from : nullptr;
  constexpr sync_kind kind = sync_kind::barrier_implicit_parallel;
  sync_region_wait::tell(kind, endpoint::end, nullptr, &own.own, from);
  sync_region::tell(kind, endpoint::end, nullptr, &own.own, from);
  thread_info& thread = this_thread();
  thread.now = state::overhead;
  implicit_task::tell(endpoint::end, nullptr, &own.own, own.region->size, own.rank, task_implicit);
  thread.now = state::idle;
}

team_scope::team_scope(part& self, region_info& of, unsigned number) noexcept
    : self_(self), number_(number) {
  begin_implicit(self, of, own_, task_initial, number);
}

team_scope::~team_scope() {
  end_work(self_);
  own_.at.exit.pointer = nullptr;
  implicit_task::tell(endpoint::end, nullptr, &own_.own, 0, number_, task_initial);
  self_.tool = own_.around;
}

// Worksharing.

void tell_work(part& self, work_kind kind, endpoint end, std::uint64_t count) noexcept {
  const call_scope call(self);
  work::tell(kind, end, &call.task.region->own, &call.task.own, count, call.from);
}

void begin_work(part& self, work_kind kind, std::uint64_t count) noexcept {
  end_work(self);
  tell_work(self, kind, endpoint::begin, count);
  task_info& own = *self.tool;
  own.open = kind;
  own.open_count = count;
}

void end_work(part& self) noexcept {
  task_info& own = *self.tool;
  const work_kind kind = own.open;
  if (kind == work_kind::none) return;
  own.open = work_kind::none;
  tell_work(self, kind, endpoint::end, own.open_count);
}

bool begin_single(part& self, bool is_mine) noexcept {
  begin_work(self, is_mine ? work_kind::single_executor : work_kind::single_other, 1);
  if (!is_mine) end_work(self);
  return is_mine;
}

void tell_chunk(part& self, dispatch_kind kind, std::uint64_t start,
                std::uint64_t iterations) noexcept {
  if (!dispatch::is_wanted()) return;
  const call_scope call(self);
  dispatch_chunk chunk{start, iterations};
  data instance;
  instance.pointer = &chunk;
  dispatch::tell(&call.task.region->own, &call.task.own, kind, instance);
}

void tell_section(part& self) noexcept {
  const call_scope call(self);
  data instance;
  instance.pointer = const_cast<void*>(call.from);
  dispatch::tell(&call.task.region->own, &call.task.own, dispatch_kind::section, instance);
}

void tell_masked(part& self, endpoint end) noexcept {
  const call_scope call(self);
  masked::tell(end, &call.task.region->own, &call.task.own, call.from);
}

void tell_reduction(part& self, endpoint end) noexcept {
  const call_scope call(self);
  call.thread.now = end == endpoint::begin ? state::work_reduction : work_state_of(call.task);
  reduction::tell(sync_kind::reduction, end, &call.task.region->own, &call.task.own, call.from);
}

// Tasks.

void tell_creation(part& self, task_info& own, int flags, bool has_dependences) noexcept {
  const call_scope call(self);
  own.flags = flags;
  own.region = call.task.region;
  if (call.thread.next_chunk.iterations != 0) {
    own.chunk = std::exchange(call.thread.next_chunk, dispatch_chunk());
    own.has_chunk = true;
  }
  task_create::tell(&call.task.own, &call.task.at, &own.own, flags, has_dependences ? 1 : 0,
                    call.from);
}

void tell_dependences(task_info& of, const dependence* all, std::size_t count) noexcept {
  dependences::tell(&of.own, all, static_cast<int>(count));
}

void begin_task(part& self, task_info& own) noexcept {
  thread_info& thread = this_thread();
  const task_status how = thread.yields ? task_status::yield : task_status::switches;
  thread.yields = false;
  own.around = self.tool;
  own.rank = self.rank;
  own.is_running = true;
  frame& around = own.around->at;
  own.around->enter_left = around.enter.pointer;
  own.around->state_left = thread.now;
  // The barrier at the end of a region has no code of the program: the region's code is over.
  const bool has_code = around.exit.pointer != nullptr || (own.around->flags & task_initial) != 0;
  if (has_code && around.enter.pointer == nullptr) around.enter.pointer = thread.frame;
  task_schedule::tell(&own.around->own, how, &own.own);
  self.tool = &own;
  thread.now = work_state_of(own);
  if (own.has_chunk)
    tell_chunk(self, dispatch_kind::taskloop_chunk, own.chunk.start, own.chunk.iterations);
}

void end_task(part& self, task_info& own, task_status how) noexcept {
  task_info& around = *own.around;
  own.at.exit.pointer = nullptr;
  own.is_running = false;
  self.tool = &around;
  this_thread().now = around.state_left;
  task_schedule::tell(&own.own, how, &around.own);
  around.at.enter.pointer = around.enter_left;
}

void set_exit_of_program(part& self, const void* own, void* saved) noexcept {
  frame& at = self.tool->at;
  // In programs without frame pointers this is something else: no address between our frame and the outer task's.
  const std::less<const void*> below;
  const task_info* const around = self.tool->around;
  const bool is_frame = around != nullptr && below(own, saved) &&
                        (below(saved, around->at.exit.pointer) || around->at.exit.pointer == saved);
  at.exit.pointer = is_frame ? saved : this_thread().frame;
  at.exit_flags = frame_application | (is_frame ? frame_pointer : frame_cfa);
}

void tell_fulfilled(task_info& of, bool is_late) noexcept {
  task_schedule::tell(&of.own, is_late ? task_status::late_fulfill : task_status::early_fulfill,
                      nullptr);
}

// Locks.

void begin_to_lock(mutex_kind kind, const void* lock) noexcept {
  thread_info& thread = this_thread();
  mutex_acquire::tell(kind, 0, implementation_of(kind), id_of(lock), thread.from);
  thread.waits_for = id_of(lock);
  thread.now = wait_state_of(kind);
}

void has_locked(mutex_kind kind, const void* lock, bool was_taken) noexcept {
  thread_info& thread = this_thread();
  thread.now = work_state_of(*here().tool);
  if (was_taken) mutex_acquired::tell(kind, id_of(lock), thread.from);
}

void has_unlocked(mutex_kind kind, const void* lock) noexcept {
  mutex_released::tell(kind, id_of(lock), this_thread().from);
}

void tell_nesting(endpoint end, const void* lock) noexcept {
  thread_info& thread = this_thread();
  thread.now = work_state_of(*here().tool);
  nest_lock::tell(end, id_of(lock), thread.from);
}

void tell_lock_init(mutex_kind kind, const void* lock, unsigned hint) noexcept {
  lock_init::tell(kind, hint, implementation_of(kind), id_of(lock), this_thread().from);
}

void tell_lock_destroy(mutex_kind kind, const void* lock) noexcept {
  lock_destroy::tell(kind, id_of(lock), this_thread().from);
}

// Others.

void tell_flush() noexcept { flush::tell(&this_thread().own, this_thread().from); }

void tell_cancel(part& self, int flags) noexcept {
  const call_scope call(self);
  cancel::tell(&call.task.own, flags, call.from);
}

void tell_discarded(task_info& of, int flags) noexcept {
  cancel::tell(&of.own, flags | cancel_discarded_task, nullptr);
}

void tell_error(severity how, const char* message, std::size_t length) noexcept {
  error::tell(how, message, length, this_thread().from);
}

int control_tool(std::uint64_t command, std::uint64_t modifier, void* argument) noexcept {
  constexpr int no_tool = -2, no_callback = -1;
  part& self = here();
  if (!is_tool_started()) return no_tool;
  const function callback =
      callbacks[control_tool_event].load(detail::memory_order_relaxed);  // 1 of ompt_types.hpp
  if (callback == nullptr) return no_callback;
  const call_scope call(self);
  return reinterpret_cast<int (*)(std::uint64_t, std::uint64_t, void*, code)>(callback)(
      command, modifier, argument, call.from);
}

}  // namespace lockstep::openmp::ompt
