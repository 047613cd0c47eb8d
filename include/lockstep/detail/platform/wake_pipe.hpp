// SPDX-License-Identifier: MIT
// lockstep/detail/platform/wake_pipe.hpp -- a sleep that a signal handler may end (layer: platform)
//
// For one thread of the library that sleeps for seconds and is woken by others, also from a signal handler. It sleeps on
// a pipe where there are pipes. Elsewhere it sleeps on a condition, and there are no handlers.
//
//   PIPE-1  wake() is safe in a signal handler. The pipe is not closed while the process lives, so a handler that is
//           late writes to nothing else.
//   PIPE-2  A child of fork() gives up its ends before it does anything else; it may open a pipe of its own.
//
// Memory order (# marks the line)
//   #  access     order    pairs  why it suffices
//   1  end.load   acquire  2      both ends are there before their numbers are seen
//   2  end.store  release  1      as 1
#ifndef LOCKSTEP_DETAIL_PLATFORM_WAKE_PIPE_HPP
#define LOCKSTEP_DETAIL_PLATFORM_WAKE_PIPE_HPP

#include <cstdint>

#include "atomic.hpp"
#include "config.hpp"
#include "fork.hpp"

#if defined(__unix__) || defined(__APPLE__)
#define LOCKSTEP_HAS_PIPES 1
#include <signal.h>
#else
#define LOCKSTEP_HAS_PIPES 0
#if !defined(_WIN32)
#include <condition_variable>
#endif
#endif

#if LOCKSTEP_HAS_BODIES
#include <initializer_list>
#if LOCKSTEP_HAS_PIPES
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>
#else
#include <chrono>
#endif
#endif

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// Begins as zeros, and is never destroyed.
class wake_pipe {
 public:
  /// False if the system refuses. Once it is open, this does nothing.
  LOCKSTEP_COLD bool open() noexcept;
  /// Ends a sleep, this one or the next. `why` is not 0.
  LOCKSTEP_COLD void wake(char why) noexcept;
  /// Sleeps so long or until a wake; returns the `why` of the wake, or 0. For one thread.
  LOCKSTEP_COLD char sleep(std::uint64_t nanoseconds) noexcept;
  /// In a child of fork(): PIPE-2.
  LOCKSTEP_COLD void forget() noexcept;

 private:
#if LOCKSTEP_HAS_PIPES
  // The number of the file and 1, so that zeros are a pipe that is not open.
  unseamed_atomic<int> read_end_{0}, write_end_{0};
#else
#if defined(_WIN32)
  windows_mutex lock_;
  windows_condition woken_;
#else
  std::mutex lock_;
  std::condition_variable woken_;
#endif
  char why_ = 0;
#endif
};

/// A handler for the signal with which users ask a program what it does: SIGUSR1 where there is one.
class question_signal {
 public:
  /// False where the system has no such signal.
  LOCKSTEP_COLD bool take(void (*handler)(int)) noexcept;
  /// Restores the earlier handler, unless the program has set another one meanwhile.
  LOCKSTEP_COLD void give_back() noexcept;

 private:
#if LOCKSTEP_HAS_PIPES
  struct sigaction before_;
#endif
  void (*handler_)(int);
};

/// Threads that the calling thread starts while this lives get no signals.
class no_signals {
 public:
  LOCKSTEP_COLD no_signals() noexcept;
  LOCKSTEP_COLD ~no_signals();
  no_signals(const no_signals&) = delete;
  no_signals& operator=(const no_signals&) = delete;

 private:
#if LOCKSTEP_HAS_PIPES
  sigset_t before_;
#endif
};

#if LOCKSTEP_HAS_BODIES

#if LOCKSTEP_HAS_PIPES

