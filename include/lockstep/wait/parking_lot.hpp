// SPDX-License-Identifier: MIT
// lockstep/wait/parking_lot.hpp -- queues of waiting threads, beside the objects they wait on (layer: wait)
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
//
// Memory order (# marks the line)
//   #  access             order    pairs  why it suffices
//   1  word.exchange      release  2      Q3
//   2  word.load          acquire  1      Q3
//   3  word.compare_exch  relaxed  1      the mark and the notification are one word: its change order
//                                         suffices; the load 2 follows
//   4  word.store         relaxed  -      no other thread knows the node at that time
//
// Cost   the table is 32 KiB of zeros. A queue operation is a lock (2 RMWs) and a walk past the nodes of
//        other keys in the same bucket.
// Source [PARKING-LOT]; the queue on the stacks of its threads is that of [MCS91], section 2.
#ifndef LOCKSTEP_WAIT_PARKING_LOT_HPP
#define LOCKSTEP_WAIT_PARKING_LOT_HPP

#include <cstddef>
#include <cstdint>
#include <new>

#include "../platform/at_fork.hpp"
#include "../platform/process_state.hpp"
#include "short_lock.hpp"
#include "wait_engine.hpp"

namespace lockstep {

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
  bool wait(wait_policy policy, deadline until = deadline::never()) {
    return wait_engine::wait(*this, policy, this_thread_history(), until,
                             wait_engine::single_yield_time);
  }

  /// The one behind it in a parked_chain.
  parked_thread* chained() const noexcept { return chained_; }

  /// To be used again, by its own thread, after it was notified.
  void renew() noexcept { word_.store(0, platform::memory_order_relaxed); }  // 4

  bool ready() const noexcept {
    return word_.load(platform::memory_order_acquire) == notified_;  // 2
  }
  void sleep(deadline until) {
    std::uint32_t word = 0;
    if (!word_.compare_exchange_strong(word, sleeping_, platform::memory_order_relaxed,  // 3
                                       platform::memory_order_relaxed) &&                // 3
        word != sleeping_) {
      return;
    }
    platform::futex_wait(word_, sleeping_, until.nanoseconds());
  }

 private:
  friend class parking_lot;
  friend class parked_chain;
  friend class wake_list;
  enum : std::uint32_t { sleeping_ = 1, notified_ = 2 };

  /// Lets the thread go; returns what to wake, or nothing if it does not sleep.
  const platform::wait_word* notify() noexcept {
    const platform::wait_word* const word = &word_;
    const bool sleeps =
        word_.exchange(notified_, platform::memory_order_release) == sleeping_;  // 1
    return sleeps ? word : nullptr;
  }

  platform::wait_word word_;
  std::uint32_t purpose_;
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
    const platform::wait_word* const word = thread.notify();
    if (word == nullptr) return;
    if (count_ == capacity) flush();
    words_[count_++] = word;
  }

 private:
  static constexpr std::size_t capacity = 32;

  void flush() {
    for (std::size_t i = 0; i < count_; ++i) platform::futex_wake_one(words_[i]);
    count_ = 0;
  }

  const platform::wait_word* words_[capacity];
  std::size_t count_;
};

/// The table is one for the process (process_state.hpp): waiters and wakers may be of different modules.
class parking_lot {
  using bucket = platform::parking_bucket;

 public:
  /// Which queue: the object's address and one of four kinds, so that a late look at the queue of an
  /// object that is gone does not mistake the waiters of another kind of object for its own (Q2).
  enum class kind : std::uintptr_t { mutex, semaphore, shared_mutex, condition_variable };
  static std::uintptr_t key(const platform::wait_word& word, kind of) noexcept {
    static_assert(alignof(platform::wait_word) >= 4, "two bits are free");
    return reinterpret_cast<std::uintptr_t>(&word) + static_cast<std::uintptr_t>(of);
  }

  /// The queue of one key, locked while this lives.
  class queue {
   public:
    explicit queue(std::uintptr_t key) : bucket_(bucket_of(key)), key_(key) {
      platform::watch_forks<around_fork>();
      short_lock::lock(bucket_.lock);
    }
    ~queue() { short_lock::unlock(bucket_.lock); }
    queue(const queue&) = delete;
    queue& operator=(const queue&) = delete;

    /// The one that waits longest, or none.
    parked_thread* front() const noexcept { return from(first()); }
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
      link(last(), thread, nullptr);
    }
    void push_front(parked_thread& thread) noexcept {
      thread.key_ = key_;
      link(nullptr, thread, first());
    }
    /// Requires: it is in this queue.
    void remove(parked_thread& thread) noexcept {
      set_next(thread.previous_, thread.next_);
      set_previous(thread.next_, thread.previous_);
      thread.next_ = thread.previous_ = nullptr;
    }

   private:
    parked_thread* first() const noexcept { return static_cast<parked_thread*>(bucket_.first); }
    parked_thread* last() const noexcept { return static_cast<parked_thread*>(bucket_.last); }
    parked_thread* from(parked_thread* thread) const noexcept {
      while (thread != nullptr && thread->key_ != key_) thread = thread->next_;
      return thread;
    }
    void link(parked_thread* before, parked_thread& thread, parked_thread* after) noexcept {
      thread.previous_ = before;
      thread.next_ = after;
      set_next(before, &thread);
      set_previous(after, &thread);
    }
    /// Of nobody: of the bucket.
    void set_next(parked_thread* of, parked_thread* next) noexcept {
      if (of != nullptr) {
        of->next_ = next;
      } else {
        bucket_.first = next;
      }
    }
    void set_previous(parked_thread* of, parked_thread* previous) noexcept {
      if (of != nullptr) {
        of->previous_ = previous;
      } else {
        bucket_.last = previous;
      }
    }

    bucket& bucket_;
    std::uintptr_t key_;
  };

 private:
  static bucket& bucket_of(std::uintptr_t key) noexcept {
    // Fibonacci hashing: the high bits of the product depend on all bits of the key.
    const std::uint64_t product = std::uint64_t{key} * 0x9E3779B97F4A7C15u;
    constexpr unsigned bits = platform::process_state::parking_bits;
    return platform::process().parking[static_cast<std::size_t>(product >> (64 - bits))];
  }

  /// In a child process: those in the queues are not there, nor who held a queue's lock; the nodes lie
  /// on stacks that new threads get.
  struct around_fork {
    static void before() noexcept {}
    static void after() noexcept {}
    static void child() noexcept {
      for (bucket& each : platform::process().parking) ::new (&each) bucket();
    }
  };
};

}  // namespace lockstep

#endif  // LOCKSTEP_WAIT_PARKING_LOT_HPP
