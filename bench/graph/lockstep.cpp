// SPDX-License-Identifier: MIT
#include <lockstep/plan.hpp>
#include <thread>

#include "graph/graph_entries.hpp"
#include "graph/graph_works.hpp"
#include "graph/peers/lockstep_plan.hpp"
#include "support/stopwatch.hpp"

namespace graph_bench {
namespace {

/// The time of making a plan, in milliseconds, of a graph that is there.
measurement measure_planning(const request& wanted, const std::string& name) {
  const shape of = make_shape(name, wanted.size);
  lockstep::graph graph;
  std::vector<lockstep::graph_node> nodes;
  for (std::size_t i = 0; i < of.size(); ++i) nodes.push_back(graph.node(std::to_string(i), [] {}));
  connect(graph, of, nodes);
  const lockstep::plan first(graph, wanted.threads);
  const bench::stopwatch watch;
  const lockstep::plan plan(graph, wanted.threads);
  const bench::elapsed_time time = watch.elapsed();
  measurement result;
  result.unit = "ms";
  result.value = time.wall_seconds * 1e3;
  result.cpus = time.cpu_seconds / time.wall_seconds;
  result.more["nodes"] = static_cast<double>(of.size());
  result.more["edges"] = static_cast<double>(of.edges().size());
  return result;
}

}  // namespace

void add_lockstep(catalogue& to) {
  add_graphs<default_plan>(to, "lockstep", all_shapes());
  add_graphs<measured_plan>(to, "lockstep-measured", all_shapes());
  add_graphs<stepwise_plan>(to, "lockstep-stepwise", all_shapes());
  add_graphs<default_plan>(to, "lockstep", {"crossing"});
  add_loops<lockstep_loop<costs::unhinted>>(to, "lockstep");
  add_loops<lockstep_loop<costs::measured>>(to, "lockstep-measured");
  for (const std::string name : {"random", "wavefront", "fork", "chain"}) {
    to.push_back({"plan/" + name, "lockstep",
                  [=](const request& wanted) { return measure_planning(wanted, name); }});
  }
}

}  // namespace graph_bench
