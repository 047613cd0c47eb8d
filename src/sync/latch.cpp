// SPDX-License-Identifier: MIT
// src/sync/latch.cpp -- the waits of a latch that is not open yet, and its errors (layer: sync)
//
// Invariants, n = count in word_
//   LATCH-1  n only falls, and opens the latch when it reaches 0.
//   LATCH-2  A waiter sleeps on a word with the sleeping bit and n > 0 (WORD-1 of wait_engine.hpp). The change that makes n
//            zero finds the bit in the old value and wakes all. Other changes wake nobody, because they end no wait.
//   LATCH-3  As of events: when all waits have returned, the last of these threads may destroy the latch.
//
//   word_: bits  name      meaning                    set by              cleared by
//          0     sleeping  waiters may be asleep      a waiter            -
//          1..   count     what is left to count      the constructor     count_down, down to 0
// Legal to be set too long: sleeping (nobody looks at it once the count is 0).
#include <lockstep/latch.hpp>

#include <lockstep/detail/platform/error.hpp>

#include "../wait/wait_engine.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {

struct latch::opened {
  const detail::wait_word* of;

  bool operator()(std::uint32_t word) const noexcept { return is_open(word); }
  void describe(detail::wait_subject& to) const noexcept {
    to.kind = detail::wait_kind::latch;
    to.left = of->load(detail::memory_order_relaxed) / one_;  // 4
  }
};

LOCKSTEP_INLINE wait_status latch::wait_slowly(deadline until, call_site where) const {
  return detail::wait_until_word(word_, opened{&word_}, this, policy_,  // 3
                                 until.nanoseconds(), where)
             ? wait_status::ready
             : wait_status::timed_out;
}

[[noreturn]] LOCKSTEP_INLINE void latch::fail_expected(std::ptrdiff_t expected) {
  detail::fail_argument("lockstep::latch: count %td given, must be 0 to %td", expected, (max)());
}

LOCKSTEP_INLINE void latch::diagnose(const void* object, std::ptrdiff_t n, std::ptrdiff_t left) {
  if (n >= 0 && n <= left) return;
  detail::end_program(
      "%s at %p: count_down(%td) by %s while %td are left to count; "
      "give the constructor the sum of all counts",
      kind, object, n, detail::label_of_this_thread().text, left);
}

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
