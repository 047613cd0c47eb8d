// SPDX-License-Identifier: MIT
// lockstep/ranked_barrier.hpp -- a fixed set of ranked threads wait for each other; faster than barrier (layer: sync)
//
// No thread returns from arrive_and_wait(rank) before all participants have called it. It is CUDA's
// __syncthreads() between CPU threads. arrive() and wait() are its two halves, for work in between.
// The participants must be fixed, and each must know its rank; else take barrier. Members of a team have
// member::sync_threads().
//
// A thread that has long shared its CPU with the one it waits for moves to another, if its affinity lets it: not that of
// rank 0, nor with a policy other than the default, nor with LOCKSTEP_CPU_SEPARATION=0. See detail/wait/cpu_separation.hpp.
//
// The barrier chooses how arrivals are counted by the number of participants: see ranked_phases.hpp.
//
//   RANKED-5  While any thread is between arrive and wait of phase p, every published phase is p - 1 or p.
//   RANKED-6  Each rank has a line of its own for what it alone reads and writes: the phases in which it has
//              arrived, and has waited.
// Lifetime: destroy only after every call has returned.
//
// Memory order (# marks the line; ranked_phases.hpp and published_words.hpp have the rest)
//   #  access            order    pairs  why it suffices
//   1  terminated.store  release  2      the released waiter sees what came before terminate()
//   2  terminated.load   acquire  1      the other half
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
#include <cstdint>

#include <lockstep/call_site.hpp>
#include <lockstep/detail/platform/error.hpp>
#include <lockstep/detail/wait/cpu_separation.hpp>
#include <lockstep/detail/wait/ranked_phases.hpp>
#include <lockstep/detail/wait/word_waiter.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {

/// Lets its participants go on when all of them, each with its rank, have arrived; then begins the next phase.
class ranked_barrier {
 public:
  /// Ranks are 0 to participants - 1. Fails if participants is 0 or above 65536.
  explicit ranked_barrier(std::size_t participants, wait_policy policy = wait_policy())
      : ranked_barrier(detail::first_phase{0}, participants, policy,
                       detail::most_flags_for(policy)) {}
  ranked_barrier(const ranked_barrier&) = delete;
  ranked_barrier& operator=(const ranked_barrier&) = delete;
  ~ranked_barrier() { detail::misuse::destroying(this, "lockstep::ranked_barrier"); }

  std::size_t participants() const noexcept { return participants_; }
  wait_policy policy() const noexcept { return phases_.policy(); }

  /// Blocks until all participants have arrived; false once terminated.
  /// Requires: each rank used by one thread at a time. Fails if rank >= participants().
  bool arrive_and_wait(std::size_t rank, call_site where = {}) {
    arrive(rank);
    return wait_for_others(rank, nullptr, where) == wait_status::ready;
  }

  /// The first half: tells the others that this thread is here. Never blocks.
  /// Requires: the rank's previous arrival has been waited for.
  void arrive(std::size_t rank) {
    own_state& self = ranks_[checked(rank)].value;
    const auto nothing = [](detail::nothing_beside&) {};
    self.was_last = phases_.arrive(rank, participants(), ++self.arrived, nothing);
  }

  /// The second half: blocks until all have arrived; false once terminated.
  /// Requires: arrive(rank) was called before.
  bool wait(std::size_t rank, call_site where = {}) {
    return wait_for_others(checked(rank), nullptr, where) == wait_status::ready;
  }
  /// As wait() if all are there, else false; never blocks.
  bool try_wait(std::size_t rank) {
    own_state& self = ranks_[checked(rank)].value;
    if (terminated() || self.arrived == self.waited) return false;
    if (!self.was_last && !phases_.have_others_arrived(rank, participants(), {self.arrived})) {
      return false;
    }
    self.waited = self.arrived;
    return true;
  }
  /// As wait(), for at most `time`; after a time-out the arrival still counts: wait again.
  template <class Rep, class Period>
  wait_status wait_for(std::size_t rank, std::chrono::duration<Rep, Period> time,
                       call_site where = {}) {
    return wait_until(rank, deadline::after(time), where);
  }
  wait_status wait_until(std::size_t rank, deadline until, call_site where = {}) {
    return wait_for_others(checked(rank), &until, where);
  }

