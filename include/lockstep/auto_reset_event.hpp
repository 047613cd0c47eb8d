// SPDX-License-Identifier: MIT
// lockstep/auto_reset_event.hpp -- lets one of many waiters through per notification (layer: sync)
//
// A notification is pending or it is not: notify() makes it pending, one wait() takes it and returns. A
// notify() that finds one pending adds nothing. Any number of notifiers and waiters, in no order. What
// happens before a notify(), merged or not, happens before the return of the wait that takes it.
// For one notifier and one waiter use event, which counts and is faster; to count with many waiters,
// semaphore; to let all go, manual_reset_event.
//
// Invariants, s = announced sleepers in word_
//   A1  A pending notification is taken by exactly one wait: the compare-exchange that clears its bit.
//   A2  s >= number of threads asleep: a waiter counts itself in before it sleeps, and out in the same
//       change in which it takes, or when it gives up.
//   A3  Nobody falls asleep while a notification is pending: sleepers expect a word without the bit.
//   A4  The notifier that makes it pending with s > 0 wakes one. That is enough: whoever is asleep then
//       fell asleep before (A3), the one woken looks again, also if its time is up, and takes the
//       notification unless somebody else has. Then the next one wakes again.
//   A5  notify() touches nothing after its change of the word but the address, in a futex wake: the last
//       waiter may destroy the event as soon as its wait has returned.
//
//   word_     bits 1..31 announced sleepers   bit 0 notified
//
// Memory order (# marks the line; each weakening must fail a test)
//   #  access            order    pairs  why it suffices
//   1  word.fetch_or     release  3      the taker sees what came before notify(); all changes are
//                                        read-modify-writes, so it sees merged notifiers, too
//   2  word.load         relaxed  -      a hint: 3 decides
//   3  word.compare_exch acquire  1      the other half of 1; no need to release, the taker tells nothing
//   4  word.fetch_add    relaxed  -      the count and the bit are one word: the order of changes suffices
//   5  word.fetch_sub    relaxed  -      as 4
//
// Cost   notify: one RMW, and one wake of one thread if somebody sleeps. wait: one RMW when notified,
//        two when it has slept. 8 bytes: 4 of state, 4 of policy.
#ifndef LOCKSTEP_AUTO_RESET_EVENT_HPP
#define LOCKSTEP_AUTO_RESET_EVENT_HPP

#include <cstdint>

#include "detail/platform/config.hpp"
#include "detail/wait/word_waiter.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {

class auto_reset_event : detail::misuse::watched<auto_reset_event> {
 public:
  explicit constexpr auto_reset_event(wait_policy policy = wait_policy()) noexcept
      : word_(0), policy_(policy) {}
  auto_reset_event(const auto_reset_event&) = delete;
  auto_reset_event& operator=(const auto_reset_event&) = delete;

  /// Makes a notification pending, if none is; never blocks.
  void notify() {
    const std::uint32_t old = word_.fetch_or(notified_, detail::memory_order_release);  // 1
    if ((old & notified_) == 0 && old >= one_) detail::futex_wake_one(&word_);
  }

  /// Takes the notification if one is pending; never blocks.
  bool try_wait() noexcept { return take(0); }

  /// Blocks until a notification is there and takes it.
  void wait() { wait_until(deadline::never()); }

  /// As wait(), for at most `time`: ready or timed_out; then nothing was taken.
  template <class Rep, class Period>
  wait_status wait_for(std::chrono::duration<Rep, Period> time) {
    return wait_until(deadline::after(time));
  }
  template <class Clock, class Duration>
  wait_status wait_until(std::chrono::time_point<Clock, Duration> point) {
    return wait_until(deadline::at(point));
  }
  wait_status wait_until(deadline until) {
    if (take(0)) return wait_status::ready;
    taker what{*this};
    if (detail::wait_registered(what, &word_, policy_, until,
                                detail::wait_engine::single_yield_time)) {
      return wait_status::ready;
    }
    if (what.announced != 0) word_.fetch_sub(one_, detail::memory_order_relaxed);  // 5
    return wait_status::timed_out;
  }

  wait_policy policy() const noexcept { return policy_; }

 private:
  friend class detail::misuse::watched<auto_reset_event>;
  static constexpr const char* kind = "lockstep::auto_reset_event";
  static constexpr std::uint32_t notified_ = 1, one_ = 2;

  /// What the wait engine looks at. Being ready is having taken: it is true once, and the engine ends
  /// with it. So a waiter that is overtaken goes on where it was, and does not begin to spin anew.
  struct taker {
    auto_reset_event& owner;
    std::uint32_t announced;  // what we have added to the word

    explicit taker(auto_reset_event& of) noexcept : owner(of), announced(0) {}
    bool ready() const noexcept { return owner.take(announced); }
    void sleep(deadline until) { announced = owner.sleep(announced, until); }
  };

  /// Takes a notification and its own announcement off the word in one change.
  bool take(std::uint32_t announced) noexcept {
    std::uint32_t word = word_.load(detail::memory_order_relaxed);  // 2
    while ((word & notified_) != 0) {
      if (word_.compare_exchange_weak(word, word - notified_ - announced,
                                      detail::memory_order_acquire,     // 3
                                      detail::memory_order_relaxed)) {  // 2
        return true;
      }
    }
    return false;
  }

  std::uint32_t sleep(std::uint32_t announced, deadline until) {
    const std::uint32_t word =
        announced == 0 ? word_.fetch_add(one_, detail::memory_order_relaxed) + one_  // 4
                       : word_.load(detail::memory_order_relaxed);                   // 2
    if ((word & notified_) == 0) detail::futex_wait(word_, word, until.nanoseconds());
    return one_;
  }

  detail::wait_word word_;
  wait_policy policy_;
};

static_assert(sizeof(auto_reset_event) == 8, "a word of state, one of policy");

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_AUTO_RESET_EVENT_HPP
