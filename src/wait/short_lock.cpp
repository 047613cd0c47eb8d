// SPDX-License-Identifier: MIT
// src/wait/short_lock.cpp -- a lock of one word (layer: wait)
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
// Source [DREPPER], the second mutex.
#include "short_lock.hpp"

#include <lockstep/detail/platform/system.hpp>
#include "wait_engine.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

namespace short_lock_words {
enum : std::uint32_t { is_free = 0, held = 1, slept_on = 2 };
}  // namespace short_lock_words

/// Takes the lock when it is free.
struct short_lock_attempt final : waitable {
  wait_word& word;
  std::uint32_t take_as = short_lock_words::held;
  bool taken = false;

  explicit short_lock_attempt(wait_word& of) noexcept : word(of) {}

  bool ready() noexcept override {
    std::uint32_t expected = short_lock_words::is_free;
    return taken || (word.load(memory_order_relaxed) == short_lock_words::is_free &&  // 4
                     word.compare_exchange_strong(expected, take_as,                  //
                                                  memory_order_acquire,               // 1
                                                  memory_order_relaxed));             // 5
  }
  void sleep(deadline until) override {
    take_as = short_lock_words::slept_on;
    taken = word.exchange(short_lock_words::slept_on, memory_order_acquire) ==  // 2
            short_lock_words::is_free;
    if (!taken) futex_wait(word, short_lock_words::slept_on, until.nanoseconds());
  }
  void describe(wait_subject& to) const noexcept override {
    to.object = to.sleeps_on = &word;
    to.kind = wait_kind::internal_lock;
  }
};

LOCKSTEP_INLINE void short_lock::lock(wait_word& word) {
  short_lock_attempt now(word);
  if (!now.ready()) {
    wait_engine::wait_slowly(now, wait_policy(), this_thread_history());
  }
}

LOCKSTEP_INLINE void short_lock::unlock(wait_word& word) {
  if (word.exchange(short_lock_words::is_free, memory_order_release) ==  // 3
      short_lock_words::slept_on) {
    futex_wake_one(&word);
  }
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
