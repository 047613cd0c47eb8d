// SPDX-License-Identifier: MIT
// src/platform/fork.hpp -- what a child process has to put right (layer: platform)
//
// fork() copies the memory, but only the calling thread: tables of threads must be whole in the child, and forget the
// others there. So each table is locked around fork(). The locks must not be held while handlers of the program run:
// these may use the library, and may wait for threads that do. The system calls handlers before fork() in the reverse
// order of their registration, and after it in their order.
//
//   ATFORK-1  A module registers when it is loaded, before its own static objects are initialised and before the modules
//       that depend on it are loaded. So whoever uses the library in a handler of its own has registered later:
//       that handler is called before the locks are taken, or after they are freed.
//   ATFORK-2  Every module registers for itself, because a registration ends with its module (dlclose). Only that of the
//       first module there is does anything, for the tables of all modules.
//   ATFORK-3  A fork() in the middle of the first use of a table leaves nothing half done that a child would wait for: the
//       child lists its handlers again. The tables that are used while threads start, of queues and of misuse, are listed
//       when the module is loaded: else a thread could list one, and lock it, between the handlers and the fork().
//
// The modules and their tables are listed by fork_tables.hpp.
//
// Memory order (# marks the line)
//   #  access        order    pairs  why it suffices
//   1  holder.load   relaxed  -      only our own number says anything, and we wrote it ourselves
//   2  holder.store  relaxed  -      as 1; written under the lock
#ifndef LOCKSTEP_SRC_PLATFORM_FORK_HPP
#define LOCKSTEP_SRC_PLATFORM_FORK_HPP

#include <errno.h>

#include <cstdint>

#include <lockstep/detail/platform/atomic.hpp>
#include <lockstep/detail/platform/config.hpp>

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

/// What is called around every fork() for a table: before() and after() on the thread that calls it, child() on the
/// child's only thread. The handlers of several modules may belong to one table.
struct fork_handlers {
  void (*before)();
  void (*after)();
  void (*child)();
  bool is_first_in_child;  ///< others use its table; it is the last to be locked
};

/// The tables of a module. A place is taken once and never given up.
struct fork_module {
  unseamed_atomic<const fork_handlers*> tables[12];
  unseamed_atomic<fork_module*> next;  ///< that was loaded later
};

/// A lock that the thread that forks holds meanwhile, for handlers that are called more than once.
class fork_section {
 public:
  /// For other users of the data that it guards: not again where the calling thread forks.
  void lock() noexcept {
    if (!is_held()) lock_.lock();
  }
  void unlock() noexcept {
    if (!is_held()) lock_.unlock();
  }

  /// In before(): true in the first call.
  bool enter() {
    if (is_held()) return false;
    lock_.lock();
    holder_.store(self(), memory_order_relaxed);  // 2
    return true;
  }
  /// In after() and child(): true until leave().
  bool is_held() const noexcept { return holder_.load(memory_order_relaxed) == self(); }  // 1
  void leave() {
    holder_.store(0, memory_order_relaxed);  // 2
    lock_.unlock();
  }

 private:
  /// A value that no other living thread has; the same in every module, and in the child.
  static std::uintptr_t self() noexcept { return reinterpret_cast<std::uintptr_t>(&errno); }

  system_mutex lock_;
  unseamed_atomic<std::uintptr_t> holder_{0};
};

/// The handlers of a table that one lock guards.
template <fork_section& Lock>
struct held_around_fork {
  static void before() { Lock.enter(); }
  static void after() {
    if (Lock.is_held()) Lock.leave();
  }
  static void child() { after(); }
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_PLATFORM_FORK_HPP
