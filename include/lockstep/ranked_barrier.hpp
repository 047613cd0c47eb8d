// SPDX-License-Identifier: MIT
// lockstep/ranked_barrier.hpp -- a fixed set of ranked threads wait for each other; faster than barrier (layer: sync)
//
// No thread returns from arrive_and_wait(rank) before all participants have called it. It is CUDA's
// __syncthreads() between CPU threads. arrive() and wait() are its two halves, for work in between.
// The participants must be fixed, and each must know its rank; else take barrier. Members of a team have
// member::sync_threads().
//
// With the default policy, a thread that has long shared its CPU with the one it waits for moves to another CPU of its
// affinity, unless it has rank 0. LOCKSTEP_CPU_SEPARATION=0 switches that off.
//
// Lifetime: destroy only after every call has returned.
//
// Order  what happens before any arrival in a phase happens before every return from a wait for that phase.
// Errors a bad count: std::invalid_argument; a bad rank: std::out_of_range. Two threads with one rank at a
//        time, or two arrivals of a rank without a wait between: undefined.
// Cost   up to 8 participants (4 with block()): one store each, and a fetch of each other's line, all in
//        parallel; no read-modify-write. Two participants pay one line transfer each, at the same time: 66 ns
//        a phase (decision 0018). Above: one read-modify-write for each participant and node of a tree of
//        fours. On 2 CPUs a phase takes 16 us with 8 participants, 35 with 16, 159 with 64 (ranked_phases.hpp).
//        A cache line and more for each participant, on the heap.
// Example
//   lockstep::ranked_barrier all(2);
//   lockstep::joinable_thread other([&] { all.arrive_and_wait(1); });
//   all.arrive_and_wait(0);
#ifndef LOCKSTEP_RANKED_BARRIER_HPP
#define LOCKSTEP_RANKED_BARRIER_HPP

#include <chrono>
#include <cstddef>

#include <lockstep/call_site.hpp>
#include <lockstep/detail/platform/config.hpp>
#include <lockstep/detail/wait/waiters.hpp>
#include <lockstep/wait_policy.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {

/// Lets its participants go on when all of them, each with its rank, have arrived; then begins the next phase.
class ranked_barrier {
 public:
  /// Ranks are 0 to participants - 1. Fails if participants is 0 or above 65536.
  explicit ranked_barrier(std::size_t participants, wait_policy policy = wait_policy());
  ranked_barrier(const ranked_barrier&) = delete;
  ranked_barrier& operator=(const ranked_barrier&) = delete;
  ~ranked_barrier();

  std::size_t participants() const noexcept;
  wait_policy policy() const noexcept;

  /// Blocks until all participants have arrived; false once terminated.
  /// Requires: each rank used by one thread at a time. Fails if rank >= participants().
  bool arrive_and_wait(std::size_t rank, call_site where = {});

  /// The first half: tells the others that this thread is here. Never blocks.
  /// Requires: the rank's previous arrival has been waited for.
  void arrive(std::size_t rank);

  /// The second half: blocks until all have arrived; false once terminated.
  /// Requires: arrive(rank) was called before.
  bool wait(std::size_t rank, call_site where = {}) {
    return wait_until(rank, deadline::never(), where) == wait_status::ready;
  }
  /// As wait() if all are there, else false; never blocks.
  bool try_wait(std::size_t rank);
  /// As wait(), for at most `time`; after a time-out the arrival still counts: wait again.
  template <class Rep, class Period>
  wait_status wait_for(std::size_t rank, std::chrono::duration<Rep, Period> time,
                       call_site where = {}) {
    return wait_until(rank, deadline::after(time), where);
  }
  wait_status wait_until(std::size_t rank, deadline until, call_site where = {});

  /// Releases everybody; from now on every wait returns at once. Any thread may call it.
  void terminate();
  bool terminated() const noexcept;

 protected:
  /// Counts arrivals along a tree above `most_flags` participants.
  ranked_barrier(detail::first_phase first, std::size_t participants, wait_policy policy,
                 std::size_t most_flags);

 private:
  struct state;

  state* const state_;
};

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_RANKED_BARRIER_HPP
