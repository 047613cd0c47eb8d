// SPDX-License-Identifier: MIT
// 06_cycle_scheduler_finite [tasks] -- tasks in turn, for ten cycles
//
// As in 05, but every task knows how often it runs, so there is nothing to terminate. The counter
// is plain memory: what a task writes before notify() is visible after the next task's wait().
#include <lockstep/lockstep.hpp>
#include <string>
#include <thread>
#include <vector>

#include "numbered.hpp"

int main(int argc, char** argv) {
  constexpr unsigned cycles = 10;
  numbered::arguments given(argc, argv);
  const std::size_t tasks = given.number("tasks", 1, 1000, 5);
  given.end();

  std::vector<lockstep::event> turn(tasks);
  unsigned long runs = 0;

  const auto play = [&](std::size_t task) {
    for (unsigned cycle = 1; cycle <= cycles; ++cycle) {
      turn[task].wait();
      numbered::print_line("cycle " + std::to_string(cycle) + " task " + std::to_string(task + 1));
      ++runs;
      turn[(task + 1) % tasks].notify();
    }
  };
  std::vector<std::thread> threads;
  threads.reserve(tasks);
  for (std::size_t task = 0; task < tasks; ++task) threads.emplace_back(play, task);
  turn[0].notify();
  for (std::thread& each : threads) each.join();

  numbered::print_line(std::to_string(runs) + " runs");
}
