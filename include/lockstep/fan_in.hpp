// SPDX-License-Identifier: MIT
// lockstep/fan_in.hpp -- N threads notify, one other waits, N:1 (layer: sync)
//
// A wait() returns when *each* of the N notifiers has called notify(rank) once more. Notifications are
// counted per notifier: a fast one that notifies twice does not stand in for a slow one, and its second
// notification serves the second wait. What happens before the notify() of every rank happens before
// the return of the wait() that takes them.
// For one notifier take event; for several waiters rendezvous.
//
// Lifetime: by structure; destroy only after every call has returned.
// Cost   notify: one store on the notifier's own line. wait: N line fetches, in parallel.
#ifndef LOCKSTEP_FAN_IN_HPP
#define LOCKSTEP_FAN_IN_HPP

#include <cstddef>
#include <cstdint>

#include "detail/platform/error.hpp"
#include "detail/wait/phase_board.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {

class fan_in {
 public:
  /// Fails if notifiers is 0 or more than 65536. Tests pass `first_phase` to start next to wrap-around.
  explicit fan_in(std::size_t notifiers, wait_policy policy = wait_policy(),
                  std::uint32_t first_phase = 0)
      : board_(detail::checked_count("lockstep::fan_in", "notifiers", notifiers), 1,
               policy.when_crowded(notifiers + 1 > detail::usable_cpus()), first_phase) {}
  fan_in(const fan_in&) = delete;
  fan_in& operator=(const fan_in&) = delete;
  ~fan_in() { detail::misuse::destroying(&board_, "lockstep::fan_in"); }

  std::size_t notifiers() const noexcept { return board_.writers(); }

  /// Requires: each rank used by one thread at a time. Fails if rank >= notifiers().
  void notify(std::size_t rank) {
    board_.advance(detail::checked_rank("lockstep::fan_in", "notifiers", rank, notifiers()));
  }

  /// Blocks until every notifier has notified once more; false once terminated.
  /// Requires: one waiter at a time.
  bool wait() {
    return board_.wait_until(0, 0, notifiers(), deadline::never()) == wait_status::ready;
  }
  /// Takes one notification of each notifier if all are there; never blocks.
  bool try_wait() { return board_.try_wait(0); }
  /// As wait(), for at most `time`; nothing is taken at a time-out.
  template <class Rep, class Period>
  wait_status wait_for(std::chrono::duration<Rep, Period> time) {
    return board_.wait_until(0, 0, notifiers(), deadline::after(time));
  }

  /// Releases the waiter; from now on every wait returns at once. Any thread may call it.
  void terminate() { board_.terminate(); }
  bool terminated() const noexcept { return board_.terminated(); }

 private:
  detail::phase_board board_;
};

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_FAN_IN_HPP
