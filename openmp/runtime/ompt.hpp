// SPDX-License-Identifier: MIT
// openmp/runtime/ompt.hpp -- what tools are told: the tools interface of OpenMP 5.2 (OMPT), for programs of all compilers
//
// Whether the process may have a tool is known when the library is loaded, and does not change. has_tool() reads a byte
// of the settings that no thread writes. All else is out of line, so a program without a tool pays only for that look.
// The tool itself starts with the first thread that calls us (ompt_tool.cpp).
//
//   OMPT-1  Functions that programs call begin with entered() or note_call(). So events have the place in the program,
//           and the stack frame, of the call that they come from. A construct that runs code of the program saves both
//           (call_scope), because calls inside it replace them.
//   OMPT-2  What a tool knows of a task (task_info) lies beside the task. That of an implicit task is on the stack of
//           its member. That of an explicit task lies in front of it (info_of), so tasks are as large as without a
//           tool. Where has_tool() is false, no thread reads part::tool and those bytes.
//   OMPT-3  Members of a region report their end while they are still in it. The wait of member 0 ends when all have
//           come; the waits of the others have no length.
//   OMPT-4  For some constructs a compiler does not call us at the end (single, with GCC). Such a construct ends with
//           the member's next construct, barrier or part.
#ifndef LOCKSTEP_OPENMP_RUNTIME_OMPT_HPP
#define LOCKSTEP_OPENMP_RUNTIME_OMPT_HPP

#include <cstddef>
#include <cstdint>

#include "abi.hpp"
#include "ompt_types.hpp"
#include "part.hpp"

namespace lockstep::openmp {

namespace ompt {

struct region_info;

/// What a tool knows of a task. A thread that takes an explicit task touches the first line only.
struct alignas(64) task_info {
  data own{};
  frame at;
  int flags = 0;
  unsigned rank = 0;  ///< the rank of the thread that runs it, in its region
  region_info* region = nullptr;
  task_info* around =
      nullptr;  ///< the task that its thread left for it; for an implicit task: the one that encountered the region
  bool is_running = false;  ///< an explicit task that runs
  bool has_chunk = false;

  // Written by the thread that makes the task.
  alignas(64) void* memory = nullptr;  ///< of an explicit task: its data
  std::size_t memory_size = 0;
  dispatch_chunk chunk{};  ///< of a taskloop's task: its iterations
  // Written by the thread that runs the task, in a construct or while it runs another task.
  work_kind open = work_kind::none;  ///< the worksharing construct that an implicit task is in
  std::uint64_t open_count = 0;
  state state_left = state::overhead;  ///< the thread's state when it left the task for another one
  void* enter_left = nullptr;          ///< its frame at that time
};
static_assert(sizeof(task_info) == 128, "two lines");

/// What a tool knows of a region. It lives as long as the members run.
struct region_info {
  data own{};
  unsigned size = 1;
  int flags = 0;
  code from = nullptr;
  task_info* encountering = nullptr;  ///< null: the implicit region around an initial task
  task_info primary;                  ///< of member 0
};

/// What a tool knows of a thread.
struct thread_info {
  data own{};
  state now = state::overhead;
  wait_id waits_for = 0;
  code from = nullptr;  ///< OMPT-1
  void* frame = nullptr;
  bool yields = false;          ///< the thread leaves its task because of taskyield
  dispatch_chunk next_chunk{};  ///< of the task that it makes next, by taskloop
  region_info initial;          ///< of an initial thread
};

/// The data of the calling thread. Made if there is none: a thread that OpenMP does not know.
thread_info& this_thread() noexcept;

/// Saves the place of the program's call, and the task's frame, until the construct ends (OMPT-1).
class call_scope {
 public:
  explicit call_scope(part& self) noexcept;
  ~call_scope() { task.at.enter.pointer = before_; }
  call_scope(const call_scope&) = delete;
  call_scope& operator=(const call_scope&) = delete;

  thread_info& thread;
  task_info& task;
  const code from;

