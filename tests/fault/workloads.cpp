// SPDX-License-Identifier: MIT
// tests/fault/workloads.cpp -- see workloads.hpp
#include "fault/workloads.hpp"

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>

namespace lockstep::test {
namespace {

/// A fault is the same to all constructs of a region: they wait for each other in few ways.
bool is_chosen(const stress::scenario& of_a_team) {
  for (const char* const each : {"team_callers", "team_sync", "joinable_thread"}) {
    if (std::strcmp(each, of_a_team.name) == 0) return true;
  }
  return false;
}

std::vector<workload> chosen_scenarios() {
  using namespace stress;
  std::vector<workload> all;
  for (const auto unit :
       {notify_scenarios, barrier_scenarios, lock_scenarios, opening_scenarios, team_scenarios}) {
    for (const scenario& each : unit()) {
      if (unit != team_scenarios || is_chosen(each)) all.push_back({each});
    }
  }
  return all;
}

}  // namespace

const std::vector<workload>& all_workloads() {
  static const std::vector<workload> all = chosen_scenarios();
  return all;
}

long workload::run(const setting& with) const {
  static std::atomic<std::uint64_t> runs{0};
  stress::crew threads(with.threads, with.on_start);
  stress::round one(threads, with.policy, ++runs, with.steps);
  try {
    scenario::run(one);
  } catch (const stress::broken& error) {
    std::printf("%s, seed %lu: %s\n", name, static_cast<unsigned long>(one.seed()), error.what());
    return 1;
  }
  return 0;
}

}  // namespace lockstep::test
