// SPDX-License-Identifier: MIT
// lockstep/event.hpp -- one thread tells another that something has happened (layer: sync)
//
//   event               counts: every notification lets exactly one wait return. One notifier at a time,
//                       one waiter. The fastest of the three. It can be terminated.
//   auto_reset_event    remembers one notification: it lets one of many waiters return. A notification that
//                       finds one pending merges with it. Many notifiers, many waiters.
//   manual_reset_event  is a gate: open from notify() until reset(); every wait on an open gate returns.
//
// For one notifier and many waiters, or the reverse, see fan_out and fan_in. To count with many waiters use
// counting_semaphore; for a gate that opens once, latch; for a value, eventual.
//
// When all waits have returned, the last waiter may destroy the object, also while notify() has not returned yet. What the
// bits of each word mean: src/sync/event.cpp.
//
// Order  what happens before a notify() happens before the return of every wait that it lets through.
// Errors none of these functions fails. A second waiter, or a second notifier at a time, of an event: undefined.
//        Debug builds end the program where one of the three is destroyed while a thread waits on it.
#ifndef LOCKSTEP_EVENT_HPP
#define LOCKSTEP_EVENT_HPP

#include <chrono>
#include <cstdint>

#include <lockstep/call_site.hpp>
#include <lockstep/detail/platform/atomic.hpp>
#include <lockstep/detail/platform/config.hpp>
#include <lockstep/detail/wait/misuse.hpp>
#include <lockstep/detail/wait/waiters.hpp>
#include <lockstep/wait_policy.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {

/// No notification is lost, none merges with another, and a wait may come before or after its notification.
///
/// Memory order (# marks the line; each weakening must fail a test)
///   #  access           order    pairs  why it suffices
///   1  word.fetch_add   release  2      the waiter sees what came before notify()
///   2  word.load        acquire  1, 3   the other half
///   3  word.fetch_or    release  2      as 1, for terminate()
///   4  word.load        relaxed  -      the look for terminate() that follows is 2, of the same word
///
/// Cost   notify: one RMW. wait: one load if notified before, else a refetch of the line. A hop between two
///        threads takes 49 ns where a line transfer takes 50. No system call unless the
///        waiter sleeps. 16 bytes: 8 of state, 4 of policy, 4 of history.
/// Example
///   int answer = 0;
///   lockstep::event done;
///   lockstep::joinable_thread other([&] { answer = 42; done.notify(); });
///   done.wait();
class event : detail::misuse::watched<event> {
 public:
  explicit constexpr event(wait_policy policy = wait_policy()) noexcept
      : event(detail::first_phase{0}, policy) {}
  event(const event&) = delete;
  event& operator=(const event&) = delete;

  /// Lets one wait() return. Requires: one notifier at a time, fewer than 2^30 notifications pending.
  void notify() {
    detail::notify_point(&word_);
    const std::uint32_t old = word_.fetch_add(one_, detail::memory_order_release);  // 1
    detail::wake_sleepers(&word_, old);
  }

  /// Takes a notification if one is there; never blocks.
  bool try_wait() noexcept {
    const std::uint32_t word = word_.load(detail::memory_order_acquire);  // 2
    if ((word & terminated_) != 0 || (word & count_) == taken_) return false;
    taken_ += one_;
    return true;
  }

  /// Blocks until a notification is there and takes it; false once terminated.
  /// Requires: one waiter at a time.
  bool wait(call_site where = {}) {
    return wait_until(deadline::never(), where) == wait_status::ready;
  }

  /// As wait(), for at most `time`. Nothing was taken unless it says ready.
  template <class Rep, class Period>
  wait_status wait_for(std::chrono::duration<Rep, Period> time, call_site where = {}) {
    return wait_until(deadline::after(time), where);
  }
  wait_status wait_until(deadline until, call_site where = {}) {
    const std::uint32_t word = word_.load(detail::memory_order_relaxed);  // 4
    if (!is_over(word, taken_) && !wait_slowly(until, where)) return wait_status::timed_out;
    if (terminated()) return wait_status::terminated;
    taken_ += one_;
    return wait_status::ready;
  }