 private:
  void* const before_;
};

/// The thread is in this state until the scope ends.
class state_scope {
 public:
  state_scope(thread_info& of, state now, wait_id what = 0) noexcept : of_(of), before_(of.now) {
    of.waits_for = what;
    of.now = now;
  }
  ~state_scope() { of_.now = before_; }
  state_scope(const state_scope&) = delete;
  state_scope& operator=(const state_scope&) = delete;

 private:
  thread_info& of_;
  const state before_;
};

/// A sync region, in which the thread waits. `has_begun`: begin_sync() has begun the region, and only the wait begins.
class sync_scope {
 public:
  sync_scope(part& self, sync_kind kind, bool has_begun = false) noexcept;
  ~sync_scope();
  sync_scope(const sync_scope&) = delete;
  sync_scope& operator=(const sync_scope&) = delete;

 private:
  call_scope call_;
  const sync_kind kind_;
  const state_scope state_;
};

/// The begin of a taskgroup.
void begin_sync(part& self, sync_kind kind) noexcept;

// --- threads ---

/// An initial thread begins: looks for a tool, if nobody has. Then its initial task begins.
void begin_initial_thread(part& initial) noexcept;
void end_initial_thread(part& initial) noexcept;
void begin_worker() noexcept;
void end_worker() noexcept;
/// Frees the data of the calling thread, after end_initial_thread() when the thread ends. For a thread that OpenMP does
/// not know, too.
void forget_this_thread() noexcept;

// --- regions ---

/// A region or a league of teams, on the encountering thread from its begin to its end.
class region_scope {
 public:
  region_scope(part& encountering, unsigned requested, unsigned size, int flags) noexcept;
  ~region_scope();
  region_scope(const region_scope&) = delete;
  region_scope& operator=(const region_scope&) = delete;

  region_info info;

 private:
  part& self_;
  call_scope call_;
  const state_scope state_;
};

/// begin_part(): the part of a member begins, with `own`, which lives as long as the part. arrive_at_end(): the
/// region's function has returned, and the member arrives at the region's end. end_part(): the member has left the
/// region; for member 0 the end of the region_scope calls this.
void begin_part(part& self, region_info& of, task_info& own) noexcept;
void arrive_at_end(part& self) noexcept;
void end_part(part& self) noexcept;

/// One team of a league, on the encountering thread.
class team_scope {
 public:
  team_scope(part& self, region_info& of, unsigned number) noexcept;
  ~team_scope();
  team_scope(const team_scope&) = delete;
  team_scope& operator=(const team_scope&) = delete;

