// SPDX-License-Identifier: MIT
// bench/objects/main.cpp -- the benchmark of Argobots' pull request #306: mutex, condition
// variable and barrier, with little contention, on all CPUs and oversubscribed
#include <lockstep/lockstep.hpp>

#include "objects/rows.hpp"

int main(int argc, char** argv) {
  constexpr const char* about =
      "Measures locking, a chain of condition broadcasts, and barriers, for pthread, std, lockstep "
      "and\nthe libraries found at build time. Samples of all rows take turns.\n";
  constexpr const char* operation =
      "Operations are the repeats of one thread: with N threads on a mutex, N locks and unlocks; "
      "in\n           the condition chain, one count and broadcast; one barrier.\n";
  return bench::run_rows("objects", about, operation, argc, argv,
                         bench::objects::all_rows(lockstep::usable_cpus()));
}
