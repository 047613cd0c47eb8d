// SPDX-License-Identifier: MIT
// openmp/runtime/task_dependences.hpp -- depend(): which of a task's children have to wait for which
//
// A family with such children has a table of the addresses that unfinished children have named. An address has the
// tasks of its current generation, which may run together: one that writes, or several of the same kind that only read
// (in) or say that they may (inoutset). It has those of the generation before too, for which all of the current
// one wait.
//
//   DEPEND-1  A task of another kind than the current generation's, or one that writes, waits for all of that
//             generation, and begins the next.
//   DEPEND-2  If a generation has no unfinished task, neither has the one before: each of it has waited for all of that.
//             So an address without a current generation is forgotten.
//   DEPEND-3  mutexinoutset is inout: the order in which such tasks run is not specified, so the order of their
//             making will do.
//   DEPEND-4  A null address that is written is omp_all_memory: such a task waits for all that have named anything, and
//             all that name something later wait for it.
//
// The table is used by the thread of the parent alone, without a lock. Where another thread ends a task, it does not touch
// the table, but takes the list of the task's successors. So the table names tasks that have ended, and their memory stays;
// it forgets them when it meets them, and now and then all of them (forget_ended()).
//
//   DEPEND-5  The thread of the parent adds a successor to a task unless that has ended. Whoever ends a task takes all
//             successors and says so, in one step, and unblocks each of them. A successor runs when it has been unblocked
//             as often as it was added, and the thread of the parent has added it everywhere: `blockers` begins high, and
//             that thread takes the difference away at last.
//   DEPEND-6  Of the table's last look at a task and its end, the later one frees the memory.
//
// explicit_task::successors
//   bits     name       meaning                                  set by
//   63..2               the first edge, or null                  the thread of the parent, until `ended`
//   1        ended      the task has ended; no edge is added     whoever ends it
//   0        forgotten  the table does not name the task         the thread of the parent
//
// Memory order (# marks the line)
//   #  access                   order    pairs  why it suffices
//   1  successors.load          acquire  3      what an ended task did happens before those that do not wait for it
//   2  successors.compare_exch  release  3      who ends it sees the edge, and the table's last look (DEPEND-6)
//   3  successors.exchange      acq_rel  1, 2, 4  takes what 2 made; the table frees what the end has used
//   4  successors.fetch_or      acq_rel  3      either finds the other (DEPEND-6)
//   5  successors               relaxed  -      before others know the task, or when all that knew it have done with it
//   6  blockers.store           relaxed  -      published by 2
//   7  blockers.fetch_sub       acquire  8      the last of all sees what the predecessors did; 2 published the task
//   8  blockers.fetch_sub       acq_rel  7, 8, 9  likewise
//   9  blockers.load            acquire  8      1: nobody else is left who unblocks
#ifndef LOCKSTEP_OPENMP_RUNTIME_TASK_DEPENDENCES_HPP
#define LOCKSTEP_OPENMP_RUNTIME_TASK_DEPENDENCES_HPP

#include <cstddef>
#include <cstdint>

#include "task_pool.hpp"

namespace lockstep::openmp {

struct dependence_entry;

/// That a task waits for the one that has this in its list.
struct dependence_edge {
  explicit_task* successor;
  dependence_edge* next;
};

/// One address of one task. In the task's memory.
struct dependence_use {
  dependence_edge edge;     ///< to the first that the task waits for because of this address
  dependence_entry* entry;  ///< null: it is in no generation (any more)
  dependence_use* next;     ///< in the generation
  dependence_use** at;      ///< what points here
};

/// More edges of a successor, or its uses, where they are made after it. Freed with it.
struct edge_block {
  edge_block* next;
  std::size_t used;
  dependence_edge edges[7];
};
void free_edges(explicit_task& of) noexcept;
/// Room for `count` uses behind a block that is full.
dependence_use* allocate_uses(explicit_task& of, std::size_t count) noexcept;

class dependence_table {
 public:
  explicit dependence_table(task_pool& pool) noexcept : pool_(pool) {}
  dependence_table(const dependence_table&) = delete;
  dependence_table& operator=(const dependence_table&) = delete;
  /// Requires: forget_all() was called.
  ~dependence_table();

  /// Makes `one` wait for those that it depends on, and later ones for it. True if it need not wait. Requires: it has
  /// as many uses.
  bool add(part& self, explicit_task& one, const dependence_list& named) noexcept;
  /// The same for a wait: nothing waits for it.
  bool add_wait(part& self, explicit_task& wait, const dependence_list& named) noexcept;
  /// `one` has ended, by the thread of the parent. Returns its edges.
  dependence_edge* remove(explicit_task& one) noexcept;
  /// Before the end.
  void forget_all(part& self) noexcept;

  // By another thread that ends a task. The word says for whom: edges_of(), is_forgotten().
  static std::uintptr_t end(explicit_task& one) noexcept {
    return one.successors.exchange(ended, detail::memory_order_acq_rel);  // 3
  }
  static dependence_edge* edges_of(std::uintptr_t word) noexcept {
    return reinterpret_cast<dependence_edge*>(word & ~(ended | forgotten));
  }
  static bool is_forgotten(std::uintptr_t word) noexcept { return (word & forgotten) != 0; }
  /// For each edge; true if nothing is left that its successor waits for.
  static bool unblock(explicit_task& successor) noexcept {
    return successor.blockers.load(detail::memory_order_acquire) == 1 ||        // 9
           successor.blockers.fetch_sub(1, detail::memory_order_acq_rel) == 1;  // 8
  }

 private:
  static constexpr std::uintptr_t forgotten = 1, ended = 2;
  static constexpr std::uint32_t being_added = std::uint32_t{1} << 31;  ///< in `blockers`
  static constexpr unsigned first_bits = 6;
  static constexpr std::size_t fewest_kept = 64;  ///< before forget_ended() looks at all

  /// A task that is being added.
  struct newcomer {
    part& self;
    explicit_task& one;
    dependence_edge* edge;  ///< a free one, or null
    std::uint32_t edges;    ///< that were added

    newcomer(part& by, explicit_task& task) noexcept;
    dependence_edge& take_edge() noexcept;
    /// True if it need not wait.
    bool finish() noexcept;
  };

  bool wait_for(newcomer& by, explicit_task& predecessor, bool forgets) noexcept;
  void wait_for_all(newcomer& by, dependence_use* generation, bool forgets) noexcept;
  void name(newcomer& by, dependence_use* use, void* address, dependence_kind kind) noexcept;
  void name_all_memory(newcomer& by, bool is_task) noexcept;
  void forget(part& self, explicit_task& one) noexcept;
  void forget_generation(part& self, dependence_use* generation) noexcept;
  void forget_ended_of(part& self, dependence_use* generation) noexcept;
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
