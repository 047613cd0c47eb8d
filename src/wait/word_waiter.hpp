// SPDX-License-Identifier: MIT
// src/wait/word_waiter.hpp -- many threads wait until one word satisfies their predicates (layer: wait)
//
// For objects that keep their whole state in one word, with a bit that says "a thread sleeps". So a waiter may
// destroy the object as soon as its wait has returned. A waiter brings a predicate on the word. It returns
// after it has seen a word that satisfies the predicate, or at its deadline.
// Where the structure guarantees the lifetime, a mark beside the state is cheaper: published_words.hpp.
//
//   WORD-1  A waiter sleeps only on a word that has the sleeping bit and does not satisfy its predicate.
//   WORD-2  A change that may make a sleeper's predicate true looks for the bit in the old value, and
//           wakes all sleepers if it was set. The change may clear the bit, because it wakes every thread
//           that has slept on it. After the change the changer touches nothing but the address.
//   WORD-3  The bit may be set with no sleeper. It is clear with a sleeper only while the thread that cleared it
//           is about to wake that sleeper.
//
// So no wake-up is lost. A waiter that announced itself before the change is woken by it, or finds the
// word changed when it falls asleep (FUTEX-3 of system.hpp). A waiter that comes later sees the new word.
//
//   bits   name      meaning                set by                       cleared by
//   0      sleeping  a waiter may be asleep a waiter, before it sleeps   the change that wakes; the object
//   1..31  -         the state of the object that has the word: see there
// Sleeping may stay set too long: this costs a wake that finds no sleeper. It must not be missing: WORD-3.
//
// Memory order (# marks the line; each weakening must fail a test)
//   #  access            order    pairs     why it suffices
//   1  word.load         acquire  changer's we see what came before a change with release order
//   2  word.compare_exch relaxed  -         the bit and the state are one word: the order of changes
//                                           suffices; as a read-modify-write it keeps the release
//                                           sequence of the changes before it
//   3  word.load         relaxed  -         whether to sleep; the engine looks again by 1
//
// Cost   ready at once: one load. To sleep: one RMW for the first sleeper, one system call for each.
// Source [DREPPER] for the bit in the word.
#ifndef LOCKSTEP_SRC_WAIT_WORD_WAITER_HPP
#define LOCKSTEP_SRC_WAIT_WORD_WAITER_HPP

#include <cstdint>

#include <lockstep/call_site.hpp>
#include <lockstep/detail/platform/config.hpp>
#include <lockstep/detail/wait/sleeping_bit.hpp>
#include <lockstep/wait_policy.hpp>
#include "../platform/system.hpp"
#include "wait_engine.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// A wait for a word. Done: bool(std::uint32_t word), which ignores the sleeping bit, and describe() as in waitable.
template <class Done>
class word_waiter final : public waitable {
 public:
  word_waiter(wait_word& word, Done done, call_site from = call_site::none(),
              std::uint64_t most_yields = shared_yield_time) noexcept
      : waitable(from, most_yields), word_(word), done_(done), announced_(false) {}

  bool ready() noexcept override {
    return done_(word_.load(memory_order_acquire));  // 1
  }

  void sleep(deadline until) override {
    std::uint32_t word = word_.load(memory_order_relaxed);  // 3
    if (done_(word)) return;
    announced_ = true;
    if ((word & sleeping_bit) == 0 &&
        !word_.compare_exchange_strong(word, word | sleeping_bit, memory_order_relaxed,  // 2
                                       memory_order_relaxed)) {                          // 2
      return;
    }
    futex_wait(word_, word | sleeping_bit, until.nanoseconds());
  }

  /// The word is the first of its object.
  void describe(wait_subject& to) const noexcept override {
    to.object = to.sleeps_on = &word_;
    done_.describe(to);
  }

  /// True if this waiter may have set the sleeping bit.
  bool has_announced() const noexcept { return announced_; }

 private:
  wait_word& word_;
  Done done_;
  bool announced_;
};

/// Waits until done(word); false if `until` came first. The word belongs to `object`.
template <class Done>
bool wait_until_word(wait_word& word, Done done, const void* object, wait_policy policy,
                     deadline until = deadline::never(), call_site where = call_site::none(),
                     std::uint64_t yield_time = waitable::shared_yield_time) {
  word_waiter<Done> what(word, done, where, yield_time);
  return wait_watched(what, object, policy, this_thread_history(), until);
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_WAIT_WORD_WAITER_HPP
