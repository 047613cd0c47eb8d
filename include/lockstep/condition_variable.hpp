// SPDX-License-Identifier: MIT
// lockstep/condition_variable.hpp -- waiting under a lock until another thread says so (layer: sync)
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
//   C6  A chain changes under the queue's lock. If lock() throws, the chain is passed on before the
//       exception leaves wait(); if unlock() throws, the thread leaves queue or chain before. So the
//       others do not miss it. After an exception of lock() the thread does not hold the lock.
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
#ifndef LOCKSTEP_CONDITION_VARIABLE_HPP
#define LOCKSTEP_CONDITION_VARIABLE_HPP

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "detail/wait/misuse.hpp"
#include "detail/wait/parking_lot.hpp"
#include "mutex.hpp"
#include "wait_policy.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {

class condition_variable {
 public:
  explicit constexpr condition_variable(wait_policy policy = wait_policy()) noexcept
      : word_(0), policy_(policy) {}
  ~condition_variable() { detail::misuse::destroying(this, "lockstep::condition_variable"); }
  condition_variable(const condition_variable&) = delete;
  condition_variable& operator=(const condition_variable&) = delete;

  /// Lets the thread go that waits longest. It need not hold the lock.
  void notify_one() { notify(1); }
  /// Lets every thread go that waits now.
  void notify_all() { notify(~std::uint32_t{0}); }

  /// Gives `lock` up, waits for a notification, takes `lock` again. Requires: the thread holds `lock`.
  /// A std::unique_lock that does not own throws std::system_error, operation_not_permitted.
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
  struct waiter : detail::parked_thread {
    mutex* target;
    waiter* before = nullptr;  // whose turn it is to notify this one: its predecessor in a chain
    waiter* behind = nullptr;
    std::uint64_t number;  // of the thread; for the diagnosis of misuse only

    explicit waiter(mutex* of) noexcept
        : target(of), number(detail::misuse::diagnosed ? detail::number_of_this_thread() : 0) {}
  };

  /// Threads that were taken out of the queue at one time.
  struct taken_out {
    detail::parked_chain moved;  // to their mutex
    mutex* target = nullptr;
    waiter* first = nullptr;  // of those with other locks
    waiter* last = nullptr;

    void append(waiter& next) noexcept {
      if (next.target != nullptr) {
        target = next.target;
        return moved.append(next);
      }
      next.before = last;
      (last != nullptr ? last->behind : first) = &next;
      last = &next;
    }
  };

  std::uintptr_t key() const noexcept {
    return detail::parking_lot::key(word_, detail::parking_lot::kind::condition_variable);
  }
  static_assert(
      detail::parking_lot::without_waiters(detail::parking_lot::kind::condition_variable) == 0,
      "Q4");

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

  template <class Mutex>
  static bool is_owner(const std::unique_lock<Mutex>& lock) noexcept {
    return lock.owns_lock();
  }
  template <class Lock>
  static bool is_owner(const Lock&) noexcept {
    return true;  // nobody can ask it
  }

  /// One wait; false if it timed out.
  template <class Lock>
  bool block(Lock& lock, deadline until) {
    if (!is_owner(lock)) lock.unlock();  // throws
    waiter self(target_of(lock));
    const wait_policy policy = policy_;
    const std::uintptr_t queue = key();
    detail::misuse::waiting(this);
    {
      detail::parking_lot::queue waiters(queue);
      word_.fetch_add(1, detail::memory_order_relaxed);  // 2
      waiters.push_back(self);
    }
    // Asked before the unlock, after which the mutex's line is another thread's: 40 ns of a chain of two.
    const bool leaves_cpu = self.target != nullptr && self.target->has_more_waiters();
    unlock(lock, self);
    if (leaves_cpu) self.target->let_one_go_ahead();
    const bool notified = self.wait(policy, until, history()) || !leave(self);
    // Once notified, nothing of the condition variable is touched (C5).
    if (notified && self.target != nullptr) {
      self.target->finish(self, deadline::never());
      detail::misuse::locked(self.target);
      adopt(lock);
      return true;
    }
    if (notified) self.wait(policy, deadline::never(), history());
    const passes_on chain{queue, self, notified};
    lock.lock();
    return notified;
  }

