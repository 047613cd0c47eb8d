// SPDX-License-Identifier: MIT
// src/graph/plan_text.cpp -- the bodies of plan_text.hpp (layer: graph)
#include "plan_text.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

LOCKSTEP_INLINE std::string dot_text(const std::string& of) {
  std::string text = "\"";
  for (const char each : of) {
    if (each == '"' || each == '\\') text += '\\';
    text += each;
  }
  return text + '"';
}

LOCKSTEP_INLINE std::string dot_node(const graph_model& of, node_index node) {
  return dot_text(name_of(of, node));
}

LOCKSTEP_INLINE std::string dot_edges(const graph_model& of) {
  std::string text;
  for (const model_edge& each : of.edges) {
    text += "  " + dot_node(of, each.from) + " -> " + dot_node(of, each.to);
    if (each.kind == edge_kind::if_true) text += " [label=\"if\"]";
    if (each.kind == edge_kind::if_false) text += " [label=\"unless\"]";
    text += ";\n";
  }
  for (const model_feedback& each : of.feedbacks) {
    text += "  " + dot_node(of, each.from) + " -> " + dot_node(of, each.to) +
            " [style=dashed, constraint=false, label=\"" +
            (each.is_loop() ? std::string("again") : std::to_string(each.delay)) + "\"];\n";
  }
  return text;
}

/// The nodes of a block, and of the loops in it as boxes.
LOCKSTEP_INLINE std::string dot_block(const graph_model& of, const flow& checked,
                                      std::uint32_t block) {
  std::string text;
  for (node_index i = 0; i < of.nodes.size(); ++i) {
    if (checked.block_of[i] == block) text += "  " + dot_node(of, i) + ";\n";
  }
  for (std::uint32_t inner = 1; inner < checked.blocks.size(); ++inner) {
    if (checked.blocks[inner].parent != block) continue;
    text += "  subgraph cluster_" + std::to_string(inner) + " {\n" + dot_block(of, checked, inner) +
            "  }\n";
  }
  return text;
}

LOCKSTEP_INLINE std::string dot_of(const graph_model& of) {
  std::string text = "digraph flow {\n  rankdir=LR;\n  node [shape=box, style=rounded];\n";
  const flow checked = make_flow(of);
  if (checked.problem.empty()) {
    text += dot_block(of, checked, 0);
  } else {
    for (node_index i = 0; i < of.nodes.size(); ++i) text += "  " + dot_node(of, i) + ";\n";
  }
  return text + dot_edges(of) + "}\n";
}

LOCKSTEP_INLINE std::string dot_of(const graph_model& of, const flow& checked,
                                   const flow_plan& plan) {
  std::string text = "digraph plan {\n  rankdir=LR;\n  node [shape=box, style=rounded];\n";
  for (std::uint32_t m = 0; m < plan.members; ++m) {
    text += "  subgraph cluster_" + std::to_string(m) + " {\n    label=\"member " +
            std::to_string(m) + "\";\n";
    std::string last;
    for (const node_index node : plan.line) {
      if (plan.member_of[node] != m) continue;
      const std::string name = dot_node(of, node);
      text += "    " + name + ";\n";
      if (!last.empty()) text += "    " + last + " -> " + name + " [style=invis];\n";
      last = name;
    }
    text += "  }\n";
  }
  for (const model_edge& each : checked.edges) {
    const bool crosses = plan.member_of[each.from] != plan.member_of[each.to] ||
                         plan.width_of[each.from] > 1 || plan.width_of[each.to] > 1;
    text += "  " + dot_node(of, each.from) + " -> " + dot_node(of, each.to) +
            (crosses ? " [style=bold, color=red]" : "") + ";\n";
  }
  for (const model_feedback& each : of.feedbacks) {
    text += "  " + dot_node(of, each.from) + " -> " + dot_node(of, each.to) +
            " [style=dashed, constraint=false];\n";
  }
  return text + "}\n";
}

LOCKSTEP_INLINE std::string text_of(const graph_model& of, const flow_plan& plan) {
  std::string text;
  for (const plan_lane& lane : plan.lanes) {
    text += "member " + std::to_string(lane.member);
    if (lane.block != 0) {
      text += ", in the loop that " + quoted(of, plan.from[lane.block]) + " decides";
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
        text += " the loop that " + quoted(of, plan.from[step.loop]) + " decides";
      }
      for (std::uint32_t c = step.first_call; c < step.last_call; ++c) {
        text += " " + quoted(of, plan.calls[c].node);
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
