// SPDX-License-Identifier: MIT
// bench/team/team_entries.hpp -- the peers of team_lockstep, a unit each
#pragma once

#include <string>

#include "team/catalogue.hpp"

namespace team_bench {

void add_lockstep(catalogue& to);
void add_lockstep_overheads(catalogue& to);
void add_lockstep_loops(catalogue& to);
void add_standard(catalogue& to);

// Where the package is there.
void add_tbb(catalogue& to);
std::string tbb_version();
void add_fork_union(catalogue& to);
std::string fork_union_version();

}  // namespace team_bench
