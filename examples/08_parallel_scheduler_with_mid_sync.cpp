// SPDX-License-Identifier: MIT
// 08_parallel_scheduler_with_mid_sync [workers] -- workers that align twice in each inner iteration
//
// Ten iterations as in 07; in each, every worker runs an inner loop of four. No worker begins part 2
// before all have ended part 1, nor the next part 1 before all have ended part 2. The barrier sees
// to that, as __syncthreads() does in CUDA.
#include <lockstep/lockstep.hpp>
#include <lockstep/toolbox.hpp>
#include <string>
#include <thread>
#include <vector>

#include "numbered.hpp"

int main(int argc, char** argv) {
  constexpr unsigned iterations = 10;
  constexpr unsigned inner_iterations = 4;
  numbered::arguments given(argc, argv);
  const std::size_t workers = given.number("workers", 1, 1000, 3);
  given.end();

  lockstep::fan_out start(workers);
  lockstep::fan_in finish(workers);
  lockstep::ranked_barrier aligned(workers);
  unsigned outer = 0;

  const auto part = [&](std::size_t rank, unsigned inner, unsigned number) {
    numbered::print_line("outer " + std::to_string(outer) + " inner " + std::to_string(inner) +
                         " part " + std::to_string(number) + " worker " + std::to_string(rank));
  };
  const auto work = [&](std::size_t rank) {
    while (start.wait(rank)) {
      for (unsigned inner = 1; inner <= inner_iterations; ++inner) {
        part(rank, inner, 1);
        aligned.arrive_and_wait(rank);
        part(rank, inner, 2);
        aligned.arrive_and_wait(rank);
      }
      finish.notify(rank);
    }
  };
  std::vector<std::thread> threads;
  threads.reserve(workers);
  for (std::size_t rank = 0; rank < workers; ++rank) threads.emplace_back(work, rank);

  for (outer = 1; outer <= iterations; ++outer) {
    start.notify();
    finish.wait();
  }
  start.terminate();
  for (std::thread& each : threads) each.join();
}
