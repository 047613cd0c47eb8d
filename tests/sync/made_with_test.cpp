// SPDX-License-Identifier: MIT
// tests/sync/made_with_test.cpp -- objects tell what they were made with, and void forms are complete
#include <lockstep/lockstep.hpp>
#include <lockstep/toolbox.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <system_error>

#include "support/policies.hpp"

namespace {

using lockstep::deadline;
using lockstep::future_set;
using lockstep::wait_policy;
using lockstep::wait_status;

class made_with : public testing::TestWithParam<lockstep::test::named_policy> {};
INSTANTIATE_TEST_SUITE_P(policies, made_with, testing::ValuesIn(lockstep::test::all_policies()),
                         lockstep::test::policy_name);

TEST_P(made_with, a_policy_an_object_tells_it) {
  const wait_policy policy = GetParam().policy;
  EXPECT_EQ(lockstep::auto_reset_event(policy).policy(), policy);
  EXPECT_EQ(lockstep::condition_variable(policy).policy(), policy);
  EXPECT_EQ(lockstep::eventual<int>(policy).policy(), policy);
  EXPECT_EQ(lockstep::eventual<void>(policy).policy(), policy);
  EXPECT_EQ(future_set<int>(1, nullptr, policy).policy(), policy);
  EXPECT_EQ(future_set<void>(1, nullptr, policy).policy(), policy);
  EXPECT_EQ(lockstep::latch(1, policy).policy(), policy);
  EXPECT_EQ(lockstep::mailbox(2, policy).policy(), policy);
  EXPECT_EQ(lockstep::manual_reset_event(policy).policy(), policy);
  EXPECT_EQ(lockstep::mutex(policy).policy(), policy);
  EXPECT_EQ(lockstep::recursive_mutex(policy).policy(), policy);
  EXPECT_EQ(lockstep::semaphore(1, policy).policy(), policy);
  EXPECT_EQ(lockstep::shared_mutex(policy).policy(), policy);
}

TEST_P(made_with, a_policy_a_barrier_tells_it_and_whether_it_is_crowded) {
  const wait_policy policy = GetParam().policy;
  const unsigned cpus = lockstep::detail::usable_cpus();
  for (const unsigned participants : {1u, cpus, cpus + 1}) {
    const wait_policy expected = policy.when_crowded(participants > cpus);
    EXPECT_EQ(lockstep::ranked_barrier(participants, policy).policy(), expected) << participants;
  }
}

TEST(future_set_void, waits_until_a_deadline_and_begins_again_after_reset) {
  future_set<void> set(2);
  set.contribute();
  EXPECT_EQ(set.wait_until(deadline::after(std::chrono::nanoseconds(1))), wait_status::timed_out);
  set.contribute();
  EXPECT_EQ(set.wait_until(deadline::never()), wait_status::ready);
  set.reset();
  EXPECT_FALSE(set.is_ready());
  EXPECT_EQ(set.contribute(), 0u);
}

TEST(future_set_void, without_contributions_is_ready_again_after_reset) {
  int calls = 0;
  future_set<void> none(0, [&] { ++calls; });
  EXPECT_EQ(calls, 1);
  none.reset();
  EXPECT_TRUE(none.is_ready());
  EXPECT_EQ(calls, 2);
}

}  // namespace
