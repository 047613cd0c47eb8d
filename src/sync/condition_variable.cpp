// SPDX-License-Identifier: MIT
// src/sync/condition_variable.cpp -- waiting under a lock, and which threads are let go (layer: sync)
//
// Invariants
//   CONDITION-1  word_ is the number of threads in the queue; it changes under the queue's lock.
//   CONDITION-2  Exactly one notification takes a thread out of the queue, or it leaves at its deadline or for a stop
//                request. Both happen under the queue's lock. So a notification is not spent on a thread that left for
//                another reason.
//   CONDITION-3  A notified thread is in its mutex's queue, or in the chain behind another notified thread, or has
//                its turn. Its deadline and stop requests no longer count: it waits only for the lock.
//   CONDITION-4  A notification does not reach waits that begin after it: they are not in the queue then.
//   CONDITION-5  It may be destroyed when no thread is in the queue, even if its waiters have not returned.
//   CONDITION-6  A chain changes under the queue's lock. If lock() throws, the thread notifies the next of the chain
//                before the exception leaves wait(). If unlock() throws, the thread first leaves the queue or the
//                chain. So the others get their turn. After an exception of lock() the thread does not hold the lock.
//   CONDITION-7  Every wait with the token of a stop request sees the request. The waiter queues up before it registers
//                the callback that takes it out of the queue. A request that came before runs the callback at once.
//
// Requires: threads that wait at the same time use the same lock. wait() unlocks and locks it, with the usual order.
// A notifier without the lock may read word_ too early and miss a thread that begins to wait (CONDITION-4).
//
// Memory order (# marks the line)
//   #  access          order    pairs  why it suffices
//   1  word.fetch_add  relaxed  -      seen by the load of notify(); the queue's lock orders the changes
//   2  word.fetch_sub  release  -      with 1 of condition_variable.hpp; for a thread that leaves at its deadline, for
//                                      a stop request or after an exception
//   3  word.fetch_sub  relaxed  -      for threads that are notified after it, and see it before they return
// Source moving waiters to the mutex's queue: [BIRRELL89], [PARKING-LOT].
#include <lockstep/condition_variable.hpp>

#include <lockstep/detail/platform/cache_line.hpp>
#include <lockstep/detail/platform/error.hpp>

#include "mutex_queue.hpp"

#if LOCKSTEP_HAS_STANDARD_THREADS

