// SPDX-License-Identifier: MIT
// src/sync/event.cpp -- the waits of the three events after a first look in vain (layer: sync)
//
// Memory order (# marks the line; each weakening must fail a test)
//   #  access            order    pairs  why it suffices
//   1  word.fetch_and    relaxed  -      event: clears the waiter's own bit; keeps the release sequence of notify()
//   2  word.load         relaxed  -      auto_reset_event: a hint, as 2 of its table
//   3  word.fetch_add    relaxed  -      auto_reset_event: count and bit are one word: the order of changes suffices
//   4  word.fetch_sub    relaxed  -      as 3
//   5  wait for word     acquire  -      pairs with every notify() and terminate() (1 of word_waiter.hpp)
#include <lockstep/event.hpp>

#include "../wait/word_waiter.hpp"

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
  const bool in_time = detail::wait_watched(what, this, policy_, history_, until);  // 5
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

  void sleep(deadline until) override {
    const std::uint32_t word =
        announced == 0
            ? owner.word_.fetch_add(sleeper_, detail::memory_order_relaxed) + sleeper_  // 3
            : owner.word_.load(detail::memory_order_relaxed);                           // 2
    announced = sleeper_;
    if ((word & notified_) == 0) detail::futex_wait(owner.word_, word, until.nanoseconds());
  }

  void describe(detail::wait_subject& to) const noexcept override {
    to.object = to.sleeps_on = &owner;
    to.kind = detail::wait_kind::auto_reset_event;
  }
};

LOCKSTEP_INLINE wait_status auto_reset_event::wait_slowly(deadline until, call_site where) {
  taker what(*this, where);
  if (detail::wait_watched(what, this, policy_, detail::this_thread_history(), until)) {
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
  return detail::wait_until_word(word_, done, this, policy_, until, where)  // 5
             ? wait_status::ready
             : wait_status::timed_out;
}

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
