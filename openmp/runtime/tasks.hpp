// SPDX-License-Identifier: MIT
// openmp/runtime/tasks.hpp -- how explicit tasks are made: at once or later, by task, taskloop and target
#ifndef LOCKSTEP_OPENMP_RUNTIME_TASKS_HPP
#define LOCKSTEP_OPENMP_RUNTIME_TASKS_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "abi.hpp"
#include "part.hpp"
#include "shared_region.hpp"
#include "task_memory.hpp"
#include "task_pool.hpp"

namespace lockstep::openmp {

/// A task as the compiler describes it. Its data is copied, so that it may run after its maker has gone on.
struct task_request {
  outlined_function function;
  void* data;
  copy_function copy;       ///< null: the bytes are copied
  std::size_t size, align;  ///< align: a power of 2
  bool is_final = false;
  int priority = 0;

  /// Fills in the argument of a task that is made of it.
  void fill(void* argument) const noexcept {
    if (copy != nullptr) {
      copy(argument, data);
    } else if (size != 0) {
      std::memcpy(argument, data, size);
    }
  }
};

/// The priority that a program gets: OMP_MAX_TASK_PRIORITY limits what it asks for.
inline int allowed_priority(int asked) noexcept {
  const int most = process_settings().max_task_priority;
  return asked < 0 ? 0 : asked < most ? asked : most;
}

inline void describe(explicit_task& one, const task_request& what) noexcept {
  one.function = what.function;
  one.is_final = what.is_final;
  one.has_priority = what.priority != 0;
  if (one.has_priority) one.priority = what.priority;
  one.runs_always = what.copy != nullptr;
}

/// Details that few tasks have.
struct task_details {
  bool is_undeferred;  ///< if(false): the maker goes on when the task has ended
  dependence_list depend = {};
  void* event = nullptr;  ///< the event of a detached task is written there; null: none
  int traits = 0;         ///< for tools: untied, mergeable
};

inline bool has_unfinished(const task_family* family) noexcept {
  return family != nullptr && family->has_unfinished();
}

/// True if the program cannot see a difference between new tasks and calls, because no other member is there to run
/// them.
inline bool runs_tasks_at_once(part& self) noexcept {
  return self.running->is_final || self.is_alone() || self.shared->tasks.is_full(self);
}

/// Runs a task within the caller's task, with the data itself, or with a copy in which set(argument) fills in the rest.
void run_at_once(part& self, outlined_function function, void* data, bool is_final) noexcept;
template <class Set>
__attribute__((noinline)) void run_copy_at_once(part& self, const task_request& what,
                                                const Set& set) noexcept {
  char* const memory = static_cast<char*>(__builtin_alloca(what.size + what.align));
  void* const argument =
      reinterpret_cast<void*>(round_up(reinterpret_cast<std::uintptr_t>(memory), what.align));
  what.fill(argument);
  set(argument);
  run_at_once(self, what.function, argument, what.is_final);
}

/// Tells a tool of a new task.
void tell_task(part& self, explicit_task& one, const task_details& details,
               std::size_t size) noexcept;

/// Gives a task a place in the pool. set() as above. `runs_now`: the caller runs it.
template <class Set>
[[gnu::always_inline]] inline void queue_task(part& self, const task_request& what, const Set& set,
                                              bool runs_now, bool is_undeferred) noexcept {
  note_tasks(self);
  task& parent = *self.running;
  task_pool& tasks = shared_of(self).tasks;
  explicit_task& one = tasks.make(self, parent, what.size, what.align, 0);
  describe(one, what);
  what.fill(one.argument);
  set(one.argument);
  if (has_tool()) tell_task(self, one, {is_undeferred}, what.size);
  if (tasks.add(self, parent, one, {}, runs_now)) tasks.run_now(self, one);
}

/// Makes a task that may run later, by any member, or at once if the pool is full, or `is_undeferred`. set() as above.
template <class Set>
void make_task(part& self, const task_request& what, const Set& set, bool is_undeferred) noexcept {
  const bool runs_now = is_undeferred || runs_tasks_at_once(self);
  if (runs_now && !has_tool()) return run_copy_at_once(self, what, set);
  queue_task(self, what, set, runs_now, is_undeferred);
}

/// Makes a task with all its details, or runs it at once if that makes no difference.
void make_task(part& self, const task_request& what, const task_details& details) noexcept;

/// For a task in whose memory the program has put its data. The function and the rest of its description are set.
/// `end`: the end of its argument.
void start_task(part& self, explicit_task& one, const task_details& details,
                const void* end) noexcept;

/// Waits until the children of the running task have ended.
void wait_for_children(part& self) noexcept;

/// Whether `cancel` has reached the task that is running: it makes no more tasks.
bool is_cancelled_here(const part& self) noexcept;

/// Waits until those children of the running task have ended that a task with these dependences would wait for.
void wait_for_dependences(part& self, const dependence_list& depend) noexcept;
/// The same with nowait: a task that does nothing waits for them.
void make_waiting_task(part& self, const dependence_list& depend) noexcept;

// --- taskloop: a loop whose chunks are tasks ---

/// Writes the bounds of a task into its data, at places that compilers choose: the first iteration, and the one after
/// the last.
struct bounds_writer {
  /// Null: the bounds are the first two words, as with GCC.
  void (*write)(void* argument, const bounds_writer& how, ull first, ull behind) noexcept = nullptr;
  ull step = 1;
  std::uint32_t first_at = 0, last_at = 0, shared_at = 0;
};

/// What `taskloop` has besides what a task has. Numbers are modulo 2^64.
struct taskloop_request {
  ull iterations, first, step;
  ull wanted = 0;  ///< number of tasks, or iterations of a task (has_grainsize); 0: our choice
  bool has_grainsize = false, is_strict = false;
  bool is_undeferred = false;  ///< if(false)
  bounds_writer bounds = {};
  /// Makes one of the tasks. Null: the tasks are copies of the data.
  void (*make_one)(part& self, void* data, const taskloop_request& how, ull first, ull behind,
                   bool is_last) noexcept = nullptr;
};

/// Requires: there are iterations.
void run_taskloop(part& self, const task_request& what, const taskloop_request& how) noexcept;

}  // namespace lockstep::openmp

#endif  // LOCKSTEP_OPENMP_RUNTIME_TASKS_HPP
