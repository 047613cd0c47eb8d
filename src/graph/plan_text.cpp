// SPDX-License-Identifier: MIT
// src/graph/plan_text.cpp -- graphs and plans as text, reports, and pictures for Graphviz (layer: graph)
#include <cstdio>

#include "../platform/system_texts.hpp"
#include "plan_body.hpp"

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

LOCKSTEP_INLINE std::string dot_edge(const graph_model& of, node_index from, node_index to,
                                     const std::string& attributes) {
  return "  " + dot_node(of, from) + " -> " + dot_node(of, to) +
         (attributes.empty() ? "" : " [" + attributes + "]") + ";\n";
}

/// The nodes of a block. The loops in it are boxes.
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
  for (const model_edge& each : of.edges) {
    text += dot_edge(of, each.from, each.to,
                     each.kind == edge_kind::if_true    ? "label=\"if\""
                     : each.kind == edge_kind::if_false ? "label=\"unless\""
                                                        : "");
  }
  for (const model_feedback& each : of.feedbacks) {
    text += dot_edge(of, each.from, each.to,
                     "style=dashed, constraint=false, label=\"" +
                         (each.is_loop() ? "again" : std::to_string(each.delay)) + "\"");
  }
  return text + "}\n";
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
    text += dot_edge(of, each.from, each.to, crosses ? "style=bold, color=red" : "");
  }
  for (const model_feedback& each : of.feedbacks) {
    text += dot_edge(of, each.from, each.to, "style=dashed, constraint=false");
  }
  return text + "}\n";
}

LOCKSTEP_INLINE std::string text_of(const graph_model& of, const flow& checked,
                                    const flow_plan& plan) {
  std::string text;
  for (const plan_lane& lane : plan.lanes) {
    text += "member " + std::to_string(lane.member);
    if (lane.block != 0) {
      text += ", in the loop that " + quoted(of, checked.blocks[lane.block].from) + " decides";
    }
    text += ":\n";
    for (std::uint32_t s = lane.first_step; s < lane.first_step + lane.steps; ++s) {
      const plan_step& step = plan.steps[s];
      text += "  " + std::to_string(s - lane.first_step + 1) + ".";
      for (std::uint32_t w = step.first_wait; w < step.last_wait; ++w) {
        const plan_wait& wait = plan.waits[w];
        text += " [waits for step " + std::to_string(wait.steps) + " of member " +
                std::to_string(plan.lanes[wait.lane].member);
        if (wait.delay > 0) text += ", " + counted(wait.delay, "turn") + " before";
        text += "]";
      }
      if (step.loop != 0) {
        text += " the loop that " + quoted(of, checked.blocks[step.loop].from) + " decides";
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

LOCKSTEP_INLINE const char* cause_of_delay(const plan_body& of, std::chrono::nanoseconds& excess) {
  const char* cause = nullptr;
  double most = 0;
  for (std::size_t i = 0; i < of.machine->model.nodes.size(); ++i) {
    const node_times& at = of.machine->times[i];
    if (at.count == 0) continue;
    const double last = static_cast<double>(at.last_end - at.last_begin);
    const double usual =
        at.count > 1 ? (static_cast<double>(at.sum) - last) / static_cast<double>(at.count - 1)
                     : static_cast<double>(of.machine->plan.costs[i]) * tick_clock::rate() / 1e9;
    if (last - usual <= most) continue;
    most = last - usual;
    cause = of.machine->model.nodes[i].name.c_str();
  }
  excess = std::chrono::nanoseconds(
      static_cast<std::chrono::nanoseconds::rep>(most * 1e9 / tick_clock::rate()));
  return cause;
}

LOCKSTEP_INLINE std::string in_microseconds(double nanoseconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f us", nanoseconds / 1000);
  return text;
}

LOCKSTEP_INLINE std::string report_of(const plan_body& of) {
  const flow_machine& machine = *of.machine;
  const flow_plan& plan = machine.plan;
  std::string text = counted(machine.model.nodes.size(), "node") + " on " +
                     counted(plan.members, "member") + ", " + counted(plan.waits.size(), "wait") +
                     "\n";
  const auto predicted = [](plan_time each) { return in_microseconds(static_cast<double>(each)); };
  text += "predicted: serial " + predicted(plan.serial_time) + ", critical path " +
          predicted(plan.critical_path) + ", an iteration " + predicted(plan.predicted_time) + "\n";
  if (of.learnt_from != 0) {
    text +=
        "made anew after " + counted(of.learnt_from, "run") + ", with the times that nodes took\n";
  }
  if (of.measured_iterations == 0) return text + "not measured yet\n";
  const double each =
      static_cast<double>(of.measured_time) / static_cast<double>(of.measured_iterations);
  text += "measured: an iteration " + in_microseconds(each) + "\n";
  std::vector<double> busy(plan.members, 0);
  for (std::size_t i = 0; i < machine.model.nodes.size(); ++i) {
    const node_times& at = machine.times[i];
    const double sum = tick_clock::nanoseconds(at.sum);
    busy[plan.member_of[i]] += sum / static_cast<double>(of.measured_iterations);
    text += "  " + quoted(machine.model, static_cast<node_index>(i)) + " on member " +
            std::to_string(plan.member_of[i]) + ": ";
    if (at.count == 0) {
      text += "not measured\n";
      continue;
    }
    text += counted(at.count, "time") + ", mean " +
            in_microseconds(sum / static_cast<double>(at.count)) + ", most " +
            in_microseconds(tick_clock::nanoseconds(at.most)) + ", planned " +
            predicted(plan.costs[i]) + "\n";
  }
  for (std::uint32_t m = 0; m < plan.members; ++m) {
    text += "member " + std::to_string(m) + ": in nodes " + in_microseconds(busy[m]) +
            " an iteration, lost " + in_microseconds(each > busy[m] ? each - busy[m] : 0) + "\n";
  }
  return text;
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
