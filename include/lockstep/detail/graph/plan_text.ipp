// SPDX-License-Identifier: MIT
// lockstep/detail/graph/plan_text.ipp -- the bodies of plan_text.hpp (layer: graph)
#ifndef LOCKSTEP_DETAIL_GRAPH_PLAN_TEXT_IPP
#define LOCKSTEP_DETAIL_GRAPH_PLAN_TEXT_IPP

#include "plan_text.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

LOCKSTEP_COLD std::string text_of(const graph_model& of, const flow_plan& plan) {
  std::string text;
  for (const plan_lane& lane : plan.lanes) {
    text += "member " + std::to_string(lane.member);
    if (lane.block != 0) {
      text += ", in the loop that '" + of.nodes[plan.from[lane.block]].name + "' decides";
    }
    text += ":\n";
    for (std::uint32_t s = lane.first_step; s < lane.first_step + lane.steps; ++s) {
      const plan_step& step = plan.steps[s];
      text += "  " + std::to_string(s - lane.first_step + 1) + ".";
      for (std::uint32_t w = step.first_wait; w < step.last_wait; ++w) {
        const plan_wait& wait = plan.waits[w];
        text += " [waits for step " + std::to_string(wait.steps) + " of member " +
                std::to_string(plan.lanes[wait.lane].member);
        if (wait.delay > 0) text += ", " + std::to_string(wait.delay) + " turns before";
        text += "]";
      }
      if (step.loop != 0) {
        text += " the loop that '" + of.nodes[plan.from[step.loop]].name + "' decides";
      }
      for (std::uint32_t c = step.first_call; c < step.last_call; ++c) {
        text += " '" + of.nodes[plan.calls[c].node].name + "'";
      }
      if (step.decides) text += step.first_call == step.last_call ? " decides" : " (decides)";
      if (step.is_awaited) text += " [is waited for]";
      if (!step.is_open && step.loop == 0) text += " [by this member only]";
      text += "\n";
    }
  }
  return text;
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_GRAPH_PLAN_TEXT_IPP
