// SPDX-License-Identifier: MIT
// lockstep/manual_reset_event.hpp -- a gate: open from notify() until reset() (layer: sync)
//
// While the gate is open every wait returns at once. Every wait that began before a notify() returns,
// even if a reset() follows at once. Any number of notifiers and waiters. What happens before a notify()
// happens before the return of every wait that it lets through, and before the return of the reset() that
// closes the gate again: reset(), look at the data, wait() misses nothing, where one thread resets.
// One waiter per notification: auto_reset_event, or event for one notifier and one waiter.
//
// There is no pulse() (Windows's PulseEvent: lets go who waits at this moment, stays closed). Who waits
// "at this moment" nobody can know: a waiter that is just about to wait, or just not in the kernel,
// misses it for ever. Use notify() and then reset(), which lets everyone go who has begun to wait, or
// a condition_variable.
//
// Invariants, r = number of resets that closed the gate, in word_
//   G1  A waiter that found the gate closed at r goes when the gate is open or r has changed; both come
//       from a notify() that came after its first look.
//   G2  The sleeping bit is set only on a closed gate; notify() wakes only if it opened the gate.
//   G3  notify() touches nothing after its change of the word but the address, in a futex wake: when
//       all waits have returned the event may be destroyed.
//   Limit: r has 30 bits. A waiter that does not run while exactly a multiple of 2^30 openings pass
//       takes them for none, and waits for the next.
//
//   word_     bits 2..31 resets   bit 1 open   bit 0 sleeping (may be set with no sleeper)
//
// Memory order (# marks the line; each weakening must fail a test)
//   #  access            order    pairs  why it suffices
//   1  word.fetch_or     release  2, 3   the waiter sees what came before notify(), also when the gate
//                                        was open: every notify() is a read-modify-write
//   2  word.load         acquire  1      the other half; reset() keeps the release sequence of 1
//   3  word.compare_exch acquire  1      who resets sees what was notified; see above
//   4  until word        acquire  1      as 2 (1 of word_waiter.hpp)
//   5  word.load         relaxed  -      a guess for 3; found closed, this reset does nothing
//
// Cost   notify: one RMW. reset: one RMW if open. wait: one load when open. No system call unless a
//        waiter sleeps; then one for the notify() that opens. 8 bytes: 4 of state, 4 of policy.
#ifndef LOCKSTEP_MANUAL_RESET_EVENT_HPP
#define LOCKSTEP_MANUAL_RESET_EVENT_HPP

#include <cstdint>

#include "detail/platform/config.hpp"
#include "detail/wait/word_waiter.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {

class manual_reset_event : detail::misuse::watched<manual_reset_event> {
 public:
  /// Closed. Tests pass `first_reset` to start next to wrap-around.
  explicit constexpr manual_reset_event(wait_policy policy = wait_policy(),
                                        std::uint32_t first_reset = 0) noexcept
      : word_(first_reset * one_), policy_(policy) {}
  manual_reset_event(const manual_reset_event&) = delete;
  manual_reset_event& operator=(const manual_reset_event&) = delete;

  /// Opens the gate and lets everyone go who waits.
  void notify() {
    const std::uint32_t old = word_.fetch_or(open_, detail::memory_order_release);  // 1
    if ((old & open_) == 0) detail::wake_sleepers(&word_, old);
  }

  /// Closes the gate; nothing if it is closed.
  void reset() noexcept {
    std::uint32_t word = word_.load(detail::memory_order_relaxed);  // 5
    // Adding to the open bit clears it and counts. The sleeping bit is of those who are let go.
    while ((word & open_) != 0 &&
           !word_.compare_exchange_weak(word, (word & ~sleeping_) + open_,
                                        detail::memory_order_acquire,     // 3
                                        detail::memory_order_relaxed)) {  // 5
    }
  }

  bool is_open() const noexcept {
    return (word_.load(detail::memory_order_acquire) & open_) != 0;  // 2
  }

  /// As is_open(): true if wait() would return at once.
  bool try_wait() const noexcept { return is_open(); }

  /// Blocks until the gate is open, or was opened since the call began.
  void wait() { wait_until(deadline::never()); }

  /// As wait(), for at most `time`: ready or timed_out.
  template <class Rep, class Period>
  wait_status wait_for(std::chrono::duration<Rep, Period> time) {
    return wait_until(deadline::after(time));
  }
  template <class Clock, class Duration>
  wait_status wait_until(std::chrono::time_point<Clock, Duration> point) {
    return wait_until(deadline::at(point));
  }
  wait_status wait_until(deadline until) {
    const std::uint32_t first = word_.load(detail::memory_order_acquire) | sleeping_;  // 2
    if ((first & open_) != 0) return wait_status::ready;
    const auto opened = [first](std::uint32_t word) noexcept {
      return (word | sleeping_) != first;
    };
    return detail::wait_until_word(word_, opened, policy_, until) ? wait_status::ready  // 4
                                                                  : wait_status::timed_out;
  }

  wait_policy policy() const noexcept { return policy_; }

 private:
  friend class detail::misuse::watched<manual_reset_event>;
  static constexpr const char* kind = "lockstep::manual_reset_event";
  static constexpr std::uint32_t sleeping_ = 1, open_ = 2, one_ = 4;

  detail::wait_word word_;
  wait_policy policy_;
};

static_assert(sizeof(manual_reset_event) == 8, "a word of state, one of policy");

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_MANUAL_RESET_EVENT_HPP
