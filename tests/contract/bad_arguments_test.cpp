// SPDX-License-Identifier: MIT
// tests/contract/bad_arguments_test.cpp -- every class refuses impossible arguments, and says which are possible
#include <lockstep/lockstep.hpp>
#include <lockstep/toolbox.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <stdexcept>
#include <string>

#include "support/message_of.hpp"

namespace {

std::string count_message(const std::function<void()>& call) {
  return lockstep::test::message_of<std::invalid_argument>(call);
}
std::string rank_message(const std::function<void()>& call) {
  return lockstep::test::message_of<std::out_of_range>(call);
}

TEST(bad_arguments, no_participants_is_refused_by_name) {
  EXPECT_EQ(count_message([] { lockstep::fan_out object(0); }),
            "lockstep::fan_out: 0 waiters given, must be 1 to 65536");
  EXPECT_EQ(count_message([] { lockstep::fan_in object(0); }),
            "lockstep::fan_in: 0 notifiers given, must be 1 to 65536");
  EXPECT_EQ(count_message([] { lockstep::fan_in_out object(0, 1); }),
            "lockstep::fan_in_out: 0 notifiers given, must be 1 to 65536");
  EXPECT_EQ(count_message([] { lockstep::fan_in_out object(1, 0); }),
            "lockstep::fan_in_out: 0 waiters given, must be 1 to 65536");
  EXPECT_EQ(count_message([] { lockstep::ranked_barrier object(0); }),
            "lockstep::ranked_barrier: 0 participants given, must be 1 to 65536");
  EXPECT_EQ(count_message([] { lockstep::team object(0); }),
            "lockstep::team: 0 members given, must be 1 to 65536");
}

TEST(bad_arguments, absurdly_many_participants_are_refused_before_anything_is_allocated) {
  constexpr std::size_t absurd = static_cast<std::size_t>(-1);
  for (const std::size_t count : {std::size_t{65537}, absurd}) {
    const std::string given = ": " + std::to_string(count) + " ";
    EXPECT_NE(count_message([&] { lockstep::fan_out object(count); }).find(given),
              std::string::npos);
    EXPECT_NE(count_message([&] { lockstep::fan_in object(count); }).find(given),
              std::string::npos);
    EXPECT_NE(count_message([&] { lockstep::fan_in_out object(1, count); }).find(given),
              std::string::npos);
    EXPECT_NE(count_message([&] { lockstep::ranked_barrier object(count); }).find(given),
              std::string::npos);
    EXPECT_NE(count_message([&] { lockstep::team object(count); }).find(given), std::string::npos);
  }
}

TEST(bad_arguments, a_rank_out_of_range_is_refused_by_every_call_that_takes_one) {
  lockstep::fan_out out(2);
  lockstep::fan_in in(3);
  lockstep::fan_in_out both(2, 3);
  lockstep::ranked_barrier all(4);
  const std::string fan_out_text =
      "lockstep::fan_out: rank 2 of 2 waiters is out of range, must be 0 to 1";
  EXPECT_EQ(rank_message([&] { out.wait(2); }), fan_out_text);
  EXPECT_EQ(rank_message([&] { out.try_wait(2); }), fan_out_text);
  EXPECT_EQ(rank_message([&] { out.wait_for(2, std::chrono::hours(1)); }), fan_out_text);
  EXPECT_EQ(rank_message([&] { in.notify(3); }),
            "lockstep::fan_in: rank 3 of 3 notifiers is out of range, must be 0 to 2");
  EXPECT_EQ(rank_message([&] { both.notify(2); }),
            "lockstep::fan_in_out: rank 2 of 2 notifiers is out of range, must be 0 to 1");
  EXPECT_EQ(rank_message([&] { both.wait(3); }),
            "lockstep::fan_in_out: rank 3 of 3 waiters is out of range, must be 0 to 2");
  const std::string barrier_text =
      "lockstep::ranked_barrier: rank 4 of 4 participants is out of range, must be 0 to 3";
  EXPECT_EQ(rank_message([&] { all.arrive_and_wait(4); }), barrier_text);
  EXPECT_EQ(rank_message([&] { all.arrive(4); }), barrier_text);
  EXPECT_EQ(rank_message([&] { all.wait(4); }), barrier_text);
  EXPECT_EQ(rank_message([&] { all.try_wait(4); }), barrier_text);
  EXPECT_EQ(rank_message([&] { all.wait_for(4, std::chrono::hours(1)); }), barrier_text);
}

TEST(bad_arguments, a_refused_rank_leaves_the_object_as_it_was) {
  lockstep::fan_in in(1);
  EXPECT_THROW(in.notify(1), std::out_of_range);
  EXPECT_FALSE(in.try_wait());
  in.notify(0);
  EXPECT_TRUE(in.try_wait());
}

}  // namespace
