// SPDX-License-Identifier: MIT
// 07_parallel_scheduler [workers] -- workers run side by side ten times, by fan_out and fan_in
//
// One fan_out.notify() starts all workers; one fan_in.wait() returns when all have reported. The
// iteration is plain memory, written while no worker runs. A team does all this for you: 09_team.
#include <lockstep/lockstep.hpp>
#include <lockstep/toolbox.hpp>
#include <string>
#include <thread>
#include <vector>

#include "numbered.hpp"

int main(int argc, char** argv) {
  constexpr unsigned iterations = 10;
  numbered::arguments given(argc, argv);
  const std::size_t workers = given.number("workers", 1, 1000, 3);
  given.end();

  lockstep::fan_out start(workers);
  lockstep::fan_in finish(workers);
  unsigned iteration = 0;

  const auto work = [&](std::size_t rank) {
    while (start.wait(rank)) {
      numbered::print_line("iteration " + std::to_string(iteration) + " worker " +
                           std::to_string(rank));
      finish.notify(rank);
    }
  };
  std::vector<std::thread> threads;
  threads.reserve(workers);
  for (std::size_t rank = 0; rank < workers; ++rank) threads.emplace_back(work, rank);

  for (iteration = 1; iteration <= iterations; ++iteration) {
    start.notify();
    finish.wait();
    numbered::print_line("iteration " + std::to_string(iteration) + " done");
  }
  start.terminate();
  for (std::thread& each : threads) each.join();
}
