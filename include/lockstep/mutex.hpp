// SPDX-License-Identifier: MIT
// lockstep/mutex.hpp -- mutual exclusion, fair under contention (layer: sync)
//
// One thread at a time is between lock() and unlock(). What happens before an unlock happens before the
// return of the next lock. A std::timed_mutex by its operations: works with std::unique_lock and
// std::scoped_lock. Not recursive: see recursive_mutex.hpp. For many readers see shared_mutex.hpp.
//
// Invariants
//   M1  At most one thread holds the lock; it alone clears locked_.
//   M2  Whoever queues up has seen the lock held or reserved, and sets waiting_ under the queue's lock;
//       so an unlock that comes later finds the bit. waiting_ is set as long as the queue is not empty.
//   M3  waking_ is set from the moment a waiter is taken out of the queue to wake until it has the lock,
//       is back in the queue, or has given up. Only one is on its way at a time. As long it is in the
//       list of those on their way, so that a child of fork() can clear the bit (Q4 of parking_lot.hpp).
//   M4  Bounded bypass. While somebody waits or wakes, every acquisition by anybody but the one that was
//       woken counts; after bypass_limit the lock is reserved for that one. It is also reserved once
//       somebody was woken and found the lock taken. So a thread that is queued behind p others is
//       overtaken at most (p + 1) * (bypass_limit + 1) times, where p counts those that M6 let go as well.
//       Before it queues it polls for a bounded time: 2 us and the pause that is under way then (1.7 us),
//       and 80 us of yields.
//   M5  The mutex may be destroyed by the thread that has locked and unlocked it last: an unlock touches
//       nothing after its change of the word, unless the queue has a waiter (Q2 of parking_lot.hpp).
//   M6  A thread that goes to sleep on a condition leaves its CPU to one more waiter: it lets the first one
//       go ahead of its turn, beside the one that is on its way. That waiter leaves the queue as at a
//       time-out and tries as one that has just come; in vain, it goes back to the queue's front. It is let
//       go so once: nobody is while such a waiter is the first. With one on its way at a time, a chain of
//       broadcasts to 64 threads on 2 CPUs had a CPU halt and be woken at every second thread: 320 us, 80 so.
//
//   word_   bit 0 locked   bit 1 waiting   bit 2 waking   bits 3..31 bypasses; all zero: free
//
// Memory order (# marks the line; each weakening must fail a test)
//   #  access            order    pairs  why it suffices
//   1  word.compare_exch acquire  2      we see what the last holder did
//   2  word.fetch_sub    release  1      the other half
//   3  word.load         relaxed  -      a guess for the compare-exchange that follows
//   4  word.compare_exch relaxed  -      changes that take no lock; the queue's lock orders them (M2),
//                                        and they keep the release sequence of 2
//   5  word.fetch_or     relaxed  -      as 4
//
// Cost   lock and unlock: one read-modify-write each. No system call unless somebody sleeps. 8 bytes.
// Source the queue beside the word: [PARKING-LOT]; letting others in while a waiter wakes, and ending
//        that after a while: [GO-MUTEX]; here by a count instead of a time.
#ifndef LOCKSTEP_MUTEX_HPP
#define LOCKSTEP_MUTEX_HPP

#include <chrono>
#include <cstdint>

#include "detail/platform/system.hpp"
#include "detail/wait/misuse.hpp"
#include "detail/wait/parking_lot.hpp"
#include "detail/wait/wait_engine.hpp"
#include "wait_policy.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {

class mutex {
 public:
  /// How many acquisitions may overtake a waiter that has been woken and is on its way. It takes 20 to
  /// 50 us to wake up on another CPU, 1000 to 2500 acquisitions of 20 ns: fewer than that would leave
  /// the lock idle for the rest of that time.
  static constexpr std::uint32_t bypass_limit = 4096;

  explicit constexpr mutex(wait_policy policy = wait_policy()) noexcept
      : word_(0), policy_(policy) {}
  ~mutex() { detail::misuse::destroying_lock(this, kind()); }
  mutex(const mutex&) = delete;
  mutex& operator=(const mutex&) = delete;

  /// Blocks until the calling thread holds the lock. Requires: it does not hold it yet.
  void lock() {
    detail::misuse::locking(this, kind());
    std::uint32_t free = 0;
    if (!word_.compare_exchange_strong(free, locked_, detail::memory_order_acquire,  // 1
                                       detail::memory_order_relaxed)) {              // 3
      lock_slowly(deadline::never());
    }
    detail::misuse::locked(this);
  }

  /// Takes the lock if it is free and not reserved; never blocks.
  bool try_lock() noexcept {
    const bool taken = try_take();
    if (taken) detail::misuse::locked(this);
    return taken;
  }

