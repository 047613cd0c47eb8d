// SPDX-License-Identifier: MIT
// lockstep/condition_variable.hpp -- waiting under a lock until another thread says so (layer: sync)
//
// std::condition_variable_any by its operations, but without spurious wake-ups: wait() returns only for a notification
// that came after it, at its deadline, or for a stop request. (The predicate may be false again, because another thread
// was faster: use the forms that take one.) Works with any BasicLockable. Notified threads take the lock one by one: with
// lockstep::mutex they move to the mutex's queue; with others each wakes the next when it has got the lock.
// To wait for one thing that happens once, latch, eventual and the events need no lock and are faster.
//
// Invariants
//   CONDITION-1  word_ is the number of threads in the queue; it changes under the queue's lock.
//   CONDITION-2  A thread is taken out of the queue by exactly one notification, or leaves it at its deadline or for
//                a stop request, under the queue's lock: a notification never counts for a thread that left for
//                another reason, and is not lost to it.
//   CONDITION-3  A thread that was notified is in its mutex's queue, or in the chain behind a notified thread, or has
//                its turn. Its deadline and stop requests no longer count: all it waits for is the lock.
//   CONDITION-4  Waits that begin after a notification are not reached by it: they are not in the queue then.
//   CONDITION-5  It may be destroyed when no thread is in the queue, although its waiters have not returned.
//   CONDITION-6  A chain changes under the queue's lock. If lock() throws, the chain is passed on before the exception
//                leaves wait(); if unlock() throws, the thread leaves queue or chain before. So the others do not miss
//                it. After an exception of lock() the thread does not hold the lock.
//   CONDITION-7  A stop request is seen by every wait that has its token: the waiter queues up before it registers the
//                callback, which takes it out of the queue. A request that came before runs the callback at once.
//
// Requires of threads that wait at the same time: the same lock, whose order holds for wait() too.
// word_ may be read too early: a notifier without the lock then misses a thread that begins to wait (CONDITION-4).
//
// Memory order (# marks the line)
//   #  access          order    pairs  why it suffices
//   1  word.load       acquire  3      a waiter has counted itself before it gave up the lock under which the notifier
//                                      changed the predicate; at zero, the threads that left have done so (CONDITION-5)
//   2  word.fetch_add  relaxed  -      as 1; the queue's lock orders the changes
//   3  word.fetch_sub  release  1      as 1, of a thread that leaves by its own hand or is stopped
//   4  word.fetch_sub  relaxed  -      of threads that are notified after it, and see it before they return
//
// Order  that of the lock: what the notifier did before its unlock happens before the return of a wait that locks after
//        it. A notification without the lock orders nothing.
// Errors what lock(), unlock() and the predicate throw leaves wait() (CONDITION-6). A std::unique_lock that does not own:
//        std::system_error. Two mutexes at a time: undefined; debug builds end the program.
// Cost   notify with no thread waiting: one load. wait: a queue operation and the lock's own; no system call
//        unless it sleeps. A broadcast between 2 threads takes 182 ns (decision 0018); one to 64 threads that queue for
//        one mutex on 2 CPUs 39 us (decision 0011). With a stop token, in addition: to register a callback. 8 bytes.
// Example
//   lockstep::mutex lock;
//   lockstep::condition_variable changed;
//   bool is_ready = false;
//   lockstep::joinable_thread other([&] {
//     const std::lock_guard<lockstep::mutex> held(lock);
//     is_ready = true;
//     changed.notify_one();
//   });
//   std::unique_lock<lockstep::mutex> held(lock);
//   changed.wait(held, [&] { return is_ready; });
// Source moving waiters to the mutex's queue: [BIRRELL89], [PARKING-LOT].
#ifndef LOCKSTEP_CONDITION_VARIABLE_HPP
#define LOCKSTEP_CONDITION_VARIABLE_HPP

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#if __cplusplus >= 202002L
#include <version>
#endif
#if defined(__cpp_lib_jthread)
#include <stop_token>
#endif

