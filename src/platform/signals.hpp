// SPDX-License-Identifier: MIT
// src/platform/signals.hpp -- what the library does about signals: nothing on Windows (layer: platform)
#ifndef LOCKSTEP_SRC_PLATFORM_SIGNALS_HPP
#define LOCKSTEP_SRC_PLATFORM_SIGNALS_HPP

#include <lockstep/detail/platform/config.hpp>

#if !defined(_WIN32)
#include <signal.h>

#include <initializer_list>

#include "posix.hpp"
#endif

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

#if defined(_WIN32)

struct no_signals {
  no_signals() noexcept {}
};
struct calm_writes {
  calm_writes() noexcept {}
};
struct question_signal {
  static bool take(void (*)(int)) noexcept { return false; }
  static void give_back() noexcept {}
};

#else

/// Threads that the calling thread starts while this lives get no signals.
class no_signals {
 public:
  no_signals() noexcept {
    sigset_t all;
    sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~no_signals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  no_signals(const no_signals&) = delete;
  no_signals& operator=(const no_signals&) = delete;

 private:
  sigset_t before_;
};

/// While it exists, writes of the thread that made it raise no SIGXFSZ and no SIGPIPE. A write that fails returns an
/// error; it does not end the program or call its handlers. The same thread destroys it.
class calm_writes {
 public:
  calm_writes() noexcept {
    sigset_t raised;
    sigemptyset(&raised);  // a macro on some systems, as are those below
    for (const int each : {SIGXFSZ, SIGPIPE}) sigaddset(&raised, each);
    sigpending(&pending_);
    ::pthread_sigmask(SIG_BLOCK, &raised, &before_);
  }
  ~calm_writes() {
    const kept_error kept;
    sigset_t now;
    sigpending(&now);
    for (const int each : {SIGXFSZ, SIGPIPE}) {
      if (sigismember(&now, each) != 1 || sigismember(&pending_, each) != 0) continue;
      // Our write raised it: take it back.
      sigset_t only;
      sigemptyset(&only);
      sigaddset(&only, each);
#if !defined(__wasm__)  // nothing raises them there
      int taken = 0;
      sigwait(&only, &taken);
#endif
    }
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  calm_writes(const calm_writes&) = delete;
  calm_writes& operator=(const calm_writes&) = delete;

 private:
  sigset_t before_, pending_;
};

/// A handler for the signal with which users ask a program what it does: SIGUSR1 where there is one.
class question_signal {
 public:
  /// False where the system has no such signal.
  bool take(void (*handler)(int)) noexcept {
    struct sigaction action;
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    handler_ = handler;
    return ::sigaction(SIGUSR1, &action, &before_) == 0;
  }
  /// Restores the earlier handler, unless the program has set another one meanwhile.
  void give_back() noexcept {
    struct sigaction now;
    if (::sigaction(SIGUSR1, nullptr, &now) != 0 || (now.sa_flags & SA_SIGINFO) != 0) return;
    if (now.sa_handler == handler_) ::sigaction(SIGUSR1, &before_, nullptr);
  }

 private:
  struct sigaction before_;
  void (*handler_)(int);
};

#endif

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_PLATFORM_SIGNALS_HPP
