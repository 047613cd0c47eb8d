// SPDX-License-Identifier: MIT
// tests/support/wide_team.hpp -- a team as it is on a machine with a CPU for each member, whatever this one has
//
// Loops have a share for every member. The members wait as in a crowd, since in truth they may be one.
#pragma once

#include <cstddef>

#include <lockstep/team.hpp>
#include "team/placement.hpp"

namespace lockstep::test {

using namespace detail;

class wide_team : public team {
 public:
  explicit wide_team(std::size_t members, bool learns = true, wait_policy policy = wait_policy())
      : team(team_options(), made_of(members, learns, policy), thread_owner::team) {}

 private:
  static resolved_team made_of(std::size_t members, bool learns, wait_policy policy) {
    resolved_team made;
    made.members = made.can_run_at_once = members;
    made.policy = policy.when_crowded(members > 2);
    made.learns = learns;
    return made;
  }
};

}  // namespace lockstep::test
