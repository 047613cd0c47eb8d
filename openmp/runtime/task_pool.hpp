// SPDX-License-Identifier: MIT
// openmp/runtime/task_pool.hpp -- the explicit tasks of a region that have not ended, and which threads run them
//
// Each shared_region has a pool. Each member has a deque of the ready tasks that it made. It pushes and takes at the
// back. Other members that wait take from the front, half of the tasks at a time. A few tasks are in one list of all:
// those with a priority, and those that became ready by an event.
//
//   POOL-1  A member runs all tasks of its own deque before it arrives at a barrier. So once all have arrived, an
//           unfinished task is one of three: a task that a member has taken in the barrier and runs; a task that waits
//           for such a task; or a task that is counted itself, because it is in the list of all or detached.
//           `unfinished` counts these tasks and those members, by the parity of the barrier: no member is two barriers
//           ahead. A member leaves when it finds 0.
//   POOL-2  A thread that makes a task ready counts it in its deque, and then sets `hint`, unless that is set. A member
//           that finds no task clears the hint, and then looks at the counts once more. Fences order each look after
//           the thread's change, so not both miss the other's. A thread that changes the hint from 0 wakes the sleepers
//           (PUBLISH-3 of published_words.hpp).
//
//             makes a task ready                   finds no task
//             count.store(more)          (12)      hint.store(0)          (3)
//             fence                      (19)      fence                  (19)
//             if (hint.load() == 0)      (1)       if (count.load() != 0) (11)
//               hint.exchange(1), wake   (2)         hint.exchange(1)     (2)
//
//   POOL-3  When a task begins, its member notes where its deque ends. All tasks above that place descend from the
//           task, because the member pushed them since. So a member that waits within a task may take those (OpenMP's
//           task scheduling constraint). From others it takes only children of the task, or tasks of its taskgroup.
//   POOL-4  A family outlives its parent, which may end before its children. The last of parent and children frees the
//           memory.
//   POOL-5  Children, and tasks of a group, are counted in two words. Only the thread of the parent (or of the group's
//           maker) changes `balance`; all other threads change `others`. All tasks have ended when the sum is 0, which
//           only that thread can see. When the parent ends, it adds its balance to `others`, and a bit that tells so.
//   POOL-6  A member may report the end of tasks that others made later, for several together. It reports before it
//           runs a task of another family or group, waits, or returns to the program. Until then the task that it runs
//           is unfinished itself, so no thread waits for ever.
//   POOL-7  The end of a taskgroup frees the group once it has seen that all tasks have ended. So a thread that reports
//           an end touches the group, or a family, for the last time when it changes `others`. The maker's data in the
//           pool outlives both.
//   POOL-8  Members that wait for tasks never wait for each other. Proof: of such members, take the one whose running
//           task began last. The task that it waits for was made later still. So the member that has it in its deque
//           could take it (POOL-3).
//   POOL-9  A member that makes tasks measures what each costs it, from one to the next: to push it, or to run it at
//           once because its deque is full. If pushing costs more, other members that come for its tasks only slow it
//           down: the tasks are tiny, or cache lines travel slowly. Then its deque is marked (is_dear). A member in a
//           barrier takes only a few of these tasks at a time, and stays away for four times as long as it has taken, 1
//           to 20 us: so the deque stays full. This does not hold in a crowd, nor if a task takes more than 2 us.
//
// States of a task that is in the pool
//   blocked   blockers != 0; in no list                 -> ready, when the last of those that it depends on has ended
//   ready     in a deque or in the list of all, or kept by the member that ended the last of those -> running
//   running   in no list                                -> detached or ended
//   detached  its function has returned, its event is not fulfilled; in the list of those -> ended
//   dropped   ended, but its event may still be fulfilled: only its memory is kept
//
// Cost   a task that is run at once: no read-modify-write, no memory. One that goes through a deque: 4 read-modify-writes of
//        its lock and 2 of the thieves', 2 lines of the task that both threads touch; with depend() 4 more, none of them of
//        a word that all share.
//
// Memory order (# marks the line)
//   #  access              order    pairs  why it suffices
//   1  hint.load           relaxed  -      a hint to look; in a push the fence orders it (POOL-2)
//   2  hint.exchange       relaxed  -      the fence before it orders it (POOL-2)
//   3  hint.store          relaxed  -      the fence behind it orders it (POOL-2)
//   4  unfinished.load     acquire  5      the member that finds 0 sees what the tasks did
//   5  unfinished.fetch_sub  release  4    after the ends that it stands for; later changes continue its release sequence
//   6  others.load         acquire  7, 22  a thread that finds that all have ended sees what they did
//   7  others.fetch        acq_rel  6, 7   ends, and the closing: the last one frees what the others have used
//   8  holds.fetch_sub     acq_rel  8      likewise
//   9  tells_end.store     release  10     what the task did is seen by the thread that waits for it
//  10  tells_end.load      acquire  9      the other half
//  11  count.load          relaxed  -      a guess whether the lock is worth it; or under the lock
//  12  count.store         release  20     a member that takes a task has counted itself as unfinished before (POOL-1)
//  13  listed.load         relaxed  -      a guess, or a wait's: the lock of the list orders what is found
//  14  listed.fetch        relaxed  -      under the lock of the list; wakes follow with their fences
//  15  members.load        acquire  16     what a member has is complete
//  16  members.store       release  15     the other half
//  17  others.fetch_add    relaxed  -      counts a task in; its end comes later through the lock of a deque
//  18  unfinished.fetch_add  relaxed  -    before the lock under which a task is taken, or listed
//  19  thread_fence        seq_cst  19     the picture of POOL-2
//  20  count.load          acquire  12     a member whose deque is empty sees in the barrier that its tasks are unfinished
//  21  count.store         relaxed  -      nobody else is there
//  22  others.fetch_sub    release  6      of a group: only its maker frees it
//  23  had_some.load       relaxed  -      the end of the region orders it
//  24  had_some.store      relaxed  -      as 23
#ifndef LOCKSTEP_OPENMP_RUNTIME_TASK_POOL_HPP
#define LOCKSTEP_OPENMP_RUNTIME_TASK_POOL_HPP

