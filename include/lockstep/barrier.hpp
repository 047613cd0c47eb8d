// SPDX-License-Identifier: MIT
// lockstep/barrier.hpp -- all wait for all: reusable barrier of ranked threads (layer: sync)
//
// No thread returns from arrive_and_wait(rank) before all participants have called it. It is CUDA's
// __syncthreads() between CPU threads. What happens before any arrival in a phase happens before every
// return from that phase. arrive() and wait() are its two halves, for work in between.
// The participants must be fixed, and each must know its rank.
//
// Two ways, chosen by the number of participants:
//   flags     up to `most_flags`: everyone publishes its phase on its own line and looks at all others.
//   counter   above: everyone counts itself in; the last publishes the phase of all.
//
// Invariants
//   R1  0 <= arrived_ < participants whenever no arrival is being made.
//   R2  While any thread is between arrive and wait of phase p, every phase is p or p + 1.
// Lifetime: by structure; destroy only after every call has returned.
//
// Memory order (# marks the line; each weakening must fail a test)
//   #  access             order    pairs  why it suffices
//   1  arrived.fetch_add  acq_rel  1      the last to arrive has seen all arrivals, and publishes them
//   2  arrived.store      relaxed  -      published by the advance after it; the next arrivals, which
//                                         have waited for that advance, come later
//
// Cost   flags: one store on one's own line, participants - 1 fetches in parallel; two participants pay
//        one line transfer each, at the same time. counter: participants RMWs on one line in turn, then
//        participants - 1 fetches of one other line. No system call unless somebody sleeps.
// Source flags: all-to-all dissemination [MCS91]; counter: [MCS91] sec. 3.1 with a phase for the sense.
#ifndef LOCKSTEP_BARRIER_HPP
#define LOCKSTEP_BARRIER_HPP

#include <cstddef>
#include <cstdint>

#include "detail/platform/error.hpp"
#include "detail/wait/phase_board.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {

class barrier {
 public:
  /// Above this many participants the fetches of all flags cost more than counting in.
  static constexpr std::size_t most_flags = 8;

  /// Fails if participants is 0 or above 65536. Tests pass `first_phase` to start next to wrap-around.
  explicit barrier(std::size_t participants, wait_policy policy = wait_policy(),
                   std::uint32_t first_phase = 0)
      : board_(participants <= most_flags ? participants : 1,
               detail::checked_count("lockstep::barrier", "participants", participants),
               policy.when_crowded(participants > detail::usable_cpus()), first_phase) {}
  barrier(const barrier&) = delete;
  barrier& operator=(const barrier&) = delete;
  ~barrier() { detail::misuse::destroying(&board_, "lockstep::barrier"); }

  std::size_t participants() const noexcept { return board_.readers(); }
  wait_policy policy() const noexcept { return board_.policy(); }

  /// Blocks until all participants have arrived; false once terminated.
  /// Requires: each rank used by one thread at a time. Fails if rank >= participants().
  bool arrive_and_wait(std::size_t rank) {
    arrive_checked(checked(rank));
    return wait_until(rank, deadline::never()) == wait_status::ready;
  }

  /// The first half: tells the others that this thread is here. Never blocks.
  /// Requires: the rank's previous arrival has been waited for.
  void arrive(std::size_t rank) { arrive_checked(checked(rank)); }

  /// The second half: blocks until all have arrived; false once terminated.
  /// Requires: arrive(rank) was called before.
  bool wait(std::size_t rank) {
    return wait_until(checked(rank), deadline::never()) == wait_status::ready;
  }
  /// As wait() if all are there, else false; never blocks.
  bool try_wait(std::size_t rank) { return board_.try_wait(checked(rank)); }
  /// As wait(), for at most `time`; after a time-out the arrival still counts: wait again.
  template <class Rep, class Period>
  wait_status wait_for(std::size_t rank, std::chrono::duration<Rep, Period> time) {
    return wait_until(checked(rank), deadline::after(time));
  }

  /// Releases everybody; from now on every wait returns at once. Any thread may call it.
  void terminate() { board_.terminate(); }
  bool terminated() const noexcept { return board_.terminated(); }

 private:
  bool flags() const noexcept { return participants() <= most_flags; }

  void arrive_checked(std::size_t rank) {
    if (flags()) {
      board_.advance(rank);
      return;
    }
    const std::size_t before = arrived_[0].value.fetch_add(1, detail::memory_order_acq_rel);  // 1
    if (before + 1 == participants()) {
      arrived_[0].value.store(0, detail::memory_order_relaxed);  // 2
      board_.advance(0);
    }
  }

  wait_status wait_until(std::size_t rank, deadline until) {
    return flags() ? board_.wait_until(rank, rank + 1, participants() - 1, until)
                   : board_.wait_until(rank, 0, 1, until);
  }
  std::size_t checked(std::size_t rank) const {
    return detail::checked_rank("lockstep::barrier", "participants", rank, participants());
  }

  detail::phase_board board_;
  detail::aligned_array<detail::padded<detail::wait_word>> arrived_{1};
  detail::line_gap after_;
};

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_BARRIER_HPP
