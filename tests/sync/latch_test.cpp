// SPDX-License-Identifier: MIT
// tests/sync/latch_test.cpp -- a latch opens once, when it has been counted down
#include <lockstep/latch.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>
#include <type_traits>

#include "support/message_of.hpp"

namespace {

using lockstep::latch;
using lockstep::wait_status;

static_assert(sizeof(latch) == 8, "packed");
static_assert(!std::is_copy_constructible<latch>::value, "not copyable");
static_assert(!std::is_move_constructible<latch>::value, "not movable");

constinit latch static_latch(1);
constinit latch open_latch(0);

TEST(latch, a_count_that_cannot_be_is_refused_with_its_value) {
  const auto message_of = [](std::ptrdiff_t expected) {
    return lockstep::test::message_of<std::invalid_argument>([&] { latch object(expected); });
  };
  EXPECT_EQ(message_of(-1), "lockstep::latch: count -1 given, must be 0 to 2147483647");
  EXPECT_EQ(message_of(latch::max() + 1),
            "lockstep::latch: count 2147483648 given, must be 0 to 2147483647");
  EXPECT_EQ(message_of(0), "no exception");
}

TEST(latch, LATCH_1_the_largest_count_opens_at_zero_and_not_before) {
  latch object(latch::max());
  object.count_down(latch::max() - 1);
  EXPECT_FALSE(object.try_wait());
  EXPECT_EQ(object.wait_for(std::chrono::nanoseconds(1)), wait_status::timed_out);
  object.count_down();
  EXPECT_TRUE(object.try_wait());
}

TEST(latch, LATCH_1_it_stays_open_for_every_kind_of_wait) {
  EXPECT_FALSE(static_latch.try_wait());
  static_latch.count_down();
  for (const latch* each : {&static_latch, &open_latch}) {
    each->wait();
    EXPECT_TRUE(each->try_wait());
    EXPECT_EQ(each->wait_for(std::chrono::seconds(0)), wait_status::ready);
    EXPECT_EQ(each->wait_until(std::chrono::steady_clock::time_point()), wait_status::ready);
    EXPECT_EQ(each->wait_until(lockstep::deadline::never()), wait_status::ready);
  }
}

TEST(latch_misuse, counting_below_zero_is_reported_with_the_numbers) {
  if (!lockstep::detail::misuse::diagnosed) GTEST_SKIP() << "misuse is not diagnosed in this build";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(latch(2).count_down(3),
               "lockstep::latch at .*count_down\\(3\\) by .* while 2 are left");
  EXPECT_DEATH(latch(2).count_down(-1),
               "lockstep::latch at .*count_down\\(-1\\) by .* while 2 are left");
}

}  // namespace
