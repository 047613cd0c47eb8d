// SPDX-License-Identifier: MIT
// lockstep/watchdog.hpp -- says who is stuck, on what, and who is missing (layer: trace)
//
// Started by the program, or without touching it by LOCKSTEP_WATCHDOG=2. When a thread has waited so long in a wait of the library,
// the watchdog prints once, on stderr, what every thread waits for and since when, who has come and who is missing, and
// where the missing threads were last. It names threads that wait for each other in a ring, and members that met at
// different places. It stops no thread, unless you ask for that. Workers that have nothing to do are not stuck.
//
//   DOG-1  Each wait that lasts too long is reported once. A wait that began at most half the time later is in the same
//          report, and causes none of its own.
//   DOG-2  It sees waits that begin after it was started, and outlast their first poll.
//   DOG-3  In a child of fork() it does not run; it may be started there.
//   DOG-4  It ends with the program: at exit(), or when the shared object that started it is unloaded.
//
// Cost   its thread wakes once in the time that is given, as long as nobody is stuck. While it watches, a lock with its
//        unlock takes 20 ns more, and a region or a meeting of 2 members 0.3 us.
// Order  none.
// Errors none is thrown but by a program without the code of the observers: std::logic_error. start_watchdog() returns
//        false if the system gives no thread or no pipe.
// Example
//   lockstep::start_watchdog(lockstep::watchdog_options().after(std::chrono::seconds(2)));
//   std::fputs(lockstep::who_waits().c_str(), stderr);
//   lockstep::stop_watchdog();
#ifndef LOCKSTEP_WATCHDOG_HPP
#define LOCKSTEP_WATCHDOG_HPP

#include <chrono>
#include <cstdint>
#include <string>

#include "detail/platform/config.hpp"
#include "detail/trace/watch_hooks.hpp"
#include "named_object.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {

/// How the watchdog watches: a value.
class watchdog_options {
 public:
  /// How long a wait may last: 1 ms at least. 10 s by default.
  watchdog_options& after(std::chrono::nanoseconds time) noexcept {
    const std::chrono::nanoseconds least = std::chrono::milliseconds(1);
    after_ = time < least ? least : time;
    return *this;
  }
  /// Whether the program is to end with std::abort() after the first report of a wait that lasts too long: for tests,
  /// and for a core file.
  watchdog_options& aborts(bool yes) noexcept {
    aborts_ = yes;
    return *this;
  }
  /// Whether SIGUSR1 asks for a report. The handler that the program had for it is back after stop_watchdog().
  watchdog_options& on_signal(bool yes) noexcept {
    on_signal_ = yes;
    return *this;
  }

  std::chrono::nanoseconds after() const noexcept { return after_; }
  bool aborts() const noexcept { return aborts_; }
  bool on_signal() const noexcept { return on_signal_; }

 private:
  std::chrono::nanoseconds after_ = std::chrono::seconds(10);
  bool aborts_ = false, on_signal_ = false;
};

namespace detail {

struct watchdog_control {
  LOCKSTEP_OBSERVER static bool start(const watchdog_options& how);
  LOCKSTEP_OBSERVER static void stop();
  LOCKSTEP_OBSERVER static std::string who_waits();
};

/// Reads LOCKSTEP_WATCHDOG: SECONDS[,abort][,signal], in small letters. False, and `result` unchanged, if it is none.
LOCKSTEP_OBSERVER bool parse_watchdog(const char* word, watchdog_options& result) noexcept;
/// LOCKSTEP_DELAY: a number.
LOCKSTEP_OBSERVER bool parse_delay(const char* word, std::uint64_t& seed) noexcept;

/// For messages: what the values of the two variables must be.
constexpr const char* watchdog_is_to_be() {
  return "seconds as 2 or 0.5, at most a year, and perhaps ,abort and ,signal";
}
constexpr const char* delay_is_to_be() { return "a number"; }

/// Starts what LOCKSTEP_WATCHDOG and LOCKSTEP_DELAY ask for, once in a process. Prints a message if they are wrong.
LOCKSTEP_OBSERVER void start_debug_aids() noexcept;

// When the module is loaded, where there is such a time: so a program without a team is watched, too. Else with the
// first team.
LOCKSTEP_AT_LOAD start_debug_aids_at_load() {
  if (has_observers()) start_debug_aids();
}

}  // namespace detail

/// Starts the watchdog with these options, replacing earlier ones. False if the system gives no thread or no pipe: then
/// no watchdog runs.
inline bool start_watchdog(const watchdog_options& how = watchdog_options()) {
  detail::need_observers("start_watchdog");
  return detail::watchdog_control::start(how);
}
/// Blocks until the watchdog has ended. Does nothing if there is none.
inline void stop_watchdog() {
  if (detail::has_observers()) detail::watchdog_control::stop();
}
/// What the watchdog would print now: of all threads, stuck or not. Empty if it does not watch.
inline std::string who_waits() {
  return detail::has_observers() ? detail::watchdog_control::who_waits() : std::string();
}

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#if LOCKSTEP_HAS_OBSERVERS
#include "detail/trace/debug_aids.ipp"
#include "detail/trace/watchdog.ipp"
#endif

#endif  // LOCKSTEP_WATCHDOG_HPP
