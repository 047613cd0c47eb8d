// SPDX-License-Identifier: MIT
// lockstep/rendezvous.hpp -- N threads notify, M other threads wait, N:N (layer: sync)
//
// Every wait(rank) returns when *each* notifier has notified once more than that waiter has waited.
// Notifications are counted per notifier and taken per waiter: none is lost or counted for another,
// whichever side comes first, and no notifier waits. What happens before the notify() of every notifier
// happens before the return of each wait() that needs them.
// Notifiers and waiters are different roles, each with ranks from 0. Where every thread is both, take
// barrier; for one waiter fan_in, for one notifier fan_out.
//
// Lifetime: by structure; destroy only after every call has returned.
// Cost   notify: one store on the notifier's own line. wait: one line fetch a notifier, in parallel.
#ifndef LOCKSTEP_RENDEZVOUS_HPP
#define LOCKSTEP_RENDEZVOUS_HPP

#include <cstddef>
#include <cstdint>

#include "detail/platform/error.hpp"
#include "detail/wait/phase_board.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {

class rendezvous {
 public:
  /// Fails if a count is 0 or above 65536. Tests pass `first_phase` to start next to wrap-around.
  rendezvous(std::size_t notifiers, std::size_t waiters, wait_policy policy = wait_policy(),
             std::uint32_t first_phase = 0)
      : board_(detail::checked_count("lockstep::rendezvous", "notifiers", notifiers),
               detail::checked_count("lockstep::rendezvous", "waiters", waiters),
               policy.when_crowded(notifiers + waiters > detail::usable_cpus()), first_phase) {}
  rendezvous(const rendezvous&) = delete;
  rendezvous& operator=(const rendezvous&) = delete;
  ~rendezvous() { detail::misuse::destroying(&board_, "lockstep::rendezvous"); }

  std::size_t notifiers() const noexcept { return board_.writers(); }
  std::size_t waiters() const noexcept { return board_.readers(); }

  /// Requires: each rank used by one thread at a time. Fails if rank >= notifiers().
  void notify(std::size_t rank) {
    board_.advance(detail::checked_rank("lockstep::rendezvous", "notifiers", rank, notifiers()));
  }

  /// Blocks until every notifier has notified once more; false once terminated.
  /// Requires: each rank used by one thread at a time. Fails if rank >= waiters().
  bool wait(std::size_t rank) { return wait_until(rank, deadline::never()) == wait_status::ready; }
  /// As wait() if it would return true at once, else false; never blocks.
  bool try_wait(std::size_t rank) { return board_.try_wait(checked(rank)); }
  /// As wait(), for at most `time`; nothing is taken at a time-out.
  template <class Rep, class Period>
  wait_status wait_for(std::size_t rank, std::chrono::duration<Rep, Period> time) {
    return wait_until(rank, deadline::after(time));
  }

  /// Releases every waiter; from now on every wait returns at once. Any thread may call it.
  void terminate() { board_.terminate(); }
  bool terminated() const noexcept { return board_.terminated(); }

 private:
  wait_status wait_until(std::size_t rank, deadline until) {
    return board_.wait_until(checked(rank), rank % notifiers(), notifiers(), until);
  }
  std::size_t checked(std::size_t rank) const {
    return detail::checked_rank("lockstep::rendezvous", "waiters", rank, waiters());
  }

  detail::phase_board board_;
};

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_RENDEZVOUS_HPP
