// SPDX-License-Identifier: MIT
// lockstep/detail/platform/fork.hpp -- what a child process has to put right (layer: platform)
//
// fork() copies the memory, but only the calling thread: tables of threads must forget the others.
//
//   ATFORK-1  Every module that uses a table registers for itself, because a registration ends with its module
//       (dlclose). So one fork() may call the same handlers several times: a fork_section tells the first
//       and the last.
//   ATFORK-2  A fork() in the middle of a registration leaves nothing half done that a child would wait for:
//       the child registers again.
//
// Memory order (# marks the line)
//   #  access        order    pairs  why it suffices
//   1  done.load     acquire  2      who sees it set uses the table: the registration came before
//   2  done.store    release  1      as 1
//   3  holder.load   relaxed  -      only our own number says anything, and we wrote it ourselves
//   4  holder.store  relaxed  -      as 3; written under the lock
#ifndef LOCKSTEP_DETAIL_PLATFORM_FORK_HPP
#define LOCKSTEP_DETAIL_PLATFORM_FORK_HPP

#include <errno.h>

#include <cstdint>

#include "atomic.hpp"
#include "config.hpp"

#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#elif defined(_WIN32)
#include "windows.hpp"
#else
#include <mutex>
#endif

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// From now on, around every fork(): before() and after() on the thread that calls it, child() on the
/// child's only thread; nullptr for nothing. False if the system has no such call, or refuses. Not cold: the
/// registration belongs to the module whose code makes this call.
inline bool call_at_fork(void (*before)(), void (*after)(), void (*child)()) noexcept {
#if defined(__unix__) || defined(__APPLE__)
  return pthread_atfork(before, after, child) == 0;
#else
  (void)before, (void)after, (void)child;
  return false;
#endif
}

/// A lock that needs no code to be initialised: a std::mutex, without its headers where the system has a lock of its
/// own.
#if defined(__unix__) || defined(__APPLE__)
class system_mutex {
 public:
  constexpr system_mutex() noexcept = default;
  system_mutex(const system_mutex&) = delete;
  system_mutex& operator=(const system_mutex&) = delete;

  void lock() noexcept { pthread_mutex_lock(&native_); }
  void unlock() noexcept { pthread_mutex_unlock(&native_); }

 private:
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wzero-as-null-pointer-constant"
#endif
  pthread_mutex_t native_ = PTHREAD_MUTEX_INITIALIZER;
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif
};
#elif defined(_WIN32)
using system_mutex = windows_mutex;
#else
using system_mutex = std::mutex;
#endif

/// Holds a lock as long as it lives.
template <class Lock>
class holding {
 public:
  explicit holding(Lock& lock) : lock_(lock) { lock_.lock(); }
  ~holding() { lock_.unlock(); }
  holding(const holding&) = delete;
  holding& operator=(const holding&) = delete;

 private:
  Lock& lock_;
};

template <class Handlers>
struct LOCKSTEP_MODULE_LOCAL fork_registration {
  static unseamed_atomic<bool> done;
};
template <class Handlers>
unseamed_atomic<bool> fork_registration<Handlers>::done{false};

/// From the return of this call on, Handlers::before(), after() and child() are called at every fork(), as in
/// call_at_fork(), once or more often (ATFORK-1).
template <class Handlers>
void watch_forks() noexcept {
  unseamed_atomic<bool>& done = fork_registration<Handlers>::done;
  if (done.load(memory_order_acquire)) return;  // 1
  if (call_at_fork(&Handlers::before, &Handlers::after, &Handlers::child)) {
    done.store(true, memory_order_release);  // 2
  }
}

/// A lock that the thread that forks holds meanwhile, for handlers that are called more than once.
class fork_section {
 public:
  constexpr fork_section() noexcept : holder_(0), depth_(0) {}
  fork_section(const fork_section&) = delete;
  fork_section& operator=(const fork_section&) = delete;

  /// For other users of the data that it guards.
  system_mutex& lock() noexcept { return lock_; }

  /// In before(): true in the first call.
  bool enter() {
    if (holder_.load(memory_order_relaxed) == self()) {  // 3
      ++depth_;
      return false;
    }
    lock_.lock();
    holder_.store(self(), memory_order_relaxed);  // 4
    depth_ = 1;
    return true;
  }
  /// In after() and child(): true in the last call, which has to leave().
  bool is_last() noexcept {
    return holder_.load(memory_order_relaxed) == self() && --depth_ == 0;  // 3
  }
  void leave() {
    holder_.store(0, memory_order_relaxed);  // 4
    lock_.unlock();
  }

 private:
  /// A value that no other living thread has; the same in every module, and in the child.
  static std::uintptr_t self() noexcept { return reinterpret_cast<std::uintptr_t>(&errno); }

  system_mutex lock_;
  unseamed_atomic<std::uintptr_t> holder_;
  unsigned depth_;  // the holder's own
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_PLATFORM_FORK_HPP
