// SPDX-License-Identifier: MIT
// src/platform/signals.hpp -- what the library does about signals: nothing on Windows (layer: platform)
#ifndef LOCKSTEP_SRC_PLATFORM_SIGNALS_HPP
#define LOCKSTEP_SRC_PLATFORM_SIGNALS_HPP

#include <lockstep/detail/platform/config.hpp>

#if !defined(_WIN32)
#include <signal.h>
#endif

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// Threads that the calling thread starts while this lives get no signals.
class no_signals {
 public:
  no_signals() noexcept;
  ~no_signals();
  no_signals(const no_signals&) = delete;
  no_signals& operator=(const no_signals&) = delete;

#if !defined(_WIN32)
 private:
  sigset_t before_;
#endif
};

/// While it exists, writes of the thread that made it raise no SIGXFSZ and no SIGPIPE. A write that fails returns an
/// error; it does not end the program or call its handlers. The same thread destroys it.
class calm_writes {
 public:
  calm_writes() noexcept;
  ~calm_writes();
  calm_writes(const calm_writes&) = delete;
  calm_writes& operator=(const calm_writes&) = delete;

#if !defined(_WIN32)
 private:
  sigset_t before_, pending_;
#endif
};

/// A handler for the signal with which users ask a program what it does: SIGUSR1 where there is one.
class question_signal {
 public:
  /// False where the system has no such signal.
  bool take(void (*handler)(int)) noexcept;
  /// Restores the earlier handler, unless the program has set another one meanwhile.
  void give_back() noexcept;

#if !defined(_WIN32)
 private:
  struct sigaction before_;
  void (*handler_)(int);
#endif
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_PLATFORM_SIGNALS_HPP
