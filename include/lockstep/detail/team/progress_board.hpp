// SPDX-License-Identifier: MIT
// lockstep/detail/team/progress_board.hpp -- who has come how far: point-to-point waits in a region (layer: team)
//
// Each member publishes the number of the step that it has finished; any other may wait until it has come
// to a given step. For wavefronts and halos, where a barrier would wait for everybody. Steps begin at 0 in
// every region and only grow.
//
// Invariants
//   P1  What a member does before publish(s) happens before the return of every wait for s or less.
//   P2  used() is true from the first publish() of a region on, for who runs the regions; it makes the
//       board as new before the next one.
//
// Memory order (# marks the line; each weakening must fail a test)
//   #  access      order    pairs  why it suffices
//   1  step.store  release  2      P1
//   2  step.load   acquire  1      P1
//   3  step.store  relaxed  -      between regions
//   4  used.load   relaxed  -      the end of the region orders it after 5
//   5  used.store  relaxed  -      as 4
//
// Store 1 and the look at the mark behind it are the notifier's side of sleeper_mark.hpp.
//
// Cost   publish: one store on one's own line. wait: one line fetch.
#ifndef LOCKSTEP_DETAIL_TEAM_PROGRESS_BOARD_HPP
#define LOCKSTEP_DETAIL_TEAM_PROGRESS_BOARD_HPP

#include <cstddef>
#include <cstdint>

#include "reducing_barrier.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

class progress_board final : public sleeping_place {
 public:
  progress_board(std::size_t most, wait_policy policy, stop_source& stop)
      : stop_(stop), steps_(most), marks_(most), policy_(policy) {
    stop_.add(*this);
  }
  ~progress_board() { stop_.remove(*this); }
  progress_board(const progress_board&) = delete;
  progress_board& operator=(const progress_board&) = delete;

  /// The member has finished this step, and all before it.
  void publish(std::size_t rank, std::size_t step) {
    if (used_.load(detail::memory_order_relaxed) == 0) {  // 4
      used_.store(1, detail::memory_order_relaxed);       // 5
    }
    steps_[rank].value.store(step, detail::memory_order_release);  // 1
    marks_[rank].notify(fence_payer_of(policy_));
  }

  /// Blocks until the member `rank` has published `step` or more. False once the region is stopped.
  bool wait_for(place_in_barrier& self, std::size_t rank, std::size_t step) {
    finished condition{*this, rank, step, self.region};
    wait_engine::wait(condition, policy_, self.history);
    return !stop_.requested(self.region);
  }

  bool used() const noexcept { return used_.load(detail::memory_order_relaxed) != 0; }  // 4

  /// As new. Between regions.
  void reset() noexcept {
    for (std::size_t rank = 0; rank < steps_.size(); ++rank) {
      steps_[rank].value.store(0, detail::memory_order_relaxed);  // 3
    }
    used_.store(0, detail::memory_order_relaxed);  // 5
  }

  void notify_all_sleepers() override {
    for (std::size_t i = 0; i < marks_.size(); ++i) marks_[i].notify(fence_payer_of(policy_));
  }

 private:
  /// What the wait engine looks at.
  struct finished {
    progress_board& board;
    std::size_t rank;
    std::size_t step;
    std::uint32_t region;

    bool ready() const noexcept {
      return board.steps_[rank].value.load(detail::memory_order_acquire) >= step ||  // 2
             board.stop_.requested(region);
    }
    void sleep(deadline until) {
      board.marks_[rank].sleep(*this, until, fence_payer_of(board.policy_));
    }
  };

  stop_source& stop_;
  detail::aligned_array<detail::padded<detail::atomic<std::size_t>>> steps_;
  detail::aligned_array<sleeper_mark> marks_;
  detail::wait_word used_{0};
  const wait_policy policy_;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TEAM_PROGRESS_BOARD_HPP
