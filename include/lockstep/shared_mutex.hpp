// SPDX-License-Identifier: MIT
// lockstep/shared_mutex.hpp -- one writer or many readers (layer: sync)
//
// std::shared_timed_mutex by its operations: works with std::shared_lock and std::unique_lock. Threads that queue are
// served in the order of their arrival, neighbouring readers together. Nobody overtakes the queue, so neither side
// starves. A reader must not lock again while it holds the lock: if a writer has queued in between, or if it locks as a
// writer, it waits for itself (debug builds say so). For short sections mutex.hpp is faster, also for readers: each
// reader writes the word.
//
// The thread that has held and unlocked it last may destroy it. Invariants, and what the bits of its word mean:
// src/sync/shared_mutex.cpp.
//
// Memory order (# marks the line)
//   #  access             order    pairs  why it suffices
//   1  word.fetch_sub     release  2      and rows 5 and 8 of parking_lot.hpp; later readers' changes keep the release
//                                         sequence
//   2  word.compare_exch  acquire  1      the other half
//   3  word.load, failed  relaxed  -      a guess for 2; where that fails, nothing was read
//
// Order  what happens before an unlock happens before the return of the next lock; what happens before an unlock_shared,
//        before that of the next lock by a writer.
// Errors none is thrown. To lock again what the thread holds, to unlock what it does not hold, and to destroy a lock that
//        is held: undefined; debug builds end the program.
// Cost   each operation one read-modify-write; no system call unless a thread sleeps. 8 bytes.
// Example
//   lockstep::shared_mutex lock;
//   int shared = 0;
//   lock.lock_shared();
//   const int seen = shared;
//   lock.unlock_shared();
//   const std::lock_guard<lockstep::shared_mutex> writes(lock);
//   shared = seen + 1;
// Source [PARKING-LOT] for the queue; the order of service is that of [MCS91b].
#ifndef LOCKSTEP_SHARED_MUTEX_HPP
#define LOCKSTEP_SHARED_MUTEX_HPP

#include <chrono>
#include <cstdint>

#include <lockstep/detail/platform/atomic.hpp>
#include <lockstep/detail/platform/config.hpp>
#include <lockstep/detail/wait/misuse.hpp>
#include <lockstep/wait_policy.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {

/// Lets one writer or any number of readers through, in the order of their arrival.
class shared_mutex {
 public:
  explicit constexpr shared_mutex(wait_policy policy = wait_policy()) noexcept
      : word_(0), policy_(policy) {}
  ~shared_mutex() { detail::misuse::destroying(this, kind()); }
  shared_mutex(const shared_mutex&) = delete;
  shared_mutex& operator=(const shared_mutex&) = delete;

  /// Blocks until the calling thread alone holds the lock. Requires: it does not hold it yet.
  void lock() { try_lock_until(deadline::never()); }
  /// Takes the lock if no thread holds it or waits for it; never blocks.
  bool try_lock() noexcept {
    const bool taken = take_free();
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
    const bool taken = take_free() || lock_slowly(true, until);
    if (taken && detail::misuse::is_watched()) detail::misuse::locked(this);
    return taken;
  }
  /// Requires: the calling thread holds the lock alone.
  void unlock() {
    if (LOCKSTEP_UNLIKELY(detail::misuse::is_watched())) detail::misuse::unlocking(this, kind());
    const std::uint32_t old = word_.fetch_sub(writer_, detail::memory_order_release);  // 1
    if ((old & waiting_) != 0) hand_over();
  }

  /// Blocks until the calling thread holds the lock, perhaps with other readers. Requires: it does not
  /// hold it yet.
  void lock_shared() { try_lock_shared_until(deadline::never()); }
  /// Takes the lock if no writer holds it and no thread waits for it; never blocks.
  bool try_lock_shared() noexcept {
    const bool taken = take_with_readers();
    if (taken && detail::misuse::is_watched())
      detail::misuse::locked(this, detail::misuse::role::reader);
    return taken;
  }
  /// As lock_shared(), for at most `time`; false if it did not get the lock.
  template <class Rep, class Period>
  bool try_lock_shared_for(std::chrono::duration<Rep, Period> time) {
    return try_lock_shared_until(deadline::after(time));
  }
  bool try_lock_shared_until(deadline until) {
    if (LOCKSTEP_UNLIKELY(detail::misuse::is_watched())) detail::misuse::locking(this, kind());
    const bool taken = take_with_readers() || lock_slowly(false, until);
    if (taken && detail::misuse::is_watched())
      detail::misuse::locked(this, detail::misuse::role::reader);
    return taken;
  }
  /// Requires: the calling thread holds the lock as a reader.
  void unlock_shared() {
    if (LOCKSTEP_UNLIKELY(detail::misuse::is_watched()))
      detail::misuse::unlocking(this, kind(), detail::misuse::role::reader);
    const std::uint32_t old = word_.fetch_sub(one_reader_, detail::memory_order_release);  // 1
    if ((old & waiting_) != 0 && old < 2 * one_reader_) hand_over();
  }

  wait_policy policy() const noexcept { return policy_; }

 private:
  static constexpr std::uint32_t writer_ = 1, waiting_ = 2, one_reader_ = 4;

  static const char* kind() noexcept { return "lockstep::shared_mutex"; }

  bool take_free() noexcept {
    std::uint32_t free = 0;
    return word_.compare_exchange_strong(free, writer_, detail::memory_order_acquire,  // 2
                                         detail::memory_order_relaxed);                // 3
  }
  bool take_with_readers() noexcept {
    std::uint32_t word = word_.load(detail::memory_order_relaxed);  // 3
    while ((word & (writer_ | waiting_)) == 0) {
      if (word_.compare_exchange_strong(word, word + one_reader_,
                                        detail::memory_order_acquire,     // 2
                                        detail::memory_order_relaxed)) {  // 3
        return true;
      }
    }
    return false;
  }
  /// False if `until` came first.
  bool lock_slowly(bool to_write, deadline until);
  /// Lets the front of the queue in: a writer if the lock is free, or all readers up to the next writer.
  void hand_over();

  detail::wait_word word_;
  wait_policy policy_;
};

static_assert(sizeof(shared_mutex) == 8, "a word of state and a policy");

/// The same type: it has the timed operations.
using shared_timed_mutex = shared_mutex;

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SHARED_MUTEX_HPP
