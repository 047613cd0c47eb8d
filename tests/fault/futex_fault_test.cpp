// SPDX-License-Identifier: MIT
// tests/fault/futex_fault_test.cpp -- a bad futex, and a refused process-wide fence, lose nothing
//
// On faulty_system.hpp. The same below the seam, with the kernel's own errors: sandbox_test.cpp.
#include "platform/system.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <tuple>

#include "fault/workloads.hpp"
#include "support/effort.hpp"
#include "support/policies.hpp"

namespace {

using lockstep::test::faulty_system;
using lockstep::test::named_policy;
using lockstep::test::workload;

using parameters = std::tuple<workload, named_policy>;

class futex_fault : public testing::TestWithParam<parameters> {
 protected:
  futex_fault() { faulty_system::reset(); }
  ~futex_fault() override {
    ++tests_;
    for_no_reason_ += faulty_system::for_no_reason;
    early_ += faulty_system::early;
    late_ += faulty_system::late_wakes;
    needless_ += faulty_system::needless_wakes;
    faulty_system::reset();
  }
  static void SetUpTestSuite() { for_no_reason_ = early_ = late_ = needless_ = 0; }
  static void TearDownTestSuite() {
    std::printf(
        "%ld waits returned for no reason, %ld early; %ld wakes came late, %ld were needless\n",
        for_no_reason_, early_, late_, needless_);
    // Some workloads seldom sleep on some machines; all of them together do.
    if (tests_ >= 60) {
      EXPECT_GE(for_no_reason_ + early_ + late_ + needless_, 1000);
    }
  }

 private:
  inline static long tests_ = 0, for_no_reason_, early_, late_, needless_;
};

std::string name_of(const testing::TestParamInfo<parameters>& info) {
  return std::string(std::get<0>(info.param).name) + "_" + std::get<1>(info.param).name;
}
INSTANTIATE_TEST_SUITE_P(workloads, futex_fault,
                         testing::Combine(testing::ValuesIn(lockstep::test::all_workloads()),
                                          testing::ValuesIn(lockstep::test::crowd_safe_policies())),
                         name_of);

TEST_P(futex_fault, waits_that_return_for_no_reason_or_early_and_late_wakes_lose_nothing) {
  const auto& [work, named] = GetParam();
  faulty_system::futex_fails = true;
  // Where waits seldom sleep there is little to go wrong.
  const long enough = named.policy.is_block() ? lockstep::test::effort(400) : 1;
  constexpr int most_runs = 12;
  for (int runs = 0; runs < most_runs && faulty_system::faults() < enough; ++runs) {
    for (const std::size_t threads : {2u, 5u}) {
      EXPECT_EQ(work.run({named.policy, threads, 60, {}}), 0) << threads << " threads";
    }
  }
}

TEST(fence_fault, a_process_wide_fence_that_is_refused_every_other_time_loses_nothing) {
  faulty_system::reset();
  faulty_system::fence_fails = true;
  // The sleeper fences for both sides where sleeping is rare: uncrowded, with the default policy.
  faulty_system::cpus = 64;
  faulty_system::yields_fail = true;
  constexpr long enough = 2000;
  for (int runs = 0; runs < 100 && faulty_system::refused_fences < enough; ++runs) {
    for (const std::size_t threads : {2u, 5u}) {
      EXPECT_EQ(lockstep::test::run_all_workloads({{}, threads, 40, {}}), 0);
    }
  }
  std::printf("%ld fences refused\n", faulty_system::refused_fences.load());
  if (lockstep::detail::process_fence::prepare() ==
      lockstep::detail::process_fence::kind::asymmetric) {
    EXPECT_GE(faulty_system::refused_fences, enough / 10) << "far fewer than tried for: no power";
  }
  faulty_system::reset();
}

}  // namespace
