// SPDX-License-Identifier: MIT
// src/wait/parking_lot.hpp -- queues of waiting threads, beside the objects they wait on (layer: wait)
//
// Objects of 4 bytes have no room for a queue. A thread that has to wait puts a node of its own stack into a table
// under the object's key, and waits until another thread notifies the node. Waiters are served in the order of their
// arrival, and only the intended ones wake up. A waiter can be moved from one object's queue to another's without
// waking, and it can leave the queue at its deadline. Locks use queued_word, below.
//
//   PARKING-1  A node is notified once for each time that it queues up or comes back: after it has left its queue, or
//              as it is let go. Then its thread goes on, and the node may be gone once it is in no queue. So the wake
//              that follows a notification uses the address of the node's word and does not read the word.
//   PARKING-2  Under the lock of a key's queue, a node in the queue proves that its thread has not returned, and so
//              that the object it waits on exists. A thread that finds the queue empty must not touch the object: the
//              key may belong to nothing, or to another object by now.
//   PARKING-3  What happens before notify() happens before the return of the node's wait().
//   PARKING-4  A child of fork() finds the queues empty, and the words as if no thread had ever queued. fork() is
//              called with all queues locked. In the child, each node in a queue proves that its object exists
//              (PARKING-2), so the bits for waiters are removed from the object's word. A thread that was let go
//              keeps its place until it has what it waits for. So the child finds every word with such bits.
//
// word_ of parked_thread
//   bit    name      meaning                   set by                            cleared by
//   0      sleeping  its thread may be asleep  its thread: WORD-1 of             the notification, which wakes it then
//                                              wait_engine.hpp
//   1      notified  it may return             the thread that took the node     its thread, to use the node again
//                                              out, or let it go
//
// Memory order (# marks the line)
//   #  access             order    pairs  why it suffices
//   1  word.exchange      release  2      PARKING-3
//   2  wait for word      acquire  1      PARKING-3, in wait_engine.hpp (1 there)
//   3  word.store         relaxed  -      no other thread knows the node at that time
//   4  word.fetch_and     relaxed  -      the only thread of the child
//
// Cost   the table is 32 KiB of zeros. A queue operation is a lock (2 RMWs) and a walk past the nodes of
//        other keys in the same bucket. fork() takes and frees the 256 locks, 5 us.
// Source [PARKING-LOT]; the queue on the stacks of its threads is that of [MCS91], section 2.
#ifndef LOCKSTEP_SRC_WAIT_PARKING_LOT_HPP
#define LOCKSTEP_SRC_WAIT_PARKING_LOT_HPP

#include <cstddef>
#include <cstdint>
#include <new>

#include <lockstep/call_site.hpp>
#include "../platform/fork.hpp"
#include "../platform/intrusive_list.hpp"
#include "../platform/process.hpp"
#include "wait_engine.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// A queue's key: the address of the object's word, and in its two lowest bits the kind of the object. So a late look at
/// the queue of an object that is gone does not mistake the waiters of another kind of object for its own (PARKING-2).
struct queue_key {
  static_assert(alignof(wait_word) >= 4, "two bits are free");
  static constexpr unsigned first = static_cast<unsigned>(wait_kind::mutex);  // and three more
  static_assert(static_cast<unsigned>(wait_kind::condition_variable) == first + 3, "kinds");

  static std::uintptr_t of(const wait_word& word, wait_kind kind) noexcept {
    return reinterpret_cast<std::uintptr_t>(&word) + (static_cast<unsigned>(kind) - first);
  }
  static wait_word* word_of(std::uintptr_t key) noexcept {
    return reinterpret_cast<wait_word*>(key & ~std::uintptr_t{3});
  }
  static wait_kind kind_of(std::uintptr_t key) noexcept {
    return static_cast<wait_kind>(first + (key & 3u));
  }
};

/// A thread in a queue.
class parked_thread : public list_node<parked_thread> {
 public:
  /// `queue`: the key of the first queue that the node will be in, for observers.
  constexpr explicit parked_thread(std::uint32_t purpose = 0, std::uintptr_t queue = 0) noexcept
      : word_(0), purpose_(purpose), first_queue_(queue) {}

