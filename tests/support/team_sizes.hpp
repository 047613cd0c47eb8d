// SPDX-License-Identifier: MIT
// tests/support/team_sizes.hpp -- teams as test parameters: every policy, sizes on both sides of each limit
//
//   INSTANTIATE_TEST_SUITE_P(teams, my_test, testing::ValuesIn(all_teams()), team_name);
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include <lockstep/build_info.hpp>
#include "support/effort.hpp"
#include "support/policies.hpp"

namespace lockstep::test {

using namespace detail;

using team_parameters = std::tuple<named_policy, std::size_t>;

/// 8 and 9 members meet in different barriers; 16 are a crowd on most machines that run tests. In brief, the default
/// policy has all sizes, the others those next to a limit. A crowd of spinners measures the scheduler, and sanitizers
/// slow it down most: so in brief spinners are at most 3.
inline std::vector<std::size_t> team_sizes(wait_policy policy, bool is_default) {
  if (policy.is_spin())
    return is_brief() ? std::vector<std::size_t>{1, 2, 3} : std::vector<std::size_t>{1, 2, 3, 9};
  if (is_brief() && !is_default) return {2, 9};
  return {1, 2, 3, 4, 8, 9, 16};
}

inline std::vector<team_parameters> all_teams() {
  std::vector<team_parameters> all;
  for (const named_policy& named : all_policies()) {
    for (const std::size_t size : team_sizes(named.policy, std::string(named.name) == "default")) {
      all.emplace_back(named, size);
    }
  }
  return all;
}

inline std::string team_name(const testing::TestParamInfo<team_parameters>& info) {
  return std::string(std::get<0>(info.param).name) + '_' + std::to_string(std::get<1>(info.param));
}

class each_team : public testing::TestWithParam<team_parameters> {
 protected:
  wait_policy policy() const { return std::get<0>(GetParam()).policy; }
  std::size_t members() const { return std::get<1>(GetParam()); }
  /// Spinning crowds pass a time slice for every hand-over.
  bool is_slow() const { return policy().is_spin() && members() > usable_cpus(); }
  /// How often to do something that is wanted `plenty` times.
  int times(int plenty) const {
    return is_slow() ? 2 : policy().is_spin() ? effort(20) : effort(plenty);
  }
};

/// Lets other members overtake, at a different place in each step: 0 to 3 yields.
inline void dawdle(std::size_t rank, std::size_t step) {
  const std::uint64_t mixed = (rank * 1000003u + step) * std::uint64_t{0x9e3779b97f4a7c15};
  for (std::uint64_t left = mixed >> 62; left > 0; --left) std::this_thread::yield();
}

}  // namespace lockstep::test
