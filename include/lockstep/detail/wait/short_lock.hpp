// SPDX-License-Identifier: MIT
// lockstep/detail/wait/short_lock.hpp -- guards a few instructions of the library's own (layer: wait)
//
// For the queues of parking_lot.hpp. Not for users: it is not fair; see mutex.hpp.
//
// Invariants
//   L1  word_ is 0: free; 1: held; 2: held, and somebody may sleep. Who has slept takes it as 2, because
//       others may sleep still; who frees a 2 wakes one.
//   L2  What happens before unlock() happens before the return of the next lock().
//
// Memory order (# marks the line)
//   #  access            order    pairs  why it suffices
//   1  word.compare_exch acquire  3      L2
//   2  word.exchange     acquire  3      L2, where the 0 was found by the sleeper's announcement
//   3  word.exchange     release  1, 2   L2
//   4  word.load         relaxed  -      a hint whether 1 is worth the try
//   5  word.compare_exch relaxed  -      a failure has read nothing
//
// Cost   uncontended: two read-modify-writes. Contended: see wait_engine.hpp.
// Source [DREPPER], the second mutex.
#ifndef LOCKSTEP_DETAIL_WAIT_SHORT_LOCK_HPP
#define LOCKSTEP_DETAIL_WAIT_SHORT_LOCK_HPP

#include <cstdint>

#include "wait_engine.hpp"

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
  };

  detail::wait_word word_;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_WAIT_SHORT_LOCK_HPP