  /// Waits for the notification; false if `until` came first.
  bool wait(wait_policy policy, std::uint64_t until = no_deadline,
            source_place where = source_place(),
            wait_history& history = this_thread_history().in_queues) {
    word_waiter<was_notified> what(word_, {first_queue_}, where, waitable::single_yield_time);
    const bool notified = wait_engine::wait(what, policy, history, until);  // 2
    if (what.has_announced()) history.yielding.failed();
    return notified;
  }

  // For its own thread after a notification, and for the thread that holds the lock of its queue:
  /// What it waits for, in its object's terms; after the notification, the purpose that was passed there.
  std::uint32_t purpose() const noexcept { return purpose_; }
  /// False from its notification until it comes back.
  bool waits() const noexcept { return waits_; }
  /// The key of its queue; 0 before it was in one.
  std::uintptr_t key() const noexcept { return key_; }

 private:
  friend class parking_lot;
  static constexpr std::uint32_t notified_ = 2;

  struct was_notified {
    std::uintptr_t queue;
    bool operator()(std::uint32_t word) const noexcept { return (word & notified_) != 0; }
    void describe(wait_subject& to) const noexcept {
      to.object = queue_key::word_of(queue);
      if (queue != 0) to.kind = queue_key::kind_of(queue);
    }
  };

  wait_word word_;
  std::uint32_t purpose_;
  const std::uintptr_t first_queue_;
  bool waits_ = true;
  std::uintptr_t key_ = 0;
};

/// Threads that are moved from one queue to another, in order.
struct parked_chain : intrusive_list<parked_thread> {};

/// The process has one table (process.hpp), because waiters and wakers may be in different modules.
class parking_lot {
  using bucket = parking_bucket;

 public:
  /// The bits of an object's word that do not tell of its waiters (PARKING-4).
  static constexpr std::uint32_t without_waiters(wait_kind of) noexcept {
    return of == wait_kind::mutex                ? 1u
           : of == wait_kind::counting_semaphore ? ~1u
           : of == wait_kind::shared_mutex       ? ~2u
                                                 : 0u;
  }

  static bucket& bucket_of(std::uintptr_t key) noexcept {
    // Fibonacci hashing: the high bits of the product depend on all bits of the key.
    return process().parking[converted<std::size_t>((key * 0x9E3779B97F4A7C15u) >>
                                                    (64 - process_state::parking_bits))];
  }

  /// The queue of one key, locked while this lives. Threads that were notified and sleep are woken after the unlock.
  class queue {
   public:
    explicit queue(std::uintptr_t key) : bucket_(bucket_of(key)), key_(key) {
      short_lock::lock(bucket_.lock);
    }
    ~queue() {
      short_lock::unlock(bucket_.lock);
      wake();
    }
    queue(const queue&) = delete;
    queue& operator=(const queue&) = delete;

    // A thread that was let go is in the queue, but is no waiter.
    /// The waiter that waits longest, or none.
    parked_thread* front() const noexcept { return from(bucket_.waiting.first()); }
    /// The waiter behind `thread`, or none.
    parked_thread* behind(const parked_thread& thread) const noexcept {
      return from(thread.next());
    }
    bool empty() const noexcept { return front() == nullptr; }

    /// The thread waits from now on: at the end, or at the place that it has kept since it was let go.
    void enter(parked_thread& thread) noexcept {
      if (thread.waits_) {
        thread.key_ = key_;
        bucket_.waiting.push_back(thread);
      } else {
        thread.waits_ = true;
        thread.word_.store(0, memory_order_relaxed);  // 3
      }
    }
    /// Requires: the thread is in this queue.
    void remove(parked_thread& thread) noexcept { bucket_.waiting.remove(thread); }
    /// Removes a waiter that gives up. False if another thread has taken it out or let it go.
    bool withdraw(parked_thread& thread) noexcept {
      const parked_thread* each = front();
      while (each != nullptr && each != &thread) each = behind(*each);
      if (each != nullptr) remove(thread);
      return each != nullptr;
    }

    /// The wait of a thread is over, which goes on for that purpose. If it was not taken out before, it is let go: it
    /// keeps its place, but is no waiter any more. So the child of a fork() finds the word that shows it (PARKING-4).
    /// Without the lock, a thread that was taken out may be gone after this.
    void notify(parked_thread& thread, std::uint32_t as = 0) {
      thread.purpose_ = as;
      thread.waits_ = false;
      wait_word& word = thread.word_;
      const std::uint32_t old = word.exchange(parked_thread::notified_, memory_order_release);  // 1
      if ((old & sleeping_bit) == 0) return;
      if (count_ == most_asleep) wake();
      asleep_[count_++] = &word;
    }

