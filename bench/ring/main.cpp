// SPDX-License-Identifier: MIT
// bench/ring/main.cpp -- the token ring of the article on the latency between threads: how
// long a hop takes, and what a wait for the token leaves time for
#include <lockstep/lockstep.hpp>

#include "ring/results.hpp"

int main(int argc, char** argv) {
  using namespace bench::ring;
  constexpr const char* about =
      "Sends a token round a ring of threads, with condition variables, atomic flags, semaphores,\n"
      "bare futexes and lockstep's events; on one CPU, on two, and where the system puts the "
      "threads. Samples of all "
      "rows\ntake turns.\n";
  const std::size_t cpus = lockstep::usable_cpus();
  const auto most = [](const row&) { return std::size_t{5'000'000}; };
  return bench::run_rows(
      "ring", about, argc, argv, all_rows(cpus), most, run,
      [cpus](const auto& rows) { return tell(evaluate(rows, cpus), addition_ns()); });
}
