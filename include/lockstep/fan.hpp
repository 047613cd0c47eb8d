// SPDX-License-Identifier: MIT
// lockstep/fan.hpp -- some threads notify, others wait: fan_out (1:N), fan_in (N:1), fan_in_out (N:M) (layer: toolbox)
//
// Notifiers and waiters are different roles, each with ranks from 0. A wait takes one notification of *each*
// notifier. Notifications are counted: none is lost, whichever side comes first; a fast notifier that notifies
// twice does not stand in for a slow one, and its second notification serves the second wait. No notifier waits.
//
//   fan_out     one notifier, N waiters   every notify() lets each waiter return from one wait(rank)
//   fan_in      N notifiers, one waiter   a wait() returns when each notifier has called notify(rank) once more
//   fan_in_out  N notifiers, M waiters    the same for each of M waiters
// For one notifier and one waiter take event; where every thread is both, take ranked_barrier.
//
// Lifetime: destroy only after every call has returned.
// Order  what happens before a notification happens before the return of every wait that takes it.
// Errors a bad count: std::invalid_argument; a bad rank: std::out_of_range. Two threads with one rank at a time:
//        undefined.
// Cost   notify: one store on the notifier's own line, and one load of a read-mostly line. wait: one line fetch
//        for each notifier, in parallel. No read-modify-write; no system call unless somebody sleeps. A cache line
//        and more for each notifier and each waiter, on the heap.
// Example
//   lockstep::fan_out start(2);    // two threads wait for this one
//   lockstep::fan_in done(2);      // this one waits for both
//   lockstep::joinable_thread one([&] { start.wait(0); done.notify(0); });
//   lockstep::joinable_thread two([&] { start.wait(1); done.notify(1); });
//   start.notify();
//   done.wait();
#ifndef LOCKSTEP_FAN_HPP
#define LOCKSTEP_FAN_HPP

#include <chrono>
#include <cstddef>

#include <lockstep/call_site.hpp>
#include <lockstep/detail/observe/wait_kinds.hpp>
#include <lockstep/detail/platform/config.hpp>
#include <lockstep/detail/wait/waiters.hpp>
#include <lockstep/wait_policy.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {

/// Lets each of several threads return from a wait when each of several others has notified once more.
/// Example
///   lockstep::fan_in_out handed_over(1, 2);  // one notifier, two waiters
///   lockstep::joinable_thread one([&] { handed_over.wait(0); }), two([&] { handed_over.wait(1); });
///   handed_over.notify(0);
class fan_in_out {
 public:
  /// Fails if a count is 0 or above 65536.
  fan_in_out(std::size_t notifiers, std::size_t waiters, wait_policy policy = wait_policy())
      : fan_in_out(detail::first_phase{0}, notifiers, waiters, policy) {}
  fan_in_out(const fan_in_out&) = delete;
  fan_in_out& operator=(const fan_in_out&) = delete;
  ~fan_in_out();

  std::size_t notifiers() const noexcept;
  std::size_t waiters() const noexcept;

  /// Notifies for this rank; never blocks. Requires: each rank used by one thread at a time. Fails if rank >=
  /// notifiers().
  void notify(std::size_t rank);

  /// Blocks until every notifier has notified once more; false once terminated.
  /// Requires: each rank used by one thread at a time. Fails if rank >= waiters().
  bool wait(std::size_t rank, call_site where = {}) {
    return wait_until(rank, deadline::never(), where) == wait_status::ready;
  }
  /// As wait() if it would return true at once, else false; never blocks.
  bool try_wait(std::size_t rank);
  /// As wait(), for at most `time`; nothing is taken at a time-out.
  template <class Rep, class Period>
  wait_status wait_for(std::size_t rank, std::chrono::duration<Rep, Period> time,
                       call_site where = {}) {
    return wait_until(rank, deadline::after(time), where);
  }
  wait_status wait_until(std::size_t rank, deadline until, call_site where = {});

  /// Releases every waiter; from now on every wait returns at once. Any thread may call it.
  void terminate();
  bool terminated() const noexcept;

 protected:
  fan_in_out(detail::first_phase first, std::size_t notifiers, std::size_t waiters,
             wait_policy policy, const char* name = "lockstep::fan_in_out",
             detail::wait_kind kind = detail::wait_kind::fan_in_out);

 private:
  struct state;
  struct next_phase;

  state* const state_;
};

/// Lets each of several threads return from one wait for every notification of one thread: a fan_in_out with one notifier.
class fan_out : fan_in_out {
 public:
  /// Fails if waiters is 0 or more than 65536.
  explicit fan_out(std::size_t waiters, wait_policy policy = wait_policy())
      : fan_out(detail::first_phase{0}, waiters, policy) {}

  /// Lets each waiter return from one wait; never blocks. Requires: one notifier at a time.
  void notify() { fan_in_out::notify(0); }

  using fan_in_out::terminate;
  using fan_in_out::terminated;
  using fan_in_out::try_wait;
  using fan_in_out::wait;
  using fan_in_out::wait_for;
  using fan_in_out::wait_until;
  using fan_in_out::waiters;

 protected:
  fan_out(detail::first_phase first, std::size_t waiters, wait_policy policy)
      : fan_in_out(first, 1, waiters, policy, "lockstep::fan_out", detail::wait_kind::fan_out) {}
};

/// Lets one thread return from a wait when each of several threads has notified once more: a fan_in_out with one waiter.
class fan_in : fan_in_out {
 public:
  /// Fails if notifiers is 0 or more than 65536.
  explicit fan_in(std::size_t notifiers, wait_policy policy = wait_policy())
      : fan_in(detail::first_phase{0}, notifiers, policy) {}

  using fan_in_out::notifiers;
  using fan_in_out::notify;
  using fan_in_out::terminate;
  using fan_in_out::terminated;

  // As those of fan_in_out. Requires: one waiter at a time.

  bool wait(call_site where = {}) { return fan_in_out::wait(0, where); }
  bool try_wait() { return fan_in_out::try_wait(0); }
  template <class Rep, class Period>
  wait_status wait_for(std::chrono::duration<Rep, Period> time, call_site where = {}) {
    return wait_until(deadline::after(time), where);
  }
  wait_status wait_until(deadline until, call_site where = {}) {
    return fan_in_out::wait_until(0, until, where);
  }

 protected:
  fan_in(detail::first_phase first, std::size_t notifiers, wait_policy policy)
      : fan_in_out(first, notifiers, 1, policy, "lockstep::fan_in", detail::wait_kind::fan_in) {}
};

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_FAN_HPP
