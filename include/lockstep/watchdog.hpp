// SPDX-License-Identifier: MIT
// lockstep/watchdog.hpp -- says who is stuck, on what, and who is missing (layer: trace)
//
// The program starts it, or LOCKSTEP_WATCHDOG=2 does without a change of the program. When a thread has been in a wait of
// the library for so many seconds, the watchdog prints once, on stderr, what every thread waits for and since when, who has
// come and who is missing, and where the missing threads were last. It names threads that wait for each other in a ring, and
// members that met at different places. It stops no thread, unless you ask for that. An idle worker is not stuck.
//
//   DOG-1  Each wait that lasts too long is reported once. A wait that began at most half the time later is in the same
//          report.
//   DOG-2  It sees waits that begin after it was started, and outlast their first poll.
//   DOG-3  In a child of fork() it does not run; it may be started there.
//   DOG-4  It ends with the program: at exit(), or when the shared object that started it is unloaded.
//
// Cost   its thread wakes once in the time that is set, as long as no thread is stuck; with on_signal() ten times a
//        second. While it watches, a lock with its unlock takes 20 ns more, and a region or a meeting of 2 members 0.3 us.
// Order  none.
// Errors none is thrown. start_watchdog() returns false if the system gives no thread.
// Example
//   lockstep::start_watchdog(lockstep::watchdog_options().after(std::chrono::seconds(2)));
//   std::fputs(lockstep::who_waits().c_str(), stderr);
//   lockstep::stop_watchdog();
#ifndef LOCKSTEP_WATCHDOG_HPP
#define LOCKSTEP_WATCHDOG_HPP

#include <chrono>
#include <string>

#include <lockstep/detail/platform/config.hpp>

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

/// Starts the watchdog with these options, replacing earlier ones. False if the system gives no thread: then
/// no watchdog runs.
bool start_watchdog(const watchdog_options& how = watchdog_options());
/// Blocks until the watchdog has ended. Does nothing if there is none.
void stop_watchdog();
/// What the watchdog would print now: of all threads, stuck or not. Empty if it does not watch.
std::string who_waits();

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_WATCHDOG_HPP
