// SPDX-License-Identifier: MIT
#include "teams.hpp"

#include "ompt.hpp"

namespace lockstep::openmp {
namespace {

/// For the teams construct around its regions: what the part is to the teams' regions.
class league {
 public:
  league(part& of, unsigned teams, int thread_limit) noexcept
      : part_(of),
        team_num_(of.team_num),
        num_teams_(of.num_teams),
        is_in_teams_(of.is_in_teams),
        variables_(of.running->variables),
        own_(*of.running->variables) {
    of.team_num = 0;
    of.num_teams = teams;
    of.is_in_teams = true;
    if (thread_limit > 0) of.running->own_variables().thread_limit = thread_limit;
  }
  ~league() {
    part_.team_num = team_num_;
    part_.num_teams = num_teams_;
    part_.is_in_teams = is_in_teams_;
    part_.running->own = own_;
    part_.running->variables = variables_;
  }
  league(const league&) = delete;
  league& operator=(const league&) = delete;

 private:
  part& part_;
  const unsigned team_num_, num_teams_;
  const bool is_in_teams_;
  const task_variables* const variables_;
  const task_variables own_;
};

[[gnu::noinline, gnu::cold]] void run_told_teams(part& self, outlined_function function, void* data,
                                                 unsigned teams) noexcept {
  ompt::region_scope league(self, teams, teams, ompt::parallel_league | ompt::invoker_runtime);
  for (self.team_num = 0; self.team_num < teams; ++self.team_num) {
    const ompt::team_scope team(self, league.info, self.team_num);
    self.tool->at.exit.pointer = __builtin_frame_address(0);
    function(data);
  }
}

}  // namespace

void run_teams(part& self, outlined_function function, void* data, unsigned teams,
               int thread_limit) noexcept {
  const process_variables& all = process_settings();
  if (teams == 0) teams = all.num_teams > 0 ? static_cast<unsigned>(all.num_teams) : 1;
  if (thread_limit == 0) thread_limit = all.teams_thread_limit;
  const league around(self, teams, thread_limit);
  if (has_tool()) return run_told_teams(self, function, data, teams);
  for (self.team_num = 0; self.team_num < teams; ++self.team_num) function(data);
}

}  // namespace lockstep::openmp