#include <chrono>
#include <cstddef>
#include <cstdint>

#include <lockstep/detail/platform/atomic.hpp>
#include <lockstep/detail/platform/cache_line.hpp>
#include <lockstep/detail/region/member_state.hpp>
#include <lockstep/detail/wait/waiters.hpp>
#include "wait/published_words.hpp"
#include "wait/wait_engine.hpp"

#include "abi.hpp"
#include "task.hpp"

namespace lockstep::openmp {

struct part;
struct explicit_task;
struct member_tasks;
namespace ompt {
struct task_info;
}

enum class dependence_kind : std::uint8_t { in, out, inoutset };

struct dependence {
  void* address;
  dependence_kind kind;
  bool is_mutual = false;  ///< mutexinoutset, for tools (DEPEND-3)

  bool is_all_memory() const noexcept {  // DEPEND-4 of task_dependences.hpp
    return address == nullptr && kind == dependence_kind::out;
  }
};

/// What depend() names. Each entry is read from the array that a compiler has written.
struct dependence_list {
  std::size_t count = 0;
  const void* written = nullptr;
  dependence (*read)(const void* written, std::size_t index) noexcept = nullptr;

  dependence at(std::size_t index) const noexcept { return read(written, index); }
};

struct dependence_use;   ///< of task_dependences.hpp
struct dependence_edge;  ///< likewise
struct edge_block;       ///< likewise
class dependence_table;  ///< likewise
class task_pool;
struct kept_memory;

/// The links of a task in a list.
struct task_link {
  explicit_task* next;
  explicit_task* previous;
};

/// Those with the highest priority first.
struct task_list {
  explicit_task* first = nullptr;
  explicit_task* last = nullptr;
};

/// A count of tasks that have not ended (POOL-5).
struct task_count {
  std::int64_t balance = 0;
  detail::atomic<std::int64_t> others{0};
  static constexpr std::int64_t closed = std::int64_t{1}
                                         << 62;  ///< in `others`: the balance was added

