// SPDX-License-Identifier: MIT
// lockstep/detail/wait/word_waiter.hpp -- many threads wait until one word is as they want it (layer: wait)
//
// For objects whose whole state is one word with a bit for "somebody sleeps", so that a waiter may
// destroy the object as soon as its wait has returned. A waiter brings a predicate on the word; it
// returns after it has seen a word that satisfies it, or at its deadline.
// Where the structure guarantees the lifetime, a mark beside the state is cheaper: sleeper_mark.hpp.
//
//   S1  A waiter sleeps only on a word that has the sleeping bit and does not satisfy its predicate.
//   S2  Whoever changes the word so that a sleeper's predicate may become true looks for the bit in the
//       old value, and wakes all if it was set. It may clear the bit in the same change, for it wakes
//       everyone who has slept on it. It touches nothing after the change but the address.
//   S3  The bit may be set with no sleeper (after a timeout: a wake for nobody); it is never clear with
//       one, but for those whom the thread that cleared it is about to wake.
//
// So no wake-up is lost: a waiter that announced itself before the change is woken by it, or finds the
// word changed when it falls asleep (F3 of futex.hpp); one that comes later sees the new word.
//
// Memory order (# marks the line)
//   #  access            order    pairs     why it suffices
//   1  word.load         acquire  changer's what came before a change with release order is seen
//   2  word.compare_exch relaxed  -         the bit and the state are one word: the order of changes
//                                           suffices; as a read-modify-write it keeps the release
//                                           sequence of the changes before it
//   3  word.load         relaxed  -         whether to sleep; the engine looks again by 1
//
// Cost   ready at once: one load. To sleep: one RMW for the first sleeper, one system call for each.
// Source [DREPPER] for the bit in the word.
#ifndef LOCKSTEP_DETAIL_WAIT_WORD_WAITER_HPP
#define LOCKSTEP_DETAIL_WAIT_WORD_WAITER_HPP

#include <cstdint>

#include "../../deadline.hpp"
#include "../../wait_policy.hpp"
#include "../platform/config.hpp"
#include "../platform/system.hpp"
#include "misuse.hpp"
#include "wait_engine.hpp"
#include "wait_history.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// What the wait engine looks at. Done: bool(std::uint32_t word), which ignores the sleeping bit.
template <class Done>
class word_waiter {
 public:
  /// The bit of the word that is ours.
  static constexpr std::uint32_t sleeping = 1;

  word_waiter(detail::wait_word& word, Done done) : word_(word), done_(done) {}

  bool ready() const noexcept {
    return done_(word_.load(detail::memory_order_acquire));  // 1
  }

  void sleep(deadline until) {
    std::uint32_t word = word_.load(detail::memory_order_relaxed);  // 3
    if (done_(word)) return;
    if ((word & sleeping) == 0 &&
        !word_.compare_exchange_strong(word, word | sleeping,
                                       detail::memory_order_relaxed,     // 2
                                       detail::memory_order_relaxed)) {  // 2
      return;
    }
    detail::futex_wait(word_, word | sleeping, until.nanoseconds());
  }

 private:
  detail::wait_word& word_;
  Done done_;
};

/// The part of wait_until_word that is not worth inlining: the thread is registered while it waits.
template <class Waitable>
LOCKSTEP_NOINLINE bool wait_registered(Waitable& what, const void* object, wait_policy policy,
                                       deadline until, std::uint64_t yield_time) {
  const misuse::waiting_scope waiting(object);
  return wait_engine::wait(what, policy, this_thread_history(), until, yield_time);
}

/// As wait_engine::wait, but registered where misuse is diagnosed; elsewhere the same code.
template <class Waitable>
bool wait_watched(Waitable& what, const void* object, wait_policy policy, wait_history& history,
                  deadline until, std::uint64_t yield_time) {
  if (!misuse::diagnosed) return wait_engine::wait(what, policy, history, until, yield_time);
  if (what.ready()) return true;
  const misuse::waiting_scope waiting(object);
  return wait_engine::wait(what, policy, history, until, yield_time);
}

/// Waits until done(word); false if `until` came first. Requires: the word is the first member of its
/// object, under whose address the waiter is registered (misuse.hpp).
template <class Done>
bool wait_until_word(detail::wait_word& word, Done done, wait_policy policy,
                     deadline until = deadline::never()) {
  word_waiter<Done> what(word, done);
  return what.ready() ||
         wait_registered(what, &word, policy, until, wait_engine::shared_yield_time);
}

/// The changer's side of S2. `old` is the word before the change; the object may be gone already.
inline void wake_sleepers(const detail::wait_word* word, std::uint32_t old) {
  if ((old & 1u) != 0) detail::futex_wake_all(word);
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_WAIT_WORD_WAITER_HPP
