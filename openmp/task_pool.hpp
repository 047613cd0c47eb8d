// SPDX-License-Identifier: MIT
// openmp/task_pool.hpp -- the explicit tasks of a region that have not ended, and who runs them
//
// One for each shared_region. A thread that makes a task puts it here; threads that wait (at a barrier, the end of a
// region, taskwait, the end of a taskgroup) run what is ready. All lists are guarded by one lock.
//
//   POOL-1  Tasks are counted by the parity of the barriers that the part which made their outermost ancestor had passed.
//           A member leaves its barrier when all members have arrived, and no task of that parity is unfinished. Tasks
//           that others make after the barrier do not hold it up: nobody is two barriers ahead.
//   POOL-2  Whoever makes a task ready changes the count of ready tasks first, and then wakes those that sleep in the
//           barrier (PUBLISH-3 of published_words.hpp). A count that was not 0 has woken them already.
//   POOL-3  A waiter for certain tasks (task_waiter) is notified under the lock, at most once, by a thread that has taken
//           it out of its place before. Afterwards only the address of its word is used: it may be gone.
//   POOL-4  A family outlives its parent: the parent may end before its children. Whoever is the last of parent and
//           children gives the memory back.
//   POOL-5  Tasks that only the maker and the barrier could wait for go to a list of the maker's own, without the lock: it
//           pushes, and whoever holds the lock and finds nothing else takes all. They are not counted there. So their
//           maker publishes them (moves them to the lists, and counts them) before it waits, arrives at a barrier or ends
//           the task that made them. It takes the lock for that even if its list is empty: whoever took the tasks may be
//           about to count them. Meanwhile the count of ready tasks says that the list is not empty.
//   POOL-6  A member that waits runs its own tied task's children (taskwait), its taskgroup's tasks (taskgroup), or anything
//           (barrier), as OpenMP's task scheduling constraint wants it.
//   POOL-7  The end of a taskgroup looks at its count without the lock, and frees the group where it is 0. So whoever ends
//           the last task of a group touches the group for the last time when it stores that 0.
//
// States of a task that is in the pool
//   fresh     in its maker's own list, not counted      -> ready
//   blocked   blockers != 0; in no list                 -> ready, when the last of those that it depends on has ended
//   ready     in the lists of pool, family, group       -> running
//   running   in no list                                -> detached or ended
//   detached  its function has returned, its event is not fulfilled; in the pool's list of those -> ended
//   dropped   ended, but its event may still be fulfilled: only its memory is kept
//
// Memory order (# marks the line)
//   #  access            order    pairs  why it suffices
//   1  ready.load        acquire  2      a hint to take the lock; acquire for the barrier's wait
//   2  ready.fetch_add   release  1      the task is in its list before
//   3  unfinished.load   acquire  4      whoever finds 0 sees what the tasks did
//   4  unfinished.store  release  3      under the lock; all earlier ends came before it through the lock
//   5  both.load         relaxed  -      under the lock, or a guess whether the pool is full
//   6  word.exchange     release  -      pairs with the waiter's acquire (word_waiter.hpp)
//   7  fresh.compare_ex  release  8      the task is complete before it can be taken
//   8  fresh.exchange    acquire  7      the other half
//   9  fresh.load        relaxed  -      the maker's guess, or a look whether 8 is worth it
#ifndef LOCKSTEP_OPENMP_TASK_POOL_HPP
#define LOCKSTEP_OPENMP_TASK_POOL_HPP

#include <cstddef>
#include <cstdint>

#include <lockstep/detail/platform/atomic.hpp>
#include <lockstep/detail/platform/cache_line.hpp>
#include <lockstep/detail/wait/published_words.hpp>
#include <lockstep/detail/wait/short_lock.hpp>
#include <lockstep/detail/wait/word_waiter.hpp>

#include "abi.hpp"
#include "task.hpp"