  /// As lock(), for at most `time`; false if the lock was not to be had.
  template <class Rep, class Period>
  bool try_lock_for(std::chrono::duration<Rep, Period> time) {
    return try_lock_until(deadline::after(time));
  }
  template <class Clock, class Duration>
  bool try_lock_until(std::chrono::time_point<Clock, Duration> point) {
    return try_lock_until(deadline::at(point));
  }
  bool try_lock_until(deadline until) {
    detail::misuse::locking(this, kind());
    const bool taken = try_take() || lock_slowly(until);
    if (taken) detail::misuse::locked(this);
    return taken;
  }

  /// Requires: the calling thread holds the lock.
  void unlock() {
    detail::misuse::unlocking(this, kind());
    const std::uint32_t old = word_.fetch_sub(locked_, detail::memory_order_release);  // 2
    if ((old & (waiting_ | waking_)) == waiting_) wake_next();
  }

  wait_policy policy() const noexcept { return policy_; }

 private:
  friend class condition_variable;
  static constexpr std::uint32_t locked_ = 1, waiting_ = 2, waking_ = 4, one_bypass_ = 8;

  static const char* kind() noexcept { return "lockstep::mutex"; }
  static bool reserved(std::uint32_t word) noexcept { return word >= bypass_limit * one_bypass_; }
  /// What is left when nobody waits any more: the bypasses count from zero again.
  static std::uint32_t without_waiters(std::uint32_t word) noexcept {
    return (word & waking_) != 0 ? word & ~waiting_ : word & locked_;
  }
  std::uintptr_t key() const noexcept {
    return detail::parking_lot::key(word_, detail::parking_lot::kind::mutex);
  }

  static_assert(detail::parking_lot::without_waiters(detail::parking_lot::kind::mutex) == locked_,
                "Q4");

  bool change(std::uint32_t& old, std::uint32_t wanted) noexcept {
    return word_.compare_exchange_strong(old, wanted, detail::memory_order_relaxed,  // 4
                                         detail::memory_order_relaxed);              // 3
  }
  bool take(std::uint32_t& old, std::uint32_t wanted) noexcept {
    return word_.compare_exchange_strong(old, wanted, detail::memory_order_acquire,  // 1
                                         detail::memory_order_relaxed);              // 3
  }

  bool try_take() noexcept {
    std::uint32_t word = word_.load(detail::memory_order_relaxed);  // 3
    while ((word & locked_) == 0 && !reserved(word)) {
      const std::uint32_t bypass = (word & (waiting_ | waking_)) != 0 ? one_bypass_ : 0;
      if (take(word, (word | locked_) + bypass)) return true;
    }
    return false;
  }

  /// As try_take(), for the one that was woken.
  bool try_take_woken() noexcept {
    std::uint32_t word = word_.load(detail::memory_order_relaxed);  // 3
    while ((word & locked_) == 0) {
      if (take(word, (word & waiting_) | locked_)) return true;
    }
    return false;
  }

  /// What the wait engine looks at before a thread queues up. Looks less and less often, because each
  /// look takes the word's line away from the holder.
  struct attempt {
    mutex& owner;
    bool woken;
    unsigned pause = 8;

    attempt(mutex& of, bool was_woken) noexcept : owner(of), woken(was_woken) {}
    bool ready() noexcept { return woken ? owner.try_take_woken() : owner.try_take(); }
    unsigned pauses() noexcept {
      const unsigned now = pause;
      if (pause < longest_pause) pause *= 2;
      return now;
    }
    static constexpr unsigned longest_pause = 64;
  };

  LOCKSTEP_NOINLINE bool lock_slowly(deadline until) {
    const detail::misuse::waiting_scope waiting(this);
    attempt now(*this, false);
    if (detail::wait_engine::linger(now, policy_, detail::this_thread_history(), until))
      return true;
    detail::parked_thread self;
    return !enqueue(self, false) || finish(self, until);
  }

  /// Queues the thread up, unless the lock could be taken in the end: then it is.
  bool enqueue(detail::parked_thread& self, bool at_the_front) {
    detail::parking_lot::queue waiters(key());
    std::uint32_t word = word_.load(detail::memory_order_relaxed);  // 3
    do {
      if (try_take()) return false;
      word = word_.load(detail::memory_order_relaxed);  // 3
    } while (((word & locked_) == 0 && !reserved(word)) || !change(word, word | waiting_));
    if (at_the_front) {
      waiters.push_front(self);
    } else {
      waiters.push_back(self);
    }
    return true;
  }

  static bool is_over(deadline until) {
    return !until.is_never() && until.is_past(detail::monotonic_nanoseconds());
  }

  /// From the queue to the lock; false if `until` came first.
  bool finish(detail::parked_thread& self, deadline until) {
    if (!self.wait(policy_, until) && leave(self)) return false;
    if (self.was_ahead()) {
      attempt now(*this, false);
      if (detail::wait_engine::linger(now, policy_, detail::this_thread_history(), until))
        return true;
      if (is_over(until)) return false;
      self.renew();
      if (!enqueue(self, true)) return true;
      if (!self.wait(policy_, until) && leave(self)) return false;
    }
    return finish_woken(self, until);
  }

