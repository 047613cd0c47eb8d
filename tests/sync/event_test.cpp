// SPDX-License-Identifier: MIT
// tests/sync/event_test.cpp -- what event has beyond the notify/wait contract
#include <lockstep/event.hpp>

#include <gtest/gtest.h>

#include <cstring>
#include <type_traits>

#include "support/policies.hpp"
#include "support/starting_at.hpp"

namespace {

static_assert(sizeof(lockstep::event) == 16, "packed");
static_assert(!std::is_copy_constructible<lockstep::event>::value, "not copyable");
static_assert(!std::is_move_constructible<lockstep::event>::value, "not movable");

constinit lockstep::event static_event;

class event_with_policy : public testing::TestWithParam<lockstep::test::named_policy> {};
INSTANTIATE_TEST_SUITE_P(policies, event_with_policy,
                         testing::ValuesIn(lockstep::test::all_policies()));

TEST(event, zero_initialised_storage_is_a_working_event) {
  alignas(lockstep::event) unsigned char zeros[sizeof(lockstep::event)] = {};
  EXPECT_EQ(std::memcmp(static_cast<const void*>(&static_event), zeros, sizeof zeros), 0);
  static_event.notify();
  EXPECT_TRUE(static_event.wait());
  EXPECT_FALSE(static_event.try_wait());
}

TEST_P(event_with_policy, EVENT_1_a_notifier_far_ahead_loses_nothing) {
  lockstep::test::starting_at<lockstep::event> ready(0x3FFFFF00u, GetParam().policy);
  for (int i = 0; i < 1000; ++i) ready.notify();
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(ready.try_wait());
  EXPECT_FALSE(ready.try_wait());
}

}  // namespace