  /// For the thread that has the balance. Acquire: if it is false, what the ended tasks did is seen.
  bool has_unfinished() const noexcept {
    return balance + others.load(detail::memory_order_acquire) != 0;  // 6
  }
};

/// The explicit tasks that a task has made and that have not ended.
struct task_family : task_count {
  bool is_closed = false;  ///< the parent's function has returned; only its thread uses this
  task_pool* pool = nullptr;
  explicit_task* parent = nullptr;  ///< the family lies in its memory; null: it was allocated alone
  /// Made when a child names some; only the parent's thread uses it.
  dependence_table* dependences = nullptr;
};

/// The tasks of a taskgroup that have not ended.
struct task_group : task_count {
  task_group* outer = nullptr;
  /// The data of the member that waits at its end; null: none waits.
  member_tasks* maker = nullptr;
  detail::atomic<bool> is_cancelled{false};
  bool is_of_construct =
      false;  ///< made for the reductions of a loop or a region, and no taskgroup of the program
  bool describes_copies = false;         ///< of `reductions`: by LLVM's front
  std::uintptr_t* reductions = nullptr;  ///< registered with it (task_groups.cpp)
  kept_memory* kept = nullptr;           ///< their memory, if the construct's members share it
};

/// Tasks of a taskloop that have no memory yet: one member runs them in turn, others take half of what is left.
struct task_range {
  /// The tasks that no thread has taken; under the lock of the member's deque.
  std::uint64_t begin, end;
  task_range* outer = nullptr;   ///< the range that the member had begun before
  const task* around = nullptr;  ///< the task in which the member runs them
  // The family that the tasks belong to.
  task_family* siblings = nullptr;
  task_group* group = nullptr;
  member_tasks* maker = nullptr;
  std::uint32_t parity = 0;
  /// Makes a task on `self` that runs the tasks begin to end - 1 of `of`.
  explicit_task& (*make_part)(part& self, const task_range& of, std::uint64_t begin,
                              std::uint64_t end) noexcept = nullptr;
};

/// The ready tasks of a member. Any thread uses it, under the lock. A member that takes tasks of another's deque holds
/// `thieves` first: so at the lock a maker of tasks meets one other member, however many wait for tasks.
struct task_deque {
  detail::short_lock lock;
  detail::atomic<std::uint32_t> count{0};  ///< tasks, and ranges that have some
  std::uint32_t room = 0;                  ///< of the ring: a power of 2
  explicit_task** ring = nullptr;
  std::uint64_t front = 0, back = 0;  ///< positions; only the member changes `back`
  task_range* ranges = nullptr;       ///< that the member runs, the innermost first
  bool is_dear = false;               ///< its tasks are better left to the member: POOL-9
  detail::line_gap before_thieves;
  detail::short_lock thieves;  ///< on a line that the member itself never touches
};

/// What a new task costs the member that makes it, in ticks (POOL-9). The member pushes tasks in a row, then runs some
/// in a row.
struct task_pace {
  /// How many more tasks are run at once while the deque is at least half full, because it was full.
  unsigned at_once = 0;
  unsigned row = 0;  ///< how many were pushed in this row
  bool runs = false;
  std::uint64_t since = 0;                     ///< the begin of the row; 0: not measured
  std::uint64_t run = 0, push = 0;             ///< the cost of a task when last measured
  std::uint64_t pushed = 0, pushing_took = 0;  ///< in rows since then, because one row may be short

  /// Pushing costs clearly more. If both cost about the same, others had better take their share.
  bool is_dear() const noexcept { return run + run / 4 < push; }
  /// Begins the next row.
  void begin(bool is_full) noexcept;
  /// The member does something else, so the time of the row has no meaning.
  void forget() noexcept { since = 0; }
};

/// What a member has in the pool.
struct member_tasks {
  task_deque ready;
  detail::line_gap before_news;
  detail::sleeper_mark news;  ///< the member sleeps here while it waits for certain tasks
  detail::line_gap after_news;
  task_pool* pool = nullptr;
  detail::member_state* at = nullptr;  ///< the member in its region; null: it is alone
  // The member's own.
  void* free_blocks = nullptr;
  unsigned free_count = 0;
  unsigned rank = 0;
  task_pace pace;
  bool has_enough = false;  ///< in a barrier: it has taken tasks of a deque that is marked (POOL-9)
  // What it has not reported yet (POOL-6).
  task_family* family = nullptr;
  member_tasks* family_maker = nullptr;
  std::int64_t family_ends = 0;
  task_group* group = nullptr;
  std::int64_t group_ends = 0;
  member_tasks* next = nullptr;  ///< of another member
};

/// What few tasks have. Together with the control variables it fills the first lines of a task, so that in most tasks
/// no thread reads or writes these lines.
struct rare_task_data {
  union {
    task_family children;  ///< `family` points here
  };
  union {
    task_link in_list;
    task* interrupted;  ///< the task that its thread ran before begin_within()
  };
  detail::atomic<bool>*
      tells_end;  ///< if is_awaited: set to true at its end, because a thread waits for just this task
  int priority;  ///< if has_priority

