// SPDX-License-Identifier: MIT
// openmp/runtime/root.hpp -- the part of a thread that is in no region: the outermost of the chain
#ifndef LOCKSTEP_OPENMP_RUNTIME_ROOT_HPP
#define LOCKSTEP_OPENMP_RUNTIME_ROOT_HPP

#include <lockstep/detail/platform/atomic.hpp>

#include "part.hpp"
#include "shared_region.hpp"

namespace lockstep::openmp {

/// The initial part of a thread, with the counts of its contention group.
//
// Memory order (# marks the line)
//   #  access           order    pairs  why it suffices
//   1  busy.fetch_add   relaxed  -      a count, nothing else
//   2  busy.fetch_sub   relaxed  -      as 1
//   3  busy.comp_exch   relaxed  -      as 1
//   4  busy.load        relaxed  -      a guess for 3
struct root_part : part {
  root_part() noexcept = default;
  ~root_part() { delete shared; }

  /// How many of the `wanted` threads a region gets, its encountering thread among them, so that the group has at most
  /// `limit`. At least 1. The caller has to give them back.
  unsigned take_threads(unsigned wanted, unsigned limit) noexcept {
    unsigned busy = busy_.load(detail::memory_order_relaxed);  // 4
    while (true) {
      const unsigned free = busy < limit ? limit - busy : 0;
      const unsigned granted = wanted - 1 < free ? wanted : free + 1;
      if (busy_.compare_exchange_weak(busy, busy + granted - 1, detail::memory_order_relaxed,  // 3
                                      detail::memory_order_relaxed)) {                         // 4
        return granted;
      }
    }
  }
  void give_threads_back(unsigned granted) noexcept {
    busy_.fetch_sub(granted - 1, detail::memory_order_relaxed);  // 2
  }

  unsigned asked_teams =
      0;  ///< num_teams() of the teams construct that it encounters next; 0: none
  int asked_thread_limit = 0;  ///< likewise

 private:
  detail::atomic<unsigned> busy_{
      1};  ///< threads of the group that are in regions, the initial one among them
};

root_part& root_of(part& of) noexcept;
/// Puts the calling thread's record in order when the thread ends. `initial`: its initial part, which ends then; null
/// for a thread of a pool.
void end_with_thread(root_part* initial = nullptr) noexcept;

}  // namespace lockstep::openmp

#endif  // LOCKSTEP_OPENMP_RUNTIME_ROOT_HPP
