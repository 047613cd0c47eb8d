// SPDX-License-Identifier: MIT
// lockstep/recursive_mutex.hpp -- a mutex that its holder may lock again (layer: sync)
//
// As mutex (mutex.hpp), but a thread that holds it may lock it again, and holds it until it has unlocked
// it as often. Prefer a plain mutex: who locks twice usually does not know what state he finds.
//
//   R1  owner_ is the number of the holder while depth_ > 0, else 0; only the holder writes either. So a
//       thread that finds its own number there holds the lock, whatever others do meanwhile.
//
// Memory order (# marks the line)
//   #  access       order    pairs  why it suffices
//   1  owner.load   relaxed  -      only our own number says anything, and we wrote it ourselves (R1)
//   2  owner.store  relaxed  -      as 1; the mutex orders the rest
//
// Cost   the first lock and the last unlock: those of mutex, and a store. Others: a load. 24 bytes.
#ifndef LOCKSTEP_RECURSIVE_MUTEX_HPP
#define LOCKSTEP_RECURSIVE_MUTEX_HPP

#include <chrono>
#include <cstdint>

#include "detail/platform/system.hpp"
#include "detail/wait/misuse.hpp"
#include "mutex.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {

class recursive_mutex {
 public:
  explicit constexpr recursive_mutex(wait_policy policy = wait_policy()) noexcept
      : mutex_(policy), depth_(0), owner_(0) {}
  ~recursive_mutex() {
    detail::misuse::destroying_lock(&mutex_, kind());
  }  // before mutex's, by its own name
  recursive_mutex(const recursive_mutex&) = delete;
  recursive_mutex& operator=(const recursive_mutex&) = delete;

  /// Blocks until the calling thread holds the lock once more.
  void lock() {
    if (enter_again()) return;
    mutex_.lock();
    enter();
  }

  /// As lock(), but false where it would block.
  bool try_lock() { return enter_again() || (mutex_.try_lock() && enter()); }

  /// As lock(), for at most `time`; false if the lock was not to be had.
  template <class Rep, class Period>
  bool try_lock_for(std::chrono::duration<Rep, Period> time) {
    return try_lock_until(deadline::after(time));
  }
  template <class Clock, class Duration>
  bool try_lock_until(std::chrono::time_point<Clock, Duration> point) {
    return try_lock_until(deadline::at(point));
  }
  bool try_lock_until(deadline until) {
    return enter_again() || (mutex_.try_lock_until(until) && enter());
  }

  /// Requires: the calling thread holds the lock.
  void unlock() {
    detail::misuse::check_owner(&mutex_, kind());
    if (--depth_ > 0) return;
    owner_.store(0, detail::memory_order_relaxed);  // 2
    mutex_.unlock();
  }

  wait_policy policy() const noexcept { return mutex_.policy(); }

 private:
  static const char* kind() noexcept { return "lockstep::recursive_mutex"; }

  bool is_mine() const noexcept {
    return owner_.load(detail::memory_order_relaxed) == detail::number_of_this_thread();  // 1
  }
  bool enter() {
    owner_.store(detail::number_of_this_thread(), detail::memory_order_relaxed);  // 2
    depth_ = 1;
    return true;
  }
  bool enter_again() {
    if (!is_mine()) return false;
    ++depth_;
    return true;
  }

  mutex mutex_;
  std::uint32_t depth_;
  detail::atomic<std::uint64_t> owner_;
};

/// For programs that change a type: the timed operations are there.
using recursive_timed_mutex = recursive_mutex;

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_RECURSIVE_MUTEX_HPP
