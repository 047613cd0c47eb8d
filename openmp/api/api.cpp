// SPDX-License-Identifier: MIT
// The functions of omp.h, but for locks, allocators and devices' memory. The specification says what they do.
#include "api.hpp"

#include <cstdint>
#include <cstring>
#include <ctime>
#include <string>

#include "runtime/affinity.hpp"
#include "runtime/control_variables.hpp"
#include "runtime/display.hpp"
#include "runtime/parallel.hpp"
#include "runtime/part.hpp"
#include "runtime/task_pool.hpp"

using namespace lockstep::openmp;

namespace {

int as_int(unsigned value) { return static_cast<int>(value); }
task_variables& own() { return here().running->own_variables(); }

const thread_places& own_places() {
  part& self = here();
  affinity::place_initial_thread(self);
  return self.places;
}

/// The thread's part, or its ancestor's part, at a level of nesting; null if there is none.
const part* at_level(int level) {
  const part* at = &here();
  if (level < 0 || level > as_int(at->level)) return nullptr;
  while (as_int(at->level) > level && at->outer != nullptr) at = at->outer;
  return at;
}

}  // namespace

// --- regions and their threads. A thread that has called nothing of ours is in no region: it needs no record. ---

OPENMP_IN_BOTH(int, omp_get_thread_num)() {
  const part* const current = this_record.current;
  return current != nullptr ? as_int(current->rank) : 0;
}
OPENMP_IN_BOTH(int, omp_get_num_threads)() {
  // The tool, if there is one, starts here: programs call this function to start it.
  const part* const current = has_tool() ? &here() : this_record.current;
  return current != nullptr ? as_int(current->size) : 1;
}
OPENMP_IN_BOTH(int, omp_in_parallel)() {
  const part* const current = this_record.current;
  return current != nullptr && current->active_level > 0 ? 1 : 0;
}
OPENMP_IN_BOTH(int, omp_get_level)() { return as_int(here().level); }
OPENMP_IN_BOTH(int, omp_get_active_level)() { return as_int(here().active_level); }
OPENMP_IN_BOTH(int, omp_get_ancestor_thread_num)(int level) {
  const part* const ancestor = at_level(level);
  return ancestor != nullptr ? as_int(ancestor->rank) : -1;
}
OPENMP_IN_BOTH(int, omp_get_team_size)(int level) {
  const part* const ancestor = at_level(level);
  return ancestor != nullptr ? as_int(ancestor->size) : -1;
}
OPENMP_IN_BOTH(int, omp_get_num_teams)() { return as_int(here().num_teams); }
OPENMP_IN_BOTH(int, omp_get_team_num)() { return as_int(here().team_num); }
OPENMP_IN_BOTH(int, omp_in_final)() { return here().running->is_final ? 1 : 0; }
OPENMP_IN_BOTH(int, omp_in_explicit_task)() { return here().running->is_explicit ? 1 : 0; }

// --- the control variables of the task ---

OPENMP_IN_BOTH(void, omp_set_num_threads)(int threads) {
  own().threads = threads > 0 ? threads : 1;
}
OPENMP_IN_BOTH(int, omp_get_max_threads)() { return here().variables().threads; }
OPENMP_IN_BOTH(void, omp_set_dynamic)(int yes) { own().is_dynamic = yes != 0; }
OPENMP_IN_BOTH(int, omp_get_dynamic)() { return here().variables().is_dynamic ? 1 : 0; }
OPENMP_IN_BOTH(void, omp_set_max_active_levels)(int levels) {
  if (levels < 0) return;
  own().max_active_levels = levels < supported_active_levels ? levels : supported_active_levels;
}
OPENMP_IN_BOTH(int, omp_get_max_active_levels)() { return here().variables().max_active_levels; }
OPENMP_IN_BOTH(int, omp_get_supported_active_levels)() { return supported_active_levels; }
OPENMP_IN_BOTH(void, omp_set_nested)(int yes) {
  if (yes != 0) {
    own().max_active_levels = supported_active_levels;
  } else if (here().variables().max_active_levels > 1) {
    own().max_active_levels = 1;
  }
}
OPENMP_IN_BOTH(int, omp_get_nested)() {
  const part& self = here();
  return self.variables().max_active_levels > as_int(self.active_level) &&
         self.variables().max_active_levels > 1;
}
OPENMP_IN_BOTH(int, omp_get_thread_limit)() { return here().variables().thread_limit; }
OPENMP_IN_BOTH(void, omp_set_default_device)(int device) {
  own().default_device = device >= 0 ? device : 0;
}
OPENMP_IN_BOTH(int, omp_get_default_device)() { return here().variables().default_device; }