  rare_task_data() noexcept {}
  ~rare_task_data() {}
};

/// Its uses follow it in memory, and then its argument. A small task has two lines that threads touch.
struct explicit_task : rare_task_data, task {
  std::uint8_t parity;
  detail::atomic<std::uint8_t> holds{0};
  outlined_function function;
  void* argument;
  task_family* siblings;  ///< the family that it belongs to
  member_tasks* maker;    ///< the data of the member that runs its parent
  // The fields below are for tasks with depend(): see task_dependences.hpp.
  detail::atomic<std::uintptr_t> successors{0};
  edge_block* more_edges;
  dependence_use* uses;  ///< if use_count != 0
  detail::atomic<std::uint32_t> blockers{0};
  std::uint32_t use_count;  ///< the addresses that it named in depend()
  /// How often the table of dependences names it; only the parent's thread uses it.
  std::uint32_t named;
  // Written by its maker, before others know the task.
  bool is_small : 1;     ///< its memory is a block of the pool
  bool runs_always : 1;  ///< even if it is cancelled, because only its own code destroys its copies
  bool
      is_wait : 1;  ///< no task, but a thread that waits for the tasks that such a task would depend on
  bool is_awaited : 1;
  bool has_priority : 1;
  bool has_event : 1;  ///< detach
  bool : 0;
  // Under the pool's lock.
  bool is_fulfilled : 1;
  bool is_over : 1;     ///< its function has returned
  bool is_dropped : 1;  ///< it has ended, but its event may still be fulfilled
  bool : 0;
  bool
      has_orphans;  ///< children were unfinished when its function returned; `holds` counts them and the task
};
static_assert(sizeof(explicit_task) == 240, "16 bytes of an argument are on its second line");

/// What a tool knows of it. Requires: has_tool().
ompt::task_info& info_of(explicit_task& one) noexcept;

/// Requires: `align` is a power of 2. No division: each new task needs it.
constexpr std::uintptr_t round_up(std::uintptr_t size, std::size_t align) noexcept {
  return (size + align - 1) & ~(align - 1);
}

/// Memory that members share in a construct.
struct kept_memory {
  kept_memory* next;
  void* start;
  unsigned users;
};

class task_pool {
 public:
  task_pool() noexcept = default;
  task_pool(const task_pool&) = delete;
  task_pool& operator=(const task_pool&) = delete;
  /// Requires: all tasks have ended.
  ~task_pool();

  /// Whether a task may be ready to be taken. Any thread, at any time.
  bool has_ready() const noexcept { return hint_.load(detail::memory_order_relaxed) != 0; }  // 1
  /// Runs the tasks of the member's own deque. Before it arrives at a barrier or ends its part (POOL-1).
  void run_own(part& self) noexcept;
  /// Runs tasks of all until none is ready. By a member that waits at a barrier.
  void run_ready(part& self) noexcept;
  /// For when all have arrived: whether tasks of this parity have not ended. Acquire: if it is false, what the ended
  /// tasks did is seen.
  bool has_unfinished(std::uint32_t parity) const noexcept {
    return unfinished_[parity & 1].load(detail::memory_order_acquire) != 0;  // 4
  }
  /// Runs ready tasks, and waits, until no task of this parity is unfinished.
  void finish(part& self, std::uint32_t parity) noexcept;
  /// Called after the end of a cancelled region, by its caller: drops tasks that have not begun.
  void discard(part& self) noexcept;

  /// Whether the maker of a new task should run it at once, because enough others are ready. Requires: members > 1.
  bool is_full(part& self) noexcept;

