// SPDX-License-Identifier: MIT
// openmp/task_dependences.hpp -- depend(): which of a task's children have to wait for which
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
// All calls under the lock of the pool. Array forms, as GCC makes them (n: how many addresses follow):
//   n, outs, addresses: outs, ins                                            until GCC 8, and where it suffices
//   0, n, outs, mutexinoutsets, ins, addresses: outs, mutexinoutsets, ins, objects   since GCC 9
// An object (omp_depend_t, and what stands for inoutset) is a pair of an address and a kind.
#ifndef LOCKSTEP_OPENMP_TASK_DEPENDENCES_HPP
#define LOCKSTEP_OPENMP_TASK_DEPENDENCES_HPP

#include <cstddef>
#include <cstdint>

#include "task_pool.hpp"

namespace lockstep::openmp {

enum class dependence_kind : std::uint8_t { in, out, inoutset };

struct dependence_entry;

/// One address of one unfinished task. In the task's memory.
struct dependence_use {
  explicit_task* task;
  dependence_entry* entry;  ///< null: it is in no generation (any more)
  dependence_use* next;     ///< in the generation
  dependence_use** at;      ///< what points here
};

/// That a task waits for the one that has this in its list.
struct dependence_edge {
  explicit_task* successor;
  dependence_edge* next;
};

/// How many addresses the array has.
std::size_t count_dependences(void** depend) noexcept;

class dependence_table {
 public:
  dependence_table() noexcept = default;
  dependence_table(const dependence_table&) = delete;
  dependence_table& operator=(const dependence_table&) = delete;
  /// Requires: all tasks in it have been removed.
  ~dependence_table();

  /// Makes `one` wait for those that it depends on (blockers), and later ones for it. Requires: it has
  /// count_dependences() uses.
  void add(explicit_task& one, void** depend) noexcept;
  /// The same for a wait: nothing waits for it.
  void add_wait(explicit_task& one, void** depend) noexcept;
  /// A task has ended. Its successors are still in its list: see release().
  void remove(explicit_task& one) noexcept;
  /// For each successor of a task that has ended, once.
  template <class Function>
  void release(explicit_task& ended, const Function& function) noexcept {
    dependence_edge* edge = ended.successors;
    ended.successors = nullptr;
    while (edge != nullptr) {
      dependence_edge* const next = edge->next;
      explicit_task& successor = *edge->successor;
      give_back(*edge);
      function(successor);
      edge = next;
    }
  }

 private:
  static constexpr unsigned first_bits = 6;

  void wait_for(explicit_task& one, explicit_task& predecessor) noexcept;
  void wait_for_all(explicit_task& one, const dependence_use* generation) noexcept;
  void name(explicit_task& one, dependence_use* use, void* address, dependence_kind kind) noexcept;
  void name_all_memory(explicit_task& one, bool is_task) noexcept;
  dependence_entry** place_of(const void* address) noexcept;
  void forget_if_unused(dependence_entry& entry) noexcept;
  void grow() noexcept;
  void give_back(dependence_edge& edge) noexcept {
    edge.next = free_edges_;
    free_edges_ = &edge;
  }

  dependence_entry** buckets_ = nullptr;
  std::size_t bits_ = 0;
  std::size_t entries_ = 0;
  dependence_entry* free_entries_ = nullptr;
  dependence_edge* free_edges_ = nullptr;
  explicit_task* all_memory_ = nullptr;  ///< the last that named all memory, while it is unfinished
};

}  // namespace lockstep::openmp

#endif  // LOCKSTEP_OPENMP_TASK_DEPENDENCES_HPP