  /// Releases everybody; from now on every wait returns at once. Any thread may call it.
  void terminate() {
    terminated_.store(1, detail::memory_order_release);  // 1
    phases_.wake_all();
  }
  bool terminated() const noexcept {
    return terminated_.load(detail::memory_order_acquire) != 0;  // 2
  }

 protected:
  /// Counts arrivals along a tree above `most_flags` participants.
  ranked_barrier(detail::first_phase first, std::size_t participants, wait_policy policy,
                 std::size_t most_flags)
      : rank_array_(
            detail::checked_count("lockstep::ranked_barrier", "participants", participants)),
        ranks_(&rank_array_[0]),
        participants_(participants),
        phases_(participants, policy.when_crowded(participants > detail::usable_cpus()),
                participants <= most_flags ? participants : 0, most_flags),
        separation_(
            participants <= most_flags ? participants : 0,
            separates_cpus(phases_.policy()) && detail::cpu_separation::may_move_anybody()) {
    phases_.reset(first.value);
    for (std::size_t rank = 0; rank < participants; ++rank) {
      ranks_[rank].value.arrived = ranks_[rank].value.waited = first.value;
    }
  }

 private:
  using phases = detail::ranked_phases<>;

  struct own_state {
    std::uint32_t arrived = 0, waited = 0;  ///< the last phases
    bool was_last = false;                  ///< to arrive: the phase is over
    detail::wait_history history = {};
  };

  /// For the wait engine, and for observers.
  struct meeting {
    const ranked_barrier& of;
    const own_state& self;
    detail::whereabouts whom;
    detail::source_place where;

    bool is_separated(std::uint64_t now) noexcept { return whom.is_separated(now); }
    void describe(detail::wait_subject& to) const noexcept {
      to.kind = detail::wait_kind::ranked_barrier;
      to.object = &of;
      to.where = where;
      to.rank = static_cast<std::uint32_t>(whom.self);
      to.expected = static_cast<std::uint32_t>(of.participants());
      to.come = of.phases_.arrived_ranks(of.participants(), {self.arrived});
    }
  };

  using phase_word = detail::published_word<std::uint32_t>;

  /// `until`: null is never.
  wait_status wait_for_others(std::size_t rank, const deadline* until, call_site where) {
    own_state& self = ranks_[rank].value;
    const auto wait_for = [&](const phase_word& word, std::size_t other) {
      const detail::phase_reached reached{self.arrived};
      if (reached(word.value()) || terminated()) return true;
      detail::cpu_separation* const known = other < participants() ? &separation_ : nullptr;
      auto what = word.awaited(reached, detail::stops_when_set{terminated_},
                               meeting{*this, self, {known, rank, other}, where});
      return detail::wait_watched(what, this, policy(), self.history,
                                  until != nullptr ? *until : deadline::never(),
                                  detail::wait_engine::shared_yield_time);
    };
    if (!self.was_last && !phases_.wait_for_others(rank, participants(), wait_for)) {
      return wait_status::timed_out;
    }
    if (terminated()) return wait_status::terminated;
    self.waited = self.arrived;
    return wait_status::ready;
  }
  /// As in teams: the other policies say how to wait, and a crowd has no CPU to go to.
  static bool separates_cpus(wait_policy policy) noexcept {
    return policy.is_adaptive() && !policy.is_crowded();
  }
  std::size_t checked(std::size_t rank) const {
    if (rank < participants_) return rank;
    detail::fail_rank("lockstep::ranked_barrier", "participants", rank, participants_);
  }

  detail::line_gap before_;
  detail::aligned_array<detail::padded<own_state>> rank_array_;
  detail::padded<own_state>* const ranks_;
  const std::size_t participants_;
  phases phases_;
  detail::cpu_separation separation_;
  detail::wait_word terminated_{0};
  detail::line_gap after_;
};

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_RANKED_BARRIER_HPP
