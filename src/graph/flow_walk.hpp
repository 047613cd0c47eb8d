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
  flow_walk(flow_machine& of, const turn_range& turns, std::size_t rank, stop_source& stop,
            std::uint32_t region) noexcept
      : of_(of),
        plan_(of.plan),
        turns_(turns),
        own_(of.walkers[rank].value),
        rank_(static_cast<std::uint32_t>(rank)),
        stop_{stop, region},
        looks_each_(of.board.policy().is_crowded() ? 1 : 16),
        counts_waits_(is_observed_by(observer::accounts)) {}

  void walk();

 private:
  /// A step that another thread may run.
  struct found_step {
    std::uint32_t lane = no_lane;
    std::uint64_t step = 0, turn = 0, outer_turn = 0, iteration = 0;
    const plan_step* what = nullptr;  ///< null: the lane's member is to leave a loop that is over
  };
  struct watched_lane;

  lane_place& here() noexcept { return own_.places[depth_]; }
  const plan_lane& lane_of(const lane_place& at) const noexcept { return plan_.lanes[at.lane]; }
  const plan_step& step_of(const lane_place& at) const noexcept {
    return plan_.steps[lane_of(at).first_step + at.at];
  }
  std::uint64_t iteration() const noexcept { return own_.places[0].turn - turns_.first; }
  std::uint64_t steps_for(const plan_wait& wait, std::uint64_t turn) const noexcept {
    return (turn - wait.delay) * plan_.lanes[wait.lane].steps + wait.steps;
  }

  /// Waits until a lane has done so many steps. False once the region is stopped.
  bool await(std::uint32_t lane, std::uint64_t steps) {
    return own_.seen[lane] >= steps || has_done(lane, steps) || await_slowly(lane, steps);
  }
  bool has_done(std::uint32_t lane, std::uint64_t steps) {
    const std::uint64_t now = of_.board.done(lane).value();
    own_.seen[lane] = now;
    return now >= steps;
  }
  bool await_slowly(std::uint32_t lane, std::uint64_t steps);
  bool wait_or_help(std::uint32_t lane, std::uint64_t steps);
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
  const turn_range turns_;
  walker_state& own_;
  const std::uint32_t rank_;
  const stops_with_region stop_;
  const unsigned looks_each_;
  const bool counts_waits_;          ///< for the ledger
  std::uint64_t ticks_of_help_ = 0;  ///< given while it waits, if it counts
  std::size_t depth_ = 0;
  // What this member has decided itself: it does not read the line that it has just published.
  std::uint32_t decided_lane_ = no_lane;
  loop_decision decided_{};
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_GRAPH_FLOW_WALK_HPP
