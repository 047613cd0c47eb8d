// SPDX-License-Identifier: MIT
// What tools may ask: the functions that ompt_initialize finds by their names.
#include <sched.h>

#include <cstring>

#include "affinity.hpp"
#include "ompt.hpp"

namespace lockstep::openmp::ompt {
namespace {

/// The task that the calling thread runs; null if the thread has called nothing of ours.
task_info* current_task() noexcept {
  part* const current = this_record.current;
  return is_tool_started() && current != nullptr && this_record.tool != nullptr ? current->tool
                                                                                : nullptr;
}

// --- callbacks ---

/// Whether we call a callback for all its events. Compilers make code of their own for some constructs: GCC for static
/// loops, masked, flush, most atomic operations and reductions. There are no devices.
set_result support_of(unsigned event) noexcept {
  if (event == 0 || event >= most_events) return set_result::error;
  const auto is_one_of = [event](auto... numbers) { return ((event == numbers) || ...); };
  // target..., device_..., and their forms with _emi
  if (is_one_of(8u, 9u, 10u, 12u, 13u, 14u, 15u, 22u, 33u, 34u, 35u, 36u)) return set_result::never;
  // mutex_released, mutex_acquire, mutex_acquired, flush, dispatch
  if (is_one_of(17u, 26u, 27u, 29u, 32u)) return set_result::sometimes;
  // work, masked, reduction
  if (is_one_of(20u, 21u, 31u)) return set_result::sometimes_paired;
  return set_result::always;
}

set_result set_callback(unsigned event, function callback) noexcept {
  const set_result result = support_of(event);
  if (result == set_result::error) return result;
  callbacks[event].store(callback, detail::memory_order_relaxed);  // 2 of ompt_types.hpp
  return callback != nullptr ? result : set_result::always;
}

int get_callback(unsigned event, function* callback) noexcept {
  if (event == 0 || event >= most_events) return 0;
  const function known =
      callbacks[event].load(detail::memory_order_relaxed);  // 1 of ompt_types.hpp
  if (known != nullptr) *callback = known;
  return known != nullptr ? 1 : 0;
}

// --- the thread, its regions and tasks ---

data* get_thread_data() noexcept {
  return is_tool_started() && this_record.tool != nullptr ? &this_record.tool->own : nullptr;
}

state get_state(wait_id* what) noexcept {
  const thread_info* const thread = this_record.tool;
  if (!is_tool_started() || thread == nullptr) return state::work_serial;
  const int number = static_cast<int>(thread->now);
  const bool waits_for_lock = number >= static_cast<int>(state::wait_mutex) &&
                              number <= static_cast<int>(state::wait_ordered);
  if (what != nullptr && waits_for_lock) *what = thread->waits_for;
  return thread->now;
}

int get_parallel_info(int level, data** of, int* size) noexcept {
  task_info* task = current_task();
  for (; task != nullptr && level > 0; --level) task = task->region->encountering;
  if (task == nullptr || level < 0) return 0;
  if (of != nullptr) *of = &task->region->own;
  if (size != nullptr) *size = static_cast<int>(task->region->size);
  return 2;
}

int get_task_info(int level, int* flags, data** of, frame** at, data** region, int* rank) noexcept {
  task_info* task = current_task();
  for (; task != nullptr && level > 0; --level) task = task->around;
  if (task == nullptr || level < 0) return 0;
  const bool is_serial = (task->flags & task_implicit) != 0 && task->region->size == 1;
  if (flags != nullptr) *flags = task->flags | (is_serial ? task_undeferred : 0);
  if (of != nullptr) *of = &task->own;
  if (at != nullptr) *at = &task->at;
  if (region != nullptr) *region = &task->region->own;
  if (rank != nullptr) *rank = static_cast<int>(task->rank);
  return 2;
}

int get_task_memory(void** address, std::size_t* size, int block) noexcept {
  const task_info* const task = current_task();
  if (task == nullptr || block != 0 || task->memory == nullptr) return 0;
  *address = task->memory;
  *size = task->memory_size;
  return 0;  // there is no other block
}

std::uint64_t get_unique_id() noexcept {
  // A relaxed counter: it hands out numbers, nothing else.
  static detail::atomic<std::uint64_t> last{0};
  return last.fetch_add(1, detail::memory_order_relaxed) + 1;  // hands out numbers
}

// --- the machine ---

int get_num_procs() noexcept { return affinity::available_cpus(); }
int get_num_places() noexcept { return affinity::is_on() ? affinity::count() : 0; }
int get_place_proc_ids(int place, int size, int* ids) noexcept {
  if (place < 0 || place >= get_num_places()) return 0;
  const std::vector<unsigned>& cpus = affinity::cpus_of(place);
  const int count = static_cast<int>(cpus.size());
  if (count <= size) {
    for (const unsigned cpu : cpus) *ids++ = static_cast<int>(cpu);
  }
  return count;
}
int get_place_num() noexcept {
  const part* const current = this_record.current;
  return current != nullptr ? current->places.place : -1;
}
int get_partition_place_nums(int size, int* places) noexcept {
  const part* const current = this_record.current;
  if (current == nullptr) return 0;
  const thread_places& own = current->places;
  if (own.count <= size) {
    for (int i = 0; i < own.count; ++i) *places++ = own.first + i;
  }
  return own.count;
}
int get_proc_id() noexcept { return current_task() != nullptr ? sched_getcpu() : -1; }
int get_num_devices() noexcept { return 1; }  // the host
int get_target_info(std::uint64_t*, std::uint64_t*, std::uint64_t*) noexcept { return 0; }

// --- what there is ---

struct enumerated {
  int number;
  const char* name;
};

/// The entry after `current`. The one after the number below all is the first.
template <std::size_t count>
int next_of(const enumerated (&all)[count], int current, int* next, const char** name) noexcept {
  for (std::size_t i = 0; i + 1 < count; ++i) {
    if (all[i].number != current) continue;
    *next = all[i + 1].number;
    *name = all[i + 1].name;
    return 1;
  }
  return 0;
}

int enumerate_states(int current, int* next, const char** name) noexcept {
#define STATE(one) {static_cast<int>(state::one), "ompt_state_" #one}
  static constexpr enumerated all[] = {STATE(undefined),
                                       STATE(work_serial),
                                       STATE(work_parallel),
                                       STATE(work_reduction),
                                       STATE(wait_barrier_implicit_parallel),
                                       STATE(wait_barrier_implicit_workshare),
                                       STATE(wait_barrier_explicit),
                                       STATE(wait_barrier_implementation),
                                       STATE(wait_taskwait),
                                       STATE(wait_taskgroup),
                                       STATE(wait_lock),
                                       STATE(wait_critical),
                                       STATE(wait_atomic),
                                       STATE(wait_ordered),
                                       STATE(idle),
                                       STATE(overhead)};
#undef STATE
  return next_of(all, current, next, name);
}

int enumerate_mutex_impls(int current, int* next, const char** name) noexcept {
  static constexpr enumerated all[] = {
      {0, "ompt_mutex_impl_none"}, {1, "lockstep_word_lock"}, {2, "lockstep_mutex"}};
  return next_of(all, current, next, name);
}

}  // namespace

function find_inquiry(const char* name) {
#define INQUIRY(one) {"ompt_" #one, reinterpret_cast<function>(one)}
  static const struct {
    const char* name;
    function call;
  } all[] = {INQUIRY(enumerate_states),
             INQUIRY(enumerate_mutex_impls),
             INQUIRY(set_callback),
             INQUIRY(get_callback),
             INQUIRY(get_state),
             INQUIRY(get_parallel_info),
             INQUIRY(get_task_info),
             INQUIRY(get_task_memory),
             INQUIRY(get_thread_data),
             INQUIRY(get_unique_id),
             INQUIRY(get_num_procs),
             INQUIRY(get_num_places),
             INQUIRY(get_place_proc_ids),
             INQUIRY(get_place_num),
             INQUIRY(get_proc_id),
             INQUIRY(get_partition_place_nums),
             INQUIRY(get_target_info),
             INQUIRY(get_num_devices),
             {"ompt_finalize_tool", finish_tool}};
#undef INQUIRY
  for (const auto& each : all) {
    if (std::strcmp(each.name, name) == 0) return each.call;
  }
  return nullptr;
}

}  // namespace lockstep::openmp::ompt
