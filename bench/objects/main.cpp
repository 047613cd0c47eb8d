// SPDX-License-Identifier: MIT
// bench/objects/main.cpp -- the benchmark of Argobots' pull request #306: mutex, condition
// variable and barrier, with little contention, on all CPUs and oversubscribed
#include <lockstep/lockstep.hpp>

#include "objects/results.hpp"

int main(int argc, char** argv) {
  using namespace bench::objects;
  constexpr const char* about =
      "Measures locking, a chain of condition broadcasts, and barriers, for pthread, std, lockstep "
      "and\nthe libraries found at build time. Samples of all rows take turns.\n";
  const auto most = [](const row&) { return std::size_t{10'000'000}; };
  const auto take = [](const row& which, std::size_t repeats) {
    return bench::sample{repeats, run(which, repeats)};
  };
  return bench::run_rows("objects", about, argc, argv, all_rows(lockstep::usable_cpus()), most,
                         take, [](const auto& rows) { return tell(evaluate(rows)); });
}
