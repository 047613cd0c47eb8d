// SPDX-License-Identifier: MIT
// lockstep/detail/wait/sleeper_mark.hpp -- "somebody sleeps", beside the state it is about (layer: wait)
//
// For objects whose lifetime their structure guarantees: the notifier looks at the mark *after* the
// change that lets waiters go, so the object must outlive every notify() call. Where a waiter may
// destroy the object as soon as it is let go, the mark must be part of the state: see event.hpp.
//
// The mark is even while nobody sleeps. A sleeper makes it odd and sleeps on the odd value it made or
// found; whoever wakes makes it the next even number first.
//
//   M1  It is legal for the mark to be odd with no sleeper (a wake for nobody); it is illegal for a
//       thread to sleep on it while it is even.
//   M2  Every odd value is left by exactly one step to the next even one, and a wake of all follows it.
//       So a thread that announced itself before the step either never falls asleep, since the word is
//       no longer what it saw, or is woken. A plain flag would not do: the sleeper of the next phase
//       would set it again, and one that was about to sleep for this phase would find it set.
//
//     notifier                            sleeper
//     phase.store(p + 1)                  odd = announce()               (2)
//     fence                        (4)    fence                          (4)
//     if (mark.load() is odd)      (1)    if (phase.load() is still p)
//       step to even, wake all     (3)      futex_wait(mark, odd)
//
// Not both loads may miss the other side's store. Who pays for that is the object's choice, the same for
// both sides: the sleeper alone (A1 of process_fence.hpp), where sleeping is rare; or both, where it is
// not. A sleeper that pays alone pays 7 to 10 us while other threads run: a crowd of 128 that slept at
// every barrier spent 12 us a member so, four times what both fences and the wakes take.
//
// Memory order (# marks the line)
//   #  access                 order    pairs  why it suffices
//   1  mark.load              relaxed  2      the fences order it after the phase and that is all
//   2  mark.fetch_or          relaxed  1      as 1
//   3  mark.compare_exchange  relaxed  2      M2 needs the order of changes to this word only; the
//                                             kernel orders its comparison after the wake's lock
//   4  thread_fence           seq_cst  4      both sides: the pictures' loads come after the stores
//
// Cost   notify with nobody asleep: one load of a line that nobody writes, no read-modify-write; no
//        fence where the sleeper pays and the system has a process-wide one.
#ifndef LOCKSTEP_DETAIL_WAIT_SLEEPER_MARK_HPP
#define LOCKSTEP_DETAIL_WAIT_SLEEPER_MARK_HPP

#include <cstdint>

#include "../../wait_policy.hpp"
#include "../platform/config.hpp"
#include "../platform/system.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// Who pays for the store-load fence between notifiers and sleepers.
enum class fence_payer { sleeper, both };

/// Sleeping is the rule with block() and when crowded, the exception otherwise.
constexpr fence_payer fence_payer_of(wait_policy policy) noexcept {
  return policy.is_block() || policy.is_crowded() ? fence_payer::both : fence_payer::sleeper;
}

class sleeper_mark {
 public:
  /// To be called after the change that lets waiters go. Wakes all who sleep on this mark; true if somebody may
  /// have slept. Requires: the same payer in every call on one mark.
  bool notify(fence_payer payer = fence_payer::sleeper) {
    if (payer == fence_payer::both) {
      detail::thread_fence(detail::memory_order_seq_cst);  // 4
    } else {
      detail::fence_light();
    }
    if ((mark_.load(detail::memory_order_relaxed) & 1u) == 0) return false;  // 1
    wake();
    return true;
  }

  /// Whether somebody may sleep at this moment. Promises nothing.
  bool has_sleeper() const noexcept {
    return (mark_.load(detail::memory_order_relaxed) & 1u) != 0;  // 1
  }

  /// Sleeps unless `what.ready()` when looked at after the announcement. May return for no reason.
  template <class Waitable>
  void sleep(const Waitable& what, deadline until, fence_payer payer = fence_payer::sleeper) {
    const std::uint32_t odd = mark_.fetch_or(1u, detail::memory_order_relaxed) | 1u;  // 2
    const bool fenced = fence(payer);
    if (what.ready()) return;
    detail::futex_wait(mark_, odd, fenced ? until.nanoseconds() : soon(until));
  }

  /// For a thread whose sleep came to its deadline: the notifier need not wake it. Requires that no other thread
  /// ever sleeps on this mark: one that does would be forgotten.
  void withdraw() noexcept {
    std::uint32_t odd = mark_.load(detail::memory_order_relaxed);  // 1
    if ((odd & 1u) == 0) return;
    mark_.compare_exchange_strong(odd, odd + 1u, detail::memory_order_relaxed,  // 3
                                  detail::memory_order_relaxed);                // 3
  }

 private:
  LOCKSTEP_NOINLINE void wake() {
    std::uint32_t odd = mark_.load(detail::memory_order_relaxed);  // 1
    if ((odd & 1u) == 0) return;
    if (mark_.compare_exchange_strong(odd, odd + 1u, detail::memory_order_relaxed,  // 3
                                      detail::memory_order_relaxed)) {              // 3
      detail::futex_wake_all(&mark_);
    }
  }

  /// The sleeper's side; false if the system refused its part.
  static bool fence(fence_payer payer) {
    if (payer == fence_payer::sleeper) return detail::fence_heavy();
    detail::thread_fence(detail::memory_order_seq_cst);  // 4
    return true;
  }

  /// Without the fence a notifier may have missed the announcement: look again in a millisecond.
  static std::uint64_t soon(deadline until) {
    const std::uint64_t limit = detail::monotonic_nanoseconds() + 1000000;
    return limit < until.nanoseconds() ? limit : until.nanoseconds();
  }

  detail::wait_word mark_{0};
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_WAIT_SLEEPER_MARK_HPP
