// SPDX-License-Identifier: MIT
// openmp/runtime/word_lock.hpp -- a lock of 4 bytes in the program's memory
//
// omp_lock_t has 4 bytes, and zero bits are a free lock. lockstep::mutex, which is fair, needs 8. So this is
// wait_engine.hpp, with a wait as the program's environment asks for.
//
// Memory order (# marks the line)
//   #  access      order    pairs  why it suffices
//   1  word.store  relaxed  -      before others know the lock
#ifndef LOCKSTEP_OPENMP_RUNTIME_WORD_LOCK_HPP
#define LOCKSTEP_OPENMP_RUNTIME_WORD_LOCK_HPP

#include "wait/wait_engine.hpp"

#include "control_variables.hpp"

namespace lockstep::openmp {

class word_lock {
 public:
  bool try_lock() noexcept { return detail::short_lock::try_lock(word_); }
  void lock() noexcept {
    if (__builtin_expect(!try_lock(), 0)) lock_slowly();
  }
  void unlock() noexcept { detail::short_lock::unlock(word_); }
  void reset() noexcept { word_.store(0, detail::memory_order_relaxed); }  // 1

 private:
  [[gnu::noinline]] void lock_slowly() noexcept {
    detail::short_lock::lock_slowly(word_, process_settings().waiting, detail::wait_kind::mutex);
  }

  detail::wait_word word_{0};
};
static_assert(sizeof(word_lock) == 4, "omp_lock_t");

}  // namespace lockstep::openmp

#endif  // LOCKSTEP_OPENMP_RUNTIME_WORD_LOCK_HPP