#include <lockstep/call_site.hpp>
#include <lockstep/detail/platform/cache_line.hpp>
#include <lockstep/detail/wait/misuse.hpp>
#include <lockstep/detail/wait/parking_lot.hpp>
#include <lockstep/mutex.hpp>
#include <lockstep/wait_policy.hpp>

#if !LOCKSTEP_HAS_STANDARD_THREADS
#error \
    "lockstep/condition_variable.hpp needs std::cv_status, which this C++ library has not: with MinGW, take POSIX threads"
#endif

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// What calls a function once a stop is requested. `known` is there for the tokens that users may pass.
template <class Token>
struct stop_tokens {};

#if defined(__cpp_lib_jthread)
template <>
struct stop_tokens<std::stop_token> {
  using known = void;
  template <class Function>
  using callback = std::stop_callback<Function>;
};
#endif

/// For waits without a token.
struct no_stop_token {};
template <>
struct stop_tokens<no_stop_token> {
  template <class Function>
  struct callback {
    callback(no_stop_token, const Function&) noexcept {}
  };
};

}  // namespace detail

/// Lets threads that hold a lock wait, without it, until another thread notifies them.
class condition_variable {
 public:
  explicit constexpr condition_variable(wait_policy policy = wait_policy()) noexcept
      : word_(0), policy_(policy) {}
  ~condition_variable() { detail::misuse::destroying(this, "lockstep::condition_variable"); }
  condition_variable(const condition_variable&) = delete;
  condition_variable& operator=(const condition_variable&) = delete;

  /// Lets the thread go that waits longest. The caller need not hold the lock.
  void notify_one() { notify(1); }
  /// Lets every thread go that waits now.
  void notify_all() { notify(~std::uint32_t{0}); }

  /// Gives `lock` up, waits for a notification, takes `lock` again. Requires: the thread holds `lock`.
  /// A std::unique_lock that does not own throws std::system_error, operation_not_permitted.
  template <class Lock>
  void wait(Lock& lock, call_site where = {}) {
    block(lock, deadline::never(), detail::no_stop_token(), where);
  }
  template <class Lock, class Predicate>
  void wait(Lock& lock, Predicate predicate, call_site where = {}) {
    while (!predicate()) wait(lock, where);
  }
  /// As wait(), for at most `time`, and then until it has `lock` again.
  template <class Lock, class Rep, class Period>
  std::cv_status wait_for(Lock& lock, std::chrono::duration<Rep, Period> time,
                          call_site where = {}) {
    return wait_until(lock, deadline::after(time), where);
  }
  template <class Lock, class Rep, class Period, class Predicate>
  bool wait_for(Lock& lock, std::chrono::duration<Rep, Period> time, Predicate predicate,
                call_site where = {}) {
    return wait_until(lock, deadline::after(time), predicate, where);
  }
  template <class Lock>
  std::cv_status wait_until(Lock& lock, deadline until, call_site where = {}) {
    return block(lock, until, detail::no_stop_token(), where) ? std::cv_status::no_timeout
                                                              : std::cv_status::timeout;
  }
  /// Returns what the predicate says in the end.
  template <class Lock, class Predicate>
  bool wait_until(Lock& lock, deadline until, Predicate predicate, call_site where = {}) {
    while (!predicate()) {
      if (!block(lock, until, detail::no_stop_token(), where)) return predicate();
    }
    return true;
  }

  /// The same with a std::stop_token (C++20): also returns, with what the predicate says, once a stop is requested.
  template <class Lock, class StopToken, class Predicate,
            class = typename detail::stop_tokens<StopToken>::known>
  bool wait(Lock& lock, StopToken token, Predicate predicate, call_site where = {}) {
    return wait_until(lock, token, deadline::never(), predicate, where);
  }
  template <class Lock, class StopToken, class Rep, class Period, class Predicate,
            class = typename detail::stop_tokens<StopToken>::known>
  bool wait_for(Lock& lock, StopToken token, std::chrono::duration<Rep, Period> time,
                Predicate predicate, call_site where = {}) {
    return wait_until(lock, token, deadline::after(time), predicate, where);
  }
  template <class Lock, class StopToken, class Predicate,
            class = typename detail::stop_tokens<StopToken>::known>
  bool wait_until(Lock& lock, StopToken token, deadline until, Predicate predicate,
                  call_site where = {}) {
    while (!token.stop_requested()) {
      if (predicate()) return true;
      if (!block(lock, until, token, where)) break;
    }
    return predicate();
  }

