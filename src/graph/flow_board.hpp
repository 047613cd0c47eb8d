// SPDX-License-Identifier: MIT
// src/graph/flow_board.hpp -- how far each lane of a plan is, and who runs its next step (layer: graph)
//
// A lane has two words, on lines of their own. Both count steps since the plan was made, over all turns and runs:
//   claimed   steps that were begun. The thread that begins one adds 1.
//   done      steps that are done, with all before them. The member itself may leave it behind, as long as nobody waits
//             for it: it stores it before it waits, and where others wait.
// Beside the `done` of the lane that decides a loop lies the decision.
//
//   CLAIM-1  Each step is begun once: by a compare-and-swap of `claimed` from its number, or by a store of the lane's
//            own member where only that may run it.
//   CLAIM-2  Another member's thread claims step n only after it has found `done` at n, and all that n waits for.
//            Both stay so until n is claimed. The lane's member claims n when it has done n - 1 itself, or found it
//            done.
//   CLAIM-3  Whoever has begun step n moves `done` to n + 1, alone: so it only grows. What the thread did or found
//            before, and all earlier steps of the lane, happen before the return of every wait for n + 1.
//   CLAIM-4  No count comes again: 2^64 steps are not done in a lifetime.
//   DECIDE-1 A decision says how many turns of the loop were decided, and how many times the loop was over, modulo
//            2^32. It changes once a turn, when all steps of the turn are done; all lanes must have begun the next
//            turn, or left the loop, before it changes again. So nobody misses one.
//
// Memory order (# marks the line; published_words.hpp has that of `done`; each weakening must fail a test)
//   #  access                order    pairs  why it suffices
//   1  claimed.load          relaxed  -      what it says is tested by 2, or by `done`
//   2  claimed.compare_exch  relaxed  -      a claim hands over nothing: CLAIM-2 orders what the step needs
//   3  claimed.store         relaxed  -      nobody else may claim this step; or between runs
//   4  decision.store        release  5      what was done in the turn
//   5  decision.load         acquire  4      the other half
//   6  decision.store        relaxed  -      between runs
//
// Cost   a step: one RMW on a line that only its member touches, 6 ns, unless others wait for long; and one store where
//        others wait for it. A wait: one line fetch, none if the member has seen enough before.
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

/// Of a loop: a value.
class loop_decision {
 public:
  constexpr explicit loop_decision(std::uint64_t word = 0) noexcept : word_(word) {}
  constexpr loop_decision(std::uint64_t ends, std::uint64_t turns) noexcept
      : word_(ends << 32 | (turns & 0xFFFFFFFFu)) {}

  constexpr std::uint64_t word() const noexcept { return word_; }
  /// Whether the loop has been over so often, and whether so many turns were decided; modulo 2^32.
  constexpr bool has_ended(std::uint64_t times) const noexcept {
    return static_cast<std::uint32_t>(word_ >> 32) == static_cast<std::uint32_t>(times);
  }
  constexpr bool has_decided(std::uint64_t turns) const noexcept {
    return static_cast<std::uint32_t>(word_) == static_cast<std::uint32_t>(turns);
  }

 private:
  std::uint64_t word_;
};

class flow_board final : public stoppable {
 public:
  /// `stop`: of the team. Null: the plan has no team.
  flow_board(std::size_t lanes, wait_policy policy, stop_source* stop)
      : stop_(stop), done_(lanes, policy), claimed_(lanes), gate_(1, policy) {
    if (stop_ != nullptr) stop_->add(*this);
  }
  ~flow_board() {
    if (stop_ != nullptr) stop_->remove(*this);
  }

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
  /// For the lane's member: a step that no other may run.
  void claim_own(std::size_t lane, std::uint64_t step) noexcept {
    claimed_[lane].value.store(step + 1, detail::memory_order_relaxed);  // 3
  }

  /// On the lane that decides a loop.
  void decide(std::size_t lane, loop_decision what) noexcept {
    done_.beside(lane).decision.store(what.word(), detail::memory_order_release);  // 4
  }
  loop_decision decided(std::size_t lane) noexcept {
    return loop_decision(done_.beside(lane).decision.load(detail::memory_order_acquire));  // 5
  }

  /// How many iterations may begin: twice their number, and 1 when there are no more.
  published_word<std::uint64_t> gate() const noexcept { return gate_[0]; }

  /// Between runs.
  void reset(std::size_t lane, std::uint64_t steps, loop_decision what) noexcept {
    done_[lane].reset(steps);
    claimed_[lane].value.store(steps, detail::memory_order_relaxed);               // 3
    done_.beside(lane).decision.store(what.word(), detail::memory_order_relaxed);  // 6
  }

  void notify_all_sleepers() override {
    done_.wake_all();
    gate_.wake_all();
  }

 private:
  struct decision_beside {
    detail::atomic<std::uint64_t> decision{0};
  };

  stop_source* const stop_;
  published_words<std::uint64_t, decision_beside> done_;
  detail::aligned_array<detail::padded<detail::atomic<std::uint64_t>>> claimed_;
  published_words<std::uint64_t> gate_;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_GRAPH_FLOW_BOARD_HPP
