// SPDX-License-Identifier: MIT
// src/sync/mutex.cpp -- the contended ways of mutex, and recursive_mutex (layer: sync)
//
//   RECURSIVE-1  owner_ is the number of the holder while depth_ > 0, else 0; only the holder writes either. So a
//                thread that finds its own number there holds the lock, whatever others do meanwhile.
//
// Memory order (# marks the line)
//   #  access       order    pairs  why it suffices
//   1  owner.load   relaxed  -      only our own number says anything, and we wrote it ourselves (RECURSIVE-1)
//   2  owner.store  relaxed  -      as 1; the mutex orders the rest
#include <lockstep/mutex.hpp>

#include "mutex_queue.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {

LOCKSTEP_INLINE bool mutex::try_lock_slowly() noexcept {
  return detail::mutex_queue(*this).try_take(detail::mutex_rules::newcomer);
}
LOCKSTEP_INLINE bool mutex::lock_slowly(deadline until) {
  return detail::mutex_queue(*this).lock_slowly(until);
}
LOCKSTEP_INLINE void mutex::wake_next() { detail::mutex_queue(*this).wake_next(); }

LOCKSTEP_INLINE bool recursive_mutex::enter() noexcept {
  owner_.store(detail::number_of_this_thread(), detail::memory_order_relaxed);  // 2
  depth_ = 1;
  return true;
}

LOCKSTEP_INLINE bool recursive_mutex::enter_again() noexcept {
  const std::uint64_t owner = owner_.load(detail::memory_order_relaxed);  // 1
  if (owner != detail::number_of_this_thread()) return false;
  ++depth_;
  return true;
}

LOCKSTEP_INLINE void recursive_mutex::lock() {
  if (enter_again()) return;
  mutex_.lock();
  enter();
}

LOCKSTEP_INLINE bool recursive_mutex::try_lock() {
  return enter_again() || (mutex_.try_lock() && enter());
}

LOCKSTEP_INLINE bool recursive_mutex::try_lock_until(deadline until) {
  return enter_again() || (mutex_.try_lock_until(until) && enter());
}

LOCKSTEP_INLINE void recursive_mutex::unlock() {
  detail::misuse::check_owner(&mutex_, kind());
  if (--depth_ > 0) return;
  owner_.store(0, detail::memory_order_relaxed);  // 2
  mutex_.unlock();
}

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
