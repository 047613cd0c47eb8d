// SPDX-License-Identifier: MIT
// src/platform/wake_pipe.cpp -- the bodies of wake_pipe.hpp (layer: platform)
#include "wake_pipe.hpp"

#include "process.hpp"

#include <initializer_list>
#if !defined(_WIN32)
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include "posix.hpp"
#endif

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

#if !defined(_WIN32)

LOCKSTEP_INLINE bool wake_pipe::open() noexcept {
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

LOCKSTEP_INLINE void wake_pipe::wake(char why) noexcept {
  const int end = write_end_.load(memory_order_acquire);  // 1
  if (end == 0) return;
  const kept_error kept;
  // A full pipe wakes as well.
  while (::write(end - 1, &why, 1) < 0 && errno == EINTR) continue;
}

LOCKSTEP_INLINE char wake_pipe::sleep(std::uint64_t nanoseconds) noexcept {
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

LOCKSTEP_INLINE void wake_pipe::forget() noexcept {
  for (unseamed_atomic<int>* each : {&read_end_, &write_end_}) {
    const int end = each->load(memory_order_acquire);  // 1
    each->store(0, memory_order_release);              // 2
    if (end != 0) ::close(end - 1);
  }
}

LOCKSTEP_INLINE bool question_signal::take(void (*handler)(int)) noexcept {
  struct sigaction action;
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);  // a macro on some systems
  handler_ = handler;
  return ::sigaction(SIGUSR1, &action, &before_) == 0;
}

LOCKSTEP_INLINE void question_signal::give_back() noexcept {
  struct sigaction now;
  if (::sigaction(SIGUSR1, nullptr, &now) != 0 || (now.sa_flags & SA_SIGINFO) != 0) return;
  if (now.sa_handler == handler_) ::sigaction(SIGUSR1, &before_, nullptr);
}

LOCKSTEP_INLINE no_signals::no_signals() noexcept {
  sigset_t all;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before_);
}
LOCKSTEP_INLINE no_signals::~no_signals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

#else

LOCKSTEP_INLINE bool wake_pipe::open() noexcept { return true; }
LOCKSTEP_INLINE void wake_pipe::wake(char why) noexcept {
  const holding<system_mutex> held(lock_);
  why_ = why;
  woken_.notify_all();
}
LOCKSTEP_INLINE char wake_pipe::sleep(std::uint64_t nanoseconds) noexcept {
  constexpr std::uint64_t longest = 3600000000000u;
  const std::uint64_t time = nanoseconds < longest ? nanoseconds : longest;
  const holding<system_mutex> held(lock_);
  const std::uint64_t deadline = steady_nanoseconds() + time;
  while (why_ == 0 && steady_nanoseconds() < deadline) woken_.wait(lock_, deadline);
  const char why = why_;
  why_ = 0;
  return why;
}
LOCKSTEP_INLINE void wake_pipe::forget() noexcept {}
LOCKSTEP_INLINE bool question_signal::take(void (*handler)(int)) noexcept {
  handler_ = handler;
  return false;
}
LOCKSTEP_INLINE void question_signal::give_back() noexcept {}
LOCKSTEP_INLINE no_signals::no_signals() noexcept {}
LOCKSTEP_INLINE no_signals::~no_signals() {}

#endif

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