namespace lockstep::openmp {

struct part;
struct explicit_task;
struct dependence_use;   ///< of task_dependences.hpp
struct dependence_edge;  ///< likewise
class dependence_table;  ///< likewise
class task_pool;
struct kept_memory;

/// A thread that waits for certain tasks; on its stack.
struct task_waiter {
  detail::wait_word word{0};  ///< the sleeping bit of word_waiter.hpp, and:
  static constexpr std::uint32_t notified = 2;
};

/// Where a task is in a list.
struct task_link {
  explicit_task* next = nullptr;
  explicit_task* previous = nullptr;
};

/// Tasks, each linked by one of its links. Lists of ready tasks have the highest priority first.
struct task_list {
  explicit_task* first = nullptr;
  explicit_task* last = nullptr;
};

/// The explicit tasks that a task has made and that have not ended. Guarded by the pool's lock, but for `unfinished`,
/// which the parent may read.
struct task_family {
  task_list ready;
  detail::atomic<std::uint32_t> unfinished{0};
  bool is_orphaned = false;  ///< the parent has ended
  task_pool* pool = nullptr;
  explicit_task* parent = nullptr;  ///< in whose memory it lies; null: it was allocated alone
  task_waiter* waiter = nullptr;    ///< the parent, in taskwait
  dependence_table* dependences = nullptr;  ///< made when a child names some
};

/// The tasks of a taskgroup that have not ended. Guarded likewise, but for `unfinished` and `is_cancelled`.
struct task_group {
  task_group* outer = nullptr;
  const task* maker = nullptr;  ///< that waits at its end
  task_list ready;
  detail::atomic<std::uint32_t> unfinished{0};
  detail::atomic<bool> is_cancelled{false};
  bool is_of_construct =
      false;  ///< made for the reductions of a loop, a region ...: no taskgroup of the program
  task_waiter* waiter = nullptr;         ///< the thread at its end
  std::uintptr_t* reductions = nullptr;  ///< registered with it (task_reductions.cpp)
  kept_memory* kept = nullptr;           ///< their memory, if the construct's members share it
};

/// What a member needs to make tasks. Only its thread uses it, but for `fresh`. On lines of its own.
struct task_blocks {
  void* first = nullptr;  ///< free memory
  unsigned count = 0;     ///< of it
  unsigned rank = 0;
  unsigned at_once =
      0;  ///< so many tasks are run at once without a look at the pool, because it was full
  unsigned fresh_count = 0;  ///< in `fresh`, if nobody has taken them
  bool is_published =
      true;  ///< it has had the lock since it added to `fresh`: whoever took from there has counted them
  detail::atomic<explicit_task*> fresh{
      nullptr};                 ///< the last that it made, linked by in_pool.next (POOL-5)
  task_blocks* next = nullptr;  ///< of another member
};

struct explicit_task : task {
  outlined_function function;
  void* argument;
  task_pool* pool;
  part* home;             ///< of the member that made it; lives as long as the task is unfinished
  task_family* siblings;  ///< that it belongs to
  task_link in_pool, in_family, in_group;
  int priority;
  std::uint32_t blockers;  ///< unfinished tasks that it depends on, each as often as it does
  dependence_edge* successors;
  dependence_use* uses;  ///< the addresses that it named in depend()
  std::uint32_t use_count;
  std::uint8_t parity;
  bool is_small;     ///< its memory is a block of the pool
  bool runs_always;  ///< even if it is cancelled: it has copies that only itself destroys
  bool is_wait;      ///< no task, but a thread that waits for those that it would depend on
  bool has_event;    ///< detach
  bool is_fulfilled;
  bool is_over;     ///< its function has returned
  bool is_dropped;  ///< it has ended, but its event may be fulfilled still
  bool* tells_end;  ///< set to true at its end, where somebody waits for just this one; or null
  task_family children;  ///< `family` points here
};

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
  /// Requires: is_empty().
  ~task_pool();

  /// Whether a task is ready to be run. Any thread, at any time; acquire.
  bool has_ready() const noexcept { return ready_.load(detail::memory_order_acquire) != 0; }  // 1
  /// Runs tasks of the pool until none is ready. By a member that waits at a barrier.
  void run_ready(part& self) noexcept;
  /// Whether tasks of this parity have not ended. Acquire: what ended tasks did is seen where it is false.
  bool has_unfinished(std::uint32_t parity) const noexcept {
    return unfinished_[parity & 1].load(detail::memory_order_acquire) != 0;  // 3
  }
  bool is_empty() const noexcept { return !has_unfinished(0) && !has_unfinished(1); }
  /// Runs ready tasks, and waits, until no task of this parity is unfinished.
  void finish(part& self, std::uint32_t parity) noexcept;
  /// After the end of a cancelled region, by its caller: drops what has not begun.
  void discard(part& self) noexcept;

  /// Whether a new task had better be run at once, by who makes it: enough others are unfinished. Requires: members > 1.
  bool is_full(part& self) const noexcept;

  /// Memory for a task, with room for an argument and for addresses that it depends on. Its links to others are set
  /// by add().
  explicit_task& make(part& self, task& parent, std::size_t size, std::size_t align,
                      std::size_t uses) noexcept;
  /// Counts a task that was made, and lists it as ready where it depends on nothing unfinished. `depend`: an array as
  /// compilers make it, or null. `runs_now`: the caller runs it if it is ready; true if so.
  bool add(part& self, task& parent, explicit_task& one, void** depend, bool runs_now) noexcept;
  /// Runs a task for which add() has returned true.
  void run_now(part& self, explicit_task& one) noexcept;

