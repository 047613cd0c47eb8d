// SPDX-License-Identifier: MIT
// src/graph/flow_simulation.cpp -- goes through a plan without threads (layer: graph)
//
// Pure. Does what the members will do (flow_walk.hpp), but one member after the other, each as far as it can go: so a
// plan that could get stuck does so here. Adds up times to predict how long an iteration takes.
#include "flow_plan.hpp"

#include <algorithm>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

class plan_simulation {
 public:
  plan_simulation(const flow& checked, flow_plan& of)
      : flow_(checked), of_(of), lanes_(of.lanes.size()), decided_(checked.blocks.size()) {}

  std::string run() {
    // Longer delays hold up nobody that shorter ones do not.
    iterations_ = (std::min)(flow_.most_delay, std::uint32_t{64}) + 2;
    std::vector<member> members(of_.members);
    for (std::uint32_t m = 0; m < of_.members; ++m) members[m].lane = of_.lane(0, m);
    end_.assign(iterations_, 0);
    bool moves = true;
    while (moves) {
      moves = false;
      for (member& each : members) {
        while (go(each)) moves = true;
      }
    }
    for (std::uint32_t m = 0; m < of_.members; ++m) {
      if (members[m].lane == no_lane) continue;
      if (lanes_[of_.lane(0, m)].turn < iterations_) {
        return "the plan gets stuck at member " + std::to_string(m);
      }
    }
    const plan_time end = end_[iterations_ - 1];
    of_.predicted_time = end == most_time ? end : end - end_[iterations_ - 2];
    return std::string();
  }

 private:
  /// Of a loop, the first time that it is come to: so that all lanes go round in it. Later once. (Twice each time would be
  /// 2^depth turns of loops inside each other.)
  static constexpr std::uint32_t first_turns = 2;

  struct member {
    std::uint32_t lane = no_lane;
    plan_time now = 0;
  };
  struct lane_state {
    std::uint32_t turn = 0, at = 0;
    std::vector<plan_time> done;  ///< when, of each step of each turn
    std::size_t forgotten = 0;    ///< turns of a loop begin when all lanes have done the one before
  };
  struct decision {
    std::uint32_t turns;
    plan_time when;
  };

  /// One step of a member. False if it cannot go on.
  bool go(member& self) {
    if (self.lane == no_lane) return false;
    lane_state& at = lanes_[self.lane];
    const plan_lane& of = of_.lanes[self.lane];
    if (of.block == 0 && at.turn == iterations_) return false;
    if (at.at == of.steps) return end_turn(self);
    const plan_step& step = of_.steps[of.first_step + at.at];
    plan_time begin = self.now;
    for (std::uint32_t w = step.first_wait; w < step.last_wait; ++w) {
      const plan_wait& wait = of_.waits[w];
      if (at.turn < wait.delay) continue;
      const std::size_t which =
          std::size_t{at.turn - wait.delay} * of_.lanes[wait.lane].steps + wait.steps - 1;
      const lane_state& other = lanes_[wait.lane];
      if (other.forgotten + other.done.size() <= which) return false;
      if (which < other.forgotten) continue;
      begin = (std::max)(begin, time_after(other.done[which - other.forgotten], crossing_time));
    }
    self.now = begin;
    if (step.loop != 0) {
      self.lane = of_.lane(step.loop, of.member);
      return true;
    }
    for (std::uint32_t c = step.first_call; c < step.last_call; ++c) {
      self.now = time_after(self.now, of_.costs[of_.calls[c].node]);
    }
    if (step.decides) decided_[of.block] = {at.turn + 1, self.now};
    finish(self, at);
    return true;
  }
  void finish(member& self, lane_state& at) {
    at.done.push_back(self.now);
    ++at.at;
  }
  bool end_turn(member& self) {
    lane_state& at = lanes_[self.lane];
    const plan_lane& of = of_.lanes[self.lane];
    if (of.block == 0) {
      end_[at.turn] = (std::max)(end_[at.turn], self.now);
      at.at = 0;
      ++at.turn;
      return true;
    }
    const decision& last = decided_[of.block];
    if (last.turns <= at.turn) return false;
    if (of_.lanes[of_.decider[of.block]].member != of.member) {
      self.now = (std::max)(self.now, time_after(last.when, crossing_time));
    }
    at.at = 0;
    ++at.turn;
    at.forgotten += at.done.size();
    at.done.clear();
    if (at.turn < first_turns) return true;
    self.lane = of.parent;
    finish(self, lanes_[self.lane]);
    return true;
  }

  const flow& flow_;
  flow_plan& of_;
  std::vector<lane_state> lanes_;
  std::vector<decision> decided_;
  std::vector<plan_time> end_;
  std::uint32_t iterations_ = 0;
};

LOCKSTEP_INLINE std::string simulate(const flow& checked, flow_plan& of) {
  return plan_simulation(checked, of).run();
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
