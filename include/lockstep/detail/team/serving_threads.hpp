// SPDX-License-Identifier: MIT
// lockstep/detail/team/serving_threads.hpp -- threads of the user that serve a team (layer: team)
//
// Memory order (# marks the line; each weakening must fail a test)
//   #  access            order    pairs  why it suffices
//   1  claimed.exchange  relaxed  -      one thread a rank; the announcement orders the rest
//   2  claimed.load      relaxed  -      at the end, after which nobody may come
#ifndef LOCKSTEP_DETAIL_TEAM_SERVING_THREADS_HPP
#define LOCKSTEP_DETAIL_TEAM_SERVING_THREADS_HPP

#include <cstddef>

#include "../../semaphore.hpp"
#include "../../team_options.hpp"
#include "../platform/cache_line.hpp"
#include "../platform/error.hpp"
#include "placement.hpp"
#include "team_core.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

class serving_threads {
 public:
  static constexpr const char* kind_of_team() noexcept { return "lockstep::external_team"; }
  /// For started_region.
  static constexpr bool starts_regions() noexcept { return false; }
  static constexpr const char* name_of_run() noexcept { return "lockstep::external_team::run"; }

  serving_threads(team_core& core, const resolved_team& made, const team_options&)
      : core_(core), claimed_(made.members) {}
  /// Releases, and waits until every thread has left.
  LOCKSTEP_COLD ~serving_threads();
  serving_threads(const serving_threads&) = delete;
  serving_threads& operator=(const serving_threads&) = delete;

  /// Before a region that needs them.
  void make_ready() const {
    if (LOCKSTEP_UNLIKELY(is_child_)) refuse_child();
    if (core_.is_closed()) refuse();
  }
  LOCKSTEP_ONCE void serve(std::size_t rank);
  void release() { core_.close(); }

  /// In a child process, which has none of the threads.
  void forget() noexcept { is_child_ = true; }
  bool are_gone() const noexcept { return is_child_ || core_.is_closed(); }

 private:
  [[noreturn]] LOCKSTEP_COLD static void refuse();
  [[noreturn]] LOCKSTEP_COLD static void refuse_child();

  team_core& core_;
  aligned_array<wait_word> claimed_;
  semaphore left_{0};
  bool is_child_ = false;
};

#if LOCKSTEP_HAS_BODIES

LOCKSTEP_COLD serving_threads::~serving_threads() {
  release();
  if (is_child_) return;
  for (std::size_t rank = 1; rank < core_.size(); ++rank) {
    if (claimed_[rank].load(memory_order_relaxed) != 0) left_.acquire();  // 2
  }
}

void serving_threads::serve(std::size_t rank) {
  checked_rank("lockstep::external_team::serve", "members", rank, core_.size());
  if (rank == 0 || claimed_[rank].exchange(1, memory_order_relaxed) != 0) {  // 1
    if (rank != 0 && core_.is_closed()) return;
    fail_argument(
        "lockstep::external_team::serve: rank 0 is the caller of run(), and each other rank is "
        "for one thread; give every thread a rank of its own, from 1 on");
  }
  core_.work(rank);
  left_.release();
}

[[noreturn]] LOCKSTEP_COLD void serving_threads::refuse() {
  fail_use(
      "lockstep::external_team::run: release() was called, nobody serves any more; make a new "
      "team");
}

[[noreturn]] LOCKSTEP_COLD void serving_threads::refuse_child() {
  fail_use(
      "lockstep::external_team::run: this is a child process, which has none of the serving "
      "threads; make a new team");
}

#endif

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TEAM_SERVING_THREADS_HPP
