// SPDX-License-Identifier: MIT
// tests/toolbox/fan_test.cpp -- phases of notifiers that run ahead
#include <lockstep/fan.hpp>

#include <gtest/gtest.h>

#include "support/starting_at.hpp"

namespace {

using lockstep::fan_out;
using lockstep::test::starting_at;

TEST(fan_phases, BOARD_1_a_notifier_may_run_ahead_by_as_many_phases_as_fit_half_the_numbers) {
  starting_at<fan_out> fan(0xFFFFFF00u, std::size_t{1}, lockstep::wait_policy());
  for (int i = 0; i < 70000; ++i) fan.notify();
  for (int i = 0; i < 70000; ++i) ASSERT_TRUE(fan.try_wait(0)) << i;
  EXPECT_FALSE(fan.try_wait(0));
}

}  // namespace
