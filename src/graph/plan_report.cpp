// SPDX-License-Identifier: MIT
// src/graph/plan_report.cpp -- a plan's report on the runs that it has measured (layer: graph)
#include <cstdio>

#include "plan_body.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

LOCKSTEP_INLINE const char* cause_of_delay(const plan_body& of, std::chrono::nanoseconds& excess) {
  const char* cause = nullptr;
  double most = 0;
  for (std::size_t i = 0; i < of.model.nodes.size(); ++i) {
    const node_times& at = of.machine->times[i];
    if (at.count == 0) continue;
    const double last = static_cast<double>(at.last_end - at.last_begin);
    const double usual =
        at.count > 1 ? (static_cast<double>(at.sum) - last) / static_cast<double>(at.count - 1)
                     : static_cast<double>(of.machine->plan.costs[i]) * tick_clock::rate() / 1e9;
    if (last - usual <= most) continue;
    most = last - usual;
    cause = of.model.nodes[i].name.c_str();
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
  std::string text = std::to_string(of.model.nodes.size()) + " nodes on " +
                     std::to_string(plan.members) + " members, " +
                     std::to_string(plan.waits.size()) + " waits\n";
  const auto predicted = [](plan_time each) { return in_microseconds(static_cast<double>(each)); };
  text += "predicted: serial " + predicted(plan.serial_time) + ", critical path " +
          predicted(plan.critical_path) + ", an iteration " + predicted(plan.predicted_time) + "\n";
  if (of.learnt_from != 0) {
    text += "made anew after " + std::to_string(of.learnt_from) +
            (of.learnt_from == 1 ? " run" : " runs") + ", with the times that nodes took\n";
  }
  if (of.measured_iterations == 0) return text + "not measured yet\n";
  const double each =
      static_cast<double>(of.measured_time) / static_cast<double>(of.measured_iterations);
  text += "measured: an iteration " + in_microseconds(each) + "\n";
  std::vector<double> busy(plan.members, 0);
  for (std::size_t i = 0; i < of.model.nodes.size(); ++i) {
    const node_times& at = machine.times[i];
    const double sum = tick_clock::nanoseconds(at.sum);
    busy[plan.member_of[i]] += sum / static_cast<double>(of.measured_iterations);
    text += "  " + quoted(of.model, static_cast<node_index>(i)) + " on member " +
            std::to_string(plan.member_of[i]) + ": ";
    if (at.count == 0) {
      text += "not measured\n";
      continue;
    }
    text += std::to_string(at.count) + " times, mean " +
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
