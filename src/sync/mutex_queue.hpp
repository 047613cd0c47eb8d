// SPDX-License-Identifier: MIT
// src/sync/mutex_queue.hpp -- how threads wait for a mutex, and how often others overtake them (layer: sync)
//
// word_ of mutex
//   bit    name      meaning                         set by                               cleared by
//   0      locked    a thread holds it               lock                                 unlock
//   1      waiting   the queue may have a waiter     a waiter, as it queues up            when no waiter is left
//   2      waking    a waiter was woken and is on    an unlock that wakes                 that waiter, as it takes the
//                    its way                                                              lock, or waits again
//   3..31  bypasses  how often the waiters were      a lock that overtakes counts; the    as waking, and the last to
//                    overtaken                       waiter on its way, in vain: limit    leave the queue
// Waiting may stay set with no waiter: this costs a look at the queue. No bit may be missing: without waiting an unlock
// wakes no thread, without waking it wakes a second waiter.

// Invariants
//   MUTEX-1  At most one thread holds the lock; only that thread clears `locked`.
//   MUTEX-2  A thread that queues up has found the lock held or reserved, and marks the word (QUEUED-1): a later unlock
//            finds `waiting`.
//   MUTEX-3  `waking` is set from the moment an unlock wakes a waiter until that waiter has the lock, or waits again.
//            It waits again even if it gives up after that. One waiter at most is on its way. Meanwhile it keeps its
//            place in the queue, so that a child of fork() can clear the bit (PARKING-4).
//   MUTEX-4  Bounded bypass. While a thread waits or is on its way, every acquisition by another is counted. After
//            bypass_limit of them, the lock is reserved for the woken waiter. It is also reserved once a woken waiter
//            has found the lock taken. So a thread that is queued behind p others is overtaken at most
//            (p + 1) * (bypass_limit + 1) times. Here p includes the waiters that MUTEX-6 lets go. Before a thread
//            queues up, it polls for a bounded time: 2 us, one more pause (1.7 us), and 80 us of yields.
//   MUTEX-5  The thread that has locked and unlocked the mutex last may destroy it: an unlock touches nothing after its
//            change of the word, unless the queue has a waiter (PARKING-2).
//   MUTEX-6  A thread that goes to sleep on a condition leaves its CPU to one more waiter. It lets the first waiter of
//            the queue go ahead of its turn, beside the one on its way. That waiter tries as a newcomer does. If it
//            fails, it waits again at its place. It goes ahead only once, and not after it was woken. After that, no
//            other goes ahead while it is the first. Without this, a chain of broadcasts to 64 threads on 2 CPUs took
//            320 us, because a CPU halted and was woken at every second thread; now it takes 80 us.
//
// Memory order (# marks the line; each weakening must fail a test)
//   #  access         order    pairs  why it suffices
//   1  word.load      relaxed  -      a guess for the compare-exchange that follows, or a hint
//   2  word.fetch_or  relaxed  -      takes nothing; the queue's lock orders it (QUEUED-2)
// The rest is in mutex.hpp and parking_lot.hpp.
#ifndef LOCKSTEP_SRC_SYNC_MUTEX_QUEUE_HPP
#define LOCKSTEP_SRC_SYNC_MUTEX_QUEUE_HPP

#include <cstdint>

#include <lockstep/mutex.hpp>

#include "../wait/parking_lot.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// What the bits of a mutex mean (parking_lot.hpp).
struct mutex_rules {
  static constexpr wait_kind queue = wait_kind::mutex;
  /// Each look takes the word's line away from the holder. With 8 pauses at first, 2 to 64 threads on 2 CPUs took 1.1
  /// to 1.4 of the time; without backing off, two threads take 1.4 to 1.5.
  static constexpr unsigned first_pauses = 4;

  static constexpr std::uint32_t locked = 1, waiting = 2, waking = 4, one_bypass = 8;
  /// A wake-up on another CPU takes 20 to 50 us, the time of 1000 to 2500 acquisitions of 20 ns. A smaller limit would
  /// leave the lock idle for the rest of that time.
  static constexpr std::uint32_t bypass_limit = mutex::bypass_limit;

  /// One that goes ahead of its turn tries as a newcomer (MUTEX-6).
  enum purpose : std::uint32_t { newcomer, ahead, woken };

  static bool reserved(std::uint32_t word) noexcept { return word >= bypass_limit * one_bypass; }

  static bool may_take(std::uint32_t word, std::uint32_t as) noexcept {
    return (word & locked) == 0 && (as == woken || !reserved(word));
  }
  static std::uint32_t taken(std::uint32_t word, std::uint32_t as) noexcept {
    return as == woken ? (word & waiting) | locked
                       : (word | locked) + ((word & (waiting | waking)) != 0 ? one_bypass : 0);
  }
  static std::uint32_t marked(std::uint32_t word, std::uint32_t as) noexcept {
    return as == woken ? locked | waiting | bypass_limit * one_bypass : word | waiting;
  }
  /// The bypasses count from zero again when no thread waits or is on its way.
  static std::uint32_t without_waiters(std::uint32_t word) noexcept {
    return (word & waking) != 0 ? word & ~waiting : word & locked;
  }

  /// The next waiter is sent on its way, unless one is already.
  static constexpr bool hands_over = false;
  static constexpr std::uint32_t served_as = woken;
  static bool may_serve(std::uint32_t word, std::uint32_t) noexcept { return (word & waking) == 0; }
  static std::uint32_t served(std::uint32_t word, std::uint32_t) noexcept { return word | waking; }
};
static_assert(parking_lot::without_waiters(mutex_rules::queue) == mutex_rules::locked, "PARKING-4");

/// A mutex as its waiters see it.
class mutex_queue : public queued_word<mutex_rules> {
  using rules = mutex_rules;

 public:
  explicit mutex_queue(mutex& of) noexcept : queued_word(of.word_, of.policy_) {}

  /// A hint for the holder: a thread waits behind one that is on its way, so the unlock will wake no thread.
  bool has_more_waiters() const noexcept {
    constexpr std::uint32_t both = rules::waiting | rules::waking;
    return (word_.load(memory_order_relaxed) & both) == both;  // 1
  }
  /// Called by a thread that is about to sleep, after its unlock (MUTEX-6).
  void let_one_go_ahead() {
    parking_lot::queue waiters(key());
    parked_thread* const next = waiters.front();
    if (next == nullptr || next->purpose() != rules::newcomer) return;
    waiters.notify(*next, rules::ahead);
    unmark_if_empty(waiters);
  }

  /// Queues up threads that were notified by a condition_variable; each goes on in take_as(). Wakes the first one if the
  /// lock is free.
  void adopt(parked_chain& threads) {
    bool is_idle = false;
    {
      parking_lot::queue waiters(key());
      while (parked_thread* const next = threads.pop_front()) waiters.enter(*next);
      const std::uint32_t old = word_.fetch_or(rules::waiting, memory_order_relaxed);  // 2
      is_idle = (old & (rules::locked | rules::waking)) == 0;
    }
    if (is_idle) serve();
  }
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_SYNC_MUTEX_QUEUE_HPP
