// SPDX-License-Identifier: MIT
#include "team/peers/lockstep_team.hpp"
#include "team/team_entries.hpp"
#include "team/works/scheduled_works.hpp"
#include "team/works/team_works.hpp"

namespace team_bench {

void add_lockstep(catalogue& to) {
  add_region_works<lockstep_team<adaptive>>(to, "lockstep");
  add_scheduled_in_regions<lockstep_team<adaptive>>(to, "lockstep");
  add_scheduled_by_forks<lockstep_team_by_loops<adaptive>>(to, "lockstep/loops");
  add_forks<lockstep_team<blocking>>(to, "lockstep-block");
  add_forks<lockstep_team<hybrid>>(to, "lockstep-hybrid");
  add_forks<lockstep_team<spinning>>(to, "lockstep-spin");
  add_lockstep_overheads(to);
}

}  // namespace team_bench