  /// Releases the waiter. From now on every wait returns at once. Any thread may call it.
  void terminate() {
    const std::uint32_t old = word_.fetch_or(terminated_, detail::memory_order_release);  // 3
    detail::wake_sleepers(&word_, old);
  }
  bool terminated() const noexcept {
    return (word_.load(detail::memory_order_acquire) & terminated_) != 0;  // 2
  }

  wait_policy policy() const noexcept { return policy_; }

 protected:
  constexpr event(detail::first_phase count, wait_policy policy) noexcept
      : word_(count.value * one_), taken_(count.value * one_), policy_(policy), history_() {}

 private:
  friend class detail::misuse::watched<event>;
  static constexpr const char* kind = "lockstep::event";
  static constexpr std::uint32_t terminated_ = 2, one_ = 4, count_ = ~std::uint32_t{3};

  struct next_notification;

  /// Whether a wait is over whose waiter had taken `taken` notifications.
  static bool is_over(std::uint32_t word, std::uint32_t taken) noexcept {
    return (word & terminated_) != 0 || (word & count_) != taken;
  }
  /// False if `until` came first.
  bool wait_slowly(deadline until, call_site where);

  detail::wait_word word_;
  std::uint32_t taken_;  // the waiter's own
  wait_policy policy_;
  detail::wait_history history_;
};

/// Many threads may notify and wait. What happens before a notify() that finds a notification pending happens before the
/// return of the wait that takes it, too. Waiters return in no particular order.
///
/// Memory order (# marks the line; each weakening must fail a test)
///   #  access            order    pairs  why it suffices
///   1  word.fetch_or     release  3      the taker sees what came before notify(). All changes are
///                                        read-modify-writes, so it sees merged notifiers, too
///   2  word.load         relaxed  -      a hint: 3 decides
///   3  word.compare_exch acquire  1      the other half of 1; the taker publishes nothing: no release
///
/// Cost   notify: one RMW, and a wake of one thread if any sleeps. wait: one RMW if notified before, two if
///        it has slept. 8 bytes: 4 of state, 4 of policy.
/// Example
///   lockstep::auto_reset_event more_work;
///   lockstep::joinable_thread worker([&] { more_work.wait(); });
///   more_work.notify();
class auto_reset_event : detail::misuse::watched<auto_reset_event> {
 public:
  explicit constexpr auto_reset_event(wait_policy policy = wait_policy()) noexcept
      : word_(0), policy_(policy) {}
  auto_reset_event(const auto_reset_event&) = delete;
  auto_reset_event& operator=(const auto_reset_event&) = delete;

  /// Makes a notification pending, if none is; never blocks.
  void notify() {
    detail::notify_point(&word_);
    const std::uint32_t old = word_.fetch_or(notified_, detail::memory_order_release);  // 1
    if ((old & notified_) == 0 && old >= sleeper_) detail::wake_one_sleeper(&word_);
  }

  /// Takes the notification if one is pending; never blocks.
  bool try_wait() noexcept { return take(0); }

  /// Blocks until a notification is there and takes it.
  void wait(call_site where = {}) { wait_until(deadline::never(), where); }

  /// As wait(), for at most `time`: ready or timed_out. Nothing was taken unless it says ready.
  template <class Rep, class Period>
  wait_status wait_for(std::chrono::duration<Rep, Period> time, call_site where = {}) {
    return wait_until(deadline::after(time), where);
  }
  wait_status wait_until(deadline until, call_site where = {}) {
    return take(0) ? wait_status::ready : wait_slowly(until, where);
  }

  wait_policy policy() const noexcept { return policy_; }

 private:
  friend class detail::misuse::watched<auto_reset_event>;
  static constexpr const char* kind = "lockstep::auto_reset_event";
  static constexpr std::uint32_t notified_ = 1, sleeper_ = 2;

  struct taker;

  /// Takes a notification and the waiter's own announcement off the word in one change.
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
  wait_status wait_slowly(deadline until, call_site where);

  detail::wait_word word_;
  wait_policy policy_;
};

