// SPDX-License-Identifier: MIT
// lockstep/detail/wait/short_lock.hpp -- guards a few instructions of the library's own (layer: wait)
//
// For the queues of parking_lot.hpp. Not for users: it is not fair; see mutex.hpp.
//
//   SHORT-1  A thread that has slept takes the lock as slept_on, because others may sleep still; the thread that
//            frees a slept_on wakes one. So nobody is left asleep.
//   SHORT-2  What happens before unlock() happens before the return of the next lock().
//
// word_: a value, not bits
//   value  name      meaning                         set by
//   0      free      nobody holds it                 unlock
//   1      held      held, and nobody sleeps         lock, by CAS from free
//   2      slept_on  held, and somebody may sleep    a waiter before it sleeps, or that takes it after a sleep
// Legal to be too high: slept_on with no sleeper (costs a wake for nobody). Held with a sleeper loses a wake-up.
//
// Memory order (# marks the line)
//   #  access            order    pairs  why it suffices
//   1  word.compare_exch acquire  3      SHORT-2
//   2  word.exchange     acquire  3      SHORT-2, where the 0 was found by the sleeper's announcement
//   3  word.exchange     release  1, 2   SHORT-2
//   4  word.load         relaxed  -      a hint whether 1 is worth the try
//   5  word.compare_exch relaxed  -      where it fails, nothing was read
//
// Cost   uncontended: two read-modify-writes. Contended: see wait_engine.hpp.
// Source [DREPPER], the second mutex.
#ifndef LOCKSTEP_DETAIL_WAIT_SHORT_LOCK_HPP
#define LOCKSTEP_DETAIL_WAIT_SHORT_LOCK_HPP

#include <cstdint>

#include <lockstep/detail/wait/wait_engine.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

class short_lock {
 public:
  constexpr short_lock() noexcept : word_(0) {}
  short_lock(const short_lock&) = delete;
  short_lock& operator=(const short_lock&) = delete;

  void lock() { lock(word_); }
  void unlock() { unlock(word_); }

  /// The same for a word that lies elsewhere; 0 is free.
  static void lock(detail::wait_word& word) {
    attempt now{word, held_, false};
    wait_engine::wait(now, wait_policy(), this_thread_history());
  }
  static void unlock(detail::wait_word& word) {
    if (word.exchange(free_, detail::memory_order_release) == slept_on_) {  // 3
      detail::futex_wake_one(&word);
    }
  }

 private:
  enum : std::uint32_t { free_ = 0, held_ = 1, slept_on_ = 2 };

  /// What the wait engine looks at: takes the lock when it is free.
  struct attempt {
    detail::wait_word& word;
    std::uint32_t take_as;
    bool taken;

    bool ready() noexcept {
      std::uint32_t expected = free_;
      return taken || (word.load(detail::memory_order_relaxed) == free_ &&           // 4
                       word.compare_exchange_strong(expected, take_as,               //
                                                    detail::memory_order_acquire,    // 1
                                                    detail::memory_order_relaxed));  // 5
    }
    void sleep(deadline until) {
      take_as = slept_on_;
      taken = word.exchange(slept_on_, detail::memory_order_acquire) == free_;  // 2
      if (!taken) detail::futex_wait(word, slept_on_, until.nanoseconds());
    }
    void describe(wait_subject& to) const noexcept {
      to.object = to.sleeps_on = &word;
      to.kind = wait_kind::internal_lock;
    }
  };

  detail::wait_word word_;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_WAIT_SHORT_LOCK_HPP
