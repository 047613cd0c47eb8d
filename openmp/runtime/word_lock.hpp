// SPDX-License-Identifier: MIT
// openmp/runtime/word_lock.hpp -- a lock of 4 bytes in the program's memory
//
// omp_lock_t has 4 bytes, and zero bits are a free lock. lockstep::mutex, which is fair, needs 8. It is short_lock.hpp
// (SHORT-1, SHORT-2 and the table of values there), with a wait as the program's environment says.
//
// Memory order (# marks the line)
//   #  access            order    pairs  why it suffices
//   1  word.compare_exch acquire  3      what happens before unlock() happens before the return of the next lock()
//   2  word.exchange     acquire  3      likewise, if the sleeper's announcement finds the lock free
//   3  word.exchange     release  1, 2   likewise
//   4  word.load         relaxed  -      a guess for 1
//
// Cost   uncontended: two read-modify-writes.
// Source [DREPPER], the second mutex.
#ifndef LOCKSTEP_OPENMP_RUNTIME_WORD_LOCK_HPP
#define LOCKSTEP_OPENMP_RUNTIME_WORD_LOCK_HPP

#include <cstdint>

#include "platform/system.hpp"
#include "wait/wait_engine.hpp"

#include "control_variables.hpp"

namespace lockstep::openmp {

class word_lock {
 public:
  bool try_lock() noexcept { return take(held); }
  void lock() noexcept {
    if (__builtin_expect(!take(held), 0)) lock_slowly();
  }
  void unlock() noexcept {
    if (word_.exchange(is_free, detail::memory_order_release) == slept_on)  // 3
      detail::futex_wake_one(&word_);
  }
  void reset() noexcept {
    word_.store(is_free, detail::memory_order_relaxed);
  }  // before others know the lock

 private:
  enum : std::uint32_t { is_free = 0, held = 1, slept_on = 2 };

  bool take(std::uint32_t as) noexcept {
    std::uint32_t expected = is_free;
    return word_.compare_exchange_strong(expected, as, detail::memory_order_acquire,  // 1
                                         detail::memory_order_relaxed);               // 4
  }

  /// What the wait engine looks at: takes the lock when it is free.
  struct attempt final : detail::waitable {
    word_lock& lock;
    std::uint32_t take_as = held;
    bool taken = false;

    explicit attempt(word_lock& of) noexcept : lock(of) {}
    bool ready() noexcept override {
      return taken ||
             (lock.word_.load(detail::memory_order_relaxed) == is_free && lock.take(take_as));  // 4
    }
    void sleep(deadline until) override {
      take_as = slept_on;
      taken = lock.word_.exchange(slept_on, detail::memory_order_acquire) == is_free;  // 2
      if (!taken) detail::futex_wait(lock.word_, slept_on, until.nanoseconds());
    }
    void describe(detail::wait_subject& to) const noexcept override {
      to.object = to.sleeps_on = &lock;
      to.kind = detail::wait_kind::mutex;
    }
  };

  [[gnu::noinline]] void lock_slowly() noexcept {
    attempt now(*this);
    detail::wait_engine::wait(now, process_settings().waiting, detail::this_thread_history());
  }

  detail::wait_word word_{is_free};
};
static_assert(sizeof(word_lock) == 4, "omp_lock_t");

}  // namespace lockstep::openmp

#endif  // LOCKSTEP_OPENMP_RUNTIME_WORD_LOCK_HPP