  /// Makes a task, with room for an argument and for the addresses that it depends on. add() sets its links to other
  /// tasks.
  explicit_task& make(part& self, const task& parent, std::size_t size, std::size_t align,
                      std::size_t uses) noexcept;
  /// Makes uses for a task that was made without room for them. `end`: the end of its argument.
  void make_uses(explicit_task& one, const void* end, std::size_t count) noexcept;
  /// Counts a task, and makes it ready if it depends on nothing unfinished. `runs_now`: the caller runs it if it is
  /// ready. Then the result is true.
  bool add(part& self, task& parent, explicit_task& one, const dependence_list& named,
           bool runs_now) noexcept;
  /// Runs a task for which add() has returned true.
  void run_now(part& self, explicit_task& one) noexcept;

  /// Called around the function of a task that the running task calls: the task was made, but not added. Its end waits
  /// for its event, and meanwhile for all its other children. Then it frees the memory.
  void begin_within(part& self, explicit_task& one) noexcept;
  void end_within(part& self, explicit_task& one) noexcept;
  /// Frees a task that is dropped.
  void drop(part& self, explicit_task& one) noexcept { give_back(&self, one); }

  /// From now on other members may take the tasks of a range, until take_from() returns false, or close_range().
  void open_range(part& self, task_range& of) noexcept;
  /// The next tasks for the member itself; false if there are none.
  bool take_from(part& self, task_range& of, std::uint64_t& begin, std::uint64_t& end) noexcept;
  void close_range(part& self, task_range& of) noexcept;

  /// taskwait: until all children of the task that `self` runs have ended. Runs those that are ready.
  void wait_for_children(part& self, task_family& of) noexcept;
  /// taskyield: runs a task that may be run here, if one is ready.
  void yield(part& self) noexcept;
  /// taskwait with depend; a task that is run at once, with depend.
  void wait_for_dependences(part& self, task_family& of, const dependence_list& named,
                            ompt::task_info* told) noexcept;
  /// Waits until `ended` is true, which explicit_task::tells_end points to. Meanwhile runs children.
  void wait_for_end(part& self, task_family& of, const detail::atomic<bool>& ended) noexcept;
  /// The end of a taskgroup.
  void wait_for_group(part& self, task_group& of) noexcept;
  /// The function of the task that has this family has returned. Called by the task's thread.
  void close(part& self, task_family& of) noexcept;
  /// Neither the table of dependences nor the thread that ended the task needs it any more. Frees it, unless children
  /// hold it.
  void let_go(part* self, explicit_task& one) noexcept;

  /// omp_fulfill_event().
  static void fulfil(explicit_task& one) noexcept;

  /// Keeps memory that belongs to a construct of the region. It is freed when all members that joined have left, or
  /// with the region.
  kept_memory* keep(void* start) noexcept;
  void join(kept_memory& of) noexcept;
  /// The last member to leave frees it, unless `is_cancelled`. Then others may still come, and the end of the region
  /// frees it.
  void leave(kept_memory& of, bool is_cancelled) noexcept;
  /// Frees it at once. Called by the last member that uses it.
  void free(kept_memory& of) noexcept;

  /// After a region: whether it has made tasks.
  bool take_had_some() noexcept {
    const bool had_some = had_some_.load(detail::memory_order_relaxed);  // 23
    if (had_some) had_some_.store(false, detail::memory_order_relaxed);  // 24
    return had_some;
  }

  member_tasks& tasks_of(part& self) noexcept;
  task_family& family_of(task& parent) noexcept;

 private:
  // Measured with 2 threads on 2 CPUs and 100 000 tasks of 0 or 100 turns of an empty loop, made by one member. A
  // member that alone makes tasks must keep the others busy while it runs one itself. Tasks below other tasks are made
  // by many members, so a few in reserve are enough.
  static constexpr unsigned most_ready = 64;
  static constexpr unsigned most_ready_deep = 4;
  static constexpr unsigned deep = 2;
  static constexpr unsigned at_once_when_full = 15;
  friend struct task_pace;
  static constexpr std::uint32_t first_room = 128;  ///< of a deque
  static constexpr unsigned most_taken = 32;        ///< from another's deque at a time
  static constexpr unsigned most_taken_dear = 2;
  static constexpr unsigned most_taken_of_own = 16;  ///< of a range, at a time
  // The time between two looks for tasks of others, for a member that waits within a task.
  static constexpr std::chrono::nanoseconds first_pause{8000};
  static constexpr std::chrono::nanoseconds longest_pause{1000000};
  // Nanoseconds.
  static constexpr std::uint64_t small_task = 2000;
  static constexpr std::uint64_t gathering = 1000, longest_gathering = 20000;
  static constexpr std::size_t block_size =
      576;  ///< an odd number of lines, so that blocks fall into different sets of the cache
  static constexpr unsigned blocks_at_once = 16;  ///< move between a member's own and the pool's

