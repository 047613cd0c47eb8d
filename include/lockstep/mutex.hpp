// SPDX-License-Identifier: MIT
// lockstep/mutex.hpp -- mutual exclusion, fair under contention; recursive or not (layer: sync)
//
// mutex, timed_mutex                      one thread at a time is between lock() and unlock(). A std::timed_mutex by its
//                                         operations: works with std::unique_lock and std::scoped_lock.
// recursive_mutex, recursive_timed_mutex  its holder may lock it again. Prefer a plain mutex: code that locks twice
//                                         usually does not know what state it finds.
// For many readers see shared_mutex.hpp.
//
// Order  what happens before an unlock happens before the return of the next lock.
// Errors none is thrown. To lock a mutex that the thread holds, to unlock one that it does not hold, and to destroy
//        one that is held: undefined; debug builds end the program.
#ifndef LOCKSTEP_MUTEX_HPP
#define LOCKSTEP_MUTEX_HPP

#include <chrono>
#include <cstdint>

#include <lockstep/detail/platform/system.hpp>
#include <lockstep/detail/wait/misuse.hpp>
#include <lockstep/detail/wait/parking_lot.hpp>
#include <lockstep/detail/wait/queued_word.hpp>
#include <lockstep/wait_policy.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

// word_ of mutex
//   bit    name      meaning                         set by                               cleared by
//   0      locked    a thread holds it               lock                                 unlock
//   1      waiting   the queue may have a waiter     a waiter, as it queues up            the last to leave the queue
//   2      waking    a waiter was woken and is on    an unlock that wakes                 that waiter, as it takes the
//                    its way                                                              lock, queues up or gives up
//   3..31  bypasses  how often the waiters were      a lock that overtakes counts; the    as waking, and the last to
//                    overtaken                       waiter on its way, in vain: limit    leave the queue
// Legal to be set too long: waiting, under the queue's lock (costs a look at the queue). None may be missing: without
// waiting an unlock wakes nobody, without waking it wakes a second waiter.

/// What the bits of a mutex mean (queued_word.hpp).
struct mutex_rules {
  static constexpr parking_lot::kind queue = parking_lot::kind::mutex;
  static constexpr bool backs_off = true;

  static constexpr std::uint32_t locked = 1, waiting = 2, waking = 4, one_bypass = 8;
  /// It takes 20 to 50 us to wake up on another CPU, 1000 to 2500 acquisitions of 20 ns: a smaller limit would leave
  /// the lock idle for the rest of that time.
  static constexpr std::uint32_t bypass_limit = 4096;

  enum purpose : std::uint32_t { newcomer, woken };

  static bool reserved(std::uint32_t word) noexcept { return word >= bypass_limit * one_bypass; }

  static bool may_take(std::uint32_t word, std::uint32_t as) noexcept {
    return (word & locked) == 0 && (as == woken || !reserved(word));
  }
  static std::uint32_t taken(std::uint32_t word, std::uint32_t as) noexcept {
    if (as == woken) return (word & waiting) | locked;
    return (word | locked) + ((word & (waiting | waking)) != 0 ? one_bypass : 0);
  }
  static std::uint32_t marked(std::uint32_t word, std::uint32_t as) noexcept {
    return as == woken ? locked | waiting | bypass_limit * one_bypass : word | waiting;
  }
  /// The bypasses count from zero again when no thread waits any more.
  static std::uint32_t without_waiters(std::uint32_t word) noexcept {
    return (word & waking) != 0 ? word & ~waiting : word & locked;
  }
  static std::uint32_t without_woken(std::uint32_t word) noexcept {
    return (word & waiting) != 0 ? word & ~waking : locked;
  }
};
static_assert(parking_lot::without_waiters(mutex_rules::queue) == mutex_rules::locked, "PARKING-4");

}  // namespace detail

