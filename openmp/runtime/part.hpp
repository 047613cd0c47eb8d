// SPDX-License-Identifier: MIT
// openmp/runtime/part.hpp -- what a thread is doing, in OpenMP's terms: its part of a region, and the task that it runs
//
// Each thread has a chain of parts: the innermost is the region that it is in now, `outer` is the part of the thread
// that encountered that region, up to the initial part of a thread, which is in no region. A part lives on the stack of
// the thread that runs it, for as long as the outlined function runs.
//
// OpenMP's words: our region is its parallel region, our part is its implicit task, our size is its number of threads.
#ifndef LOCKSTEP_OPENMP_RUNTIME_PART_HPP
#define LOCKSTEP_OPENMP_RUNTIME_PART_HPP

#include <cstdint>

#include <lockstep/member.hpp>

#include "abi.hpp"
#include "control_variables.hpp"
#include "loop_cursor.hpp"
#include "task.hpp"

namespace lockstep::openmp {

class shared_region;  ///< of shared_region.hpp: what the members of a region share
struct started_region;
struct special_request;  ///< of llvm/regions.cpp
struct member_tasks;     ///< of task_pool.hpp
struct part;
struct member_call;  ///< of pool.hpp: what a member of a region is to do
class pool;  ///< of pool.hpp: the threads that a thread has for the regions that it encounters
namespace ompt {
struct task_info;  ///< of ompt.hpp
struct thread_info;
}  // namespace ompt

/// A way to call the function of a region that is not function(data).
using part_body = void (*)(part& self, const member_call& call);

/// Where a thread may run (affinity.hpp). Places count from 0; a partition is the places first to first + count - 1.
struct thread_places {
  int place = -1;  ///< the place that the thread is bound to; -1: none
  int first = 0, count = 0;

  bool operator==(const thread_places&) const = default;
};

/// Where a part is. The parts of a region begin with what the encountering thread has, except for the levels.
struct surroundings {
  unsigned level = 0;         ///< how many regions the part is in, its own among them
  unsigned active_level = 0;  ///< how many of these have more than one member
  unsigned team_num = 0, num_teams = 1;
  thread_places places;
  std::uint32_t is_in_teams = 0;  ///< 0 or 1; a word, so that all is copied by whole words
};

struct part : surroundings {
  unsigned rank = 0, size = 1;
  detail::member_state* at = nullptr;  ///< lockstep's; null in a region of one
  shared_region* shared = nullptr;     ///< null in a region of one that has not needed it yet
  part* outer = nullptr;
  outlined_function function = nullptr;  ///< the region's function; null for an initial part
  task* running;  ///< what the thread runs now: &implicit, or an explicit task
  task implicit;
  /// Passed in this region; tasks are counted by its parity (task_pool.hpp).
  std::uint32_t barriers = 0;
  std::uint32_t singles = 0;
  loop_cursor loop;                   ///< the worksharing construct that the part is in
  void* doacross = nullptr;           ///< loops that the program has announced (llvm/loops.cpp)
  started_region* started = nullptr;  ///< by a compiler before GCC 4.9 (old_parallel.cpp)
  member_tasks* tasks = nullptr;      ///< its data in the pool of tasks; null until it makes a task
  std::uint32_t asked_threads =
      0;  ///< num_threads() of the region that it encounters next; 0: none
  proc_bind asked_bind = proc_bind::no;        ///< likewise
  special_request* asked_specially = nullptr;  ///< further requests, to be deleted; null: none
  bool ends_with_barrier = false;  ///< a barrier that runs tasks, because the region may make some
  bool is_cancelled = false;       ///< by `cancel parallel`, in a region of one
  std::uint8_t flushes = 0;        ///< modulo 256 (llvm/synchronization.cpp)
  std::uint32_t work_cancelled_at =
      ~std::uint32_t{0};  ///< in a region of one: `barriers` when it was
  ompt::task_info* tool;  ///< of the task that runs; set and read where there is a tool

  part() noexcept : running(&implicit) {}
  /// A part of a region that `encountering` has encountered.
  explicit part(part* encountering) noexcept
      : surroundings(*encountering), outer(encountering), running(&implicit) {
    ++level;
  }
  part(const part&) = delete;
  part& operator=(const part&) = delete;

  bool is_alone() const noexcept { return size == 1; }
  const task_variables& variables() const noexcept { return *running->variables; }
};

/// All that a thread keeps: 32 bytes of thread-local storage in the initial-exec model.
struct thread_record {
  part* current = nullptr;            ///< null: the thread has not called us yet
  pool* pools = nullptr;              ///< one for each level of nesting that it encountered
  std::uint32_t number = 0;           ///< the thread's number in this process, from 1; 0: none yet
  std::int32_t bound_place = -1;      ///< where affinity.cpp has bound the thread; -1: nowhere
  ompt::thread_info* tool = nullptr;  ///< null also if there is no tool
};
extern __thread thread_record this_record
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

/// Makes the initial part of the calling thread.
part& begin_thread() noexcept;

/// The part that the calling thread is in.
inline part& here() noexcept {
  part* const current = this_record.current;
  return __builtin_expect(current != nullptr, 1) ? *current : begin_thread();
}
/// The settings of the environment, including what the program has set before its first call.
inline process_variables& called_settings() noexcept {
  static_cast<void>(here());
  return process_settings();
}
/// A number of the calling thread, unique in this process, never 0.
std::uint32_t thread_number() noexcept;

}  // namespace lockstep::openmp

#endif  // LOCKSTEP_OPENMP_RUNTIME_PART_HPP
