// SPDX-License-Identifier: MIT
// bench/ring/main.cpp -- the token ring of the article on the latency between threads: how
// long a hop takes, and what a wait for the token leaves time for
#include <lockstep/lockstep.hpp>

#include "ring/rows.hpp"

int main(int argc, char** argv) {
  constexpr const char* about =
      "Sends a token round a ring of threads, with condition variables, atomic flags, semaphores,\n"
      "bare futexes and lockstep's events; on one CPU, on two, and where the system puts the "
      "threads. Samples of all "
      "rows\ntake turns.\n";
  constexpr const char* operation =
      "Names      quantity/threads/placement/mechanism; two-cpus and one-cpu are bound.\n"
      "Operations of a sample are laps; the time is that of a hop. Rows that poll and have more\n"
      "           threads than CPUs wait for time slices.\n"
      "Additions  floating-point, each depending on the one before, done by a thread between "
      "passing\n"
      "           the token on and getting it again: what a wait leaves time for.\n";
  return bench::run_rows("ring", about, operation, argc, argv,
                         bench::ring::all_rows(lockstep::usable_cpus()));
}
