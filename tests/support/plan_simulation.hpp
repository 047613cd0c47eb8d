// SPDX-License-Identifier: MIT
// tests/support/plan_simulation.hpp -- goes through a plan without threads (FPLAN-3)
//
// Does what the members will do (flow_walk.hpp), but one member after the other, each as far as it can go: so a plan that could
// get stuck does so here.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "graph/flow_plan.hpp"

namespace lockstep::test {

class plan_simulation {
 public:
  plan_simulation(const detail::flow& checked, const detail::flow_plan& of)
      : checked_(checked),
        of_(of),
        lanes_(of.lanes.size()),
        decided_turns_(checked.blocks.size(), 0),
        // A longer delay holds up no node that a shorter one does not.
        iterations_(std::min<std::uint32_t>(checked.most_delay, 64) + 2) {}

  /// Where it gets stuck, or nothing.
  std::string run() {
    std::vector<std::uint32_t> at(of_.members);
    for (std::uint32_t m = 0; m < of_.members; ++m) at[m] = of_.lane(0, m);
    for (bool moves = true; moves;) {
      moves = false;
      for (std::uint32_t& lane : at) {
        while (go(lane)) moves = true;
      }
    }
    for (std::uint32_t m = 0; m < of_.members; ++m) {
      if (at[m] != detail::no_lane && lanes_[of_.lane(0, m)].turn < iterations_) {
        return "the plan gets stuck at member " + std::to_string(m);
      }
    }
    return std::string();
  }

 private:
  /// How often a loop turns when it is reached for the first time: twice, so that every lane goes back to its
  /// beginning. Later it turns once. (Twice each time would be 2^depth turns of loops inside each other.)
  static constexpr std::uint32_t first_turns = 2;

  struct lane_state {
    std::uint32_t turn = 0, at = 0;
    std::size_t done = 0;
  };

  /// One step of the member that is at this lane. False if it cannot go on.
  bool go(std::uint32_t& lane) {
    if (lane == detail::no_lane) return false;
    lane_state& here = lanes_[lane];
    const detail::plan_lane& of = of_.lanes[lane];
    if (of.block == 0 && here.turn == iterations_) return false;
    if (here.at == of.steps) return end_turn(lane);
    const detail::plan_step& step = of_.steps[of.first_step + here.at];
    for (std::uint32_t w = step.first_wait; w < step.last_wait; ++w) {
      const detail::plan_wait& wait = of_.waits[w];
      if (here.turn < wait.delay) continue;
      if (lanes_[wait.lane].done <
          std::size_t{here.turn - wait.delay} * of_.lanes[wait.lane].steps + wait.steps) {
        return false;
      }
    }
    if (step.loop != 0) {
      lane = of_.lane(step.loop, of.member);
      return true;
    }
    if (step.decides) decided_turns_[of.block] = here.turn + 1;
    finish(here);
    return true;
  }
  static void finish(lane_state& at) {
    ++at.done;
    ++at.at;
  }
  bool end_turn(std::uint32_t& lane) {
    lane_state& here = lanes_[lane];
    const detail::plan_lane& of = of_.lanes[lane];
    if (of.block != 0 && decided_turns_[of.block] <= here.turn) return false;
    here.at = 0;
    ++here.turn;
    if (of.block == 0 || here.turn < first_turns) return true;
    lane = of_.lane(checked_.blocks[of.block].parent, of.member);
    finish(lanes_[lane]);
    return true;
  }

  const detail::flow& checked_;
  const detail::flow_plan& of_;
  std::vector<lane_state> lanes_;
  std::vector<std::uint32_t> decided_turns_;
  const std::uint32_t iterations_;
};

}  // namespace lockstep::test
