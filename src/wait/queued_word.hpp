// SPDX-License-Identifier: MIT
// src/wait/queued_word.hpp -- a word that threads take from, with a queue beside it (layer: wait)
//
// What mutex, shared_mutex and semaphore share: to take by compare-exchange, to poll, to queue up, to leave the queue
// at a deadline, and to hand over to the front of the queue. What the bits mean is the object's Rules:
//     queue                     which kind of queue: parking_lot::kind
//     backs_off                 true: a thread that polls looks less and less often
//     may_take(word, as)        whether a thread that is not in the queue may take now what it wants
//     taken(word, as)           the word after that
//     marked(word, as)          the word while such a thread is in the queue
//     without_waiters(word)     the word once the queue is empty
//     may_be_given(word, as)    handed_word only: as may_take(), for the front of the queue
// `as` says what the thread wants: parked_thread::purpose().
//
//   QUEUED-1  A thread that queues up has found, under the queue's lock, that it may not take, and marked the word in
//             the same compare-exchange. So whoever makes the word free later finds the mark.
//   QUEUED-2  Of the queue's lock and the word: the mark is cleared under the lock, when the queue is empty. While a
//             thread may be in the queue, the word is changed by others too, but they leave the mark.
//   QUEUED-3  A thread leaves the queue by its own hand, or is taken out by another: the queue's lock decides. In the
//             second case it has what it waited for, or is notified to try again; its deadline counts no more.
//
// Memory order (# marks the line)
//   #  access            order    pairs     why it suffices
//   1  word.compare_exch acquire  object's  we see what the threads did that gave up what we take: their change has
//                                           release order, and all changes here keep the release sequence
//   2  word.load         relaxed  -         a guess for the compare-exchange that follows
//   3  word.compare_exch relaxed  -         takes nothing; the queue's lock orders the marks (QUEUED-2)
//   4  word.compare_exch acquire  object's  takes for others: they see what we saw, through their notification (1 of
//                                           parking_lot.hpp)
//
// Cost   to take what is free: one read-modify-write. To queue up: the queue's lock and one read-modify-write.
#ifndef LOCKSTEP_SRC_WAIT_QUEUED_WORD_HPP
#define LOCKSTEP_SRC_WAIT_QUEUED_WORD_HPP

#include <cstdint>

#include <lockstep/call_site.hpp>
#include "wait_engine.hpp"

#include "misuse_registry.hpp"
#include "parking_lot.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// Handle on the word of an object and its policy. The object is registered under the word's address (misuse.hpp).
template <class Rules>
class queued_word {
 public:
  /// The policy is read by those who wait only.
  queued_word(wait_word& word, const wait_policy& policy) noexcept : word_(word), policy_(policy) {}

  std::uintptr_t key() const noexcept { return parking_lot::key(word_, Rules::queue); }

  /// Takes, if it may be taken now.
  bool try_take(std::uint32_t as) noexcept {
    std::uint32_t word = word_.load(memory_order_relaxed);  // 2
    while (Rules::may_take(word, as)) {
      if (take(word, Rules::taken(word, as))) return true;
    }
    return false;
  }

  /// As try_take(), after one in vain, for the time that the policy waits awake. It begins with a pause: a look takes the
  /// word's line away from the holder.
  bool poll(std::uint32_t as, deadline until, call_site where = call_site::none()) {
    attempt now(*this, as, where);
    return wait_engine::wait_awake(now, policy_, this_thread_history(), until);
  }

  /// Queues the thread up, unless it could take after all: then false. A thread that was released in vain goes to the
  /// front.
  bool enqueue(parked_thread& self, std::uint32_t as) {
    parking_lot::queue waiters(key());
    waiters.arrive(self);
    if (take_or(as, &Rules::marked)) return false;
    if (!self.goes_first()) {
      waiters.push_back(self);
    } else {
      self.renew();
      waiters.push_front(self);
    }
    return true;
  }

  /// Takes, or makes the word wanted(word, as) in a moment in which it may not take; false then. Requires: the queue is
  /// locked.
  bool take_or(std::uint32_t as, std::uint32_t (*wanted)(std::uint32_t, std::uint32_t)) noexcept {
    std::uint32_t word = word_.load(memory_order_relaxed);  // 2
    while (true) {
      if (Rules::may_take(word, as)) {
        if (take(word, Rules::taken(word, as))) return true;
      } else if (change(word, wanted(word, as))) {
        return false;
      }
    }
  }

