// SPDX-License-Identifier: MIT
// 23_guide [members] [cells] -- the program of docs/guide.md: heat in a rod whose left end is hot
//
// The page has the code between the marks, word for word: scripts/check/openmp_page.py compares the two.
#include <cmath>
#include <cstddef>
#include <functional>
#include <lockstep/lockstep.hpp>
#include <string>
#include <vector>

#include "numbered.hpp"

namespace {

void print(const std::string& what, double value) {
  numbered::print_line(what + " " + std::to_string(static_cast<long>(std::floor(value))));
}

}  // namespace

int main(int argc, char** argv) {
  numbered::arguments given(argc, argv);
  const std::size_t members = given.number("members", 1, 1000, lockstep::usable_cpus());
  const std::size_t cells = given.number("cells", 3, 1000000, 100);
  given.end();
  const auto add = std::plus<double>();

  // [loop]
  lockstep::team team(members);  // without a number: one thread for each CPU that may be used

  std::vector<double> now(cells), next(cells);
  now[0] = next[0] = 100;  // the left end is hot
  const auto smooth = [&](std::size_t i) { next[i] = (now[i - 1] + now[i + 1]) / 2; };
  for (int step = 0; step < 1000; ++step) {
    team.for_each(1, cells - 1, smooth);
    now.swap(next);
  }
  // [/loop]

  // [reduction]
  const double heat = team.reduce_each(0, cells, 0.0, [&](std::size_t i) { return now[i]; }, add);
  // [/reduction]
  print("heat", heat);

  // [region]
  team.run([&](lockstep::member& me) {
    double change = 100;
    for (int step = 0; change > 0.01; ++step) {
      me.for_each(lockstep::nowait, 1, cells - 1, smooth);   // goes on at once
      me.masked([&] { next[0] = 100 + 1.0 / (step + 1); });  // on member 0
      me.sync_threads();  // from here on all of `next` is written
      change = me.reduce_each(
          1, cells - 1, 0.0, [&](std::size_t i) { return std::abs(next[i] - now[i]); }, add);
      me.single([&] { now.swap(next); });  // one member does it, and all wait until it has
    }
  });
  // [/region]
  print("middle", now[cells / 2] + 0.5);

  std::vector<double> heats;
  // [graph]
  lockstep::buffer<std::vector<double>, 4> rods;  // places for 4 iterations
  lockstep::graph g;
  auto simulate = g.node("simulate", [&](std::size_t iteration) {
    now[0] = next[0] = 100 + static_cast<double>(iteration);
    for (std::size_t i = 1; i + 1 < cells; ++i) smooth(i);
    now.swap(next);
    rods[iteration] = now;
  });
  auto measure = g.node("measure", [&](std::size_t iteration) {
    double sum = 0;
    for (const double each : rods[iteration]) sum += each;
    heats.push_back(sum);
  });
  g.channel(simulate, measure, rods);
  lockstep::plan plan(g, team);
  plan.run(50);  // 50 iterations
  // [/graph]
  numbered::print_line("measured " + std::to_string(heats.size()));
  print("hottest", now[0]);
}
