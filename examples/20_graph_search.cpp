// SPDX-License-Identifier: MIT
// 20_graph_search [members] [number] -- several nodes look for something, and the run ends when it is found
//
// Nodes side by side look for the smallest divisor of a number: in each iteration each of them tests a range of its own.
// Once one has found a divisor, the node after them stops the plan. So run() returns false, which is no error here.
#include <lockstep/lockstep.hpp>
#include <string>
#include <vector>

#include "numbered.hpp"

namespace {

constexpr std::size_t searchers = 8, range = 10000;

/// The smallest divisor in [first, last), or 0.
unsigned long divisor_in(unsigned long first, unsigned long last, unsigned long number) {
  for (unsigned long each = first; each < last; ++each) {
    if (number % each == 0) return each;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  numbered::arguments given(argc, argv);
  const std::size_t members = given.number("members", 1, 1000, lockstep::usable_cpus());
  const unsigned long number = given.number("number", 2, 1000000000000, 999962000357);
  given.end();

  std::vector<unsigned long> found(searchers, 0);
  lockstep::team team(members);

  // [search]
  lockstep::graph g;
  lockstep::plan* search = nullptr;
  const auto give_out = g.node("give out", [] {});
  const auto gather = g.node("gather", [&] {
    for (const unsigned long divisor : found) {
      if (divisor != 0) search->request_stop();
    }
  });
  for (std::size_t k = 0; k < searchers; ++k) {
    const auto look = g.node("look " + std::to_string(k), [&, k](std::size_t i) {
      const unsigned long first = 2 + (i * searchers + k) * range;
      found[k] = divisor_in(first, first + range, number);
    });
    g.edge(give_out, look).edge(look, gather);
  }
  lockstep::plan plan(g, team);
  search = &plan;
  const bool is_complete = plan.run(number / (searchers * range) + 1);
  // [/search]

  for (const unsigned long divisor : found) {
    if (divisor == 0) continue;
    numbered::print_line(std::to_string(divisor));
    break;
  }
  numbered::print_line(is_complete ? "looked everywhere" : "stopped");
}