  /// As finish(), for the one that is on its way.
  bool finish_woken(detail::parked_thread& self, deadline until) {
    while (true) {
      attempt now(*this, true);
      if (detail::wait_engine::linger(now, policy_, detail::this_thread_history(), until))
        return arrive(self);
      if (is_over(until)) return give_up(self);
      if (!enqueue_first(self)) return true;
      if (!self.wait(policy_, until) && leave(self)) return false;
    }
  }

  /// Is on its way no more.
  bool arrive(detail::parked_thread& self) {
    detail::parking_lot::queue(key()).arrive(self);
    return true;
  }

  /// Back to the queue's front after a try in vain, with the lock reserved; false if it was taken instead.
  bool enqueue_first(detail::parked_thread& self) {
    detail::parking_lot::queue waiters(key());
    waiters.arrive(self);
    self.renew();
    std::uint32_t word = word_.load(detail::memory_order_relaxed);  // 3
    do {
      if (try_take_woken()) return false;
      word = word_.load(detail::memory_order_relaxed);  // 3
    } while ((word & locked_) == 0 ||
             !change(word, locked_ | waiting_ | bypass_limit * one_bypass_));
    waiters.push_front(self);
    return true;
  }

  /// Leaves the queue; false if the thread was taken out of it, and so is the one that was woken.
  bool leave(detail::parked_thread& self) {
    detail::parking_lot::queue waiters(key());
    if (!waiters.contains(self)) return false;
    waiters.remove(self);
    clear_mark_of(waiters);
    return true;
  }
  /// After a waiter has left the queue.
  void clear_mark_of(const detail::parking_lot::queue& waiters) noexcept {
    std::uint32_t word = word_.load(detail::memory_order_relaxed);  // 3
    while (waiters.empty() && !change(word, without_waiters(word))) continue;
  }

  /// The one that was woken goes without the lock, or takes it at the last moment.
  bool give_up(detail::parked_thread& self) {
    detail::parking_lot::queue waiters(key());
    waiters.arrive(self);
    std::uint32_t word = word_.load(detail::memory_order_relaxed);  // 3
    do {
      if (try_take_woken()) return true;
      word = word_.load(detail::memory_order_relaxed);  // 3
    } while ((word & locked_) == 0 ||
             !change(word, (word & waiting_) != 0 ? word & ~waking_ : locked_));
    return false;
  }

  /// Sends the next waiter on its way, unless one is already.
  LOCKSTEP_NOINLINE void wake_next() {
    detail::wake_list woken;
    detail::parking_lot::queue waiters(key());
    detail::parked_thread* const next = waiters.front();
    if (next == nullptr) return;
    const std::uint32_t left = waiters.behind(*next) != nullptr ? waiting_ : 0u;
    std::uint32_t word = word_.load(detail::memory_order_relaxed);  // 3
    do {
      if ((word & waking_) != 0) return;
    } while (!change(word, (word & ~waiting_) | left | waking_));
    waiters.send_out(*next);
    woken.notify(*next);
  }

  /// True if somebody waits behind one that is on its way. A hint, for the holder: its unlock will wake nobody.
  bool has_more_waiters() const noexcept {
    constexpr std::uint32_t both = waiting_ | waking_;
    return (word_.load(detail::memory_order_relaxed) & both) == both;  // 3
  }
  /// For a thread that is about to sleep, after its unlock (M6).
  LOCKSTEP_NOINLINE void let_one_go_ahead() {
    detail::wake_list woken;
    detail::parking_lot::queue waiters(key());
    detail::parked_thread* const next = waiters.front();
    if (next == nullptr || next->was_ahead()) return;
    waiters.send_ahead(*next);
    clear_mark_of(waiters);
    woken.notify(*next);
  }

  /// Queues up threads that another object has let go; they come back with finish(). Lets the first one
  /// go if the lock is free.
  void adopt(const detail::parked_chain& threads) {
    bool is_idle = false;
    {
      detail::parking_lot::queue waiters(key());
      for (detail::parked_thread* each = threads.first(); each != nullptr; each = each->chained()) {
        waiters.push_back(*each);
      }
      const std::uint32_t old = word_.fetch_or(waiting_, detail::memory_order_relaxed);  // 5
      is_idle = (old & (locked_ | waking_)) == 0;
    }
    if (is_idle) wake_next();
  }

  detail::wait_word word_;
  wait_policy policy_;
};

static_assert(sizeof(mutex) == 8, "a word of state and a policy");

/// For programs that change a type: the timed operations are there.
using timed_mutex = mutex;

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_MUTEX_HPP
