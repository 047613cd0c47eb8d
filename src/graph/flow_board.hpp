// SPDX-License-Identifier: MIT
// src/graph/flow_board.hpp -- how far each lane of a plan is, and which thread runs its next step (layer: graph)
//
// A lane has two words, on lines of their own. Both count steps since the plan was made, over all turns and runs:
//   claimed   steps that were begun. The thread that begins one adds 1.
//   done      steps that are done, together with all before them. The lane's member may store it late, but before it
//             waits itself, and after each step that others wait for.
// The lane that decides a loop also has the decision, beside its `done`.
//
//   CLAIM-1  Each step is begun once. A thread claims it by a compare-and-swap of `claimed` from the step's number.
//            Where only the lane's own member may run the step, that member stores `claimed` instead.
//   CLAIM-2  Another member claims step n only after it has found `done` at n, and has found done all that n waits for.
//            Both stay so until n is claimed. The lane's own member claims n when it has done n - 1 itself, or has
//            found it done.
//   CLAIM-3  Only the thread that has begun step n moves `done` to n + 1, so `done` only grows. What that thread did or
//            found before, and all earlier steps of the lane, happen before the return of every wait for n + 1.
//   CLAIM-4  Counts never wrap around: 2^64 steps take longer than a program runs.
//   DECIDE-1 A decision has two counts, modulo 2^32: how many turns of the loop were decided, and how many times the
//            loop was over. It changes once a turn, when all steps of the turn are done. Before it changes again, every
//            lane has to begin the next turn or leave the loop. So no lane misses a decision.
//
// Memory order (# marks the line; published_words.hpp has that of `done`; each weakening must fail a test)
//   #  access                order    pairs  why it suffices
//   1  claimed.load          relaxed  -      2 tests the value, or the reader compares it with `done`
//   2  claimed.compare_exch  relaxed  -      a claim hands over nothing: CLAIM-2 orders what the step needs
//   3  claimed.store         relaxed  -      no other thread may claim this step; or no run goes on
//   4  decision.store        release  5      what was done in the turn
//   5  decision.load         acquire  4      the other half
//   6  decision.store        relaxed  -      between runs
//
// Cost   a step: one RMW, 6 ns, on a line that other members touch only after a long wait; and one store if others wait
//        for the step. A wait: one line fetch, or none if an earlier look has seen enough.
#ifndef LOCKSTEP_SRC_GRAPH_FLOW_BOARD_HPP
#define LOCKSTEP_SRC_GRAPH_FLOW_BOARD_HPP

#include <cstddef>
#include <cstdint>

#include <lockstep/detail/platform/cache_line.hpp>
#include "../region/stop_source.hpp"
#include "../wait/published_words.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// The decision of a loop, as a value: DECIDE-1.
class loop_decision {
 public:
  constexpr explicit loop_decision(std::uint64_t word = 0) noexcept : word_(word) {}
  constexpr loop_decision(std::uint64_t ends, std::uint64_t turns) noexcept
      : word_(ends << 32 | (turns & 0xFFFFFFFFu)) {}

  constexpr std::uint64_t word() const noexcept { return word_; }
  /// Whether the loop was over this many times, and whether this many turns were decided, modulo 2^32.
  constexpr bool has_ended(std::uint64_t times) const noexcept {
    return static_cast<std::uint32_t>(word_ >> 32) == static_cast<std::uint32_t>(times);
  }
  constexpr bool has_decided(std::uint64_t turns) const noexcept {
    return static_cast<std::uint32_t>(word_) == static_cast<std::uint32_t>(turns);
  }

 private:
  std::uint64_t word_;
};

class flow_board {
 public:
  /// `stop`: of the team. Null: the plan has no team.
  flow_board(std::size_t lanes, wait_policy policy, stop_source* stop)
      : done_(lanes, policy, stop), claimed_(lanes), gate_(1, policy, stop) {}

  wait_policy policy() const noexcept { return done_.policy(); }

  published_word<std::uint64_t> done(std::size_t lane) const noexcept { return done_[lane]; }

  std::uint64_t claimed(std::size_t lane) const noexcept {
    return claimed_[lane].value.load(detail::memory_order_relaxed);  // 1
  }
  /// CLAIM-1. False if another thread has begun the step.
  bool try_claim(std::size_t lane, std::uint64_t step) noexcept {
    return claimed_[lane].value.compare_exchange_strong(
        step, step + 1, detail::memory_order_relaxed, detail::memory_order_relaxed);  // 2
  }
  /// For the lane's own member, and a step that no other thread may run.
  void claim_own(std::size_t lane, std::uint64_t step) noexcept {
    claimed_[lane].value.store(step + 1, detail::memory_order_relaxed);  // 3
  }

  /// `lane`: the one that decides the loop.
  void decide(std::size_t lane, loop_decision what) noexcept {
    done_.beside(lane).decision.store(what.word(), detail::memory_order_release);  // 4
  }
  loop_decision decided(std::size_t lane) noexcept {
    return loop_decision(done_.beside(lane).decision.load(detail::memory_order_acquire));  // 5
  }

  /// Twice the number of iterations that may begin, plus 1 if no more will follow.
  published_word<std::uint64_t> gate() const noexcept { return gate_[0]; }

  /// Between runs.
  void reset(std::size_t lane, std::uint64_t steps, loop_decision what) noexcept {
    done_[lane].reset(steps);
    claimed_[lane].value.store(steps, detail::memory_order_relaxed);               // 3
    done_.beside(lane).decision.store(what.word(), detail::memory_order_relaxed);  // 6
  }

 private:
  struct decision_beside {
    detail::atomic<std::uint64_t> decision{0};
  };

  published_words<std::uint64_t, decision_beside> done_;
  detail::aligned_array<detail::padded<detail::atomic<std::uint64_t>>> claimed_;
  published_words<std::uint64_t> gate_;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_GRAPH_FLOW_BOARD_HPP
