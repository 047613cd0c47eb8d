// SPDX-License-Identifier: MIT
// lockstep/detail/wait/wait_history.hpp -- what one waiter has learnt from its last waits (layer: wait)
//
// Two questions, one for each stage of an adaptive wait before the last:
//   Does spinning pay?  Not when the thread we wait for needs our CPU, and not when waits are long.
//   Does yielding pay?  Not when a stranger takes the CPU and keeps it for its whole time slice; nor, in
//                       queues, when waits are long.
// Each is asked anew now and then, because the machine changes.
//
// Plain data of the waiting thread: one thread uses a history at a time. All zero bits are "no doubt".
#ifndef LOCKSTEP_DETAIL_WAIT_WAIT_HISTORY_HPP
#define LOCKSTEP_DETAIL_WAIT_WAIT_HISTORY_HPP

#include <cstdint>

#include "../platform/system.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// How far a stage is to be trusted: waits that it ended speak for it, those it did not speak against.
class stage_trust {
 public:
  /// True if the stage should be tried in this wait: it is trusted, or it is time for another look.
  bool asks() noexcept {
    if (doubt_ < limit) return true;
    skipped_ = static_cast<std::uint8_t>((skipped_ + 1) % probe_interval);
    return skipped_ == 0;
  }
  void paid() noexcept { doubt_ = static_cast<std::uint8_t>(doubt_ / 2); }
  void failed() noexcept {
    if (doubt_ < limit) ++doubt_;
  }
  /// One failure that is as bad as many.
  void failed_badly() noexcept { doubt_ = limit; }

 private:
  // 4 failures in a row stop a stage, one success in a probe starts it again. A probe that fails costs
  // at most spin_budget (2 us) in 64 waits, 30 ns a wait.
  static constexpr std::uint8_t limit = 4;
  static constexpr std::uint8_t probe_interval = 64;

  std::uint8_t doubt_ = 0;
  std::uint8_t skipped_ = 0;
};

struct wait_history {
  stage_trust spinning;
  stage_trust yielding;
};

/// What the calling thread has learnt, for objects whose waiters are too many to have a place in them.
inline wait_history& this_thread_history() noexcept {
  return detail::per_thread<wait_history, struct name_of_history>();
}

/// The same of its waits in queues (parking_lot.hpp). A wait there that ends in a sleep speaks against
/// yielding, while one on a word does not: in a crowd, barriers and rings need their yields all the same.
inline wait_history& this_thread_history_in_queues() noexcept {
  return detail::per_thread<wait_history, struct name_of_queue_history>();
}

static_assert(sizeof(wait_history) == 4, "small objects hold a history");

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_WAIT_WAIT_HISTORY_HPP
