// SPDX-License-Identifier: MIT
#include "graph/graph_entries.hpp"
#include "graph/graph_works.hpp"
#include "graph/peers/taskflow_tasks.hpp"

namespace graph_bench {

void add_taskflow(catalogue& to) {
  add_graphs<taskflow_graph>(to, "taskflow", all_shapes());
  add_loops<taskflow_loop>(to, "taskflow");
}

std::string taskflow_version() { return tf::version(); }

}  // namespace graph_bench
