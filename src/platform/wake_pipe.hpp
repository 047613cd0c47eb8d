// SPDX-License-Identifier: MIT
// src/platform/wake_pipe.hpp -- a sleep that a signal handler may end (layer: platform)
//
// For one thread of the library that sleeps for seconds and is woken by others, also from a signal handler. It sleeps on
// a pipe. On Windows it sleeps on a condition, and there are no handlers.
//
//   PIPE-1  wake() is safe in a signal handler. The pipe is not closed while the process lives, so a handler that is
//           late writes to nothing else.
//   PIPE-2  A child of fork() gives up its ends before it does anything else; it may open a pipe of its own.
//
// Memory order (# marks the line)
//   #  access     order    pairs  why it suffices
//   1  end.load   acquire  2      both ends are there before their numbers are seen
//   2  end.store  release  1      as 1
#ifndef LOCKSTEP_SRC_PLATFORM_WAKE_PIPE_HPP
#define LOCKSTEP_SRC_PLATFORM_WAKE_PIPE_HPP

#include <cstdint>

#include <lockstep/detail/platform/atomic.hpp>
#include <lockstep/detail/platform/config.hpp>

#if defined(_WIN32)
#include "windows.hpp"
#else
#include <signal.h>
#endif

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// Begins as zeros, and is never destroyed.
class wake_pipe {
 public:
  /// False if the system refuses. Once it is open, this does nothing.
  bool open() noexcept;
  /// Ends a sleep, this one or the next. `why` is not 0.
  void wake(char why) noexcept;
  /// Sleeps so long or until a wake; returns the `why` of the wake, or 0. For one thread.
  char sleep(std::uint64_t nanoseconds) noexcept;
  /// In a child of fork(): PIPE-2.
  void forget() noexcept;

 private:
#if !defined(_WIN32)
  // The number of the file and 1, so that zeros are a pipe that is not open.
  unseamed_atomic<int> read_end_{0}, write_end_{0};
#else
  system_mutex lock_;
  system_condition woken_;
  char why_ = 0;
#endif
};

/// A handler for the signal with which users ask a program what it does: SIGUSR1 where there is one.
class question_signal {
 public:
  /// False where the system has no such signal.
  bool take(void (*handler)(int)) noexcept;
  /// Restores the earlier handler, unless the program has set another one meanwhile.
  void give_back() noexcept;

 private:
#if !defined(_WIN32)
  struct sigaction before_;
#endif
  void (*handler_)(int);
};

/// Threads that the calling thread starts while this lives get no signals.
class no_signals {
 public:
  no_signals() noexcept;
  ~no_signals();
  no_signals(const no_signals&) = delete;
  no_signals& operator=(const no_signals&) = delete;

 private:
#if !defined(_WIN32)
  sigset_t before_;
#endif
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_PLATFORM_WAKE_PIPE_HPP