  /// Before the member waits for tasks, arrives at a barrier, or ends its part (POOL-5).
  void publish(part& self) noexcept;
  /// The same, and taskwait: until all children of the task that `self` runs have ended. Runs those that are ready.
  void wait_for_children(part& self, task_family& of) noexcept;
  /// taskyield: runs one child, if one is ready.
  void yield(part& self, task_family& of) noexcept;
  /// taskwait with depend; a task that is run at once, with depend.
  void wait_for_dependences(part& self, task_family& of, void** depend) noexcept;
  /// Until *ended is true, which explicit_task::tells_end points to. Runs children meanwhile.
  void wait_for_end(part& self, task_family& of, const bool& ended) noexcept;
  /// The end of a taskgroup.
  void wait_for_group(part& self, task_group& of) noexcept;
  /// The parent has ended.
  void orphan(task_family& of) noexcept;

  /// omp_fulfill_event().
  static void fulfil(explicit_task& one) noexcept;

  /// For memory that belongs to a construct of the region, and is freed when all that joined have left, or with the
  /// region.
  kept_memory* keep(void* start) noexcept;
  void join(kept_memory& of) noexcept;
  /// The last one frees it, unless `is_cancelled`: then others may come still, and the end of the region frees it.
  void leave(kept_memory& of, bool is_cancelled) noexcept;

 private:
  // Tried with 2 threads on 2 CPUs, 100 000 tasks of 0 and 100 turns of an empty loop, by one member. A member alone that makes tasks must keep the others busy while it runs one itself; tasks that are made
  // below others are made by many, and a few of them in reserve will do.
  static constexpr unsigned most_per_member = 64;
  static constexpr unsigned most_deep_per_member = 4;
  static constexpr unsigned deep = 2;
  static constexpr unsigned at_once_when_full = 15;
  // Nanoseconds.
  static constexpr std::uint64_t small_task = 500;
  static constexpr std::uint64_t gathering = 1000;
  static constexpr std::size_t block_size = 512;
  static constexpr unsigned blocks_at_once = 16;  ///< between a member's own and the pool's

  /// What is to be done after the lock was freed.
  struct wakes {
    static constexpr unsigned most = 4;

    const detail::wait_word* sleepers[most];
    unsigned count = 0;
    bool barrier = false;
    bool finishers = false;
  };
  struct finish_wait;
  static constexpr std::uint64_t fresh_list = std::uint64_t{1} << 32;

  template <class Pick, class Done>
  void help(part& self, task_waiter*& place, const Pick& pick, const Done& done) noexcept;
  void perform(part& self, explicit_task& one) noexcept;
  void run_taken(part& self, explicit_task& one, wakes& after) noexcept;
  void wake(part* self, wakes& them) noexcept;
  void notify(task_waiter*& place, wakes& them) noexcept;
  void let_some_gather(part& self, std::uint64_t start, std::uint64_t count) noexcept;
  void add_fresh(part& self, explicit_task& one) noexcept;
  void take_fresh(task_blocks& of, wakes& them) noexcept;
  void take_own(part& self, wakes& them) noexcept;
  explicit_task* first_ready(wakes& them) noexcept;
  void make_ready(explicit_task& one, wakes& them) noexcept;
  void take(explicit_task& one) noexcept;
  void end_of_function(part* self, explicit_task& one, wakes& them) noexcept;
  void complete(part* self, explicit_task& one, wakes& them) noexcept;
  void count(int change, const explicit_task& one) noexcept;
  void give_back(part* self, explicit_task& one) noexcept;
  task_family& family_of(task& parent) noexcept;
  void drop_family(part* self, task_family& of) noexcept;
  void free_kept(kept_memory* of) noexcept;
  task_blocks& blocks_of(part& self) noexcept;
  void* allocate(part& self) noexcept;
  bool is_cancelled(const part& self, const explicit_task& one) const noexcept;

  detail::line_gap before_;
  detail::atomic<std::uint64_t> ready_{
      0};  ///< how many are ready; and fresh_list for each list of fresh ones
  detail::atomic<std::uint32_t> unfinished_[2]{};
  detail::sleeper_mark finishers_;  ///< those in finish()
  detail::line_gap between_;
  detail::short_lock lock_;
  task_list all_ready_;
  task_list detached_;
  void* free_blocks_ = nullptr;
  task_blocks* blocks_of_members_ = nullptr;
  kept_memory* kept_ = nullptr;
  detail::line_gap after_;
};

/// At the end of a task that is not in a pool (an implicit one, one that was run at once), where it has a family.
void end_family(task& of) noexcept;

}  // namespace lockstep::openmp

#endif  // LOCKSTEP_OPENMP_TASK_POOL_HPP