LOCKSTEP_COLD bool wake_pipe::open() noexcept {
  if (read_end_.load(memory_order_acquire) != 0) return true;  // 1
  int ends[2];
  if (::pipe(ends) != 0) return false;
  for (const int end : ends) {
    ::fcntl(end, F_SETFD, FD_CLOEXEC);
    ::fcntl(end, F_SETFL,
            O_NONBLOCK);  // a handler must not wait, nor a reader for what another has read
  }
  write_end_.store(ends[1] + 1, memory_order_release);  // 2
  read_end_.store(ends[0] + 1, memory_order_release);   // 2
  return true;
}

LOCKSTEP_COLD void wake_pipe::wake(char why) noexcept {
  const int end = write_end_.load(memory_order_acquire);  // 1
  if (end == 0) return;
  const int saved = errno;
  // A full pipe wakes as well.
  while (::write(end - 1, &why, 1) < 0 && errno == EINTR) continue;
  errno = saved;
}

LOCKSTEP_COLD char wake_pipe::sleep(std::uint64_t nanoseconds) noexcept {
  constexpr std::uint64_t longest = 3600000;
  const std::uint64_t wanted = (nanoseconds + 999999) / 1000000;
  struct pollfd end;
  end.fd = read_end_.load(memory_order_acquire) - 1;  // 1
  end.events = POLLIN;
  end.revents = 0;
  char why = 0;
  if (::poll(&end, 1, static_cast<int>(wanted < longest ? wanted : longest)) <= 0) return 0;
  return ::read(end.fd, &why, 1) == 1 ? why : static_cast<char>(0);
}

LOCKSTEP_COLD void wake_pipe::forget() noexcept {
  for (unseamed_atomic<int>* each : {&read_end_, &write_end_}) {
    const int end = each->load(memory_order_acquire);  // 1
    each->store(0, memory_order_release);              // 2
    if (end != 0) ::close(end - 1);
  }
}

LOCKSTEP_COLD bool question_signal::take(void (*handler)(int)) noexcept {
  struct sigaction action;
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);  // a macro on some systems
  handler_ = handler;
  return ::sigaction(SIGUSR1, &action, &before_) == 0;
}

LOCKSTEP_COLD void question_signal::give_back() noexcept {
  struct sigaction now;
  if (::sigaction(SIGUSR1, nullptr, &now) != 0 || (now.sa_flags & SA_SIGINFO) != 0) return;
  if (now.sa_handler == handler_) ::sigaction(SIGUSR1, &before_, nullptr);
}

LOCKSTEP_COLD no_signals::no_signals() noexcept {
  sigset_t all;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before_);
}
LOCKSTEP_COLD no_signals::~no_signals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

#else

LOCKSTEP_COLD bool wake_pipe::open() noexcept { return true; }
LOCKSTEP_COLD void wake_pipe::wake(char why) noexcept {
  const holding<decltype(lock_)> held(lock_);
  why_ = why;
  woken_.notify_all();
}
LOCKSTEP_COLD char wake_pipe::sleep(std::uint64_t nanoseconds) noexcept {
  constexpr std::uint64_t longest = 3600000000000u;
  const std::uint64_t time = nanoseconds < longest ? nanoseconds : longest;
#if defined(_WIN32)
  const holding<windows_mutex> held(lock_);
  const std::uint64_t deadline = steady_nanoseconds() + time;
  while (why_ == 0 && steady_nanoseconds() < deadline) woken_.wait(lock_, deadline);
#else
  std::unique_lock<std::mutex> held(lock_);
  woken_.wait_for(held, std::chrono::nanoseconds(static_cast<long long>(time)),
                  [&] { return why_ != 0; });
#endif
  const char why = why_;
  why_ = 0;
  return why;
}
LOCKSTEP_COLD void wake_pipe::forget() noexcept {}
LOCKSTEP_COLD bool question_signal::take(void (*handler)(int)) noexcept {
  handler_ = handler;
  return false;
}
LOCKSTEP_COLD void question_signal::give_back() noexcept {}
LOCKSTEP_COLD no_signals::no_signals() noexcept {}
LOCKSTEP_COLD no_signals::~no_signals() {}

#endif

#endif

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_PLATFORM_WAKE_PIPE_HPP
