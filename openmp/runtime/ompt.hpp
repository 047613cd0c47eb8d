// SPDX-License-Identifier: MIT
// openmp/runtime/ompt.hpp -- what tools are told: the tools interface of OpenMP 5.2 (OMPT), for programs of all compilers
//
// Whether the process may have a tool is known when the library is loaded, and stays so: has_tool() is a look at a byte of
// the settings that nobody writes. What follows it is out of line: a program without a tool pays for the look alone. The
// tool itself starts with the first thread that calls us (ompt_start.cpp).
//
//   OMPT-1  Functions that programs call begin with entered() or note_call(): events name the place in the program, and the
//           stack frame, of the call that they come from. A construct that runs code of the program keeps both
//           (call_scope), since calls inside replace them.
//   OMPT-2  What a tool knows of a task (task_info) lies beside the task: an implicit one's on the stack of its member, an
//           explicit one's in front of it (info_of), so that tasks are as large as without a tool. Nobody reads part::tool
//           and those bytes where has_tool() is false.
//   OMPT-3  Members of a region report their end while they still are in it. The wait of member 0 ends when all have come;
//           those of the others have no length.
//   OMPT-4  Constructs whose end a compiler does not call (single, with GCC) end with the member's next construct, barrier,
//           or part.
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
  unsigned rank = 0;  ///< of the thread that runs it, in its region
  region_info* region = nullptr;
  task_info* around =
      nullptr;  ///< that its thread has left for it; of an implicit one: that encountered the region
  bool is_running = false;  ///< an explicit one
  bool has_chunk = false;

  // By the thread that makes it.
  alignas(64) void* memory = nullptr;  ///< of an explicit task: its data
  std::size_t memory_size = 0;
  dispatch_chunk chunk{};  ///< of a taskloop's task: its iterations
  // By the thread that runs it, in a construct or while it runs another one.
  work_kind open = work_kind::none;  ///< the worksharing construct that an implicit task is in
  std::uint64_t open_count = 0;
  state state_left = state::overhead;  ///< of its thread, when that left it for another task
  void* enter_left = nullptr;          ///< its frame, then
};
static_assert(sizeof(task_info) == 128, "two lines");

/// Of a region, for as long as its members run.
struct region_info {
  data own{};
  unsigned size = 1;
  int flags = 0;
  code from = nullptr;
  task_info* encountering = nullptr;  ///< null: the implicit region around an initial task
  task_info primary;                  ///< of member 0
};

/// Of a thread.
struct thread_info {
  data own{};
  state now = state::overhead;
  wait_id waits_for = 0;
  code from = nullptr;  ///< OMPT-1
  void* frame = nullptr;
  bool yields = false;          ///< it leaves its task because of taskyield
  dispatch_chunk next_chunk{};  ///< of the task that it makes next, by taskloop
  region_info initial;          ///< of an initial thread
};

/// The calling thread's. Made where it has none: a thread that OpenMP does not know.
thread_info& this_thread() noexcept;

/// Where the program has called, and the task's frame, until the construct ends (OMPT-1).
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

/// A state of the thread, until the scope ends.
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

/// A sync region: the thread waits in it. `has_begun`: only its wait begins, by begin_sync() it has begun itself.
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
/// What was kept of it. After end_initial_thread(), when the thread ends; of a thread that is none of OpenMP's.
void forget_this_thread() noexcept;

// --- regions ---

/// A region, or a league of teams, from its begin on the encountering thread to its end.
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

/// The part of a member begins, with `own`, which lives as long; and its function has returned, and it arrives at the
/// region's end. It has left it (member 0's does when the region_scope ends).
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
/// OMPT-4: until end_work().
void begin_work(part& self, work_kind kind, std::uint64_t count) noexcept;
void end_work(part& self) noexcept;
/// Returns `is_mine`.
bool begin_single(part& self, bool is_mine) noexcept;
/// A part of the construct's iterations, or a section, is given out.
void tell_chunk(part& self, dispatch_kind kind, std::uint64_t start,
                std::uint64_t iterations) noexcept;
void tell_section(part& self) noexcept;
void tell_masked(part& self, endpoint end) noexcept;
void tell_reduction(part& self, endpoint end) noexcept;

// --- tasks ---

/// A task was made: `own` is new.
void tell_creation(part& self, task_info& own, int flags, bool has_dependences) noexcept;
/// The addresses that it depends on.
void tell_dependences(task_info& of, const dependence* all, std::size_t count) noexcept;

/// The calling member runs it. Between the two it is its running task.
void begin_task(part& self, task_info& own) noexcept;
void end_task(part& self, task_info& own, task_status how) noexcept;
/// The running task's code is that of the function that has called us. `own`: our frame; `saved`: what is kept there of its.
void set_exit_of_program(part& self, const void* own, void* saved) noexcept;
[[gnu::always_inline]] inline void set_exit_of_program(part& self) noexcept {
  void** const own = static_cast<void**>(__builtin_frame_address(0));
  set_exit_of_program(self, own, *own);  // read here: the call may be a jump, and the frame gone
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

// --- the tool itself (ompt_start.cpp) ---

/// Whether there is something that may be one. When the library is loaded: nothing of the tool's is called.
bool may_have_tool() noexcept;
/// Looks for a tool, once.
void start_tool() noexcept;
bool is_tool_started() noexcept;
/// At the end of the process, or where the tool asks for it: it is told of nothing from now on.
void finish_tool();
/// ompt_get_...() and the like, by their names (ompt_inquiry.cpp).
function find_inquiry(const char* name);

/// For note_call().
void note_call(code from, void* frame) noexcept;

}  // namespace ompt

/// Where nobody else sees the calling function's own place: OMPT-1.
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
/// For a lock that a program takes and gives back.
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
/// The same without a call, in a function that has no place for what it would have to keep meanwhile.
[[gnu::always_inline]] inline void note_call_in_place() noexcept {
  if (!has_tool() || this_record.tool == nullptr) return;
  this_record.tool->from = __builtin_return_address(0);
  this_record.tool->frame = __builtin_dwarf_cfa();
}
/// here(), in a function that programs call.
[[gnu::always_inline]] inline part& entered() noexcept {
  note_call();
  return here();
}

}  // namespace lockstep::openmp

#endif  // LOCKSTEP_OPENMP_RUNTIME_OMPT_HPP
