// SPDX-License-Identifier: MIT
// lockstep/fan_out.hpp -- one thread notifies, N others wait, 1:N (layer: sync)
//
// Every notify() lets each of the N waiters return from one wait(rank). Notifications are counted per
// waiter: none is lost, whichever side comes first, and the notifier never waits for the waiters.
// What happens before notify() happens before the return of every wait() that takes it.
// For one waiter take event; for several notifiers rendezvous.
//
// Lifetime: by structure; destroy only after every call has returned.
// Cost   notify: one store and one load of a read-mostly line; every waiter refetches one line.
#ifndef LOCKSTEP_FAN_OUT_HPP
#define LOCKSTEP_FAN_OUT_HPP

#include <cstddef>
#include <cstdint>

#include "detail/platform/error.hpp"
#include "detail/wait/phase_board.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {

class fan_out {
 public:
  /// Fails if waiters is 0 or more than 65536. Tests pass `first_phase` to start next to wrap-around.
  explicit fan_out(std::size_t waiters, wait_policy policy = wait_policy(),
                   std::uint32_t first_phase = 0)
      : board_(1, detail::checked_count("lockstep::fan_out", "waiters", waiters),
               policy.when_crowded(waiters + 1 > detail::usable_cpus()), first_phase) {}
  fan_out(const fan_out&) = delete;
  fan_out& operator=(const fan_out&) = delete;
  ~fan_out() { detail::misuse::destroying(&board_, "lockstep::fan_out"); }

  std::size_t waiters() const noexcept { return board_.readers(); }

  /// Requires: one notifier at a time.
  void notify() { board_.advance(0); }

  /// Blocks until the next notification for this rank; false once terminated.
  /// Requires: each rank used by one thread at a time. Fails if rank >= waiters().
  bool wait(std::size_t rank) {
    return board_.wait_until(checked(rank), 0, 1, deadline::never()) == wait_status::ready;
  }
  /// Takes a notification if one is there; never blocks.
  bool try_wait(std::size_t rank) { return board_.try_wait(checked(rank)); }
  /// As wait(), for at most `time`.
  template <class Rep, class Period>
  wait_status wait_for(std::size_t rank, std::chrono::duration<Rep, Period> time) {
    return board_.wait_until(checked(rank), 0, 1, deadline::after(time));
  }

  /// Releases every waiter; from now on every wait returns at once. Any thread may call it.
  void terminate() { board_.terminate(); }
  bool terminated() const noexcept { return board_.terminated(); }

 private:
  std::size_t checked(std::size_t rank) const {
    return detail::checked_rank("lockstep::fan_out", "waiters", rank, waiters());
  }

  detail::phase_board board_;
};

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_FAN_OUT_HPP
