// SPDX-License-Identifier: MIT
// lockstep/shared_mutex.hpp -- one writer or many readers (layer: sync)
//
// std::shared_timed_mutex by its operations: works with std::shared_lock and std::unique_lock. Threads that have to
// queue are served in the order of their arrival, neighbouring readers together, and nobody overtakes the queue: neither
// writers nor readers starve.
// A reader must not lock again while it holds the lock: with a writer queued in between, or as a writer, it would wait
// for itself (diagnosed in debug builds where it has to wait). For short sections mutex.hpp is faster, also for readers:
// each reader writes the word.
//
// Invariants
//   SHARED-1  `writer` is set or readers > 0, never both.
//   SHARED-2  `waiting` is set exactly while the queue is not empty; then a thread gets in only by hand_over(), on
//             behalf of the queue: a thread that was notified holds the lock.
//   SHARED-3  A thread that makes the lock free while `waiting` is set hands over. So does a thread that leaves the
//             queue: its place may have been what held up those behind it.
//   SHARED-4  The object may be destroyed by the thread that has held and unlocked it last (as MUTEX-5).
//
// word_
//   bit    name     meaning                   set by                               cleared by
//   0      writer   a writer holds it         lock, or hand_over() for the writer  unlock
//   1      waiting  the queue has a waiter    a waiter, as it queues up            the last to leave the queue
//   2..31  readers  how many readers hold it  lock_shared, or hand_over(), counts  unlock_shared counts down
// None may be wrong outside of the queue's lock: without waiting an unlock lets nobody in and others overtake; with
// waiting and no waiter nobody gets in any more.
//
// Memory order (# marks the line)
//   #  access          order    pairs  why it suffices
//   1  word.fetch_sub  release  -      for rows 1 and 4 of queued_word.hpp; later readers' changes keep the release
//                                      sequence
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

#include <lockstep/detail/wait/misuse.hpp>
#include <lockstep/detail/wait/parking_lot.hpp>
#include <lockstep/detail/wait/queued_word.hpp>
#include <lockstep/wait_policy.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// What the bits of a shared_mutex mean (queued_word.hpp).
struct shared_mutex_rules {
  static constexpr parking_lot::kind queue = parking_lot::kind::shared_mutex;
  static constexpr bool backs_off = false;

  static constexpr std::uint32_t writer = 1, waiting = 2, one_reader = 4;
  enum purpose : std::uint32_t { to_read, to_write };

  static bool may_take(std::uint32_t word, std::uint32_t as) noexcept {
    return (word & waiting) == 0 && may_be_given(word, as);
  }
  static bool may_be_given(std::uint32_t word, std::uint32_t as) noexcept {
    return as == to_read ? (word & writer) == 0 : (word & ~waiting) == 0;
  }
  static std::uint32_t taken(std::uint32_t word, std::uint32_t as) noexcept {
    return word + (as == to_read ? one_reader : writer);
  }
  static std::uint32_t marked(std::uint32_t word, std::uint32_t) noexcept { return word | waiting; }
  static std::uint32_t without_waiters(std::uint32_t word) noexcept { return word & ~waiting; }
};
static_assert(parking_lot::without_waiters(shared_mutex_rules::queue) ==
                  ~shared_mutex_rules::waiting,
              "PARKING-4");

}  // namespace detail

/// Lets one writer or any number of readers through, in the order of their arrival.
class shared_mutex : private detail::handed_word<detail::shared_mutex_rules> {
  using rules = detail::shared_mutex_rules;

 public:
  explicit constexpr shared_mutex(wait_policy policy = wait_policy()) noexcept
      : handed_word(0, policy) {}
  ~shared_mutex() { detail::misuse::destroying_lock(this, kind()); }
  shared_mutex(const shared_mutex&) = delete;
  shared_mutex& operator=(const shared_mutex&) = delete;

  /// Blocks until the calling thread alone holds the lock. Requires: it does not hold it yet.
  void lock() { try_lock_until(deadline::never()); }
  /// Takes the lock if no thread holds it or waits for it; never blocks.
  bool try_lock() noexcept {
    const bool taken = try_take(rules::to_write);
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
    const bool taken = try_take(rules::to_write) || lock_slowly(rules::to_write, until);
    if (taken) detail::misuse::locked(this);
    return taken;
  }
  /// Requires: the calling thread holds the lock alone.
  void unlock() {
    detail::misuse::unlocking(this, kind());
    const std::uint32_t old = word_.fetch_sub(rules::writer, detail::memory_order_release);  // 1
    if ((old & rules::waiting) != 0) hand_over();
  }

  /// Blocks until the calling thread holds the lock, perhaps with other readers. Requires: it does not
  /// hold it yet.
  void lock_shared() { try_lock_shared_until(deadline::never()); }
  /// Takes the lock if no writer holds it and no thread waits for it; never blocks.
  bool try_lock_shared() noexcept {
    const bool taken = try_take(rules::to_read);
    if (taken) detail::misuse::locked_shared(this);
    return taken;
  }
  /// As lock_shared(), for at most `time`; false if the lock was not to be had.
  template <class Rep, class Period>
  bool try_lock_shared_for(std::chrono::duration<Rep, Period> time) {
    return try_lock_shared_until(deadline::after(time));
  }
  bool try_lock_shared_until(deadline until) {
    detail::misuse::locking(this, kind());
    const bool taken = try_take(rules::to_read) || lock_slowly(rules::to_read, until);
    if (taken) detail::misuse::locked_shared(this);
    return taken;
  }
  /// Requires: the calling thread holds the lock as a reader.
  void unlock_shared() {
    detail::misuse::unlocking_shared(this, kind());
    const std::uint32_t old =
        word_.fetch_sub(rules::one_reader, detail::memory_order_release);  // 1
    if ((old & rules::waiting) != 0 && old < 2 * rules::one_reader) hand_over();
  }

  using handed_word::policy;

 private:
  static const char* kind() noexcept { return "lockstep::shared_mutex"; }

  LOCKSTEP_NOINLINE bool lock_slowly(rules::purpose as, deadline until) {
    detail::misuse::check_no_reader(this, kind());
    return take_slowly(as, until);
  }
};

static_assert(sizeof(shared_mutex) == 8, "a word of state and a policy");

/// For programs that change a type: the timed operations are there.
using shared_timed_mutex = shared_mutex;

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SHARED_MUTEX_HPP