// Invariants
//   MUTEX-1  At most one thread holds the lock; only that thread clears `locked`.
//   MUTEX-2  A thread that queues up has found the lock held or reserved, and marks the word (QUEUED-1): a later unlock
//            finds `waiting`.
//   MUTEX-3  `waking` is set from the moment an unlock takes a waiter out of the queue to wake it, until that waiter
//            has the lock, is back in the queue, or has given up. One waiter at most is on its way at a time. As long it
//            is in the list of those on their way, so that a child of fork() can clear the bit (PARKING-4).
//   MUTEX-4  Bounded bypass. While a thread waits or is on its way, every acquisition by another is counted; after
//            bypass_limit the lock is reserved for the waiter that is woken. It is also reserved once a woken waiter
//            has found the lock taken. So a thread that is queued behind p others is overtaken at most
//            (p + 1) * (bypass_limit + 1) times, where p includes those that MUTEX-6 lets go. Before it queues up it
//            polls for a bounded time: 2 us and the pause that is under way then (1.7 us), and 80 us of yields.
//   MUTEX-5  The mutex may be destroyed by the thread that has locked and unlocked it last: an unlock touches nothing
//            after its change of the word, unless the queue has a waiter (PARKING-2).
//   MUTEX-6  A thread that goes to sleep on a condition leaves its CPU to one more waiter: it lets the first in the
//            queue go ahead of its turn, beside the one that is on its way. That waiter leaves the queue as at a
//            deadline and tries as a newcomer; in vain, it goes back to the front. It is let go so once, and no other
//            is while it is the first. With one on its way at a time, a chain of broadcasts to 64 threads on 2 CPUs
//            had a CPU halt and be woken at every second thread: 320 us, 80 so.
//
// Memory order (# marks the line; each weakening must fail a test)
//   #  access            order    pairs  why it suffices
//   1  word.compare_exch acquire  2      we see what the last holder did
//   2  word.fetch_sub    release  1      the other half; so for row 1 of queued_word.hpp
//   3  word.load         relaxed  -      a guess for the compare-exchange that follows, or a hint
//   4  word.fetch_or     relaxed  -      takes nothing; the queue's lock orders it (QUEUED-2)
//
// Cost   lock and unlock: one read-modify-write each, 4 ns for both where no other thread wants the lock
//        (docs/performance.md). 64 threads on 2 CPUs that hold it for 0.1 us take it in 0.21 us each (wait_engine.hpp).
//        No system call unless a thread sleeps. 8 bytes.
// Example
//   lockstep::mutex lock;
//   int shared = 0;
//   {
//     const std::lock_guard<lockstep::mutex> held(lock);
//     ++shared;
//   }
// Source the queue beside the word: [PARKING-LOT]; letting others in while a waiter wakes, and ending that after a
//        while: [GO-MUTEX]; here by a count instead of a time.

/// Lets one thread at a time through; how often others may overtake a waiting thread is bounded (MUTEX-4).
class mutex : private detail::queued_word<detail::mutex_rules> {
  using rules = detail::mutex_rules;

 public:
  /// How many acquisitions may overtake a waiter that has been woken and is on its way.
  static constexpr std::uint32_t bypass_limit = rules::bypass_limit;

  explicit constexpr mutex(wait_policy policy = wait_policy()) noexcept : queued_word(0, policy) {}
  ~mutex() { detail::misuse::destroying_lock(this, kind()); }
  mutex(const mutex&) = delete;
  mutex& operator=(const mutex&) = delete;

  /// Blocks until the calling thread holds the lock. Requires: it does not hold it yet.
  void lock() {
    detail::misuse::locking(this, kind());
    const bool is_watched = detail::observers() != 0;
    std::uint32_t free = 0;
    if (!word_.compare_exchange_strong(free, rules::locked, detail::memory_order_acquire,  // 1
                                       detail::memory_order_relaxed)) {                    // 3
      lock_slowly(deadline::never());
    }
    detail::misuse::locked(this, is_watched);
  }

  /// Takes the lock if it is free and not reserved; never blocks.
  bool try_lock() noexcept {
    const bool taken = try_take(rules::newcomer);
    if (taken) detail::misuse::locked(this);
    return taken;
  }

