// SPDX-License-Identifier: MIT
// 13_graph_oscillator [rounds] -- two tasks that alternate, as a graph of two nodes
//
// 04 wires this by hand, with two threads and two events. Here it is one edge: task 2 comes after task 1. Iterations of
// a graph do not overlap, so task 1 of a round comes after task 2 of the round before. A plan would give both nodes to
// one member, because a chain needs no waits there. pin() gives each to a member of its own, as in 04.
#include <lockstep/lockstep.hpp>
#include <thread>

#include "numbered.hpp"

int main(int argc, char** argv) {
  numbered::arguments given(argc, argv);
  const unsigned long rounds = given.number("rounds", 1, 100000, 10);
  given.end();

  lockstep::team team(2);
  std::thread::id thread1;
  std::thread::id thread2;

  // [oscillator]
  lockstep::graph g;
  lockstep::graph_node task1 = g.node("task 1", [&] {
    numbered::print_line("task 1");
    thread1 = std::this_thread::get_id();
  });
  lockstep::graph_node task2 = g.node("task 2", [&] {
    numbered::print_line("task 2");
    thread2 = std::this_thread::get_id();
  });
  g.edge(task1.pin(0), task2.pin(1));

  lockstep::plan plan(g, team);
  plan.run(rounds);
  // [/oscillator]

  return thread1 != thread2 && thread1 == std::this_thread::get_id() ? 0 : 1;
}
