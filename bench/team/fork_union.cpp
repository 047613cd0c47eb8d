// SPDX-License-Identifier: MIT
#include "duty/loops_between.hpp"
#include "team/peers/fork_union_pool.hpp"
#include "team/team_entries.hpp"
#include "team/works/overhead_works.hpp"
#include "team/works/scheduled_works.hpp"
#include "team/works/team_works.hpp"

namespace team_bench {

void add_fork_union(catalogue& to) {
  add_fork_works<fork_union_pool<fork_union_pause>>(to, "fork_union-pause");
  add_fork_works<fork_union_pool<fork_union_yield>>(to, "fork_union-yield");
  add_scheduled_by_forks<fork_union_pool<fork_union_pause>>(to, "fork_union-pause");
  add_scheduled_by_forks<fork_union_pool<fork_union_yield>>(to, "fork_union-yield");
  add_overheads_of_forks<fork_union_pool<fork_union_pause>>(to, "fork_union-pause");
  add_overheads_of_forks<fork_union_pool<fork_union_yield>>(to, "fork_union-yield");
  add_loops_between<fork_union_pool<fork_union_pause>>(to, "fork_union-pause");
  add_loops_between<fork_union_pool<fork_union_yield>>(to, "fork_union-yield");
}

std::string fork_union_version() {
  return std::to_string(FORKUNION_VERSION_MAJOR) + "." + std::to_string(FORKUNION_VERSION_MINOR) +
         "." + std::to_string(FORKUNION_VERSION_PATCH);
}

}  // namespace team_bench