  /// As lock(), for at most `time`; false if the lock was not to be had.
  template <class Rep, class Period>
  bool try_lock_for(std::chrono::duration<Rep, Period> time) {
    return try_lock_until(deadline::after(time));
  }
  bool try_lock_until(deadline until) {
    detail::misuse::locking(this, kind());
    const bool taken = try_take(rules::newcomer) || lock_slowly(until);
    if (taken) detail::misuse::locked(this);
    return taken;
  }

  /// Requires: the calling thread holds the lock.
  void unlock() {
    detail::misuse::unlocking(this, kind());
    const std::uint32_t old = word_.fetch_sub(rules::locked, detail::memory_order_release);  // 2
    if ((old & (rules::waiting | rules::waking)) == rules::waiting) wake_next();
  }

  using queued_word::policy;

 private:
  friend class condition_variable;

  static const char* kind() noexcept { return "lockstep::mutex"; }

  LOCKSTEP_NOINLINE bool lock_slowly(deadline until) {
    const detail::misuse::waiting_scope waiting(this);
    if (poll(rules::newcomer, until)) return true;
    detail::parked_thread self(0, key());
    return !enqueue(self, rules::newcomer) || finish(self, until);
  }

  /// From the queue to the lock; false if `until` came first.
  bool finish(detail::parked_thread& self, deadline until) {
    if (!self.wait(policy_, until) && leave(self)) return false;
    if (self.was_ahead()) {
      if (poll(rules::newcomer, until)) return true;
      if (is_over(until)) return false;
      if (!enqueue(self, rules::newcomer)) return true;
      if (!self.wait(policy_, until) && leave(self)) return false;
    }
    return finish_woken(self, until);
  }

  /// As finish(), for a waiter that is on its way.
  bool finish_woken(detail::parked_thread& self, deadline until) {
    while (true) {
      if (poll(rules::woken, until)) return arrive(self);
      if (is_over(until)) return give_up(self);
      if (!enqueue(self, rules::woken)) return true;
      if (!self.wait(policy_, until) && leave(self)) return false;
    }
  }

  static bool is_over(deadline until) {
    return !until.is_never() && until.is_past(detail::monotonic_nanoseconds());
  }

  /// Is on its way no more.
  bool arrive(detail::parked_thread& self) {
    detail::parking_lot::queue(key()).arrive(self);
    return true;
  }

  /// Leaves the queue; false if the thread was taken out of it.
  bool leave(detail::parked_thread& self) {
    detail::parking_lot::queue waiters(key());
    return withdraw(waiters, self);
  }

  /// A waiter on its way goes without the lock, or takes it at the last moment.
  bool give_up(detail::parked_thread& self) {
    detail::parking_lot::queue waiters(key());
    waiters.arrive(self);
    return take_or(rules::woken, rules::without_woken);
  }

  /// Sends the next waiter on its way, unless one is already.
  LOCKSTEP_NOINLINE void wake_next() {
    detail::wake_list woken;
    detail::parking_lot::queue waiters(key());
    detail::parked_thread* const next = waiters.front();
    if (next == nullptr) return;
    const std::uint32_t left = waiters.behind(*next) != nullptr ? rules::waiting : 0u;
    std::uint32_t word = word_.load(detail::memory_order_relaxed);  // 3
    do {
      if ((word & rules::waking) != 0) return;
    } while (!change(word, (word & ~rules::waiting) | left | rules::waking));
    waiters.send_out(*next);
    woken.notify(*next);
  }

  /// True if a thread waits behind one that is on its way. A hint, for the holder: its unlock will wake nobody.
  bool has_more_waiters() const noexcept {
    constexpr std::uint32_t both = rules::waiting | rules::waking;
    return (word_.load(detail::memory_order_relaxed) & both) == both;  // 3
  }
  /// For a thread that is about to sleep, after its unlock (MUTEX-6).
  LOCKSTEP_NOINLINE void let_one_go_ahead() {
    detail::wake_list woken;
    detail::parking_lot::queue waiters(key());
    detail::parked_thread* const next = waiters.front();
    if (next == nullptr || next->was_ahead()) return;
    waiters.send_ahead(*next);
    unmark_if_empty(waiters);
    woken.notify(*next);
  }

