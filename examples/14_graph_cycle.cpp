// SPDX-License-Identifier: MIT
// 14_graph_cycle [tasks] [cycles] -- tasks in turn, for a number of cycles or until Ctrl-C
//
// 05 and 06 as a graph: a series of nodes, each on a member of its own. Without a number of cycles it runs until the
// caller says so: run_until() asks before each iteration, so a cycle that has begun is completed. The counter is plain
// memory: what a node does happens before the nodes after it.
#include <atomic>
#include <csignal>
#include <lockstep/lockstep.hpp>
#include <string>
#include <vector>

#include "numbered.hpp"

namespace {

std::atomic<bool> stop_requested(false);

// A signal handler may store to a lock-free atomic. NOLINTNEXTLINE(bugprone-signal-handler)
extern "C" void request_stop(int) { stop_requested.store(true); }

}  // namespace

int main(int argc, char** argv) {
  numbered::arguments given(argc, argv);
  const std::size_t tasks = given.number("tasks", 1, 1000, 5);
  const unsigned long endless = 0;
  const unsigned long cycles = given.number("cycles", 1, 100000000, endless);
  given.end();
  std::signal(SIGINT, request_stop);

  lockstep::team team(tasks);
  unsigned long runs = 0;

  lockstep::graph g;
  std::vector<lockstep::graph_block> ring;
  for (std::size_t task = 0; task < tasks; ++task) {
    const std::string name = "task " + std::to_string(task + 1);
    ring.push_back(g.node(name, [&runs, name](std::size_t cycle) {
                      numbered::print_line("cycle " + std::to_string(cycle + 1) + " " + name);
                      ++runs;
                    }).pin(task));
  }
  g.series(ring);

  lockstep::plan plan(g, team);
  if (cycles == endless) {
    plan.run_until([] { return stop_requested.load(); });
  } else {
    plan.run(cycles);
  }
  numbered::print_line(std::to_string(runs) + " runs");
}
