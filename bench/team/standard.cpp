// SPDX-License-Identifier: MIT
#include "team/peers/standard.hpp"

#include "team/team_entries.hpp"
#include "team/works/overhead_works.hpp"
#include "team/works/scheduled_works.hpp"
#include "team/works/team_works.hpp"

namespace team_bench {

void add_standard(catalogue& to) {
  add_region_works<std_barrier_team>(to, "std::barrier");
  add_overheads_of_forks<std_barrier_team>(to, "std::barrier");
  add_forks<std_thread_team>(to, "std::thread");
  add_in_blocks<runners_of<std_barrier_team>::many_steps>(to, "std::barrier");
  add_in_blocks<runners_of<std_barrier_team>::one_step>(to, "std::barrier/stepwise");
  add_programs<serial_runner>(to, "serial");
  add_in_blocks<serial_runner>(to, "serial");
  add_by_claims<serial_runner>(to, "serial");
}

}  // namespace team_bench
