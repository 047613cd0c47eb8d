// SPDX-License-Identifier: MIT
// src/sync/event.cpp -- the waits of the three events after a first look in vain (layer: sync)
//
// The state of each is one word with the mark "a thread sleeps" in it. notify() touches nothing after its change of the
// word: the futex wake that may follow only uses the address.
//
// event, n = count in word_, t = taken_
//   EVENT-1  0 <= n - t < 2^30 (modulo 2^30): a notifier may be that far ahead. Wrap-around is harmless.
//   EVENT-2  The waiter sleeps only on a word that has the sleeping bit and whose count is t. Every change of the word
//            finds the bit in the old value and wakes.
//   EVENT-3  The waiter may destroy the event as soon as its wait has returned.
//
//   word_: bits  name        meaning                        set by               cleared by
//          0     sleeping    the waiter may be asleep       the waiter           the waiter, when it goes on
//          1     terminated  every wait returns at once     terminate            -
//          2..   count       notifications, modulo 2^30     notify               -
//   Legal to be set too long: sleeping (costs a wake that finds no sleeper). Illegal to be missing: EVENT-2.
//
// auto_reset_event, s = announced sleepers in word_
//   AUTO-1  A pending notification is taken by exactly one wait: by the compare-exchange that clears its bit.
//   AUTO-2  s >= number of threads asleep: a waiter counts itself in before it sleeps, and out in the same change in
//           which it takes, or when it gives up.
//   AUTO-3  No thread falls asleep while a notification is pending: sleepers expect a word without the bit.
//   AUTO-4  The notifier that makes a notification pending with s > 0 wakes one sleeper. That is enough: every sleeper
//           fell asleep before (AUTO-3). The one that is woken looks again, even if its time is up, and takes the
//           notification unless another waiter has taken it. Then the next notification wakes again.
//   AUTO-5  The last waiter may destroy the event as soon as its wait has returned.
//
//   word_: bits  name      meaning                          set by              cleared by
//          0     notified  a notification is pending        notify              the wait that takes it
//          1..   sleepers  how many waiters may be asleep   a waiter, +1 once   the same waiter, -1, in taking
//                                                           before it sleeps    or in giving up
//   Legal to be too large: sleepers (costs a wake that finds no sleeper). Illegal to be too small: AUTO-2.
//
// manual_reset_event, r = number of resets that closed the gate, in word_. There is no pulse(), as Windows's PulseEvent: a
// waiter that is about to wait would miss it for ever.
//   MANUAL-1  A waiter that found the gate closed at r returns when the gate is open or r has changed. Either needs a
//             notify() after the waiter's first look.
//   MANUAL-2  The sleeping bit is set only on a closed gate. notify() wakes only if it opened the gate.
//   MANUAL-3  When all waits have returned the event may be destroyed.
//   Limit: r has 30 bits. A waiter that does not run while exactly a multiple of 2^30 openings pass takes them for none,
//   and waits for the next.
//
//   word_: bits  name      meaning                              set by         cleared by
//          0     sleeping  waiters may be asleep                a waiter       reset
//          1     open      every wait returns                   notify         reset
//          2..   resets    how often it was closed, mod 2^30    reset, +1      -
//   Legal to be set too long: sleeping (costs a wake that finds no sleeper). Illegal to be missing: WORD-3 of
//   wait_engine.hpp.
//
// Memory order (# marks the line; each weakening must fail a test)
//   #  access            order    pairs  why it suffices
//   1  word.fetch_and    relaxed  -      event: clears the waiter's own bit; keeps the release sequence of notify()
//   2  word.load         relaxed  -      auto_reset_event: a hint, as 2 of its table
//   3  word.fetch_add    relaxed  -      auto_reset_event: count and bit are one word: the order of changes suffices
//   4  word.fetch_sub    relaxed  -      as 3
//   5  wait for word     acquire  -      pairs with every notify() and terminate() (1 of wait_engine.hpp)
#include <lockstep/event.hpp>

#include "../wait/wait_engine.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {

struct event::next_notification {
  std::uint32_t taken;

  bool operator()(std::uint32_t word) const noexcept { return is_over(word, taken); }
  void describe(detail::wait_subject& to) const noexcept {
    to.kind = detail::wait_kind::event;
    to.phase = taken / one_ + 1;
  }
};

LOCKSTEP_INLINE bool event::wait_slowly(deadline until, call_site where) {
  detail::misuse::check_only_waiter(this, kind);
  detail::word_waiter<next_notification> what(word_, next_notification{taken_}, where,
                                              detail::waitable::single_yield_time);
  const bool in_time =
      detail::wait_watched(what, this, policy_, history_, until.nanoseconds());  // 5
  if (what.has_announced()) {
    word_.fetch_and(~detail::sleeping_bit, detail::memory_order_relaxed);  // 1
  }
  return in_time;
}

/// ready() takes the notification: it returns true once, and the wait ends. So a waiter that another overtakes goes on
/// with its wait and does not start again with a spin. This is no word_waiter, because it counts the sleepers: only one
/// of them is woken.
struct auto_reset_event::taker final : detail::waitable {
  auto_reset_event& owner;
  std::uint32_t announced = 0;  // what this waiter has added to the word

  taker(auto_reset_event& of, call_site from) noexcept
      : waitable(from, single_yield_time), owner(of) {}

  bool ready() noexcept override { return owner.take(announced); }

  void sleep(std::uint64_t until) override {
    const std::uint32_t word =
        announced == 0
            ? owner.word_.fetch_add(sleeper_, detail::memory_order_relaxed) + sleeper_  // 3
            : owner.word_.load(detail::memory_order_relaxed);                           // 2
    announced = sleeper_;
    if ((word & notified_) == 0) detail::futex::wait(owner.word_, word, until);
  }

  void describe(detail::wait_subject& to) const noexcept override {
    to.object = to.sleeps_on = &owner;
    to.kind = detail::wait_kind::auto_reset_event;
  }
};

LOCKSTEP_INLINE wait_status auto_reset_event::wait_slowly(deadline until, call_site where) {
  taker what(*this, where);
  if (detail::wait_watched(what, this, policy_, detail::this_thread_history().on_words,
                           until.nanoseconds())) {
    return wait_status::ready;
  }
  if (what.announced != 0) word_.fetch_sub(sleeper_, detail::memory_order_relaxed);  // 4
  return wait_status::timed_out;
}

struct manual_reset_event::was_opened {
  std::uint32_t first;

  bool operator()(std::uint32_t now) const noexcept {
    return (now | detail::sleeping_bit) != first;
  }
  void describe(detail::wait_subject& to) const noexcept {
    to.kind = detail::wait_kind::manual_reset_event;
  }
};

LOCKSTEP_INLINE wait_status manual_reset_event::wait_slowly(std::uint32_t word, deadline until,
                                                            call_site where) {
  const was_opened done{word | detail::sleeping_bit};
  return detail::wait_until_word(word_, done, this, policy_, until.nanoseconds(), where)  // 5
             ? wait_status::ready
             : wait_status::timed_out;
}

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