  /// Queues up threads that a condition_variable has let go; they come back with finish(). Lets the first one go if the
  /// lock is free.
  void adopt(detail::parked_chain& threads) {
    bool is_idle = false;
    {
      detail::parking_lot::queue waiters(key());
      while (detail::parked_thread* const next = threads.pop_front()) waiters.push_back(*next);
      const std::uint32_t old = word_.fetch_or(rules::waiting, detail::memory_order_relaxed);  // 4
      is_idle = (old & (rules::locked | rules::waking)) == 0;
    }
    if (is_idle) wake_next();
  }
};

static_assert(sizeof(mutex) == 8, "a word of state and a policy");

/// For programs that change a type: the timed operations are there.
using timed_mutex = mutex;

//   RECURSIVE-1  owner_ is the number of the holder while depth_ > 0, else 0; only the holder writes either. So a
//                thread that finds its own number there holds the lock, whatever others do meanwhile.
//
// Memory order (# marks the line)
//   #  access       order    pairs  why it suffices
//   1  owner.load   relaxed  -      only our own number says anything, and we wrote it ourselves (RECURSIVE-1)
//   2  owner.store  relaxed  -      as 1; the mutex orders the rest
//
// Cost   the first lock and the last unlock: those of mutex, and a store. Others: a load. 24 bytes.
// Example
//   lockstep::recursive_mutex lock;
//   const std::lock_guard<lockstep::recursive_mutex> outer(lock);
//   const std::lock_guard<lockstep::recursive_mutex> inner(lock);

/// A mutex that its holder may lock again; it is free after as many unlocks.
class recursive_mutex {
 public:
  explicit constexpr recursive_mutex(wait_policy policy = wait_policy()) noexcept
      : mutex_(policy), depth_(0), owner_(0) {}
  ~recursive_mutex() {
    detail::misuse::destroying_lock(&mutex_, kind());
  }  // before mutex's, by its own name
  recursive_mutex(const recursive_mutex&) = delete;
  recursive_mutex& operator=(const recursive_mutex&) = delete;

  /// Blocks until the calling thread holds the lock once more.
  void lock() {
    if (enter_again()) return;
    mutex_.lock();
    enter();
  }

  /// As lock(), but false where it would block.
  bool try_lock() { return enter_again() || (mutex_.try_lock() && enter()); }

  /// As lock(), for at most `time`; false if the lock was not to be had.
  template <class Rep, class Period>
  bool try_lock_for(std::chrono::duration<Rep, Period> time) {
    return try_lock_until(deadline::after(time));
  }
  bool try_lock_until(deadline until) {
    return enter_again() || (mutex_.try_lock_until(until) && enter());
  }

  /// Requires: the calling thread holds the lock. It is free when it was unlocked as often as locked.
  void unlock() {
    detail::misuse::check_owner(&mutex_, kind());
    if (--depth_ > 0) return;
    owner_.store(0, detail::memory_order_relaxed);  // 2
    mutex_.unlock();
  }

  wait_policy policy() const noexcept { return mutex_.policy(); }

 private:
  static const char* kind() noexcept { return "lockstep::recursive_mutex"; }

  bool is_mine() const noexcept {
    return owner_.load(detail::memory_order_relaxed) == detail::number_of_this_thread();  // 1
  }
  bool enter() {
    owner_.store(detail::number_of_this_thread(), detail::memory_order_relaxed);  // 2
    depth_ = 1;
    return true;
  }
  bool enter_again() {
    if (!is_mine()) return false;
    ++depth_;
    return true;
  }

  mutex mutex_;
  std::uint32_t depth_;
  detail::atomic<std::uint64_t> owner_;
};

/// For programs that change a type: the timed operations are there.
using recursive_timed_mutex = recursive_mutex;

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_MUTEX_HPP