OPENMP_IN_BOTH(void, omp_set_schedule)(unsigned kind, int chunk) {
  const unsigned plain = kind & ~monotonic_bit;
  if (plain < 1 || plain > 4) return;
  schedule& of = own().run_schedule;
  of.kind = static_cast<schedule_kind>(plain);
  of.is_given = true;
  of.is_monotonic = (kind & monotonic_bit) != 0;
  if (of.kind == schedule_kind::automatic) return;  // it knows no chunks: what was there stays
  of.chunk = chunk > 0 ? chunk : of.kind == schedule_kind::fixed ? 0 : 1;
}
OPENMP_IN_BOTH(void, omp_get_schedule)(unsigned* kind, int* chunk) {
  const schedule& of = here().variables().run_schedule;
  *kind = static_cast<unsigned>(of.kind) | (of.is_monotonic ? monotonic_bit : 0);
  *chunk = static_cast<int>(of.chunk);
}

// --- those of the process ---

OPENMP_IN_BOTH(int, omp_get_num_procs)() {
  return static_cast<void>(here()), affinity::available_cpus();
}
OPENMP_IN_BOTH(int, omp_get_cancellation)() { return called_settings().can_cancel ? 1 : 0; }
OPENMP_IN_BOTH(int, omp_get_max_task_priority)() { return called_settings().max_task_priority; }
OPENMP_IN_BOTH(void, omp_set_num_teams)(int teams) {
  if (teams >= 0) called_settings().num_teams = teams;
}
OPENMP_IN_BOTH(int, omp_get_max_teams)() { return called_settings().num_teams; }
OPENMP_IN_BOTH(void, omp_set_teams_thread_limit)(int threads) {
  if (threads >= 0) called_settings().teams_thread_limit = threads;
}
OPENMP_IN_BOTH(int, omp_get_teams_thread_limit)() { return called_settings().teams_thread_limit; }
OPENMP_IN_BOTH(void, omp_display_env)(int is_verbose) {
  static_cast<void>(here());
  display::show_environment(is_verbose != 0);
}

// --- time ---

OPENMP_IN_BOTH(double, omp_get_wtime)() {
  std::timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}
OPENMP_IN_BOTH(double, omp_get_wtick)() {
  std::timespec tick{};
  clock_getres(CLOCK_MONOTONIC, &tick);
  return static_cast<double>(tick.tv_sec) + static_cast<double>(tick.tv_nsec) * 1e-9;
}

// --- events of detached tasks ---

/// May be called by any thread, even one that OpenMP does not know. `event`: the value of the event's variable.
OPENMP_IN_BOTH(void, omp_fulfill_event)(std::uintptr_t event) {
  task_pool::fulfil(*reinterpret_cast<explicit_task*>(event));
}

// --- where threads run ---

