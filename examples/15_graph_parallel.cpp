// SPDX-License-Identifier: MIT
// 15_graph_parallel [workers] -- nodes that run side by side ten times
//
// 07 as a graph: a parallel block, and a node after it that waits for all of the block. The plan spreads the workers
// over the members of the team; a member that has nothing to do runs what another has not begun.
#include <lockstep/lockstep.hpp>
#include <string>
#include <vector>

#include "numbered.hpp"

int main(int argc, char** argv) {
  constexpr unsigned iterations = 10;
  numbered::arguments given(argc, argv);
  const std::size_t workers = given.number("workers", 1, 1000, 3);
  given.end();

  lockstep::graph g;
  std::vector<lockstep::graph_block> block;
  for (std::size_t rank = 0; rank < workers; ++rank) {
    const std::string name = "worker " + std::to_string(rank);
    block.push_back(g.node(name, [name](std::size_t iteration) {
      numbered::print_line("iteration " + std::to_string(iteration + 1) + " " + name);
    }));
  }
  lockstep::graph_node done = g.node("done", [](std::size_t iteration) {
    numbered::print_line("iteration " + std::to_string(iteration + 1) + " done");
  });
  g.series(g.parallel(block), done);

  lockstep::team team(workers);
  lockstep::plan plan(g, team);
  plan.run(iterations);
}
