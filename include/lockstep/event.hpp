// SPDX-License-Identifier: MIT
// lockstep/event.hpp -- one thread notifies, one other waits, 1:1 (layer: sync)
//
// Every notify() lets exactly one wait() return, whichever comes first: notifications are counted, none
// is lost, and none is merged with another. What happens before notify() happens before the return of
// the wait() that takes it. After terminate() every wait returns at once and says so.
// Not for several waiters (fan_out) or notifiers (fan_in).
//
// Invariants, n = count in word_, t = taken_
//   E1  0 <= n - t < 2^30 (modulo 2^30): a notifier may be that far ahead; wrap-around is harmless.
//   E2  The waiter sleeps only on a word whose sleeping bit is set and whose count is t; whoever changes
//       the word finds the bit in the old value and wakes.
//   E3  The notifier touches nothing after its change of the word but the address, in a futex wake: the
//       waiter may destroy the event as soon as its wait has returned.
//
//   word_     bits 2..31 count   bit 1 terminated   bit 0 sleeping (may be set with no sleeper)
//
// Memory order (# marks the line; each weakening must fail a test)
//   #  access            order    pairs  why it suffices
//   1  word.fetch_add    release  2      the waiter sees what came before notify()
//   2  word.load         acquire  1, 3   the other half
//   3  word.fetch_or     release  2      as 1, for terminate()
//   4  word.compare_exch relaxed  1, 3   the bit and the count are one word: the change order suffices
//   5  word.fetch_and    relaxed  -      clears our own bit; keeps the release sequence of 1
//
// Cost   notify: one RMW. wait: one load when notified before, else a refetch of the line. No system
//        call unless the waiter sleeps. 16 bytes: 8 of state, 4 of policy, 4 of history.
#ifndef LOCKSTEP_EVENT_HPP
#define LOCKSTEP_EVENT_HPP

#include <cstdint>

#include "detail/platform/cache_line.hpp"
#include "detail/platform/config.hpp"
#include "detail/wait/misuse.hpp"
#include "detail/wait/word_waiter.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {

class event : detail::misuse::watched<event> {
 public:
  /// Tests pass `first_count` to start next to wrap-around.
  explicit constexpr event(wait_policy policy = wait_policy(),
                           std::uint32_t first_count = 0) noexcept
      : word_(first_count * one_), taken_(first_count * one_), policy_(policy), history_() {}
  event(const event&) = delete;
  event& operator=(const event&) = delete;

  /// Lets one wait() return. Requires: one notifier at a time, fewer than 2^30 notifications pending.
  void notify() { wake_if_sleeping(word_.fetch_add(one_, detail::memory_order_release)); }  // 1

  /// Blocks until a notification is there and takes it; false once terminated.
  /// Requires: one waiter at a time. The event may be destroyed when this has returned true.
  bool wait() { return wait_until(deadline::never()) == wait_status::ready; }

  /// Takes a notification if one is there; never blocks.
  bool try_wait() noexcept {
    const state now{*this};
    if (!now.notified(now.load())) return false;
    take();
    return true;
  }

  /// As wait(), for at most `time`.
  template <class Rep, class Period>
  wait_status wait_for(std::chrono::duration<Rep, Period> time) {
    return wait_until(deadline::after(time));
  }
  wait_status wait_until(deadline until) {
    state now{*this};
    const bool in_time = detail::wait_watched(now, this, policy_, history_, until,
                                              detail::wait_engine::single_yield_time);
    if (now.announced) word_.fetch_and(~sleeping_, detail::memory_order_relaxed);  // 5
    if (!in_time) return wait_status::timed_out;
    if (terminated()) return wait_status::terminated;
    take();
    return wait_status::ready;
  }

  /// Releases the waiter; from now on every wait returns at once. Any thread may call it.
  void terminate() {
    wake_if_sleeping(word_.fetch_or(terminated_, detail::memory_order_release));  // 3
  }
  bool terminated() const noexcept {
    return (word_.load(detail::memory_order_acquire) & terminated_) != 0;  // 2
  }

 private:
  friend class detail::misuse::watched<event>;
  static constexpr std::uint32_t sleeping_ = 1, terminated_ = 2, one_ = 4;
  static constexpr const char* kind = "lockstep::event";

  /// What the wait engine looks at.
  struct state {
    event& owner;
    bool announced;

    explicit state(event& of) noexcept : owner(of), announced(false) {}
    std::uint32_t load() const noexcept {
      return owner.word_.load(detail::memory_order_acquire);  // 2
    }
    bool notified(std::uint32_t word) const noexcept {
      return (word & terminated_) == 0 && (word & ~(one_ - 1)) != owner.taken_;
    }
    bool ready() const noexcept { return done(load()); }
    bool done(std::uint32_t word) const noexcept {
      return (word & terminated_) != 0 || notified(word);
    }
    void sleep(deadline until) {
      std::uint32_t word = load();
      if (done(word)) return;
      announced = true;
      if ((word & sleeping_) == 0 &&
          !owner.word_.compare_exchange_strong(word, word | sleeping_,
                                               detail::memory_order_relaxed,     // 4
                                               detail::memory_order_relaxed)) {  // 4
        return;
      }
      detail::futex_wait(owner.word_, word | sleeping_, until.nanoseconds());
    }
  };

  void take() noexcept { taken_ += one_; }

  void wake_if_sleeping(std::uint32_t old) {
    if ((old & sleeping_) != 0) detail::futex_wake_all(&word_);
  }

  detail::wait_word word_;
  std::uint32_t taken_;
  wait_policy policy_;
  detail::wait_history history_;
};

static_assert(sizeof(event) == 16, "two words of state, one of policy, one of history");

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_EVENT_HPP
