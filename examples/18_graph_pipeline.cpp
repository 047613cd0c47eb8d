// SPDX-License-Identifier: MIT
// 18_graph_pipeline [members] [blocks] -- iterations that overlap, and a node that is not always run
//
// Blocks of numbers are made, tested, repaired if need be, and added up. A block may be made while the block before it is
// still tested, so the blocks are kept in a buffer of three. Feedback says that no more than three are on the way:
// making block i waits until block i - 3 is added up. Every fifth block holds a number that is no multiple of its own.
#include <array>
#include <lockstep/lockstep.hpp>
#include <numeric>
#include <string>
#include <vector>

#include "numbered.hpp"

namespace {

constexpr std::size_t numbers = 64;
using block = std::array<std::size_t, numbers>;

}  // namespace

int main(int argc, char** argv) {
  numbered::arguments given(argc, argv);
  const std::size_t members = given.number("members", 1, 1000, lockstep::usable_cpus());
  const std::size_t blocks = given.number("blocks", 1, 1000000, 10);
  given.end();

  std::vector<std::size_t> sums;
  std::size_t repaired = 0;
  sums.reserve(blocks);

  // [pipeline]
  lockstep::graph g;
  lockstep::buffer<block, 3> on_the_way;
  auto make = g.node("make", [&](std::size_t i) {
    for (std::size_t k = 0; k < numbers; ++k) on_the_way[i][k] = i * k;
    if (i % 5 == 4) on_the_way[i][i % numbers] += 1;
  });
  auto test = g.node("test", [&](std::size_t i) {
    for (std::size_t k = 0; k < numbers; ++k) {
      if (on_the_way[i][k] != i * k) return true;
    }
    return false;
  });
  auto repair = g.node("repair", [&](std::size_t i) {
    on_the_way[i][i % numbers] -= 1;
    ++repaired;
  });
  auto add_up = g.node("add up", [&](std::size_t i) {
    const block& it = on_the_way[i];
    sums.push_back(std::accumulate(it.begin(), it.end(), std::size_t{0}));
  });
  g.edge_if(test, repair).edge(repair, add_up);
  g.channel(make, g.series(test, add_up),
            on_the_way);  // `make` is up to 3 blocks ahead of `add_up`
  // [/pipeline]

  lockstep::team team(members);
  lockstep::plan plan(g, team);
  plan.run(blocks);

  for (const std::size_t sum : sums) numbered::print_line("sum " + std::to_string(sum));
  numbered::print_line("repaired " + std::to_string(repaired));
}