   private:
    static constexpr std::size_t most_asleep = 32;

    void wake() {
      for (std::size_t i = 0; i < count_; ++i) detail::wake(asleep_[i], false);
      count_ = 0;
    }
    parked_thread* from(parked_thread* thread) const noexcept {
      while (thread != nullptr && (thread->key_ != key_ || !thread->waits_)) {
        thread = thread->next();
      }
      return thread;
    }

    bucket& bucket_;
    const std::uintptr_t key_;
    const wait_word* asleep_[most_asleep];
    std::size_t count_ = 0;
  };

  /// Around a fork() (PARKING-4).
  struct around_fork : guarded_by_section {
    static fork_section& section() { return process().parking_forks; }
    static void lock() {
      for (bucket& each : process().parking) short_lock::lock(each.lock);
    }
    static void unlock() {
      for (bucket& each : process().parking) short_lock::unlock(each.lock);
    }
    /// The child has the stacks with the nodes, but not their threads: it reads the nodes, and then forgets them.
    static void in_child() noexcept {
      for (bucket& each : process().parking) {
        for (const parked_thread* at = each.waiting.first(); at != nullptr; at = at->next()) {
          queue_key::word_of(at->key_)->fetch_and(without_waiters(queue_key::kind_of(at->key_)),
                                                  memory_order_relaxed);  // 4
        }
        ::new (&each) bucket();
      }
    }
  };
};
// ATFORK-3. A thread sleeps on a contended lock. So the portable futex takes its own locks after ours.
LOCKSTEP_FIRST_AT_LOAD watch_queues_at_load() {
  prepare_futex_for_fork();
  watch_forks<parking_lot::around_fork>();
}

// What mutex, shared_mutex and semaphore share: they take by compare-exchange, poll, queue up, leave the queue
// at a deadline, and serve the front of the queue. The object's Rules say what the bits mean:
//     queue                     the kind of the queue's key: wait_kind
//     first_pauses              how long a thread pauses before it first looks again: waitable::pauses
//     may_take(word, as)        whether a thread that has not queued up, or was let go, may take now what it wants
//     taken(word, as)           the word after that
//     marked(word, as)          the word while such a thread is in the queue
//     without_waiters(word)     the word once no waiter is left
//     hands_over                whether a waiter is served what it waits for. Then no thread overtakes the queue. Else
//                               it is let go, and tries to take
//     served_as                 its purpose then
//     may_serve(word, as)       whether the front of the queue is served now
//     served(word, as)          the word after that, while more wait
//     waiting                   the bit that goes with the last waiter who is served
// `as` says what the thread wants: parked_thread::purpose().
//
//   QUEUED-1  A thread that queues up holds the queue's lock. One compare-exchange finds that the thread may not take,
//             and marks the word. So a thread that frees the word later finds the mark.
//   QUEUED-2  The mark is cleared under the queue's lock only, when no waiter is left. Threads without the lock may
//             change the rest of the word meanwhile, but they leave the mark.
//   QUEUED-3  A thread leaves the queue itself, or another thread takes it out or lets it go: the queue's lock decides
//             which comes first. In the second case it has what it waited for, or is notified to try again.
//
// Memory order (# marks the line)
//   #  access            order    pairs     why it suffices
//   5  word.compare_exch acquire  object's  we see what came before the release of what we take: that change has
//                                           release order, and all changes here keep the release sequence
//   6  word.load         relaxed  -         a guess for the compare-exchange that follows
//   7  word.compare_exch relaxed  -         takes nothing; the queue's lock orders the marks (QUEUED-2)
//   8  word.compare_exch acquire  object's  takes for waiters: their notification (1) shows them what we have seen
//
// Cost   to take what is free: one read-modify-write. To queue up: the queue's lock and one read-modify-write.

/// A handle on an object's word and policy. The object is registered under the word's address (misuse.hpp).
template <class Rules>
class queued_word {
 public:
  /// Only threads that wait read the policy.
  queued_word(wait_word& word, const wait_policy& policy) noexcept : word_(word), policy_(policy) {}