  /// What a thread's waits for conditions have taught it: they are long where those for locks are short.
  static detail::wait_history& history() noexcept {
    return detail::per_thread<detail::wait_history, struct name_of_condition_history>();
  }

  /// Unlocks; if that throws, the thread does not wait (C6).
  template <class Lock>
  void unlock(Lock& lock, waiter& self) {
    struct withdrawal {
      condition_variable* owner;
      waiter& self;
      ~withdrawal() {
        if (owner != nullptr) owner->withdraw(self);
      }
    } unless_done{this, self};
    lock.unlock();
    unless_done.owner = nullptr;
  }

  LOCKSTEP_NOINLINE void withdraw(waiter& self) {
    if (leave(self)) return;
    const std::uintptr_t queue = key();
    if (is_out_of_chain(queue, self)) return;
    // Its notification is there or under way, and nobody waits for our lock before that.
    self.wait(policy_);
    const passes_on chain{queue, self, true};
  }

  /// True if it was in a chain and its predecessor had not notified it yet: it will not.
  static bool is_out_of_chain(std::uintptr_t queue, waiter& self) {
    const detail::parking_lot::queue waiters(queue);
    if (self.before == nullptr) return false;
    self.before->behind = self.behind;
    if (self.behind != nullptr) self.behind->before = self.before;
    return true;
  }

  /// Notifies the next of a chain in the end, whether the lock was to be had or not.
  struct passes_on {
    const std::uintptr_t queue;
    waiter& self;
    const bool notified;

    ~passes_on() {
      if (!notified) return;
      detail::wake_list woken;
      const detail::parking_lot::queue waiters(queue);
      if (self.behind == nullptr) return;
      self.behind->before = nullptr;
      woken.notify(*self.behind);
    }
  };

  /// Leaves the queue; false if the thread was notified before that.
  bool leave(waiter& self) {
    {
      detail::parking_lot::queue waiters(key());
      if (!waiters.contains(self)) return false;
      waiters.remove(self);
      word_.fetch_sub(1, detail::memory_order_relaxed);  // 3
    }
    detail::misuse::let_go(this, self.number);
    return true;
  }

  void notify(std::uint32_t most) {
    // Those that begin to wait while we work are not ours to notify (C4).
    const std::uint32_t there = word_.load(detail::memory_order_relaxed);  // 1
    if (there == 0) return;
    taken_out all;
    {
      detail::parking_lot::queue waiters(key());
      const std::uint32_t wanted = there < most ? there : most;
      std::uint32_t taken = 0;
      for (; taken < wanted && !waiters.empty(); ++taken) {
        waiter& next = static_cast<waiter&>(*waiters.front());
        waiters.remove(next);
        check_same(all, next);
        all.append(next);
      }
      if (taken > 0) word_.fetch_sub(taken, detail::memory_order_relaxed);  // 3
    }
    if (detail::misuse::diagnosed) let_go(all);
    if (all.target != nullptr) all.target->adopt(all.moved);
    if (all.first != nullptr) detail::wake_list().notify(*all.first);
  }

  /// Not under the queue's lock: at a fork() the locks of the diagnosis may be taken before it.
  void let_go(const taken_out& all) const {
    for (detail::parked_thread* each = all.moved.first(); each != nullptr; each = each->chained()) {
      detail::misuse::let_go(this, static_cast<waiter*>(each)->number);
    }
    while (const std::uint64_t number = next_number(all.first))
      detail::misuse::let_go(this, number);
  }
  static std::uint64_t take_number(waiter& of) noexcept {
    const std::uint64_t number = of.number;
    of.number = 0;
    return number;
  }
  /// From the front each time: those behind it may leave the chain (C6).
  std::uint64_t next_number(waiter* first) const {
    const detail::parking_lot::queue waiters(key());
    while (first != nullptr && first->number == 0) first = first->behind;
    return first != nullptr ? take_number(*first) : 0;
  }

  void check_same(const taken_out& all, const waiter& next) const {
    if (detail::misuse::diagnosed && all.target != nullptr && next.target != nullptr &&
        all.target != next.target) {
      detail::misuse::report(this, "lockstep::condition_variable",
                             "waited on with two mutexes at a time");
    }
  }

  detail::wait_word word_;
  wait_policy policy_;
};

static_assert(sizeof(condition_variable) == 8, "a word of state and a policy");

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_CONDITION_VARIABLE_HPP
