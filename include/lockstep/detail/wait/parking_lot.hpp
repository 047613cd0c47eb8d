// SPDX-License-Identifier: MIT
// lockstep/detail/wait/parking_lot.hpp -- queues of waiting threads, beside the objects they wait on (layer: wait)
//
// Objects of 4 bytes have no room for a queue. A thread that has to wait puts a node of its own stack
// into a table under the object's key, and waits until another thread takes the node out and notifies it.
// So waiters are served in the order of their arrival, exactly those that are meant wake up, a waiter can
// be moved from one object's queue to another's without waking, and a time-out can leave the queue.
//
//   Q1  A node is notified once, after it has left its queue; until then it stays where it is. After the
//       notification the node is its thread's again and may be gone: notify() gives back what to wake,
//       an address that is only used as such.
//   Q2  Under the lock of a key's queue, a node in it proves that its thread has not returned, hence
//       that the object it waits on exists. Who finds the queue empty must not touch the object: the
//       key may belong to nothing, or to another object by now.
//   Q3  What happens before notify() happens before the return of the node's wait().
//   Q4  A child of fork() finds the queues empty and the words as if nobody had ever queued. fork() is
//       called with all queues locked; in the child each node that is in a list proves that its object
//       exists (Q2), so the object's word is stripped of what it says of waiters. A word that tells of
//       a thread which is in no queue any more, has that thread in the list of those on their way.
//
// Memory order (# marks the line)
//   #  access             order    pairs  why it suffices
//   1  word.exchange      release  2      Q3
//   2  word.load          acquire  1      Q3
//   3  word.compare_exch  relaxed  1      the mark and the notification are one word: its change order
//                                         suffices; the load 2 follows
//   4  word.store         relaxed  -      no other thread knows the node at that time
//   5  word.fetch_and     relaxed  -      the only thread of the child
//
// Cost   the table is 32 KiB of zeros. A queue operation is a lock (2 RMWs) and a walk past the nodes of
//        other keys in the same bucket. fork() takes and frees the 256 locks, 5 us.
// Source [PARKING-LOT]; the queue on the stacks of its threads is that of [MCS91], section 2.
#ifndef LOCKSTEP_DETAIL_WAIT_PARKING_LOT_HPP
#define LOCKSTEP_DETAIL_WAIT_PARKING_LOT_HPP

#include <cstddef>
#include <cstdint>
#include <new>

#include "../platform/fork.hpp"
#include "../platform/process.hpp"
#include "short_lock.hpp"
#include "wait_engine.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// A thread in a queue.
class parked_thread {
 public:
  constexpr explicit parked_thread(std::uint32_t purpose = 0) noexcept
      : word_(0), purpose_(purpose) {}
  parked_thread(const parked_thread&) = delete;
  parked_thread& operator=(const parked_thread&) = delete;

  /// What it waits for, in its object's terms.
  std::uint32_t purpose() const noexcept { return purpose_; }

  /// Waits for the notification; false if `until` came first.
  bool wait(wait_policy policy, deadline until = deadline::never(),
            wait_history& history = this_thread_history_in_queues()) {
    slept_ = false;
    const bool notified =
        wait_engine::wait(*this, policy, history, until, wait_engine::single_yield_time);
    if (slept_) history.yielding.failed();
    return notified;
  }

  /// The one behind it in a parked_chain.
  parked_thread* chained() const noexcept { return chained_; }

  /// To be used again, by its own thread, after it was notified.
  void renew() noexcept { word_.store(0, detail::memory_order_relaxed); }  // 4

  /// True once it was let go ahead of its turn. For its own thread after that notification, and for those
  /// who hold the lock of its queue.
  bool was_ahead() const noexcept { return was_ahead_; }

  bool ready() const noexcept {
    return word_.load(detail::memory_order_acquire) == notified_;  // 2
  }
  void sleep(deadline until) {
    slept_ = true;
    std::uint32_t word = 0;
    if (!word_.compare_exchange_strong(word, sleeping_, detail::memory_order_relaxed,  // 3
                                       detail::memory_order_relaxed) &&                // 3
        word != sleeping_) {
      return;
    }
    detail::futex_wait(word_, sleeping_, until.nanoseconds());
  }

 private:
  friend class parking_lot;
  friend class parked_chain;
  friend class wake_list;
  enum : std::uint32_t { sleeping_ = 1, notified_ = 2 };

