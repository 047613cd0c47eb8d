// SPDX-License-Identifier: MIT
// 16_graph_mid_sync [workers] -- a node that all members run together, and in which they align
//
// 08 as a graph: one team-wide node. Its function runs on every member, and has all of lockstep::member there.
// No member begins part 2 before all have ended part 1, nor the next part 1 before all have ended part 2.
#include <lockstep/lockstep.hpp>
#include <string>

#include "numbered.hpp"

int main(int argc, char** argv) {
  constexpr unsigned iterations = 10;
  constexpr unsigned inner_iterations = 4;
  numbered::arguments given(argc, argv);
  const std::size_t workers = given.number("workers", 1, 1000, 3);
  given.end();

  const auto part = [](std::size_t rank, std::size_t outer, unsigned inner, unsigned number) {
    numbered::print_line("outer " + std::to_string(outer + 1) + " inner " + std::to_string(inner) +
                         " part " + std::to_string(number) + " worker " + std::to_string(rank));
  };

  lockstep::graph g;
  // [team_wide]
  g.node("workers", lockstep::graph::whole_team, [&](lockstep::member& me, std::size_t outer) {
    for (unsigned inner = 1; inner <= inner_iterations; ++inner) {
      part(me.rank(), outer, inner, 1);
      me.sync_threads();
      part(me.rank(), outer, inner, 2);
      me.sync_threads();
    }
  });
  // [/team_wide]

  lockstep::team team(workers);
  lockstep::plan plan(g, team);
  plan.run(iterations);
}
