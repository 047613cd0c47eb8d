// SPDX-License-Identifier: MIT
// src/wait/short_lock.hpp -- a lock for a few instructions inside the library (layer: wait)
//
// A lock of one word. It is not fair, so it is not for users: see mutex.hpp.
//
//   SHORT-1  A thread that has slept takes the lock as slept_on, because others may still sleep. The thread that
//            frees a slept_on lock wakes one sleeper. So no thread is left asleep.
//   SHORT-2  What happens before unlock() happens before the return of the next lock().
//
// word_
//   value  name      meaning                         set by
//   0      free      no thread holds it              unlock
//   2      held      held, and no thread sleeps      lock, by CAS from free
//   3      slept_on  held, and a thread may sleep    a waiter, before a sleep or as it takes the lock after one
// So slept_on is held with the sleeping bit (WORD-1 of wait_engine.hpp). With no sleeper it is legal: it costs a needless
// wake. Held with a sleeper would lose a wake-up.
//
// Memory order (# marks the line)
//   #  access            order    pairs  why it suffices
//   1  word.compare_exch acquire  2      SHORT-2
//   2  word.exchange     release  1      SHORT-2
//   3  word.load         relaxed  -      a hint whether to try 1
//   4  word.compare_exch relaxed  -      where 1 fails, nothing was read
// A sleeper: 2 and 3 of wait_engine.hpp.
//
// Cost   uncontended: two read-modify-writes. Contended: see wait_engine.hpp.
// Source [DREPPER], the second mutex.
#ifndef LOCKSTEP_SRC_WAIT_SHORT_LOCK_HPP
#define LOCKSTEP_SRC_WAIT_SHORT_LOCK_HPP

#include <cstdint>

#include <lockstep/detail/platform/atomic.hpp>
#include <lockstep/detail/platform/config.hpp>
#include "../platform/system.hpp"
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

  /// The same for a word that lies elsewhere; 0 is free. Observers see the wait as one of that kind.
  static bool try_lock(wait_word& word) noexcept { return take(word, held); }
  static void lock(wait_word& word) {
    if (LOCKSTEP_UNLIKELY(!try_lock(word))) lock_slowly(word);
  }
  LOCKSTEP_NOINLINE static void lock_slowly(wait_word& word, wait_policy policy = wait_policy(),
                                            wait_kind kind = wait_kind::internal_lock) {
    attempt now(word, is_not_held{kind});
    wait_engine::wait_slowly(now, policy, this_thread_history());
  }
  static void unlock(wait_word& word) {
    if (word.exchange(is_free, memory_order_release) == slept_on) futex_wake_one(&word);  // 2
  }

 private:
  enum : std::uint32_t { is_free = 0, held = 2, slept_on = held | sleeping_bit };

  static bool take(wait_word& word, std::uint32_t as) noexcept {
    std::uint32_t expected = is_free;
    return word.compare_exchange_strong(expected, as, memory_order_acquire,  // 1
                                        memory_order_relaxed);               // 4
  }

  struct is_not_held {
    wait_kind kind;
    bool operator()(std::uint32_t word) const noexcept { return word == is_free; }
    void describe(wait_subject& to) const noexcept { to.kind = kind; }
  };
  struct attempt final : word_waiter<is_not_held> {
    attempt(wait_word& of, is_not_held done) noexcept : word_waiter(of, done) {}
    bool ready() noexcept override {
      return word().load(memory_order_relaxed) == is_free &&  // 3
             take(word(), has_announced() ? slept_on : held);
    }
  };

  wait_word word_;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_WAIT_SHORT_LOCK_HPP
