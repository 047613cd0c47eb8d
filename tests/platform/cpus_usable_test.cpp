// SPDX-License-Identifier: MIT
// tests/platform/cpus_usable_test.cpp -- affinity and quota of the running system both count
#include "platform/cpus.hpp"
#include "platform/system.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include <lockstep/detail/platform/this_thread.hpp>
#include "fault/child_process.hpp"
#include "support/quota_group.hpp"
#include "support/threads.hpp"

namespace {

using lockstep::detail::affinity;
using lockstep::detail::count_usable_cpus;
using lockstep::test::in_child;
using lockstep::test::quota_group;

TEST(usable_cpus, are_at_least_one_and_at_most_those_of_the_affinity_mask) {
  EXPECT_GE(count_usable_cpus(), 1u);
  EXPECT_LE(count_usable_cpus(), affinity().size());
  EXPECT_EQ(lockstep::detail::usable_cpus(), lockstep::detail::usable_cpus());
}

TEST(usable_cpus, affinity_is_ascending_and_holds_the_cpu_we_run_on) {
  const std::vector<unsigned> cpus = affinity();
  EXPECT_TRUE(std::is_sorted(cpus.begin(), cpus.end()));
  EXPECT_EQ(std::adjacent_find(cpus.begin(), cpus.end()), cpus.end());
  EXPECT_EQ(std::count(cpus.begin(), cpus.end(), static_cast<unsigned>(sched_getcpu())), 1);
}

TEST(usable_cpus, a_thread_with_one_cpu_counts_one_afresh_and_the_process_keeps_its_count) {
  const unsigned of_process = lockstep::detail::usable_cpus();
  lockstep::test::run_threads(1, [&](unsigned) {
    ASSERT_TRUE(lockstep::detail::pin_this_thread(affinity().back()));
    EXPECT_EQ(count_usable_cpus(), 1u);
    EXPECT_EQ(lockstep::detail::usable_cpus(), of_process);
  });
  EXPECT_EQ(lockstep::detail::usable_cpus(), of_process);
}

struct quota_case {
  const char* quota;  // microseconds of 100 000
  unsigned cpus;
};
class usable_cpus_in_a_group : public testing::TestWithParam<quota_case> {};
INSTANTIATE_TEST_SUITE_P(quotas, usable_cpus_in_a_group,
                         testing::Values(quota_case{"150000", 2}, quota_case{"100000", 1},
                                         quota_case{"50000", 1}, quota_case{"200000", 2},
                                         quota_case{"101000", 2}, quota_case{"100000000", 1000}),
                         [](const auto& the) { return std::string("quota_") + the.param.quota; });

TEST_P(usable_cpus_in_a_group, are_cut_by_its_quota_rounded_up) {
  const unsigned without = count_usable_cpus();
  const quota_group group(GetParam().quota);
  const auto in_group = [&](auto f) { return in_child([&] { return group.enter() ? f() : 255; }); };
  // A group that we may not enter is of no use.
  if (!group.made() || in_group([] { return 0; }) != 0) {
    GTEST_SKIP() << "no control group can be made here";
  }
  const int counted =
      in_group([] { return static_cast<int>(std::min(count_usable_cpus(), 254u)); });
  EXPECT_EQ(counted, static_cast<int>(std::min({GetParam().cpus, without, 254u})));
}

}  // namespace
