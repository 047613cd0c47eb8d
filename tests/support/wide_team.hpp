// SPDX-License-Identifier: MIT
// tests/support/wide_team.hpp -- a team as it is on a machine with a CPU for each member, whatever this one has
//
// Loops have a share for every member. The members wait as in a crowd, since in truth they may be one.
#pragma once

#include <cstddef>
#include <thread>
#include <vector>

#include "team/placement.hpp"
#include "team/team_core.hpp"
#include <lockstep/detail/team/team_loops.hpp>

namespace lockstep::test {

using namespace detail;

class wide_team : public team_loops<wide_team> {
 public:
  explicit wide_team(std::size_t members, bool learns = true, wait_policy policy = wait_policy())
      : wide_team(made_of(members, learns, policy)) {}
  ~wide_team() {
    core_.close();
    for (std::thread& thread : threads_.all) thread.join();
  }

  std::size_t size() const noexcept { return core_.size(); }
  void request_stop() { core_.request_stop(); }
  template <class Function>
  bool run(Function&& f) {
    return team_core::run(door_, &core_, threads_, size(), f);
  }

 private:
  friend class team_loops<wide_team>;

  struct running_threads {
    void make_ready() const noexcept {}

    std::vector<std::thread> all;
  };

  explicit wide_team(const resolved_team& made)
      : door_(made.members, made.policy, "wide_team", ""), core_(made, door_) {
    for (std::size_t rank = 1; rank < made.members; ++rank) {
      threads_.all.emplace_back([this, rank] { core_.work(rank); });
    }
  }
  static resolved_team made_of(std::size_t members, bool learns, wait_policy policy) {
    resolved_team made;
    made.members = made.can_run_at_once = members;
    made.policy = policy.when_crowded(members > 2);
    made.learns = learns;
    return made;
  }
  lone_team alone() const noexcept { return core_.alone(door_); }
  bool run_loop(const loop_request& of, job& what, const loop_ends& ends) {
    return team_core::run_loop(door_, &core_, threads_, of, what, ends);
  }

  team_door door_;
  team_core core_;
  running_threads threads_;
};

}  // namespace lockstep::test