 private:
  part& self_;
  const unsigned number_;
  task_info own_;
};

// --- worksharing ---

void tell_work(part& self, work_kind kind, endpoint end, std::uint64_t count) noexcept;
/// A worksharing construct begins. It ends with end_work(): OMPT-4.
void begin_work(part& self, work_kind kind, std::uint64_t count) noexcept;
void end_work(part& self) noexcept;
/// Returns `is_mine`.
bool begin_single(part& self, bool is_mine) noexcept;
/// A chunk of the construct's iterations, or a section, is given out.
void tell_chunk(part& self, dispatch_kind kind, std::uint64_t start,
                std::uint64_t iterations) noexcept;
void tell_section(part& self) noexcept;
void tell_masked(part& self, endpoint end) noexcept;
void tell_reduction(part& self, endpoint end) noexcept;

// --- tasks ---

/// A task was made; `own` is its data.
void tell_creation(part& self, task_info& own, int flags, bool has_dependences) noexcept;
/// Reports the addresses that the task depends on.
void tell_dependences(task_info& of, const dependence* all, std::size_t count) noexcept;

/// The calling member begins to run the task, which is then its running task until end_task().
void begin_task(part& self, task_info& own) noexcept;
void end_task(part& self, task_info& own, task_status how) noexcept;
/// The running task's code is that of the function that has called us. `own`: our frame; `saved`: the caller's frame
/// that is kept there.
void set_exit_of_program(part& self, const void* own, void* saved) noexcept;
[[gnu::always_inline]] inline void set_exit_of_program(part& self) noexcept {
  void** const own = static_cast<void**>(__builtin_frame_address(0));
  // Read here, because the call may be a jump, after which the frame is gone.
  set_exit_of_program(self, own, *own);
}
/// omp_fulfill_event().
void tell_fulfilled(task_info& of, bool is_late) noexcept;

// --- locks ---

void begin_to_lock(mutex_kind kind, const void* lock) noexcept;
void has_locked(mutex_kind kind, const void* lock, bool was_taken = true) noexcept;
void has_unlocked(mutex_kind kind, const void* lock) noexcept;
void tell_nesting(endpoint end, const void* lock) noexcept;
void tell_lock_init(mutex_kind kind, const void* lock, unsigned hint) noexcept;
void tell_lock_destroy(mutex_kind kind, const void* lock) noexcept;

// --- others ---

void tell_flush() noexcept;
void tell_cancel(part& self, int flags) noexcept;
void tell_discarded(task_info& of, int flags) noexcept;
void tell_error(severity how, const char* message, std::size_t length) noexcept;
/// omp_control_tool().
int control_tool(std::uint64_t command, std::uint64_t modifier, void* argument) noexcept;

// --- the tool itself (ompt_tool.cpp) ---

/// Whether there may be a tool. Called when the library is loaded; it calls nothing of the tool.
bool may_have_tool() noexcept;
/// Looks for a tool, once.
void start_tool() noexcept;
bool is_tool_started() noexcept;
/// Called at the end of the process, or when the tool asks for it: the tool is told of nothing from now on.
void finish_tool();

/// The slow part of note_call().
void note_call(code from, void* frame) noexcept;

}  // namespace ompt

/// Inlined, so that the place is the one from which the enclosing function was called (OMPT-1).
[[gnu::always_inline]] inline void note_call() noexcept {
  if (has_tool()) ompt::note_call(__builtin_return_address(0), __builtin_dwarf_cfa());
}
template <class Lock>
[[gnu::noinline, gnu::cold]] void tell_and_lock(ompt::mutex_kind kind, Lock& lock, ompt::code from,
                                                void* frame) noexcept {
  ompt::note_call(from, frame);
  ompt::begin_to_lock(kind, &lock);
  lock.lock();
  ompt::has_locked(kind, &lock);
}
/// Takes and gives back a lock for a program, and tells a tool.
template <class Lock>
[[gnu::always_inline]] inline void lock_told(ompt::mutex_kind kind, Lock& lock) noexcept {
  if (!has_tool()) return lock.lock();
  tell_and_lock(kind, lock, __builtin_return_address(0), __builtin_dwarf_cfa());
}
template <class Lock>
[[gnu::always_inline]] inline bool try_lock_told(ompt::mutex_kind kind, Lock& lock) noexcept {
  if (!has_tool()) return lock.try_lock();
  note_call();
  ompt::begin_to_lock(kind, &lock);
  const bool was_taken = lock.try_lock();
  ompt::has_locked(kind, &lock, was_taken);
  return was_taken;
}
template <class Lock>
[[gnu::always_inline]] inline void unlock_told(ompt::mutex_kind kind, Lock& lock) noexcept {
  lock.unlock();
  if (!has_tool()) return;
  note_call();
  ompt::has_unlocked(kind, &lock);
}
/// The same without a call, for a function that could not keep its variables across one.
[[gnu::always_inline]] inline void note_call_in_place() noexcept {
  if (!has_tool() || this_record.tool == nullptr) return;
  this_record.tool->from = __builtin_return_address(0);
  this_record.tool->frame = __builtin_dwarf_cfa();
}
/// here(), for a function that programs call.
[[gnu::always_inline]] inline part& entered() noexcept {
  note_call();
  return here();
}

}  // namespace lockstep::openmp

#endif  // LOCKSTEP_OPENMP_RUNTIME_OMPT_HPP
