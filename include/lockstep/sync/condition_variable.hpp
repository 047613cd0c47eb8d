// SPDX-License-Identifier: MIT
// lockstep/sync/condition_variable.hpp -- waiting under a lock until another thread says so (layer: sync)
//
// std::condition_variable_any by its operations, but without spurious wake-ups: wait() returns only for a
// notify_one() or notify_all() that came after it, or at its deadline. (The predicate may be false again
// all the same, because another thread was faster: use the forms that take one.) Works with any
// BasicLockable; with lockstep::mutex notified threads move to the mutex's queue and are woken one by one
// as it becomes free; with others each wakes the next when it has got the lock. So a notify_all() of many
// does not start a stampede in either case.
// To wait for one thing that happens once, latch, eventual and the events need no lock and are faster.
//
// Invariants
//   C1  word_ is the number of threads in the queue; it changes under the queue's lock.
//   C2  A thread is taken out of the queue by exactly one notification, or leaves it at its deadline,
//       under the queue's lock: a notification and a time-out never both count for it, and a notification
//       is not lost to a thread that timed out.
//   C3  A thread that was taken out is in its mutex's queue, or in the chain behind a notified thread,
//       or notified. It has no deadline any more: all it waits for is the lock.
//   C4  Waits that begin after a notification are not reached by it: they are not in the queue then.
//   C5  It may be destroyed when all its waiters have been notified, though they have not returned.
//
// Requires of threads that wait at the same time: the same lock. What happens before unlocking it by one
// thread happens before another's return from wait(), as the lock has it.
//
// Memory order (# marks the line)
//   #  access          order    pairs  why it suffices
//   1  word.load       relaxed  2      a waiter has counted itself before it gave up the lock under which
//                                      the notifier changed the predicate
//   2  word.fetch_add  relaxed  1      as 1; the queue's lock orders the changes
//   3  word.fetch_sub  relaxed  1      as 2
//
// Cost   notify with nobody waiting: one load. wait: a queue operation and the lock's own; no system call
//        unless it sleeps. 8 bytes.
// Source moving waiters to the mutex's queue: [BIRRELL89], [PARKING-LOT].
#ifndef LOCKSTEP_SYNC_CONDITION_VARIABLE_HPP
#define LOCKSTEP_SYNC_CONDITION_VARIABLE_HPP

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "../wait/deadline.hpp"
#include "../wait/misuse.hpp"
#include "../wait/parking_lot.hpp"
#include "mutex.hpp"

namespace lockstep {

class condition_variable {
 public:
  explicit constexpr condition_variable(wait_policy policy = wait_policy()) noexcept
      : word_(0), policy_(policy) {}
  ~condition_variable() { misuse::destroying(this, "lockstep::condition_variable"); }
  condition_variable(const condition_variable&) = delete;
  condition_variable& operator=(const condition_variable&) = delete;

  /// Lets the thread go that waits longest. It need not hold the lock.
  void notify_one() { notify(1); }
  /// Lets every thread go that waits now.
  void notify_all() { notify(~std::uint32_t{0}); }

  /// Gives `lock` up, waits for a notification, takes `lock` again. Requires: the thread holds `lock`.
  template <class Lock>
  void wait(Lock& lock) {
    block(lock, deadline::never());
  }
  template <class Lock, class Predicate>
  void wait(Lock& lock, Predicate predicate) {
    while (!predicate()) wait(lock);
  }

  /// As wait(), for at most `time`, and then until it has `lock` again.
  template <class Lock, class Rep, class Period>
  std::cv_status wait_for(Lock& lock, std::chrono::duration<Rep, Period> time) {
    return wait_until(lock, deadline::after(time));
  }
  template <class Lock, class Rep, class Period, class Predicate>
  bool wait_for(Lock& lock, std::chrono::duration<Rep, Period> time, Predicate predicate) {
    return wait_until(lock, deadline::after(time), predicate);
  }
  template <class Lock, class Clock, class Duration>
  std::cv_status wait_until(Lock& lock, std::chrono::time_point<Clock, Duration> point) {
    return wait_until(lock, deadline::at(point));
  }
  template <class Lock, class Clock, class Duration, class Predicate>
  bool wait_until(Lock& lock, std::chrono::time_point<Clock, Duration> point, Predicate predicate) {
    return wait_until(lock, deadline::at(point), predicate);
  }
  template <class Lock>
  std::cv_status wait_until(Lock& lock, deadline until) {
    return block(lock, until) ? std::cv_status::no_timeout : std::cv_status::timeout;
  }
  /// Returns what the predicate says in the end.
  template <class Lock, class Predicate>
  bool wait_until(Lock& lock, deadline until, Predicate predicate) {
    while (!predicate()) {
      if (!block(lock, until)) return predicate();
    }
    return true;
  }