  /// Lets the thread go; returns what to wake, or nothing if it does not sleep.
  const detail::wait_word* notify() noexcept {
    const detail::wait_word* const word = &word_;
    const bool sleeps = word_.exchange(notified_, detail::memory_order_release) == sleeping_;  // 1
    return sleeps ? word : nullptr;
  }

  detail::wait_word word_;
  std::uint32_t purpose_;
  bool slept_ = false;
  bool was_ahead_ = false;
  std::uintptr_t key_ = 0;
  parked_thread* next_ = nullptr;
  parked_thread* previous_ = nullptr;
  parked_thread* chained_ = nullptr;
};

/// Threads on the way between two queues, in order.
class parked_chain {
 public:
  bool empty() const noexcept { return first_ == nullptr; }
  parked_thread* first() const noexcept { return first_; }
  void append(parked_thread& thread) noexcept {
    (last_ != nullptr ? last_->chained_ : first_) = &thread;
    last_ = &thread;
  }

 private:
  parked_thread* first_ = nullptr;
  parked_thread* last_ = nullptr;
};

/// Notifies threads at once and wakes them when it goes out of scope: outside of the queue's lock if it was
/// made before that.
class wake_list {
 public:
  wake_list() noexcept : count_(0) {}
  ~wake_list() { flush(); }
  wake_list(const wake_list&) = delete;
  wake_list& operator=(const wake_list&) = delete;

  void notify(parked_thread& thread) {
    const detail::wait_word* const word = thread.notify();
    if (word == nullptr) return;
    if (count_ == capacity) flush();
    words_[count_++] = word;
  }

 private:
  static constexpr std::size_t capacity = 32;

  void flush() {
    for (std::size_t i = 0; i < count_; ++i) detail::futex_wake_one(words_[i]);
    count_ = 0;
  }

  const detail::wait_word* words_[capacity];
  std::size_t count_;
};

/// The table is one for the process (process.hpp): waiters and wakers may be of different modules.
class parking_lot {
  using bucket = detail::parking_bucket;
  using list = detail::parking_list;

 public:
  /// Which queue: the object's address and one of four kinds, so that a late look at the queue of an
  /// object that is gone does not mistake the waiters of another kind of object for its own (Q2).
  enum class kind : std::uintptr_t { mutex, semaphore, shared_mutex, condition_variable };
  static std::uintptr_t key(const detail::wait_word& word, kind of) noexcept {
    static_assert(alignof(detail::wait_word) >= 4, "two bits are free");
    return reinterpret_cast<std::uintptr_t>(&word) + static_cast<std::uintptr_t>(of);
  }

  /// The bits of an object's word that do not tell of its waiters (Q4).
  static constexpr std::uint32_t without_waiters(kind of) noexcept {
    return of == kind::mutex          ? 1u
           : of == kind::semaphore    ? ~1u
           : of == kind::shared_mutex ? ~2u
                                      : 0u;
  }

  /// The queue of one key, locked while this lives.
  class queue {
   public:
    explicit queue(std::uintptr_t key) : bucket_(bucket_of(key)), key_(key) {
      // A lock that is contended sleeps: the portable futex's own locks are taken after ours.
      detail::native_futex::prepare_for_fork();
      detail::watch_forks<around_fork>();
      short_lock::lock(bucket_.lock);
    }
    ~queue() { short_lock::unlock(bucket_.lock); }
    queue(const queue&) = delete;
    queue& operator=(const queue&) = delete;

    /// The one that waits longest, or none.
    parked_thread* front() const noexcept { return from(first_of(bucket_.waiting)); }
    /// The one behind `thread`, or none.
    parked_thread* behind(const parked_thread& thread) const noexcept { return from(thread.next_); }
    bool empty() const noexcept { return front() == nullptr; }

    bool contains(const parked_thread& thread) const noexcept {
      const parked_thread* each = front();
      while (each != nullptr && each != &thread) each = behind(*each);
      return each != nullptr;
    }

    void push_back(parked_thread& thread) noexcept {
      thread.key_ = key_;
      link(bucket_.waiting, last_of(bucket_.waiting), thread, nullptr);
    }
    void push_front(parked_thread& thread) noexcept {
      thread.key_ = key_;
      link(bucket_.waiting, nullptr, thread, first_of(bucket_.waiting));
    }
    /// Requires: it is in this queue.
    void remove(parked_thread& thread) noexcept { unlink(bucket_.waiting, thread); }

