// SPDX-License-Identifier: MIT
// src/platform/signals.cpp -- the bodies of signals.hpp (layer: platform)
#include "signals.hpp"

#include <initializer_list>

#include "posix.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

#if defined(_WIN32)

LOCKSTEP_INLINE no_signals::no_signals() noexcept {}
LOCKSTEP_INLINE no_signals::~no_signals() {}
LOCKSTEP_INLINE calm_writes::calm_writes() noexcept {}
LOCKSTEP_INLINE calm_writes::~calm_writes() {}
LOCKSTEP_INLINE bool question_signal::take(void (*)(int)) noexcept { return false; }
LOCKSTEP_INLINE void question_signal::give_back() noexcept {}

#else

LOCKSTEP_INLINE no_signals::no_signals() noexcept {
  sigset_t all;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before_);
}
LOCKSTEP_INLINE no_signals::~no_signals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

LOCKSTEP_INLINE calm_writes::calm_writes() noexcept {
  sigset_t raised;
  sigemptyset(&raised);  // a macro on some systems, as are those below
  for (const int each : {SIGXFSZ, SIGPIPE}) sigaddset(&raised, each);
  sigpending(&pending_);
  ::pthread_sigmask(SIG_BLOCK, &raised, &before_);
}
LOCKSTEP_INLINE calm_writes::~calm_writes() {
  const kept_error kept;
  sigset_t now;
  sigpending(&now);
  for (const int each : {SIGXFSZ, SIGPIPE}) {
    if (sigismember(&now, each) != 1 || sigismember(&pending_, each) != 0) continue;
    // Our write raised it: take it back.
    sigset_t only;
    sigemptyset(&only);
    sigaddset(&only, each);
    int taken = 0;
#if !defined(__wasm__)  // nothing raises them there
    sigwait(&only, &taken);
#endif
  }
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

LOCKSTEP_INLINE bool question_signal::take(void (*handler)(int)) noexcept {
  struct sigaction action;
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  handler_ = handler;
  return ::sigaction(SIGUSR1, &action, &before_) == 0;
}
LOCKSTEP_INLINE void question_signal::give_back() noexcept {
  struct sigaction now;
  if (::sigaction(SIGUSR1, nullptr, &now) != 0 || (now.sa_flags & SA_SIGINFO) != 0) return;
  if (now.sa_handler == handler_) ::sigaction(SIGUSR1, &before_, nullptr);
}

#endif

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
