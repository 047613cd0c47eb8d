// SPDX-License-Identifier: MIT
// tests/fault/workloads.hpp -- round trips on every class, to be run while something goes wrong
//
// Each workload lets its threads wait for each other all the time, with and without a deadline, and write
// plain data in between. It returns how much it saw that must not be: a stale or torn value, a wait that
// returned for nothing. A lost wake-up is a hang, which the test's timeout catches.
#pragma once

#include <cstddef>
#include <functional>
#include <ostream>
#include <vector>

#include <lockstep/wait_policy.hpp>

namespace lockstep::test {

struct setting {
  wait_policy policy;
  std::size_t threads = 2;  // at least 2
  int rounds = 100;
  std::function<void(std::size_t)>
      on_start;  // on each thread that waits, with its rank; may be empty
};

struct workload {
  const char* name;
  long (*run)(const setting&);

  friend std::ostream& operator<<(std::ostream& out, const workload& self) {
    return out << self.name;
  }
};

/// One for each class of sync/ and team/.
const std::vector<workload>& all_workloads();

/// Runs them all; what they saw together.
inline long run_all_workloads(const setting& with) {
  long wrong = 0;
  for (const workload& each : all_workloads()) wrong += each.run(with);
  return wrong;
}

}  // namespace lockstep::test