namespace lockstep {
inline namespace LOCKSTEP_ABI {

/// A waiting thread. Aligned to a line: broadcasts between two threads take 195 ns; without the alignment, 222 ns.
struct alignas(detail::cache_line_size) condition_variable::waiter : detail::parked_thread {
  condition_variable& owner;
  mutex* const target;   // it goes on waiting in this mutex's queue; null: in a chain
  bool stopped = false;  // taken out of the queue by a stop request
  const deadline until;
  const call_site where;

  waiter(condition_variable& of, mutex* its_mutex, deadline end, call_site from) noexcept
      : parked_thread(0, key_of(of)), owner(of), target(its_mutex), until(end), where(from) {}

  static std::uintptr_t key_of(const condition_variable& of) noexcept {
    return detail::queue_key::of(of.word_, detail::wait_kind::condition_variable);
  }
};
static_assert(detail::parking_lot::without_waiters(detail::wait_kind::condition_variable) == 0,
              "PARKING-4");

/// Threads that were taken out of the queue at one time. Some go to their mutex. The others form a chain: each notifies
/// the next. The chain remains when this is gone.
struct condition_variable::taken_out {
  detail::parked_chain moved, chain;
  mutex* target = nullptr;

  void append(waiter& next) noexcept {
    if (next.target == nullptr) return chain.push_back(next);
    target = next.target;
    moved.push_back(next);
  }
};

/// Notifies the next thread of the chain when it goes out of scope, even if lock() has thrown.
struct condition_variable::passes_on {
  const std::uintptr_t queue;
  waiter& self;
  const bool notified;

  ~passes_on() {
    if (!notified) return;
    detail::parking_lot::queue waiters(queue);
    detail::parked_thread* const next = self.next();
    if (next == nullptr) return;
    detail::parked_chain::remove_from_the_rest(self);
    waiters.notify(*next);
  }
};

namespace detail {

/// A history for waits for conditions alone: they are long, while waits for locks are short.
LOCKSTEP_INLINE wait_history& condition_history() noexcept {
  return per_thread<wait_history, struct name_of_condition_history>();
}

}  // namespace detail

LOCKSTEP_INLINE bool condition_variable::wait_slowly(const calls& by, deadline until,
                                                     call_site where) {
  const std::uintptr_t queue = waiter::key_of(*this);
  waiter self(*this, by.target, until, where);
  const detail::misuse::waiting_scope waiting(this, detail::misuse::role::condition_waiter);
  {
    detail::parking_lot::queue waiters(queue);
    word_.fetch_add(1, detail::memory_order_relaxed);  // 1
    waiters.enter(self);
  }
  const bool notified = by.until_stopped(by, self, &unlock_and_wait) && !self.stopped;
  if (notified && self.target != nullptr) {
    detail::mutex_queue(*self.target).take_as(self, true, detail::no_deadline);
    if (detail::misuse::is_watched()) detail::misuse::locked(self.target);
    by.adopt(by.lock);
    return true;
  }
  const passes_on chain{queue, self, notified};
  by.take(by.lock);
  return notified;
}

/// True if another thread took this one out of the queue. After that the condition variable is not touched
/// (CONDITION-5). The stop callback is gone before the lock is taken again.
LOCKSTEP_INLINE bool condition_variable::unlock_and_wait(const calls& by, waiter& self) {
  const wait_policy policy = self.owner.policy_;
  detail::wait_history& history = detail::condition_history();
  // Read before the unlock. Afterwards another thread has the mutex's line: a read would cost 40 ns in a chain of two.
  const bool leaves_cpu =
      self.target != nullptr && detail::mutex_queue(*self.target).has_more_waiters();
  self.owner.unlock(by, self);
  if (leaves_cpu) detail::mutex_queue(*self.target).let_one_go_ahead();
  if (self.wait(policy, self.until.nanoseconds(), self.where, history)) return true;
  if (self.owner.leave(self)) return false;
  return self.wait(policy, detail::no_deadline, self.where, history);
}

/// Unlocks; if that throws, the thread does not wait (CONDITION-6).
LOCKSTEP_INLINE void condition_variable::unlock(const calls& by, waiter& self) {
  struct withdrawal {
    condition_variable* owner;
    waiter& self;
    ~withdrawal() {
      if (owner != nullptr) owner->withdraw(self);
    }
  } unless_done{this, self};
  by.leave(by.lock);
  unless_done.owner = nullptr;
}

LOCKSTEP_INLINE void condition_variable::withdraw(waiter& self) {
  if (leave(self)) return;
  const std::uintptr_t queue = waiter::key_of(*this);
  {
    // Leaves the chain before its predecessor notifies it.
    const detail::parking_lot::queue waiters(queue);
    if (self.target == nullptr && self.previous() != nullptr) {
      detail::parked_chain::remove_from_the_rest(self);
      return;
    }
  }
  // Its notification has come or will come soon: the notifier does not need our lock first.
  self.wait(policy_);
  const passes_on chain{queue, self, true};
}

LOCKSTEP_INLINE void condition_variable::stop(waiter& stopped) noexcept {
  if (!stopped.owner.leave(stopped)) return;
  stopped.stopped = true;
  detail::parking_lot::queue(waiter::key_of(stopped.owner)).notify(stopped);
}

/// Takes the thread out of the queue. False if another thread has done so: then the object may be gone (PARKING-2).
LOCKSTEP_INLINE bool condition_variable::leave(waiter& self) {
  detail::parking_lot::queue waiters(waiter::key_of(*this));
  if (!waiters.withdraw(self)) return false;
  word_.fetch_sub(1, detail::memory_order_release);  // 2
  return true;
}

LOCKSTEP_INLINE void condition_variable::notify_slowly(std::uint32_t wanted) {
  taken_out all;
  {
    detail::parking_lot::queue waiters(waiter::key_of(*this));
    std::uint32_t taken = 0;
    for (; taken < wanted && !waiters.empty(); ++taken) {
      waiter& next = static_cast<waiter&>(*waiters.front());
      waiters.remove(next);
      if (detail::misuse::diagnosed && all.target != nullptr && next.target != nullptr &&
          all.target != next.target) {
        detail::end_program(
            "lockstep::condition_variable at %p: two threads wait on it with "
            "two different mutexes; all waits on it need the same one",
            static_cast<const void*>(this));
      }
      all.append(next);
    }
    if (taken > 0) word_.fetch_sub(taken, detail::memory_order_relaxed);  // 3
    if (!all.chain.empty()) waiters.notify(*all.chain.first());
  }
  if (all.target != nullptr) detail::mutex_queue(*all.target).adopt(all.moved);
}

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif
