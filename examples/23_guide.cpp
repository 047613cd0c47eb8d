// SPDX-License-Identifier: MIT
// 23_guide -- the program of docs/guide.md: heat in a rod whose left end is hot
//
// The page has the code between the marks, word for word: scripts/check/openmp_page.py compares the two. Typed from there
// it is this program, so it takes no arguments and uses nothing of the other examples. The first piece has two parts.
#include <cmath>
#include <functional>

// [first]
#include <cstdio>
#include <lockstep/lockstep.hpp>
#include <vector>

int main() {
  const std::size_t cells = 100;
  lockstep::team team;  // one thread for each CPU that may be used; team(4) has four

  std::vector<double> now(cells), next(cells);
  now[0] = next[0] = 100;  // the left end is hot
  const auto smooth = [&](std::size_t i) { next[i] = (now[i - 1] + now[i + 1]) / 2; };
  for (int step = 0; step < 1000; ++step) {
    team.for_each(1, cells - 1, smooth);
    now.swap(next);
  }
  std::printf("second cell %.1f\n", now[1]);
  // [/first]

  // [reduction]
  const std::plus<double> add{};
  const double heat = team.reduce_each(0, cells, 0.0, [&](std::size_t i) { return now[i]; }, add);
  std::printf("heat %.3f\n", heat);
  // [/reduction]

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
  std::printf("middle %.0f\n", now[cells / 2]);
  // [/region]

  // [graph]
  lockstep::buffer<std::vector<double>, 4> rods;  // places for 4 iterations
  std::vector<double> heats;
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
  std::printf("measured %zu, hottest %.0f\n", heats.size(), now[0]);
  // [/graph]
  // [first]
}
// [/first]
