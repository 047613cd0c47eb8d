// SPDX-License-Identifier: MIT
// openmp/runtime/control_variables.hpp -- the internal control variables of OpenMP, and where they come from
//
// Each task has a copy of task_variables: a change by omp_set_...() holds for the task, and is copied to the tasks that
// it makes. process_variables are read from the environment before main(), and for LLVM's programs once more at the
// first call (environment.cpp). They do not change unless a function of the interface says so.
#ifndef LOCKSTEP_OPENMP_RUNTIME_CONTROL_VARIABLES_HPP
#define LOCKSTEP_OPENMP_RUNTIME_CONTROL_VARIABLES_HPP

#include <cstddef>
#include <cstdint>
#include <vector>

#include <lockstep/wait_policy.hpp>

#include "abi.hpp"

namespace lockstep::openmp {

/// schedule(kind, chunk). A chunk of 0 means that none was given.
struct schedule {
  schedule_kind kind = schedule_kind::dynamic;
  bool is_monotonic = false;
  bool is_given = false;  ///< by the environment or the program
  long chunk = 1;

  bool operator==(const schedule&) const = default;
};

/// The control variables that belong to a task's data environment.
struct task_variables {
  int threads = 1;  ///< nthreads-var
  int max_active_levels = 1;
  int thread_limit = 2147483647;
  int default_device = 0;
  bool is_dynamic = false;
  bool has_own_levels =
      false;  ///< num_threads(list) around it: OMP_NUM_THREADS says nothing inside
  proc_bind bind = proc_bind::no;
  schedule run_schedule;
  std::uintptr_t allocator = 1;  ///< omp_allocator_handle_t: def-allocator-var

  bool operator==(const task_variables&) const = default;
};

/// OMP_TARGET_OFFLOAD.
enum class target_offload : int { usual, mandatory, disabled };

/// The control variables that the process has once, and what else the environment sets.
struct process_variables {
  task_variables initial;             ///< of the initial task
  std::vector<int> threads_of_level;  ///< OMP_NUM_THREADS: by level of nesting; empty: not given
  std::vector<proc_bind> bind_of_level;
  /// How many CPUs may be used at the start, at most the container's quota. The default number of threads.
  int usable_cpus = 1;
  int cpus_of_quota = 2147483647;      ///< rounded up; a number above that of CPUs is no limit
  bool has_max_active_levels = false;  ///< OMP_MAX_ACTIVE_LEVELS or OMP_NESTED was given
  bool can_cancel = false;             ///< OMP_CANCELLATION
  bool has_tool = false;               ///< there is a tool, or there may be one (ompt.hpp)
  bool has_special_tasks = false;      ///< tasks may be cancelled, or a tool is told of them
  bool has_special_regions = false;    ///< lists by level, threads that are displayed, or a tool
  bool is_of_llvm = false;  ///< the program asks for LLVM's runtime, so it behaves like that one
  std::size_t seen = 0;     ///< a hash of the environment that all this was read from
  int max_task_priority = 0;
  int num_teams = 0, teams_thread_limit = 0;
  proc_bind bind_of_teams = proc_bind::spread;  ///< KMP_TEAMS_PROC_BIND
  bool throttles_tasks = true;                  ///< KMP_ENABLE_TASK_THROTTLING
  bool reduces_in_order = false;                ///< KMP_DETERMINISTIC_REDUCTION
  std::size_t stack_size = 0;                   ///< of threads, in bytes; 0: the system's
  int blocktime = 200;           ///< KMP_BLOCKTIME, in milliseconds, as programs are told
  bool is_active = false;        ///< OMP_WAIT_POLICY
  bool has_looks = false;        ///< GOMP_SPINCOUNT was given
  unsigned long long looks = 0;  ///< GOMP_SPINCOUNT
  wait_policy waiting;           ///< the policy that these two ask for
  bool has_waiting =
      false;  ///< one of them was given: else lockstep's default, or LOCKSTEP_WAIT_POLICY, holds
  bool displays_affinity = false;  ///< OMP_DISPLAY_AFFINITY
  target_offload offload = target_offload::usual;

  /// Whether a list says something for regions inside of others.
  bool has_levels() const noexcept {
    return threads_of_level.size() > 1 || bind_of_level.size() > 1;
  }
};

/// Levels of nesting that omp_set_max_active_levels() takes.
constexpr int supported_active_levels = 255;

/// Never destroyed: programs call us from their own destructors.
union settings_storage {
  process_variables value;
  settings_storage() noexcept;  // environment.cpp: reads the environment, before the constructors of programs
  ~settings_storage() {}
};
/// Hidden: otherwise each look would first load its address.
extern settings_storage settings_of_process __attribute__((visibility("hidden")));

/// The settings of this process.
inline process_variables& process_settings() noexcept { return settings_of_process.value; }
inline bool has_tool() noexcept { return __builtin_expect(process_settings().has_tool, 0); }

// --- how programs change what the environment has given ---

/// KMP_BLOCKTIME: how long waiting threads poll before they sleep; INT_MAX: for ever. For teams that are made later.
void set_blocktime(int milliseconds) noexcept;
/// Called at the first call of the process. LLVM's runtime reads its variables then, and not when it is loaded. So for
/// its programs, what main() has set before counts.
void read_what_main_has_set() noexcept;
/// Reads the variables again that a program may set before its first region.
void read_environment_again() noexcept;

}  // namespace lockstep::openmp

#endif  // LOCKSTEP_OPENMP_RUNTIME_CONTROL_VARIABLES_HPP
