// SPDX-License-Identifier: MIT
#include "team/peers/lockstep_team.hpp"
#include "team/team_entries.hpp"
#include "team/works/scheduled_works.hpp"
#include "team/works/team_works.hpp"

namespace team_bench {

void add_lockstep(catalogue& to) {
  add_region_works<lockstep_team>(to, "lockstep");
  add_scheduled_in_regions<lockstep_team>(to, "lockstep");
  add_scheduled_by_forks<lockstep_team_by_loops>(to, "lockstep/loops");
  add_lockstep_overheads(to);
}

}  // namespace team_bench
