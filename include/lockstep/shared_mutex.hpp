// SPDX-License-Identifier: MIT
// lockstep/shared_mutex.hpp -- one writer or many readers (layer: sync)
//
// std::shared_timed_mutex by its operations: works with std::shared_lock and std::unique_lock. Who has to
// queue is served in the order of arrival, neighbouring readers together, and nobody overtakes the queue:
// neither writers nor readers starve. What happens before an unlock happens before the return of the next
// lock; what happens before an unlock_shared, before that of the next lock by a writer.
// A reader must not lock again while it holds the lock: with a writer queued in between, or as a writer, it
// would wait for itself (diagnosed in debug builds where it has to wait). For short exclusive sections mutex.hpp is faster, also for readers: each reader writes the word.
//
// Invariants
//   W1  writer_ is set or readers > 0, never both.
//   W2  waiting_ is set exactly while the queue is not empty; then nobody enters but by admit(), which
//       hands the lock over: a thread that was notified holds it.
//   W3  Who makes the lock free while waiting_ is set calls admit(). Who leaves the queue does too: his
//       place may have been what held up those behind him.
//   W4  The object may be destroyed by the thread that has held and unlocked it last (as M5 of mutex.hpp).
//
//   word_   bit 0 writer   bit 1 waiting   bits 2..31 readers
//
// Memory order (# marks the line)
//   #  access            order    pairs  why it suffices
//   1  word.compare_exch acquire  2      we see what those did who unlocked before
//   2  word.fetch_sub    release  1, 4   the other half; later readers' changes keep the release sequence
//   3  word.load         relaxed  -      a guess for the compare-exchange that follows
//   4  word.compare_exch acquire  2      admits others: they see, through their notification (1 of
//                                        parking_lot.hpp), what we saw
//   5  word.compare_exch relaxed  -      changes the waiting bit only
//
// Cost   each operation one read-modify-write; no system call unless somebody sleeps. 8 bytes.
// Source [PARKING-LOT] for the queue; the order of service is that of [MCS91b].
#ifndef LOCKSTEP_SHARED_MUTEX_HPP
#define LOCKSTEP_SHARED_MUTEX_HPP

#include <chrono>
#include <cstdint>

#include "detail/wait/misuse.hpp"
#include "detail/wait/parking_lot.hpp"
#include "detail/wait/wait_engine.hpp"
#include "wait_policy.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {

class shared_mutex {
 public:
  explicit constexpr shared_mutex(wait_policy policy = wait_policy()) noexcept
      : word_(0), policy_(policy) {}
  ~shared_mutex() { detail::misuse::destroying_lock(this, kind()); }
  shared_mutex(const shared_mutex&) = delete;
  shared_mutex& operator=(const shared_mutex&) = delete;

  /// Blocks until the calling thread alone holds the lock. Requires: it does not hold it yet.
  void lock() { try_lock_until(deadline::never()); }
  /// Takes the lock if nobody holds it or waits for it; never blocks.
  bool try_lock() noexcept {
    const bool taken = try_take(writer);
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
    const bool taken = try_take(writer) || lock_slowly(writer, until);
    if (taken) detail::misuse::locked(this);
    return taken;
  }
  /// Requires: the calling thread holds the lock alone.
  void unlock() {
    detail::misuse::unlocking(this, kind());
    const std::uint32_t old = word_.fetch_sub(writer_, detail::memory_order_release);  // 2
    if ((old & waiting_) != 0) admit();
  }

  /// Blocks until the calling thread holds the lock, perhaps with other readers. Requires: it does not
  /// hold it yet.
  void lock_shared() { try_lock_shared_until(deadline::never()); }
  /// Takes the lock if no writer holds it and nobody waits for it; never blocks.
  bool try_lock_shared() noexcept {
    const bool taken = try_take(reader);
    if (taken) detail::misuse::locked_shared(this);
    return taken;
  }
  /// As lock_shared(), for at most `time`; false if the lock was not to be had.
  template <class Rep, class Period>
  bool try_lock_shared_for(std::chrono::duration<Rep, Period> time) {
    return try_lock_shared_until(deadline::after(time));
  }
  template <class Clock, class Duration>
  bool try_lock_shared_until(std::chrono::time_point<Clock, Duration> point) {
    return try_lock_shared_until(deadline::at(point));
  }
  bool try_lock_shared_until(deadline until) {
    detail::misuse::locking(this, kind());
    const bool taken = try_take(reader) || lock_slowly(reader, until);
    if (taken) detail::misuse::locked_shared(this);
    return taken;
  }
  /// Requires: the calling thread holds the lock as a reader.
  void unlock_shared() {
    detail::misuse::unlocking_shared(this, kind());
    const std::uint32_t old = word_.fetch_sub(one_reader_, detail::memory_order_release);  // 2
    if ((old & waiting_) != 0 && old < 2 * one_reader_) admit();
  }

