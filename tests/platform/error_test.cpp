// SPDX-License-Identifier: MIT
// tests/platform/error_test.cpp -- bad input is refused by the promised type, in words that help
//
// The build without exceptions is tested in tests/build.
#include <lockstep/detail/platform/error.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <stdexcept>
#include <string>
#include <typeinfo>

namespace {

using lockstep::detail::checked_count;
using lockstep::detail::checked_rank;
using lockstep::detail::max_participants;

/// The message of the exception that `f` throws, which must be an Exception, not a derived one.
template <class Exception, class F>
std::string message_of(F f) {
  try {
    f();
  } catch (const std::exception& error) {
    EXPECT_EQ(typeid(error), typeid(Exception));
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

TEST(error, possible_counts_are_returned) {
  EXPECT_EQ(checked_count("x", "y", 1), 1u);
  EXPECT_EQ(checked_count("x", "y", 7), 7u);
  EXPECT_EQ(checked_count("x", "y", max_participants), max_participants);
}

TEST(error, an_impossible_count_is_an_invalid_argument_with_class_and_values) {
  const auto message = [](std::size_t count) {
    return message_of<std::invalid_argument>([=] { checked_count("fan_out", "waiters", count); });
  };
  EXPECT_EQ(message(0), "fan_out: 0 waiters given, must be 1 to 65536");
  EXPECT_EQ(message(max_participants + 1), "fan_out: 65537 waiters given, must be 1 to 65536");
  EXPECT_EQ(message(~std::size_t{0}),
            "fan_out: " + std::to_string(~std::size_t{0}) + " waiters given, must be 1 to 65536");
}

TEST(error, ranks_below_the_count_are_returned) {
  EXPECT_EQ(checked_rank("x", "y", 0, 1), 0u);
  EXPECT_EQ(checked_rank("x", "y", 6, 7), 6u);
}

TEST(error, a_rank_that_is_not_is_out_of_range_with_class_and_values) {
  const auto message = [](std::size_t rank, std::size_t count) {
    return message_of<std::out_of_range>([=] { checked_rank("barrier", "member", rank, count); });
  };
  EXPECT_EQ(message(4, 4), "barrier: rank 4 of 4 members is out of range, must be 0 to 3");
  EXPECT_EQ(message(1, 1), "barrier: rank 1 of 1 member is out of range, must be 0 to 0");
  EXPECT_EQ(message(0xFFFFFFFFu, 2),
            "barrier: rank 4294967295 of 2 members is out of range, must be 0 to 1");
}

TEST(error, a_long_name_is_printed_whole) {
  const std::string name(1000, 'n');
  const std::string message =
      message_of<std::invalid_argument>([&] { checked_count(name.c_str(), name.c_str(), 0); });
  EXPECT_EQ(message, name + ": 0 " + name + " given, must be 1 to 65536");
}

}  // namespace