  struct finish_wait;
  struct any_task;
  struct task_below;
  template <class Done>
  struct news_wait;

  template <class Done>
  void help(part& self, const task_family* of, const task_group* group, const Done& done) noexcept;
  void push(part& self, explicit_task* const* first, std::uint32_t count) noexcept;
  void push(part& self, explicit_task& one) noexcept {
    explicit_task* const first = &one;
    push(self, &first, 1);
  }
  explicit_task& split(part& self, task_range& of) noexcept;
  void grow(task_deque& of) noexcept;
  explicit_task* pop(part& self) noexcept;
  template <class Allowed>
  explicit_task* take_listed(const Allowed& allowed) noexcept;
  template <class Allowed>
  explicit_task* take(part& self, explicit_task* kept, const Allowed& allowed) noexcept;
  template <class Allowed>
  explicit_task* steal(part& self, const Allowed& allowed) noexcept;
  bool looks_ready() const noexcept;
  void withdraw_hint(part& self) noexcept;
  void announce(detail::member_state* at) noexcept;
  explicit_task* run(part& self, explicit_task& one) noexcept;
  void call_special(part& self, explicit_task& one) noexcept;
  bool detach(part& self, explicit_task& one) noexcept;
  explicit_task* end_function(part& self, explicit_task& one) noexcept;
  void close_family(part& self, explicit_task& one) noexcept;
  void let_some_gather(part& self, std::uint64_t start, std::uint64_t count) noexcept;
  void list_ready(explicit_task& one) noexcept;
  void unlist(explicit_task& one) noexcept;
  explicit_task* complete(part* self, explicit_task& one) noexcept;
  explicit_task* release(part* self, dependence_edge* first) noexcept;
  void count_end(part* self, explicit_task& one) noexcept;
  void report_family(member_tasks& mine) noexcept;
  void report_group(member_tasks& mine) noexcept;
  void report(member_tasks& mine) noexcept;
  void end_children(task_family& of, std::int64_t ends, member_tasks& maker) noexcept;
  void end_in_group(task_group& of, std::int64_t ends) noexcept;
  void uncount(std::uint32_t parity) noexcept;
  void give_back(part* self, explicit_task& one) noexcept;
  void drop_family(task_family& of) noexcept;
  void free_family(task_family& of) noexcept;
  void free_kept(kept_memory* of) noexcept;
  void* allocate(member_tasks& mine) noexcept;
  bool is_cancelled(const part& self, const explicit_task& one) const noexcept;
  member_tasks* first_member() const noexcept {
    return members_.load(detail::memory_order_acquire);  // 15
  }

  detail::line_gap before_;
  detail::atomic<std::uint32_t> hint_{0};           ///< 1: a task may be ready
  detail::atomic<member_tasks*> members_{nullptr};  ///< the last to come is the first
  detail::atomic<std::uint64_t> listed_{
      0};  ///< tasks in listed_tasks_; from bit 32 on: how many ever came
  detail::atomic<bool> had_some_{false};  ///< the region that runs has made tasks
  detail::line_gap behind_hint_;
  detail::atomic<std::uint32_t> unfinished_[2]{};
  detail::sleeper_mark finishers_;  ///< members in finish() sleep here
  detail::line_gap between_;
  detail::short_lock lock_;  ///< guards what follows
  task_list listed_tasks_;
  task_list detached_;
  void* free_blocks_ = nullptr;
  kept_memory* kept_ = nullptr;
  detail::line_gap after_;
};

/// Called at the end of a task that is not in a pool (an implicit one, or one that was run at once), if it has a
/// family.
void end_family(part& self, task& of) noexcept;

}  // namespace lockstep::openmp

#endif  // LOCKSTEP_OPENMP_RUNTIME_TASK_POOL_HPP
