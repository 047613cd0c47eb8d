// SPDX-License-Identifier: MIT
// src/platform/posix.hpp -- what the library uses of POSIX; windows.hpp has the same of Windows (layer: platform)
//
// A lock, a thread, a nap, and an errno that stays as it was.
#ifndef LOCKSTEP_SRC_PLATFORM_POSIX_HPP
#define LOCKSTEP_SRC_PLATFORM_POSIX_HPP

#if !defined(_WIN32)

#include <errno.h>
#include <pthread.h>
#include <time.h>

#include <mutex>

#include <lockstep/detail/platform/config.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// Restores the system's last error at its end, whatever is called while it lives.
class kept_error {
 public:
  kept_error() noexcept : saved_(errno) {}
  ~kept_error() { errno = saved_; }
  kept_error(const kept_error&) = delete;
  kept_error& operator=(const kept_error&) = delete;

 private:
  const int saved_;
};

/// What a wait does where the system has none: sleeps for 50 us.
inline void nap() noexcept {
  const kept_error kept;
  const timespec time = {0, 50000};
  nanosleep(&time, nullptr);
}

using system_mutex = std::mutex;

#if !defined(LOCKSTEP_SYSTEM_SEAM)
/// A std::thread that says by a number why it does not start. It is part of the seam of system.hpp.
class plain_thread {
 public:
  /// Starts a thread that calls f(of). Returns 0, or the number of the system's error.
  int start(void* (*f)(void*), void* of) noexcept {
    return pthread_create(&native_, nullptr, f, of);
  }
  void join() noexcept { pthread_join(native_, nullptr); }

 private:
  pthread_t native_ = pthread_t();
};
#endif

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif

#endif  // LOCKSTEP_SRC_PLATFORM_POSIX_HPP
