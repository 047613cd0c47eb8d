// SPDX-License-Identifier: MIT
#include "teams.hpp"

#include "affinity.hpp"
#include "ompt.hpp"

namespace lockstep::openmp {
namespace {

/// A league is to the regions of its teams what a part is to a region.
class league {
 public:
  league(part& of, unsigned teams, int thread_limit) noexcept
      : part_(of),
        team_num_(of.team_num),
        num_teams_(of.num_teams),
        is_in_teams_(of.is_in_teams),
        variables_(of.running->variables),
        own_(*of.running->variables) {
    affinity::place_initial_thread(of);
    places_ = of.places;
    of.num_teams = teams;
    of.is_in_teams = true;
    if (thread_limit > 0) of.running->own_variables().thread_limit = thread_limit;
  }
  ~league() {
    place(places_);
    part_.team_num = team_num_;
    part_.num_teams = num_teams_;
    part_.is_in_teams = is_in_teams_;
    part_.running->own = own_;
    part_.running->variables = variables_;
  }
  league(const league&) = delete;
  league& operator=(const league&) = delete;

  void begin(unsigned team) noexcept {
    part_.team_num = team;
    // As LLVM's runtime does. With GCC's, each team has all places.
    if (process_settings().is_of_llvm) {
      place(affinity::places_of_member(places_, team, part_.num_teams,
                                       process_settings().bind_of_teams));
    }
  }

 private:
  void place(const thread_places& where) noexcept {
    if (part_.places == where) return;
    part_.places = where;
    affinity::bind_this_thread(where.place);
  }

  part& part_;
  const unsigned team_num_, num_teams_;
  const bool is_in_teams_;
  const task_variables* const variables_;
  const task_variables own_;
  thread_places places_;
};

[[gnu::noinline, gnu::cold]] void run_told_teams(part& self, outlined_function function, void* data,
                                                 league& around, unsigned teams) noexcept {
  ompt::region_scope told(self, teams, teams, ompt::parallel_league | ompt::invoker_runtime);
  for (unsigned each = 0; each < teams; ++each) {
    around.begin(each);
    const ompt::team_scope team(self, told.info, each);
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
  league around(self, teams, thread_limit);
  if (has_tool()) return run_told_teams(self, function, data, around, teams);
  for (unsigned each = 0; each < teams; ++each) {
    around.begin(each);
    function(data);
  }
}

}  // namespace lockstep::openmp
