// SPDX-License-Identifier: MIT
// bench/graph/graph_entries.hpp -- the peers of graph_lockstep, a unit each
#pragma once

#include <string>

#include "team/catalogue.hpp"

namespace graph_bench {

void add_lockstep(team_bench::catalogue& to);
void add_by_hand(team_bench::catalogue& to);

// Where the package is there.
void add_tbb(team_bench::catalogue& to);
std::string tbb_version();
void add_taskflow(team_bench::catalogue& to);
std::string taskflow_version();

}  // namespace graph_bench
