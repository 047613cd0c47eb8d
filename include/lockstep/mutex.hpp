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

#include <lockstep/detail/platform/atomic.hpp>
#include <lockstep/detail/platform/config.hpp>
#include <lockstep/detail/platform/this_thread.hpp>
#include <lockstep/detail/wait/misuse.hpp>
#include <lockstep/wait_policy.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {
class mutex_queue;
}  // namespace detail

// What the bits of word_ mean, how threads wait, and which may overtake others: src/sync/mutex_queue.hpp.
//
// Memory order (# marks the line; each weakening must fail a test)
//   #  access            order    pairs  why it suffices
//   1  word.compare_exch acquire  2      we see what the last holder did
//   2  word.fetch_sub    release  1      the other half; so for row 5 of parking_lot.hpp
//   3  word.compare_exch relaxed  -      where it fails, nothing was read
//
// Cost   lock and unlock: one read-modify-write each, 4 ns for both where no other thread wants the lock
//        (./do bench primitives). 64 threads on 2 CPUs that hold it for 0.1 us take it in 0.21 us each (wait_engine.hpp).
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
class mutex {
 public:
  /// How many acquisitions may overtake a waiter that has been woken and is on its way.
  static constexpr std::uint32_t bypass_limit = 4096;

  explicit constexpr mutex(wait_policy policy = wait_policy()) noexcept
      : word_(0), policy_(policy) {}
  ~mutex() { detail::misuse::destroying(this, kind()); }
  mutex(const mutex&) = delete;
  mutex& operator=(const mutex&) = delete;

  /// Blocks until the calling thread holds the lock. Requires: it does not hold it yet.
  void lock() {
    const bool is_watched = detail::misuse::is_watched();
    if (LOCKSTEP_UNLIKELY(is_watched)) detail::misuse::locking(this, kind());
    if (!take_free()) lock_slowly();
    if (LOCKSTEP_UNLIKELY(is_watched)) detail::misuse::locked(this);
  }

  /// Takes the lock if it is free and not reserved for a waiter; never blocks.
  bool try_lock() noexcept {
    const bool taken = take_free() || try_lock_slowly();
    if (taken && detail::misuse::is_watched()) detail::misuse::locked(this);
    return taken;
  }

  /// As lock(), for at most `time`; false if it did not get the lock.
  template <class Rep, class Period>
  bool try_lock_for(std::chrono::duration<Rep, Period> time) {
    return try_lock_until(deadline::after(time));
  }
  bool try_lock_until(deadline until) {
    if (LOCKSTEP_UNLIKELY(detail::misuse::is_watched())) detail::misuse::locking(this, kind());
    const bool taken = try_lock_slowly() || lock_slowly(until.nanoseconds());
    if (taken && detail::misuse::is_watched()) detail::misuse::locked(this);
    return taken;
  }

  /// Requires: the calling thread holds the lock.
  void unlock() {
    if (LOCKSTEP_UNLIKELY(detail::misuse::is_watched())) detail::misuse::unlocking(this, kind());
    const std::uint32_t old = word_.fetch_sub(locked_, detail::memory_order_release);  // 2
    if ((old & (waiting_ | waking_)) == waiting_) wake_next();
  }

  wait_policy policy() const noexcept { return policy_; }

 private:
  friend class detail::mutex_queue;
  static constexpr std::uint32_t locked_ = 1, waiting_ = 2, waking_ = 4;

  static const char* kind() noexcept { return "lockstep::mutex"; }

  bool take_free() noexcept {
    std::uint32_t free = 0;
    return word_.compare_exchange_strong(free, locked_, detail::memory_order_acquire,  // 1
                                         detail::memory_order_relaxed);                // 3
  }
  /// Takes the lock if it may; never blocks.
  bool try_lock_slowly() noexcept;
  /// False if `until` came first.
  bool lock_slowly(std::uint64_t until = detail::no_deadline);
  /// Sends the next waiter on its way, unless one is already.
  void wake_next();

  detail::wait_word word_;
  wait_policy policy_;
};

static_assert(sizeof(mutex) == 8, "a word of state and a policy");

/// The same type: it has the timed operations.
using timed_mutex = mutex;

//   RECURSIVE-1  owner_ is the number of the holder while depth_ > 0, else 0; only the holder writes either. So a
//                thread that finds its own number there holds the lock, whatever others do meanwhile.
//
// Memory order (# marks the line)
//   #  access       order    pairs  why it suffices
//   4  owner.load   relaxed  -      only our own number says anything, and we wrote it ourselves (RECURSIVE-1)
//   5  owner.store  relaxed  -      as 4; the mutex orders the rest
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
    detail::misuse::destroying(&mutex_, kind());
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
  /// As lock(), for at most `time`; false if it did not get the lock.
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
    owner_.store(0, detail::memory_order_relaxed);  // 5
    mutex_.unlock();
  }

  wait_policy policy() const noexcept { return mutex_.policy(); }

 private:
  static const char* kind() noexcept { return "lockstep::recursive_mutex"; }

  bool enter() noexcept {
    owner_.store(detail::number_of_this_thread(), detail::memory_order_relaxed);  // 5
    depth_ = 1;
    return true;
  }
  bool enter_again() noexcept {
    const std::uint64_t owner = owner_.load(detail::memory_order_relaxed);  // 4
    if (owner != detail::number_of_this_thread()) return false;
    ++depth_;
    return true;
  }

  mutex mutex_;
  std::uint32_t depth_;
  detail::atomic<std::uint64_t> owner_;
};

/// The same type: it has the timed operations.
using recursive_timed_mutex = recursive_mutex;

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_MUTEX_HPP
