// SPDX-License-Identifier: MIT
// tests/support/policies.hpp -- the wait policies as test parameters
//
//   INSTANTIATE_TEST_SUITE_P(policies, my_test, testing::ValuesIn(all_policies()), policy_name);
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <ostream>
#include <string>
#include <vector>

#include <lockstep/wait_policy.hpp>
#include "support/effort.hpp"

namespace lockstep::test {

struct named_policy {
  const char* name;
  wait_policy policy;

  friend std::ostream& operator<<(std::ostream& out, const named_policy& named) {
    return out << named.name;
  }
};

/// The policies that give up the CPU at some time: for tests with more threads than CPUs. In brief, sanitizers leave
/// out hybrid, which adds no stage to the others.
inline std::vector<named_policy> crowd_safe_policies() {
  std::vector<named_policy> all = {{"block", wait_policy::block()}};
  if (!(is_brief() && is_sanitized)) {
    all.push_back({"hybrid", wait_policy::hybrid(std::chrono::microseconds(2))});
  }
  all.push_back({"default", wait_policy()});
  return all;
}

inline std::vector<named_policy> all_policies() {
  std::vector<named_policy> all = crowd_safe_policies();
  all.insert(all.begin(), {"spin", wait_policy::spin()});
  return all;
}

/// The name of a test instance.
inline std::string policy_name(const testing::TestParamInfo<named_policy>& info) {
  return info.param.name;
}

}  // namespace lockstep::test