  wait_policy policy() const noexcept { return policy_; }

 private:
  static constexpr std::uint32_t writer_ = 1, waiting_ = 2, one_reader_ = 4;
  enum purpose : std::uint32_t { reader, writer };

  static const char* kind() noexcept { return "lockstep::shared_mutex"; }
  std::uintptr_t key() const noexcept {
    return detail::parking_lot::key(word_, detail::parking_lot::kind::shared_mutex);
  }
  static_assert(detail::parking_lot::without_waiters(detail::parking_lot::kind::shared_mutex) ==
                    ~waiting_,
                "Q4");

  /// Whether one more may hold the lock, waiters left aside.
  static bool may_enter(std::uint32_t word, std::uint32_t as) noexcept {
    return as == reader ? (word & writer_) == 0 : (word & ~waiting_) == 0;
  }
  static std::uint32_t entered(std::uint32_t word, std::uint32_t as) noexcept {
    return word + (as == reader ? one_reader_ : writer_);
  }

  bool try_take(purpose as) noexcept {
    std::uint32_t word = word_.load(detail::memory_order_relaxed);  // 3
    while ((word & waiting_) == 0 && may_enter(word, as)) {
      if (word_.compare_exchange_strong(word, entered(word, as),
                                        detail::memory_order_acquire,   // 1
                                        detail::memory_order_relaxed))  // 3
        return true;
    }
    return false;
  }

  /// What the wait engine looks at before a thread queues up.
  struct attempt {
    shared_mutex& owner;
    purpose as;
    bool ready() noexcept { return owner.try_take(as); }
  };

  LOCKSTEP_NOINLINE bool lock_slowly(purpose as, deadline until) {
    detail::misuse::check_no_reader(this, kind());
    const detail::misuse::waiting_scope waiting(this);
    attempt now{*this, as};
    if (detail::wait_engine::linger(now, policy_, detail::this_thread_history(), until))
      return true;
    detail::parked_thread self(as);
    if (!enqueue(self, as)) return true;
    return self.wait(policy_, until) || !leave(self);
  }

  /// Queues the thread up, unless the lock could be taken in the end: then it is.
  bool enqueue(detail::parked_thread& self, purpose as) {
    detail::parking_lot::queue waiters(key());
    std::uint32_t word = word_.load(detail::memory_order_relaxed);  // 3
    do {
      if (try_take(as)) return false;
      word = word_.load(detail::memory_order_relaxed);  // 3
    } while (((word & waiting_) == 0 && may_enter(word, as)) || !mark(word, word | waiting_));
    waiters.push_back(self);
    return true;
  }

  /// Leaves the queue; false if the thread was given the lock before that.
  bool leave(detail::parked_thread& self) {
    detail::wake_list woken;
    detail::parking_lot::queue waiters(key());
    if (!waiters.contains(self)) return false;
    waiters.remove(self);
    std::uint32_t word = word_.load(detail::memory_order_relaxed);  // 3
    while (waiters.empty() && !mark(word, word & ~waiting_)) continue;
    admit(waiters, woken);
    return true;
  }

  LOCKSTEP_NOINLINE void admit() {
    detail::wake_list woken;
    detail::parking_lot::queue waiters(key());
    admit(waiters, woken);
  }

  /// Hands the lock to the first in the queue, if they may have it: a writer, or readers up to the next
  /// writer.
  void admit(detail::parking_lot::queue& waiters, detail::wake_list& woken) {
    if (waiters.empty()) return;
    std::uint32_t word = word_.load(detail::memory_order_relaxed);  // 3
    std::uint32_t admitted = 0, wanted = 0;
    do {
      wanted = word;
      admitted = 0;
      detail::parked_thread* next = waiters.front();
      for (; next != nullptr && may_enter(wanted, next->purpose()); ++admitted) {
        wanted = entered(wanted, next->purpose());
        next = waiters.behind(*next);
      }
      if (admitted == 0) return;
      if (next == nullptr) wanted &= ~waiting_;
    } while (!word_.compare_exchange_strong(word, wanted, detail::memory_order_acquire,  // 4
                                            detail::memory_order_relaxed));  // 3
    for (; admitted > 0; --admitted) {
      detail::parked_thread& next = *waiters.front();
      waiters.remove(next);
      woken.notify(next);
    }
  }

  bool mark(std::uint32_t& old, std::uint32_t wanted) noexcept {
    return word_.compare_exchange_strong(old, wanted, detail::memory_order_relaxed,  // 5
                                         detail::memory_order_relaxed);              // 3
  }

  detail::wait_word word_;
  wait_policy policy_;
};

static_assert(sizeof(shared_mutex) == 8, "a word of state and a policy");

/// For programs that change a type: the timed operations are there.
using shared_timed_mutex = shared_mutex;

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SHARED_MUTEX_HPP