OPENMP_IN_BOTH(int, omp_get_proc_bind)() { return static_cast<int>(here().variables().bind); }
OPENMP_IN_BOTH(int, omp_get_num_places)() {
  return static_cast<void>(here()), affinity::is_on() ? affinity::count() : 0;
}
OPENMP_IN_BOTH(int, omp_get_place_num_procs)(int place) {
  if (place < 0 || place >= omp_get_num_places()) return 0;
  return static_cast<int>(affinity::cpus_of(place).size());
}
OPENMP_IN_BOTH(void, omp_get_place_proc_ids)(int place, int* cpus) {
  if (place < 0 || place >= omp_get_num_places()) return;
  for (const unsigned cpu : affinity::cpus_of(place)) *cpus++ = as_int(cpu);
}
OPENMP_IN_BOTH(int, omp_get_place_num)() { return own_places().place; }
OPENMP_IN_BOTH(int, omp_get_partition_num_places)() { return own_places().count; }
OPENMP_IN_BOTH(void, omp_get_partition_place_nums)(int* places) {
  const thread_places& all = own_places();
  for (int i = 0; i < all.count; ++i) *places++ = all.first + i;
}

namespace {

/// Copies as much of the text as fits, with an end mark. Returns the length that would be enough.
std::size_t copy_out(const std::string& text, char* to, std::size_t size) {
  if (size > 0) {
    const std::size_t length = text.size() < size ? text.size() : size - 1;
    std::memcpy(to, text.data(), length);
    to[length] = 0;
  }
  return text.size();
}

}  // namespace

OPENMP_IN_BOTH(void, omp_set_affinity_format)(const char* format) {
  display::set_affinity_format(format);
}
OPENMP_IN_BOTH(std::size_t, omp_get_affinity_format)(char* to, std::size_t size) {
  return copy_out(display::affinity_format(), to, size);
}
OPENMP_IN_BOTH(std::size_t, omp_capture_affinity)(char* to, std::size_t size, const char* format) {
  return copy_out(display::filled_in(format, here()), to, size);
}
OPENMP_IN_BOTH(void, omp_display_affinity)(const char* format) {
  display::show_affinity(format, here());
}

// --- devices: there is the host, whose number is that of the devices ---

OPENMP_IN_BOTH(int, omp_get_num_devices)() { return 0; }
OPENMP_IN_BOTH(int, omp_get_initial_device)() { return 0; }
OPENMP_IN_BOTH(int, omp_get_device_num)() { return 0; }
OPENMP_IN_BOTH(int, omp_is_initial_device)() { return 1; }

/// On the host, the resources to give up are threads. Refused inside a region.
OPENMP_IN_BOTH(int, omp_pause_resource)(int kind, int device) {
  const bool is_right = (kind == 1 || kind == 2) && device == omp_get_initial_device();
  return is_right && end_threads() ? 0 : -1;
}
OPENMP_IN_BOTH(int, omp_pause_resource_all)(int kind) {
  return (kind == 1 || kind == 2) && end_threads() ? 0 : -1;
}

// Functions without an argument are the same in Fortran. For C, LLVM's headers have some that nothing redefines.
#define IN_FORTRAN_OF_BOTH(names) \
  ALSO_IN_FORTRAN(names);         \
  IN_LIBOMP(names, "_")
IN_FORTRAN_OF_BOTH(
    "omp_get_num_threads, omp_get_max_threads, omp_get_thread_num, omp_get_num_procs, "
    "omp_in_parallel, omp_get_dynamic, omp_get_nested, omp_get_thread_limit, "
    "omp_get_max_active_levels, omp_get_supported_active_levels, omp_get_level, "
    "omp_get_active_level, omp_in_final, omp_in_explicit_task, omp_get_cancellation, "
    "omp_get_proc_bind, omp_get_num_places, omp_get_place_num, omp_get_partition_num_places, "
    "omp_get_default_device, omp_get_num_devices, omp_get_device_num, omp_get_num_teams, "
    "omp_get_team_num, omp_is_initial_device, omp_get_initial_device, "
    "omp_get_max_task_priority, omp_get_max_teams, omp_get_teams_thread_limit, omp_get_wtime, "
    "omp_get_wtick");
ALSO_AS("ompc_", "omp_",
        "set_num_threads, set_dynamic, set_nested, set_max_active_levels, set_schedule, "
        "get_ancestor_thread_num, get_team_size, set_affinity_format, get_affinity_format, "
        "display_affinity, capture_affinity");
