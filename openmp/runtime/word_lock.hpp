// SPDX-License-Identifier: MIT
// openmp/runtime/word_lock.hpp -- a lock of 4 bytes in the program's memory, which a word in it tells who holds it
//
// omp_lock_t has 4 bytes, and zero bits are a free lock. lockstep::mutex, which is fair, needs 8.
//
//   LOCK-1  A thread sets `slept_on` before it sleeps, and takes the lock with that bit if it has slept, because others
//           may sleep still. The thread that frees a lock with the bit wakes one. So nobody is left asleep.
//   LOCK-2  What happens before unlock() happens before the return of the next lock().
//
// The word: 0 is free. Else the holder's tag, an even number, and `slept_on` in bit 0. The bit may be set too long (costs
// a wake for nobody); missing it loses a wake-up.
//
// Memory order (# marks the line)
//   #  access            order    pairs  why it suffices
//   1  word.compare_exch acquire  3      LOCK-2
//   2  word.compare_exch relaxed  -      sets the bit, takes nothing
//   3  word.exchange     release  1      LOCK-2
//   4  word.load         relaxed  -      a guess for 1 and 2; of our own tag: only we write it
//
// Cost   uncontended: two read-modify-writes.
// Source [DREPPER], the second mutex; here the word says who holds it.
#ifndef LOCKSTEP_OPENMP_RUNTIME_WORD_LOCK_HPP
#define LOCKSTEP_OPENMP_RUNTIME_WORD_LOCK_HPP

#include <cstdint>

#include "platform/system.hpp"
#include "wait/wait_engine.hpp"

#include "control_variables.hpp"

namespace lockstep::openmp {

class word_lock {
 public:
  /// The tag of locks that do not tell who holds them.
  static constexpr std::uint32_t nobody_in_particular = 2;

  bool try_lock(std::uint32_t tag = nobody_in_particular) noexcept {
    std::uint32_t free = 0;
    return word_.compare_exchange_strong(free, tag, detail::memory_order_acquire,  // 1
                                         detail::memory_order_relaxed);            // 4
  }
  void lock(std::uint32_t tag = nobody_in_particular) noexcept {
    if (__builtin_expect(!try_lock(tag), 0)) lock_slowly(tag);
  }
  void unlock() noexcept {
    if ((word_.exchange(0, detail::memory_order_release) & slept_on) != 0)
      detail::futex_wake_one(&word_);  // 3
  }
  /// Whether the holder has this tag. Certain only for the thread that would be it.
  bool is_held_by(std::uint32_t tag) const noexcept {
    return (word_.load(detail::memory_order_relaxed) & ~slept_on) == tag;  // 4
  }
  void reset() noexcept {
    word_.store(0, detail::memory_order_relaxed);
  }  // before others know the lock

 private:
  static constexpr std::uint32_t slept_on = 1;

  /// What the wait engine looks at: takes the lock when it is free.
  struct attempt final : detail::waitable {
    detail::wait_word& word;
    std::uint32_t take_as;

    attempt(detail::wait_word& of, std::uint32_t tag) noexcept : word(of), take_as(tag) {}
    bool ready() noexcept override {
      std::uint32_t expected = 0;
      return word.load(detail::memory_order_relaxed) == 0 &&                                // 4
             word.compare_exchange_strong(expected, take_as, detail::memory_order_acquire,  // 1
                                          detail::memory_order_relaxed);                    // 4
    }
    void sleep(deadline until) override {
      take_as |= slept_on;
      std::uint32_t seen = word.load(detail::memory_order_relaxed);  // 4
      if (seen == 0) return;
      if ((seen & slept_on) == 0 &&
          !word.compare_exchange_strong(seen, seen | slept_on, detail::memory_order_relaxed,  // 2
                                        detail::memory_order_relaxed)) {                      // 4
        return;
      }
      detail::futex_wait(word, seen | slept_on, until.nanoseconds());
    }
    void describe(detail::wait_subject& to) const noexcept override {
      to.object = to.sleeps_on = &word;
      to.kind = detail::wait_kind::mutex;
    }
  };

  [[gnu::noinline]] void lock_slowly(std::uint32_t tag) noexcept {
    attempt now(word_, tag);
    detail::wait_engine::wait(now, process_settings().waiting, detail::this_thread_history());
  }

  detail::wait_word word_{0};
};
static_assert(sizeof(word_lock) == 4, "omp_lock_t");

}  // namespace lockstep::openmp

#endif  // LOCKSTEP_OPENMP_RUNTIME_WORD_LOCK_HPP
