// SPDX-License-Identifier: MIT
// openmp/runtime/task_dependences.hpp -- depend(): which children of a task have to wait for which
//
// A family with such children has a table of the addresses that unfinished children have named. Each address has the
// tasks of its current generation, which may run together: one task that writes, or several of one kind that only read
// (in) or declare that they may run together (inoutset). It also has the tasks of the generation before, for which all
// tasks of the current generation wait.
//
//   DEPEND-1  A task that writes, or is of another kind than the current generation, waits for all of that generation
//             and begins the next.
//   DEPEND-2  If a generation has no unfinished task, neither has the one before, because each task has waited for all
//             of those. So an address without a current generation is forgotten.
//   DEPEND-3  mutexinoutset is treated as inout. The order in which such tasks run is not specified, so the order in
//             which they were made will do.
//   DEPEND-4  A null address that is written is omp_all_memory: such a task waits for all that have named anything, and
//             all that name something later wait for it.
//
// Only the thread of the parent uses the table, so it has no lock. A thread that ends a task does not touch the table,
// but takes the list of the task's successors. So the table also names tasks that have ended, whose memory stays. It
// forgets them when it meets them, and now and then it looks at all (forget_ended()).
//
//   DEPEND-5  The thread of the parent adds a successor to a task unless the task has ended. The thread that ends a
//             task takes all successors and sets `ended` in one step, and then unblocks each of them. A successor runs
//             when it has been unblocked as often as it was added, and the thread of the parent has added it
//             everywhere: `blockers` begins with a large number, and that thread subtracts the difference at the end.
//   DEPEND-6  The table's last look at a task, and the task's end: whichever comes later frees the memory.
//
// explicit_task::successors
//   bits     name       meaning                                  set by
//   63..2               the first edge, or null                  the thread of the parent, until `ended`
//   1        ended      the task has ended; no edge is added     the thread that ends it
//   0        forgotten  the table does not name the task         the thread of the parent
//
// Memory order (# marks the line)
//   #  access                   order    pairs  why it suffices
//   1  successors.load          acquire  3      what an ended task did happens before those that do not wait for it
//   2  successors.compare_exch  release  3      the thread that ends it sees the edge, and the table's last look (DEPEND-6)
//   3  successors.exchange      acq_rel  1, 2, 4  takes what 2 made; the table frees what the end has used
//   4  successors.fetch_or      acq_rel  3      either finds the other (DEPEND-6)
//   5  successors               relaxed  -      before others know the task, or when all that knew it have done with it
//   6  blockers.store           relaxed  -      published by 2
//   7  blockers.fetch_sub       acquire  8      the last of all sees what the predecessors did; 2 published the task
//   8  blockers.fetch_sub       acq_rel  7, 8, 9  likewise
//   9  blockers.load            acquire  8      1: no other thread is left that unblocks
#ifndef LOCKSTEP_OPENMP_RUNTIME_TASK_DEPENDENCES_HPP
#define LOCKSTEP_OPENMP_RUNTIME_TASK_DEPENDENCES_HPP

#include <cstddef>
#include <cstdint>

#include "task_pool.hpp"

namespace lockstep::openmp {

struct dependence_entry;

/// A task waits for the one that has this edge in its list.
struct dependence_edge {
  explicit_task* successor;
  dependence_edge* next;
};

/// One address of one task. It lies in the task's memory.
struct dependence_use {
  dependence_edge edge;     ///< to the first task that the task waits for because of this address
  dependence_entry* entry;  ///< null: it is in no generation (any more)
  dependence_use* next;     ///< the next use in the generation
  dependence_use** at;      ///< what points here
};

/// Further edges of a successor, or its uses, if they are made after the task. Freed with it.
struct edge_block {
  edge_block* next;
  std::size_t used;
  dependence_edge edges[7];
};
void free_edges(explicit_task& of) noexcept;
/// Makes room for `count` uses, after the last block is full.
dependence_use* allocate_uses(explicit_task& of, std::size_t count) noexcept;

class dependence_table {
 public:
  explicit dependence_table(task_pool& pool) noexcept : pool_(pool) {}
  dependence_table(const dependence_table&) = delete;
  dependence_table& operator=(const dependence_table&) = delete;
  /// Requires: forget_all() was called.
  ~dependence_table();

  /// Makes `one` wait for the tasks that it depends on, and later tasks for it. True if it need not wait. Requires: it
  /// has room for as many uses.
  bool add(part& self, explicit_task& one, const dependence_list& named) noexcept;
  /// The same for a wait, for which no task waits.
  bool add_wait(part& self, explicit_task& wait, const dependence_list& named) noexcept;
  /// `one` has ended on the thread of the parent. Returns its edges.
  dependence_edge* remove(explicit_task& one) noexcept;
  /// Called before the table ends.
  void forget_all(part& self) noexcept;

  // For another thread that ends a task. edges_of() and is_forgotten() decode the word.
  static std::uintptr_t end(explicit_task& one) noexcept {
    return one.successors.exchange(ended, detail::memory_order_acq_rel);  // 3
  }
  static dependence_edge* edges_of(std::uintptr_t word) noexcept {
    return reinterpret_cast<dependence_edge*>(word & ~(ended | forgotten));
  }
  static bool is_forgotten(std::uintptr_t word) noexcept { return (word & forgotten) != 0; }
  /// Called for each edge. True if the successor waits for nothing any more.
  static bool unblock(explicit_task& successor) noexcept {
    return successor.blockers.load(detail::memory_order_acquire) == 1 ||        // 9
           successor.blockers.fetch_sub(1, detail::memory_order_acq_rel) == 1;  // 8
  }

 private:
  static constexpr std::uintptr_t forgotten = 1, ended = 2;
  static constexpr std::uint32_t being_added = std::uint32_t{1} << 31;  ///< in `blockers`
  static constexpr unsigned first_bits = 6;
  static constexpr std::size_t fewest_kept = 64;  ///< below this, forget_ended() does nothing

  /// A task that is being added.
  struct newcomer {
    part& self;
    explicit_task& one;
    dependence_edge* edge;  ///< a free one, or null
    std::uint32_t edges;    ///< that were added

    newcomer(part& by, explicit_task& task) noexcept;
    dependence_edge& take_edge() noexcept;
    /// True if the task need not wait.
    bool finish() noexcept;
  };

  bool wait_for(newcomer& by, explicit_task& predecessor, bool forgets) noexcept;
  void wait_for_all(newcomer& by, dependence_use* generation, bool forgets) noexcept;
  void name(newcomer& by, dependence_use* use, void* address, dependence_kind kind) noexcept;
  void name_all_memory(newcomer& by, bool is_task) noexcept;
  void forget(part& self, explicit_task& one) noexcept;
  void forget_generation(part& self, dependence_use* generation, bool only_ended = false) noexcept;
  void forget_ended(part& self) noexcept;
  dependence_entry** place_of(const void* address) noexcept;
  void unlink(dependence_use& use) noexcept;
  void remove(dependence_entry** place) noexcept;
  void grow() noexcept;

  task_pool& pool_;
  dependence_entry** buckets_ = nullptr;
  std::size_t bits_ = 0;
  std::size_t entries_ = 0;
  std::size_t uses_ = 0;                 ///< in all generations
  std::size_t most_kept_ = fewest_kept;  ///< entries and uses, before forget_ended() looks
  dependence_entry* free_entries_ = nullptr;
  explicit_task* all_memory_ =
      nullptr;  ///< the last that named all memory, if it may be unfinished
};

}  // namespace lockstep::openmp

#endif  // LOCKSTEP_OPENMP_RUNTIME_TASK_DEPENDENCES_HPP
