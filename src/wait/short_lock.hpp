// SPDX-License-Identifier: MIT
// src/wait/short_lock.hpp -- guards a few instructions of the library's own (layer: wait)
//
// Not for users: it is not fair; see mutex.hpp.
//
// Cost   uncontended: two read-modify-writes. Contended: see wait_engine.hpp.
#ifndef LOCKSTEP_SRC_WAIT_SHORT_LOCK_HPP
#define LOCKSTEP_SRC_WAIT_SHORT_LOCK_HPP

#include <lockstep/detail/platform/atomic.hpp>
#include <lockstep/detail/platform/config.hpp>

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
  static void lock(wait_word& word);
  static void unlock(wait_word& word);

 private:
  wait_word word_;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_WAIT_SHORT_LOCK_HPP
