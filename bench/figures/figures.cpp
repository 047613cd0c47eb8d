// SPDX-License-Identifier: MIT
// bench/figures/figures.cpp -- fork/join and barrier of two threads beside std and libgomp, for ./do demo; team and ring have
// all others
//
// Without arguments it prints the machine and the cases, as JSON; 'figures WORK PEER' measures one case and prints its
// nanoseconds. So each sample is a process of its own, and no peer's idle threads disturb another.
#include <barrier>
#include <cstddef>
#include <cstdio>
#include <lockstep/lockstep.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "measure.hpp"
#include "support/machine.hpp"

namespace {

constexpr std::size_t members = 2;

double barrier_of_lockstep() {
  lockstep::ranked_barrier all(members);
  return figures::time_per_operation(members, 50000, bench::placement::spread,
                                     [&](std::size_t rank) { all.arrive_and_wait(rank); });
}

double barrier_of_std() {
  std::barrier<> all(members);
  return figures::time_per_operation(members, 20000, bench::placement::spread,
                                     [&](std::size_t) { all.arrive_and_wait(); });
}

double fork_join_of_lockstep() {
  lockstep::team team(members);
  return figures::time_per_call(100000, [&] { team.run([](lockstep::member&) {}); });
}

double fork_join_of_std() {
  return figures::time_per_call(500, [] { std::thread([] {}).join(); });
}

#if defined(_OPENMP)
constexpr std::size_t operations = 20000;

double barrier_of_openmp() {
  double result = 0;
#pragma omp parallel num_threads(2)
  {
    for (std::size_t i = 0; i < figures::warm_up(operations); ++i) {
#pragma omp barrier
    }
    const figures::nanosecond_clock clock;
    for (std::size_t i = 0; i < operations; ++i) {
#pragma omp barrier
    }
#pragma omp master
    result = clock.elapsed() / static_cast<double>(operations);
  }
  return result;
}

double fork_join_of_openmp() {
  return figures::time_per_call(operations, [] {
#pragma omp parallel num_threads(2)
    {
      asm volatile("" ::: "memory");
    }
  });
}
#endif

struct measured_case {
  const char* work;
  const char* peer;
  double (*run)();
};
constexpr measured_case cases[] = {
    {"fork and join", "lockstep", fork_join_of_lockstep},
    {"fork and join", "std", fork_join_of_std},
    {"barrier", "lockstep", barrier_of_lockstep},
    {"barrier", "std", barrier_of_std},
#if defined(_OPENMP)
    {"fork and join", "OpenMP", fork_join_of_openmp},
    {"barrier", "OpenMP", barrier_of_openmp},
#endif
};

}  // namespace

int main(int argc, char** argv) {
  if (argc == 1) {
    nlohmann::ordered_json all = {{"machine", bench::describe_machine()}};
    for (const measured_case& each : cases) all["cases"].push_back({each.work, each.peer});
    std::puts(all.dump().c_str());
    return 0;
  }
  for (const measured_case& each : cases) {
    if (argc != 3 || std::string(argv[1]) != each.work || std::string(argv[2]) != each.peer)
      continue;
    std::printf("%.1f\n", each.run());
    return 0;
  }
  std::fputs("usage: figures [WORK PEER]; without arguments it lists them\n", stderr);
  return 2;
}
