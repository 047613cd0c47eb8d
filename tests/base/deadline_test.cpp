// SPDX-License-Identifier: MIT
// tests/base/deadline_test.cpp -- no duration overflows, whatever its type; on the scripted clock
#include <lockstep/wait_policy.hpp>
#include "platform/system.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <limits>
#include <ratio>

namespace {

using lockstep::deadline;
using lockstep::test::scripted_system;
using std::chrono::duration;
using std::chrono::hours;
using std::chrono::nanoseconds;
using std::chrono::seconds;

static_assert(deadline::never().is_never());
static_assert(deadline::never().nanoseconds() == lockstep::detail::no_deadline);

/// The time a deadline made of `time` leaves, for durations that mean neither "now" nor "never".
template <class Duration>
std::uint64_t length(Duration time) {
  scripted_system& system = scripted_system::reset();
  const deadline until = deadline::after(time);
  EXPECT_FALSE(until.is_never());
  EXPECT_EQ(system.count(lockstep::test::call::clock), 1u);
  return until.nanoseconds() - system.now;
}
template <class Duration>
bool is_now(Duration time) {
  scripted_system& system = scripted_system::reset();
  return deadline::after(time).is_past(system.now);
}
template <class Duration>
bool is_never(Duration time) {
  scripted_system::reset();
  return deadline::after(time).is_never();
}

TEST(deadline, is_the_given_time_after_now_in_any_unit) {
  EXPECT_EQ(length(nanoseconds(1)), 1u);
  EXPECT_EQ(length(std::chrono::microseconds(7)), 7000u);
  EXPECT_EQ(length(seconds(3)), 3000000000u);
  EXPECT_EQ(length(hours(24 * 365)), 31536000000000000u);
  EXPECT_EQ(length(duration<double>(0.5)), 500000000u);
  EXPECT_EQ(length(duration<float, std::milli>(2.5f)), 2500000u);
  EXPECT_EQ(length(duration<std::int8_t>(100)), 100000000000u);
  EXPECT_EQ(length(duration<std::uint8_t, std::milli>(std::uint8_t{200})), 200000000u);
}

TEST(deadline, of_no_time_or_less_is_now) {
  EXPECT_TRUE(is_now(nanoseconds(0)));
  EXPECT_TRUE(is_now(nanoseconds(-1)));
  EXPECT_TRUE(is_now(nanoseconds::min()));
  EXPECT_TRUE(is_now(hours(-1)));
  EXPECT_TRUE(is_now(hours::min()));
  EXPECT_TRUE(is_now(duration<double>(0.0)));
  EXPECT_TRUE(is_now(duration<double>(-1e-30)));
  EXPECT_TRUE(is_now(duration<double>(-std::numeric_limits<double>::infinity())));
}

TEST(deadline, of_a_part_of_a_nanosecond_comes_at_once) {
  EXPECT_EQ(length(duration<double, std::nano>(0.25)), 0u);
  EXPECT_EQ(length(duration<std::int64_t, std::pico>(999)), 0u);
}

TEST(deadline, of_a_time_that_is_no_number_is_now) {
  EXPECT_TRUE(is_now(duration<double>(std::numeric_limits<double>::quiet_NaN())));
}

TEST(deadline, that_overflows_is_never) {
  EXPECT_TRUE(is_never(nanoseconds::max()));
  EXPECT_TRUE(is_never(std::chrono::microseconds::max()));
  EXPECT_TRUE(is_never(seconds::max()));
  EXPECT_TRUE(is_never(hours::max()));
  EXPECT_TRUE(is_never(duration<std::uint64_t>(~std::uint64_t{0})));
  EXPECT_TRUE(is_never(duration<double>(1e300)));
  EXPECT_TRUE(is_never(duration<double>(std::numeric_limits<double>::infinity())));
  EXPECT_TRUE(is_never(duration<double>(std::numeric_limits<double>::max())));
  EXPECT_TRUE(is_never(duration<std::int64_t, std::giga>(10)));
}

TEST(deadline, that_overflows_only_with_the_clock_added_is_never) {
  scripted_system& system = scripted_system::reset();
  system.now = ~std::uint64_t{0} - 1000000;
  EXPECT_TRUE(deadline::after(seconds(1)).is_never());
  EXPECT_FALSE(deadline::after(nanoseconds(1)).is_never());
}

TEST(deadline, at_a_point_of_any_clock_is_as_far_from_now_as_the_point_is) {
  using steady = std::chrono::steady_clock;
  using wall = std::chrono::system_clock;
  scripted_system& system = scripted_system::reset();
  for (const auto distance : {seconds(5), seconds(86400)}) {
    // The scripted clock stands still meanwhile, the others do not: the test allows them a second.
    const std::uint64_t wished =
        static_cast<std::uint64_t>(nanoseconds(distance).count()) + system.now;
    for (const deadline until :
         {deadline(steady::now() + distance), deadline(wall::now() + distance)}) {
      EXPECT_LE(until.nanoseconds(), wished + 1000);
      EXPECT_GT(until.nanoseconds(), wished - 1000000000);
    }
  }
}

TEST(deadline, at_the_ends_of_a_clock_is_now_and_never) {
  using steady = std::chrono::steady_clock;
  using in_hours = std::chrono::time_point<std::chrono::system_clock, hours>;
  EXPECT_EQ(deadline(steady::time_point::min()).nanoseconds(), 0u);
  EXPECT_EQ(deadline(in_hours::min()).nanoseconds(), 0u);
  EXPECT_EQ(deadline(steady::now() - seconds(1)).nanoseconds(), 0u);
  EXPECT_EQ(deadline(steady::time_point()).nanoseconds(), 0u);
  EXPECT_TRUE(deadline(in_hours::max()).is_never());
}

TEST(deadline, never_is_not_past_before_the_clock_ends) {
  EXPECT_FALSE(deadline::never().is_past(0));
  EXPECT_FALSE(deadline::never().is_past(lockstep::detail::no_deadline - 1));
}

TEST(deadline, is_past_from_its_own_nanosecond_on) {
  const deadline until = deadline::after(nanoseconds(10));
  EXPECT_FALSE(until.is_past(until.nanoseconds() - 1));
  EXPECT_TRUE(until.is_past(until.nanoseconds()));
  EXPECT_TRUE(until.is_past(until.nanoseconds() + 1));
}

}  // namespace