/// Every wait that began before a notify() returns, even if a reset() follows at once. Any number of threads may notify
/// and wait.
/// What happens before a notify() also happens before the return of the reset() that closes the gate again. So a thread
/// that resets, looks at the data and then waits misses nothing.
///
/// Memory order (# marks the line; each weakening must fail a test)
///   #  access            order    pairs  why it suffices
///   1  word.fetch_or     release  2, 3   the waiter sees what came before notify(), also if the gate was
///                                        open: every notify() is a read-modify-write
///   2  word.load         acquire  1      the other half; reset() keeps the release sequence of 1
///   3  word.compare_exch acquire  1      the thread that resets sees what was notified; see above
///   4  word.load         relaxed  -      a guess for 3; found closed, this reset does nothing
///
/// Cost   notify: one RMW. reset: one RMW if open. wait: one load if open. No system call unless a waiter
///        sleeps; then one, for the notify() that opens. 8 bytes: 4 of state, 4 of policy.
/// Example
///   lockstep::manual_reset_event may_run;
///   lockstep::joinable_thread worker([&] { may_run.wait(); });
///   may_run.notify();
///   may_run.reset();
class manual_reset_event : detail::misuse::watched<manual_reset_event> {
 public:
  /// Closed.
  explicit constexpr manual_reset_event(wait_policy policy = wait_policy()) noexcept
      : manual_reset_event(detail::first_phase{0}, policy) {}
  manual_reset_event(const manual_reset_event&) = delete;
  manual_reset_event& operator=(const manual_reset_event&) = delete;

  /// Opens the gate and releases all waiters.
  void notify() {
    detail::notify_point(&word_);
    const std::uint32_t old = word_.fetch_or(open_, detail::memory_order_release);  // 1
    if ((old & open_) == 0) detail::wake_sleepers(&word_, old);
  }

  /// Closes the gate; does nothing if it is closed.
  void reset() noexcept {
    std::uint32_t word = word_.load(detail::memory_order_relaxed);  // 4
    // The open bit plus itself carries into the count: one addition closes and counts. The sleeping bit
    // belongs to waiters that notify() has woken.
    while ((word & open_) != 0 &&
           !word_.compare_exchange_weak(word, (word & ~detail::sleeping_bit) + open_,
                                        detail::memory_order_acquire,     // 3
                                        detail::memory_order_relaxed)) {  // 4
    }
  }

  bool is_open() const noexcept {
    return (word_.load(detail::memory_order_acquire) & open_) != 0;  // 2
  }

  /// True if wait() would return at once; never blocks.
  bool try_wait() const noexcept { return is_open(); }

  /// Blocks until the gate is open, or was opened since the call began.
  void wait(call_site where = {}) { wait_until(deadline::never(), where); }

  /// As wait(), for at most `time`: ready or timed_out.
  template <class Rep, class Period>
  wait_status wait_for(std::chrono::duration<Rep, Period> time, call_site where = {}) {
    return wait_until(deadline::after(time), where);
  }
  wait_status wait_until(deadline until, call_site where = {}) {
    const std::uint32_t word = word_.load(detail::memory_order_acquire);  // 2
    return (word & open_) != 0 ? wait_status::ready : wait_slowly(word, until, where);
  }

  wait_policy policy() const noexcept { return policy_; }

 protected:
  constexpr manual_reset_event(detail::first_phase resets, wait_policy policy) noexcept
      : word_(resets.value * reset_), policy_(policy) {}

 private:
  friend class detail::misuse::watched<manual_reset_event>;
  static constexpr const char* kind = "lockstep::manual_reset_event";
  static constexpr std::uint32_t open_ = 2, reset_ = 4;

  struct was_opened;

  /// `word` was read while the gate was closed.
  wait_status wait_slowly(std::uint32_t word, deadline until, call_site where);

  detail::wait_word word_;
  wait_policy policy_;
};

static_assert(sizeof(event) == 16, "two words of state, one of policy, one of history");
static_assert(sizeof(auto_reset_event) == 8 && sizeof(manual_reset_event) == 8,
              "a word of state, one of policy");

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_EVENT_HPP
