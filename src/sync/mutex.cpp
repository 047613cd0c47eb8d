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

LOCKSTEP_INLINE bool recursive_mutex::enter(std::uint64_t self) noexcept {
  owner_.store(self, detail::memory_order_relaxed);  // 2
  depth_ = 1;
  return true;
}

LOCKSTEP_INLINE bool recursive_mutex::enter_again(std::uint64_t self) noexcept {
  if (owner_.load(detail::memory_order_relaxed) != self) return false;  // 1
  ++depth_;
  return true;
}

LOCKSTEP_INLINE void recursive_mutex::lock() {
  const std::uint64_t self = detail::number_of_this_thread();
  if (enter_again(self)) return;
  mutex_.lock();
  enter(self);
}

LOCKSTEP_INLINE bool recursive_mutex::try_lock() {
  const std::uint64_t self = detail::number_of_this_thread();
  return enter_again(self) || (mutex_.try_lock() && enter(self));
}

LOCKSTEP_INLINE bool recursive_mutex::try_lock_until(deadline until) {
  const std::uint64_t self = detail::number_of_this_thread();
  return enter_again(self) || (mutex_.try_lock_until(until) && enter(self));
}

LOCKSTEP_INLINE void recursive_mutex::unlock() {
  detail::misuse::check_owner(&mutex_, kind());
  if (--depth_ > 0) return;
  owner_.store(0, detail::memory_order_relaxed);  // 2
  mutex_.unlock();
}

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