  /// For a waiter at its deadline: false if another thread has taken it out of the queue.
  bool withdraw(parking_lot::queue& waiters, parked_thread& self) noexcept {
    if (!waiters.withdraw(self)) return false;
    unmark_if_empty(waiters);
    return true;
  }
  /// After a waiter has left the queue.
  void unmark_if_empty(const parking_lot::queue& waiters) noexcept {
    if (!waiters.empty()) return;
    std::uint32_t word = word_.load(memory_order_relaxed);  // 2
    while (!change(word, Rules::without_waiters(word))) continue;
  }

  bool take(std::uint32_t& old, std::uint32_t wanted) noexcept {
    return word_.compare_exchange_strong(old, wanted, memory_order_acquire,  // 1
                                         memory_order_relaxed);              // 2
  }
  bool change(std::uint32_t& old, std::uint32_t wanted) noexcept {
    return word_.compare_exchange_strong(old, wanted, memory_order_relaxed,  // 3
                                         memory_order_relaxed);              // 2
  }

 protected:
  wait_word& word_;
  const wait_policy& policy_;

 private:
  /// A wait before the thread queues up.
  struct attempt final : waitable {
    static constexpr bool looks_often = !Rules::backs_off;
    static constexpr unsigned first_pause = Rules::backs_off ? 8 : 1, longest_pause = 64;

    queued_word& owner;
    const std::uint32_t as;
    const source_place where;
    unsigned pause = first_pause;

    attempt(queued_word& of, std::uint32_t purpose, call_site from) noexcept
        : owner(of), as(purpose), where(from) {}
    bool ready() noexcept override { return owner.try_take(as); }
    /// Each look takes the word's line away from the holder.
    unsigned pauses() noexcept override {
      const unsigned now = pause;
      if (Rules::backs_off && pause < longest_pause) pause *= 2;
      return now;
    }
    void describe(wait_subject& to) const noexcept override {
      to.object = &owner.word_;
      to.kind = parking_lot::wait_kind_of(Rules::queue);
      to.where = where;
    }
  };
};

/// A queued_word whose waiters are handed what they wait for, in their order: nobody overtakes the queue. A thread that
/// was notified has what it wanted.
template <class Rules>
class handed_word : public queued_word<Rules> {
 public:
  using queued_word<Rules>::queued_word;

  /// Waits its turn and takes; false if `until` came first.
  bool take_slowly(std::uint32_t as, deadline until, call_site where = call_site::none()) {
    const misuse::waiting_scope waiting(&this->word_);
    if (this->poll(as, until, where)) return true;
    parked_thread self(as, this->key());
    return !this->enqueue(self, as) || self.wait(this->policy_, until, where) || !leave(self);
  }

  /// Hands the front of the queue what there is. After a change that may let waiters go.
  void hand_over() {
    wake_list woken;
    parking_lot::queue waiters(this->key());
    hand_over(waiters, woken);
  }

 private:
  /// At the deadline; false if it was handed what it waits for before that. Those behind it may go, if it was what
  /// held them up.
  bool leave(parked_thread& self) {
    wake_list woken;
    parking_lot::queue waiters(this->key());
    if (!this->withdraw(waiters, self)) return false;
    hand_over(waiters, woken);
    return true;
  }

  void hand_over(parking_lot::queue& waiters, wake_list& woken) {
    if (waiters.empty()) return;
    std::uint32_t word = this->word_.load(memory_order_relaxed);  // 2
    std::uint32_t served = 0, wanted = 0;
    do {
      wanted = word;
      served = 0;
      parked_thread* next = waiters.front();
      for (; next != nullptr && Rules::may_be_given(wanted, next->purpose()); ++served) {
        wanted = Rules::taken(wanted, next->purpose());
        next = waiters.behind(*next);
      }
      if (served == 0) return;
      if (next == nullptr) wanted = Rules::without_waiters(wanted);
    } while (!this->word_.compare_exchange_strong(word, wanted, memory_order_acquire,  // 4
                                                  memory_order_relaxed));  // 2
    for (; served > 0; --served) {
      parked_thread& next = *waiters.front();
      waiters.remove(next);
      woken.notify(next);
    }
  }
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_WAIT_QUEUED_WORD_HPP