  wait_policy policy() const noexcept { return policy_; }

 private:
  /// A waiting thread. `target` is the mutex in whose queue it goes on waiting, if it can.
  struct waiter : parked_thread {
    mutex* target;
    std::uint64_t number;  // of the thread; for the diagnosis of misuse only

    explicit waiter(mutex* of) noexcept
        : target(of), number(misuse::diagnosed ? platform::number_of_this_thread() : 0) {}
  };

  std::uintptr_t key() const noexcept {
    return parking_lot::key(word_, parking_lot::kind::condition_variable);
  }

  static mutex* target_of(mutex& lock) noexcept { return &lock; }
  static mutex* target_of(std::unique_lock<mutex>& lock) noexcept { return lock.mutex(); }
  template <class Lock>
  static mutex* target_of(Lock&) noexcept {
    return nullptr;
  }

  /// The mutex was taken for this thread; its lock object has to learn of it.
  static void adopt(mutex&) noexcept {}
  static void adopt(std::unique_lock<mutex>& lock) {
    mutex* const owned = lock.release();
    lock = std::unique_lock<mutex>(*owned, std::adopt_lock);
  }
  template <class Lock>
  static void adopt(Lock&) noexcept {}

  /// One wait; false if it timed out.
  template <class Lock>
  bool block(Lock& lock, deadline until) {
    waiter self(target_of(lock));
    const wait_policy policy = policy_;
    misuse::waiting(this);
    {
      parking_lot::queue waiters(key());
      word_.fetch_add(1, platform::memory_order_relaxed);  // 2
      waiters.push_back(self);
    }
    lock.unlock();
    const bool notified = self.wait(policy, until) || !leave(self);
    // Once notified, nothing of the condition variable is touched (C5).
    if (notified && self.target != nullptr) {
      self.target->finish(self, deadline::never());
      misuse::locked(self.target);
      adopt(lock);
      return true;
    }
    if (notified) self.wait(policy);
    lock.lock();
    if (self.chained() != nullptr) wake_list().notify(*self.chained());
    return notified;
  }

  /// Leaves the queue; false if the thread was notified before that.
  bool leave(waiter& self) {
    parking_lot::queue waiters(key());
    if (!waiters.contains(self)) return false;
    waiters.remove(self);
    word_.fetch_sub(1, platform::memory_order_relaxed);  // 3
    misuse::let_go(this, self.number);
    return true;
  }

  void notify(std::uint32_t most) {
    // Those that begin to wait while we work are not ours to notify (C4).
    const std::uint32_t there = word_.load(platform::memory_order_relaxed);  // 1
    if (there == 0) return;
    mutex* target = nullptr;
    parked_chain moved, others;
    {
      parking_lot::queue waiters(key());
      const std::uint32_t wanted = there < most ? there : most;
      std::uint32_t taken = 0;
      for (; taken < wanted && !waiters.empty(); ++taken) {
        waiter& next = static_cast<waiter&>(*waiters.front());
        waiters.remove(next);
        misuse::let_go(this, next.number);
        if (next.target != nullptr) check_same(target, next.target);
        (next.target != nullptr ? moved : others).append(next);
      }
      if (taken > 0) word_.fetch_sub(taken, platform::memory_order_relaxed);  // 3
    }
    if (target != nullptr) target->adopt(moved);
    if (!others.empty()) wake_list().notify(*others.first());
  }

  void check_same(mutex*& target, mutex* another) const {
    if (misuse::diagnosed && target != nullptr && target != another) {
      misuse::report(this, "lockstep::condition_variable", "waited on with two mutexes at a time");
    }
    target = another;
  }

  platform::wait_word word_;
  wait_policy policy_;
};

static_assert(sizeof(condition_variable) == 8, "a word of state and a policy");

}  // namespace lockstep

#endif  // LOCKSTEP_SYNC_CONDITION_VARIABLE_HPP