  std::uintptr_t key() const noexcept { return queue_key::of(word_, Rules::queue); }

  /// After a failed first look: waits awake, then in the queue, and takes; false if `until` came first.
  bool take_slowly(std::uint32_t as, std::uint64_t until, source_place where = source_place()) {
    const misuse::waiting_scope waiting(&word_);
    parked_thread self(as, key());
    return take_as(self, false, until, where);
  }
  /// The same for a thread that may be in the queue already. One that was let go keeps its place until it has what it
  /// wants.
  bool take_as(parked_thread& self, bool is_queued, std::uint64_t until,
               source_place where = source_place()) {
    while (true) {
      if (!is_queued) {
        // Awake, as the policy says. It comes from a failed try, so it begins with a pause: each look takes the word's
        // line away from the holder.
        attempt now(*this, self.purpose(), where);
        if (wait_engine::wait_slowly(now, policy_, this_thread_history().on_words, until,
                                     wait_engine::rung::yield)) {
          break;
        }
        parking_lot::queue waiters(key());
        if (try_take(self.purpose(), true)) break;
        waiters.enter(self);
      }
      if (!self.wait(policy_, until, where) && leave(self)) {
        if (Rules::hands_over) serve();  // those behind it may go if only this one held them up
        return false;
      }
      if (Rules::hands_over) return true;
      if (try_take(self.purpose())) break;
      is_queued = false;
    }
    if (self.key() != 0) parking_lot::queue(key()).remove(self);
    return true;
  }

  /// Takes if Rules::may_take() allows it now. Else it marks the word, if it shall. Requires then: the queue is locked.
  bool try_take(std::uint32_t as, bool marks = false) noexcept {
    std::uint32_t word = word_.load(memory_order_relaxed);  // 6
    while (true) {
      if (Rules::may_take(word, as)) {
        if (word_.compare_exchange_strong(word, Rules::taken(word, as), memory_order_acquire,  // 5
                                          memory_order_relaxed)) {                             // 6
          return true;
        }
      } else if (!marks || change(word, Rules::marked(word, as))) {
        return false;
      }
    }
  }

  /// Serves the front of the queue while the object allows it. Called after a change that may let waiters go.
  void serve() {
    parking_lot::queue waiters(key());
    while (parked_thread* const next = waiters.front()) {
      const std::uint32_t gone = waiters.behind(*next) == nullptr ? Rules::waiting : 0;
      std::uint32_t word = word_.load(memory_order_relaxed);  // 6
      do {
        if (!Rules::may_serve(word, next->purpose())) return;
      } while (!word_.compare_exchange_strong(word, Rules::served(word, next->purpose()) & ~gone,
                                              memory_order_acquire,  // 8
                                              memory_order_relaxed));  // 6
      if (Rules::hands_over) waiters.remove(*next);
      waiters.notify(*next, Rules::served_as);
    }
  }

  /// Leaves the queue at the deadline. False if another thread has taken it out of the queue or let it go.
  bool leave(parked_thread& self) {
    parking_lot::queue waiters(key());
    if (!waiters.withdraw(self)) return false;
    unmark_if_empty(waiters);
    return true;
  }
  /// After a waiter has left the queue.
  void unmark_if_empty(const parking_lot::queue& waiters) noexcept {
    if (!waiters.empty()) return;
    std::uint32_t word = word_.load(memory_order_relaxed);  // 6
    while (!change(word, Rules::without_waiters(word))) continue;
  }

  bool change(std::uint32_t& old, std::uint32_t wanted) noexcept {
    return word_.compare_exchange_strong(old, wanted, memory_order_relaxed,  // 7
                                         memory_order_relaxed);              // 6
  }

 protected:
  wait_word& word_;
  const wait_policy& policy_;

 private:
  /// What a thread that is not in the queue, or was let go, waits for.
  struct attempt final : waitable {
    queued_word& owner;
    const std::uint32_t as;

    attempt(queued_word& of, std::uint32_t purpose, source_place from) noexcept
        : waitable(from, single_yield_time), owner(of), as(purpose) {
      pauses = Rules::first_pauses;
    }
    bool ready() noexcept override { return owner.try_take(as); }
    void describe(wait_subject& to) const noexcept override {
      to.object = &owner.word_;
      to.kind = Rules::queue;
    }
  };
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_WAIT_PARKING_LOT_HPP
