// SPDX-License-Identifier: MIT
// src/team/serving_threads.cpp -- the bodies of serving_threads.hpp (layer: team)
#include "serving_threads.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

LOCKSTEP_INLINE serving_threads::~serving_threads() {
  release();
  if (is_child_) return;
  for (std::size_t rank = 1; rank < core_.size(); ++rank) {
    if (claimed_[rank].load(memory_order_relaxed) != 0) left_.acquire();  // 2
  }
}

LOCKSTEP_INLINE void serving_threads::serve(std::size_t rank) {
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

[[noreturn]] LOCKSTEP_INLINE void serving_threads::refuse() {
  fail_use(
      "lockstep::external_team::run: release() was called, nobody serves any more; make a new "
      "team");
}

[[noreturn]] LOCKSTEP_INLINE void serving_threads::refuse_child() {
  fail_use(
      "lockstep::external_team::run: this is a child process, which has none of the serving "
      "threads; make a new team");
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