  wait_policy policy() const noexcept { return policy_; }

 private:
  /// A waiting thread. `target` is the mutex in whose queue it goes on waiting, if it can. On one line: broadcasts between
  /// two threads take 195 ns so, and 222 wherever the stack has it.
  struct alignas(detail::cache_line_size) waiter : detail::parked_thread {
    mutex* target;
    const std::uint64_t number;  // of the thread; for the diagnosis of misuse only, as the next
    bool is_let_go = false;
    bool stopped = false;  // taken out of the queue by a stop request

    waiter(mutex* of, std::uintptr_t queue) noexcept
        : parked_thread(0, queue),
          target(of),
          number(detail::misuse::diagnosed ? detail::number_of_this_thread() : 0) {}
  };

  /// Threads that were taken out of the queue at one time: those that go to their mutex, and those that form a chain,
  /// of which each notifies the next. The chain remains when this is gone.
  struct taken_out {
    detail::parked_chain moved, chain;
    mutex* target = nullptr;

    void append(waiter& next) noexcept {
      if (next.target == nullptr) return chain.push_back(next);
      target = next.target;
      moved.push_back(next);
    }
  };

  std::uintptr_t key() const noexcept {
    return detail::parking_lot::key(word_, detail::parking_lot::kind::condition_variable);
  }
  static_assert(
      detail::parking_lot::without_waiters(detail::parking_lot::kind::condition_variable) == 0,
      "PARKING-4");

  static mutex* target_of(mutex& lock) noexcept { return &lock; }
  static mutex* target_of(std::unique_lock<mutex>& lock) noexcept { return lock.mutex(); }
  template <class Lock>
  static mutex* target_of(Lock&) noexcept {
    return nullptr;
  }