    /// From the queue to those on their way: let go, but the object's word still tells of it (Q4).
    void send_out(parked_thread& thread) noexcept {
      remove(thread);
      link(bucket_.on_their_way, nullptr, thread, first_of(bucket_.on_their_way));
    }
    /// Out of the queue before its turn, at most once for each thread: the object's word does not tell of it
    /// any more, and it goes on as one that has just come.
    void send_ahead(parked_thread& thread) noexcept {
      remove(thread);
      thread.was_ahead_ = true;
    }
    /// True if a child of a fork() at this moment would put the object's word right (Q4); for tests.
    bool is_known() const noexcept {
      return !empty() || from(first_of(bucket_.on_their_way)) != nullptr;
    }
    /// Requires: it was sent out.
    void arrive(parked_thread& thread) noexcept { unlink(bucket_.on_their_way, thread); }

   private:
    parked_thread* from(parked_thread* thread) const noexcept {
      while (thread != nullptr && thread->key_ != key_) thread = thread->next_;
      return thread;
    }

    bucket& bucket_;
    std::uintptr_t key_;
  };

  /// What is done around a fork() (Q4): before it and after it in the parent, and in the child.
  static void lock_all() {
    for (bucket& each : detail::process().parking) short_lock::lock(each.lock);
  }
  static void unlock_all() {
    for (bucket& each : detail::process().parking) short_lock::unlock(each.lock);
  }
  static void forget_all() noexcept {
    for (bucket& each : detail::process().parking) {
      forget(each.waiting);
      forget(each.on_their_way);
      ::new (&each) bucket();
    }
  }

 private:
  static parked_thread* first_of(const list& of) noexcept {
    return static_cast<parked_thread*>(of.first);
  }
  static parked_thread* last_of(const list& of) noexcept {
    return static_cast<parked_thread*>(of.last);
  }
  static void link(list& in, parked_thread* before, parked_thread& thread,
                   parked_thread* after) noexcept {
    thread.previous_ = before;
    thread.next_ = after;
    set_next(in, before, &thread);
    set_previous(in, after, &thread);
  }
  static void unlink(list& from, parked_thread& thread) noexcept {
    set_next(from, thread.previous_, thread.next_);
    set_previous(from, thread.next_, thread.previous_);
    thread.next_ = thread.previous_ = nullptr;
  }
  /// Of nobody: of the list.
  static void set_next(list& in, parked_thread* of, parked_thread* next) noexcept {
    if (of != nullptr) {
      of->next_ = next;
    } else {
      in.first = next;
    }
  }
  static void set_previous(list& in, parked_thread* of, parked_thread* previous) noexcept {
    if (of != nullptr) {
      of->previous_ = previous;
    } else {
      in.last = previous;
    }
  }
  /// The nodes lie on stacks of threads that are not there: they are read, and then forgotten.
  static void forget(const list& of) noexcept {
    for (const parked_thread* each = first_of(of); each != nullptr; each = each->next_) {
      const std::uintptr_t which = each->key_ & 3u;
      detail::wait_word& word = *reinterpret_cast<detail::wait_word*>(each->key_ - which);
      word.fetch_and(without_waiters(static_cast<kind>(which)),
                     detail::memory_order_relaxed);  // 5
    }
  }

  static bucket& bucket_of(std::uintptr_t key) noexcept {
    // Fibonacci hashing: the high bits of the product depend on all bits of the key.
    const std::uint64_t product = std::uint64_t{key} * 0x9E3779B97F4A7C15u;
    constexpr unsigned bits = detail::process_state::parking_bits;
    return detail::process().parking[static_cast<std::size_t>(product >> (64 - bits))];
  }

  struct around_fork {
    static void before() {
      if (detail::process().parking_forks.enter()) lock_all();
    }
    static void after() {
      if (!detail::process().parking_forks.is_last()) return;
      unlock_all();
      detail::process().parking_forks.leave();
    }
    static void child() {
      if (!detail::process().parking_forks.is_last()) return;
      forget_all();
      detail::process().parking_forks.leave();
    }
  };
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_WAIT_PARKING_LOT_HPP
