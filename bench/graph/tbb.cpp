// SPDX-License-Identifier: MIT
#include <tbb/version.h>

#include "graph/graph_entries.hpp"
#include "graph/graph_works.hpp"
#include "graph/peers/tbb_flow.hpp"

namespace graph_bench {

void add_tbb(catalogue& to) {
  add_graphs<tbb_tasks>(to, "tbb", all_shapes());
  add_graphs<tbb_lightweight>(to, "tbb-lightweight", all_shapes());
  add_loops<tbb_loop>(to, "tbb");
}

std::string tbb_version() { return TBB_runtime_version(); }

}  // namespace graph_bench