  /// The mutex was taken for this thread; its lock object has to learn of it.
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
    return true;  // it cannot be asked
  }

  /// Lets a waiter go for a stop request, on whatever thread that is made.
  struct stopper {
    condition_variable* owner;
    waiter* stopped;

    void operator()() const noexcept {
      if (!owner->leave(*stopped)) return;
      stopped->stopped = true;
      detail::wake_list().notify(*stopped);
    }
  };

  /// One wait; false if it came to its deadline or was stopped.
  template <class Lock, class StopToken>
  bool block(Lock& lock, deadline until, const StopToken& token, call_site where) {
    if (!is_owner(lock)) lock.unlock();  // throws
    const std::uintptr_t queue = key();
    waiter self(target_of(lock), queue);
    detail::misuse::waiting(this);
    {
      detail::parking_lot::queue waiters(queue);
      word_.fetch_add(1, detail::memory_order_relaxed);  // 2
      waiters.push_back(self);
    }
    const bool notified = unlock_and_wait(lock, self, until, token, where) && !self.stopped;
    if (notified && self.target != nullptr) {
      self.target->finish(self, deadline::never());
      detail::misuse::locked(self.target);
      adopt(lock);
      return true;
    }
    const passes_on chain{queue, self, notified};
    lock.lock();
    return notified;
  }

  /// True if the thread was taken out of the queue; after that nothing of the condition variable is touched
  /// (CONDITION-5). The callback has gone before the lock is taken again.
  template <class Lock, class StopToken>
  bool unlock_and_wait(Lock& lock, waiter& self, deadline until, const StopToken& token,
                       call_site where) {
    using callback = typename detail::stop_tokens<StopToken>::template callback<stopper>;
    const wait_policy policy = policy_;
    const callback on_stop(token, stopper{this, &self});
    // Asked before the unlock, after which the mutex's line is another thread's: 40 ns of a chain of two.
    const bool leaves_cpu = self.target != nullptr && self.target->has_more_waiters();
    unlock(lock, self);
    if (leaves_cpu) self.target->let_one_go_ahead();
    if (self.wait(policy, until, where, history())) return true;
    if (leave(self)) return false;
    return self.wait(policy, deadline::never(), where, history());
  }

  /// What a thread's waits for conditions have taught it: they are long where those for locks are short.
  static detail::wait_history& history() noexcept {
    return detail::per_thread<detail::wait_history, struct name_of_condition_history>();
  }

  /// Unlocks; if that throws, the thread does not wait (CONDITION-6).
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
    // Its notification is there or under way, and no thread waits for our lock before that.
    self.wait(policy_);
    const passes_on chain{queue, self, true};
  }

  /// True if it was in a chain and its predecessor had not notified it yet: it will not.
  static bool is_out_of_chain(std::uintptr_t queue, waiter& self) {
    const detail::parking_lot::queue waiters(queue);
    if (self.target != nullptr || self.previous() == nullptr) return false;
    detail::parked_chain::remove_from_the_rest(self);
    return true;
  }

  /// Notifies the next of a chain in the end, with the lock or without.
  struct passes_on {
    const std::uintptr_t queue;
    waiter& self;
    const bool notified;

    ~passes_on() {
      if (!notified) return;
      detail::wake_list woken;
      const detail::parking_lot::queue waiters(queue);
      detail::parked_thread* const next = self.next();
      if (next == nullptr) return;
      detail::parked_chain::remove_from_the_rest(self);
      woken.notify(*next);
    }
  };

  /// Takes the thread out of the queue; false if another thread has. The object may be gone then (PARKING-2).
  bool leave(waiter& self) {
    // First: once it is out of the queue, the object may be destroyed.
    detail::misuse::let_go(this, self.number);
    detail::parking_lot::queue waiters(key());
    if (!waiters.withdraw(self)) return false;
    word_.fetch_sub(1, detail::memory_order_release);  // 3
    return true;
  }

  void notify(std::uint32_t most) {
    detail::notify_point(this);
    // Those that begin to wait while we work are not ours to notify (CONDITION-4).
    const std::uint32_t there = word_.load(detail::memory_order_acquire);  // 1
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
      if (taken > 0) word_.fetch_sub(taken, detail::memory_order_relaxed);  // 4
    }
    if (detail::misuse::diagnosed) let_go(all);
    if (all.target != nullptr) all.target->adopt(all.moved);
    if (!all.chain.empty()) detail::wake_list().notify(*all.chain.first());
  }

  /// Not under the queue's lock: at a fork() the locks of the diagnosis may be taken before it.
  void let_go(const taken_out& all) const {
    for (detail::parked_thread* each = all.moved.first(); each != nullptr; each = each->next()) {
      detail::misuse::let_go(this, static_cast<waiter*>(each)->number);
    }
    while (const std::uint64_t number = take_number(all.chain.first())) {
      detail::misuse::let_go(this, number);
    }
  }
  /// Of the first in the chain that has not been let go, or 0. From the front each time: the others may leave it (CONDITION-6).
  std::uint64_t take_number(detail::parked_thread* first) const {
    const detail::parking_lot::queue waiters(key());
    waiter* at = static_cast<waiter*>(first);
    while (at != nullptr && at->is_let_go) at = static_cast<waiter*>(at->next());
    if (at == nullptr) return 0;
    at->is_let_go = true;
    return at->number;
  }

  void check_same(const taken_out& all, const waiter& next) const {
    if (detail::misuse::diagnosed && all.target != nullptr && next.target != nullptr &&
        all.target != next.target) {
      detail::misuse::report(this, "lockstep::condition_variable",
                             "two threads wait on it with two different mutexes");
    }
  }

  detail::wait_word word_;
  wait_policy policy_;
};

static_assert(sizeof(condition_variable) == 8, "a word of state and a policy");

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_CONDITION_VARIABLE_HPP
