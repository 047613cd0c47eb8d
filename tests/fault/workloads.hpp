// SPDX-License-Identifier: MIT
// tests/fault/workloads.hpp -- the scenarios of the stress test, to be run while something goes wrong
//
// Each lets its threads wait for each other all the time, with and without a deadline, and write plain data in
// between: tests/stress/round.hpp. A lost wake-up is a hang, which the test's timeout catches.
#pragma once

#include <cstddef>
#include <functional>
#include <ostream>
#include <vector>

#include <lockstep/wait_policy.hpp>

#include "stress/round.hpp"

namespace lockstep::test {

struct setting {
  wait_policy policy;
  std::size_t threads = 2;  ///< at least 2
  std::size_t steps = 100;  ///< of each thread, at most
  /// On each thread of the scenario, with its rank, before it does anything else; may be empty.
  std::function<void(std::size_t)> on_start;
};

struct workload : stress::scenario {
  /// How much it saw that must not be: 0 or 1; what it was is printed.
  long run(const setting& with) const;

  friend std::ostream& operator<<(std::ostream& out, const workload& self) {
    return out << self.name;
  }
};

/// Those of all classes, and some of the team's.
const std::vector<workload>& all_workloads();

/// Runs them all; what they saw together.
inline long run_all_workloads(const setting& with) {
  long wrong = 0;
  for (const workload& each : all_workloads()) wrong += each.run(with);
  return wrong;
}

}  // namespace lockstep::test
