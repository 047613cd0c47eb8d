// SPDX-License-Identifier: MIT
// src/graph/flow_walk.hpp -- a member goes through its lanes, and helps where it would wait (layer: graph)
//
// walk() is a member's part of a run. At each step it waits for what the plan says, claims the step, runs its nodes,
// and tells those who wait (flow_board.hpp).
//
//   WALK-1  A member that waits looks now and then at the step that it waits for, and at the steps which that one waits
//           for: if one of them could begin and has not, it runs that step for the other member.
//   WALK-2  So a member may find its own steps done, or being done. It learns that where a claim fails, and begins at
//           the top to find out where it is.
//   WALK-3  Every wait ends with the region's stop (stop_source.hpp).
//   WALK-4  It helps only with steps that could begin, so help never waits.
//   WALK-5  A member publishes all that it has done before it waits or helps. So while it is late, perhaps preempted,
//           others see what its next step waits for, and can run that step.
#ifndef LOCKSTEP_SRC_GRAPH_FLOW_WALK_HPP
#define LOCKSTEP_SRC_GRAPH_FLOW_WALK_HPP

#include <cstddef>
#include <cstdint>

#include "flow_machine.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

class flow_walk {
 public:
  /// For member `rank`, in region `region` of `stop`.
  flow_walk(flow_machine& of, std::size_t rank, stop_source& stop, std::uint32_t region) noexcept
      : of_(of),
        plan_(of.plan),
        own_(of.walkers[rank].value),
        rank_(static_cast<std::uint32_t>(rank)),
        stop_{stop, region},
        looks_each_(of.board.policy().is_crowded() ? 1 : 16) {}

  void walk();

 private:
  /// A step that another thread may run.
  struct found_step {
    std::uint32_t lane = no_lane;
    std::uint64_t step = 0, turn = 0, outer_turn = 0, iteration = 0;
    const plan_step* what = nullptr;  ///< null: the lane's member is to leave a loop that is over
  };
  struct watched_lane;
  class counted_wait;

  lane_place& here() noexcept { return own_.places[depth_]; }
  const plan_lane& lane_of(const lane_place& at) const noexcept { return plan_.lanes[at.lane]; }
  const plan_step& step_of(const lane_place& at) const noexcept {
    return plan_.steps[lane_of(at).first_step + at.at];
  }
  std::uint64_t iteration() const noexcept { return own_.places[0].turn - of_.first; }
  std::uint64_t steps_for(const plan_wait& wait, std::uint64_t turn) const noexcept {
    return (turn - wait.delay) * plan_.lanes[wait.lane].steps + wait.steps;
  }

  /// Waits until a lane has done so many steps. False once the region is stopped.
  bool await(std::uint32_t lane, std::uint64_t steps) {
    if (own_.seen[lane] >= steps) return true;
    own_.seen[lane] = of_.board.done(lane).value();
    return own_.seen[lane] >= steps || await_slowly(lane, steps);
  }
  bool await_slowly(std::uint32_t lane, std::uint64_t steps);
  void count_wait(std::uint32_t lane, std::uint64_t steps, std::uint64_t ticks) const noexcept;
  /// Stores what this member has left behind: before others may have to wait for it.
  void catch_up();

  bool find_place(std::uint32_t lane, lane_place& at);
  bool start();
  bool begin_iteration();
  bool ask_gate(std::uint64_t turn);
  bool enter(const plan_step& step);
  bool begin_turn();
  bool leave();
  bool end_turn();
  bool run_step(const plan_step& step);
  void run_wide(const bound_call& what);
  bool perform(const plan_step& step, std::uint64_t iteration);
  bool decide(std::uint32_t lane, std::uint64_t turn, std::uint64_t outer_turn);
  void finish(lane_place& at, bool is_awaited);
  void finish_run();

  // Help.
  bool find(std::uint32_t member, found_step& out);
  enum class look { found, nothing, elsewhere };
  look find_on(std::uint32_t& member, found_step& out);
  void help(const found_step& with);

  flow_machine& of_;
  const flow_plan& plan_;
  walker_state& own_;
  const std::uint32_t rank_;
  const stops_with_region stop_;
  const unsigned looks_each_;
  std::size_t depth_ = 0;
  // What this member has decided itself: it does not read the line that it has just published.
  std::uint32_t decided_lane_ = no_lane;
  loop_decision decided_{};
};

/// How long a member waits for a step of another, for the ledger. Help that it gives meanwhile does not count.
class flow_walk::counted_wait {
 public:
  counted_wait(const flow_walk& walk, std::uint32_t lane, std::uint64_t steps) noexcept
      : walk_(walk), lane_(lane), steps_(steps) {
    if (LOCKSTEP_UNLIKELY(is_observed_by(observer::accounts))) since_ = tick_clock::now();
  }
  ~counted_wait() {
    if (LOCKSTEP_UNLIKELY(since_ != 0)) walk_.count_wait(lane_, steps_, tick_clock::now() - since_);
  }
  counted_wait(const counted_wait&) = delete;
  counted_wait& operator=(const counted_wait&) = delete;

  void help(flow_walk& walk, const found_step& with) {
    const std::uint64_t begin = LOCKSTEP_UNLIKELY(since_ != 0) ? tick_clock::now() : 0;
    walk.help(with);
    if (LOCKSTEP_UNLIKELY(since_ != 0)) since_ += tick_clock::now() - begin;
  }

 private:
  const flow_walk& walk_;
  const std::uint32_t lane_;
  const std::uint64_t steps_;
  std::uint64_t since_ = 0;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_GRAPH_FLOW_WALK_HPP
