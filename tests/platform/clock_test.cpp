// SPDX-License-Identifier: MIT
// tests/platform/clock_test.cpp -- both clocks go forward, and agree
#include <lockstep/detail/platform/clock.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>

#include "support/threads.hpp"

namespace {

using lockstep::detail::tick_clock;
using lockstep::detail::native::monotonic_nanoseconds;

TEST(clock, monotonic_nanoseconds_is_the_steady_clock_in_nanoseconds) {
#if defined(_WIN32) && defined(__GLIBCXX__) && !defined(_GLIBCXX_USE_CLOCK_MONOTONIC)
  GTEST_SKIP() << "this library's steady clock is the time of day";
#endif
  const auto read = [] {
    return static_cast<std::uint64_t>(
        std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count());
  };
  const std::uint64_t before = read(), now = monotonic_nanoseconds(), after = read();
  EXPECT_LE(before, now);
  EXPECT_LE(now, after);
}

TEST(clock, monotonic_nanoseconds_never_goes_back_and_does_go_on) {
  const std::uint64_t first = monotonic_nanoseconds();
  std::uint64_t last = first;
  while (last < first + 1000000) {
    const std::uint64_t now = monotonic_nanoseconds();
    ASSERT_GE(now, last);
    last = now;
  }
}

TEST(clock, monotonic_nanoseconds_taken_after_those_of_another_thread_are_not_smaller) {
  std::atomic<std::uint64_t> turn{0};
  std::uint64_t latest = 0;
  std::atomic<int> went_back{0};
  lockstep::test::run_threads(2, [&](unsigned rank) {
    for (std::uint64_t i = 0; i < 2000; ++i) {
      while (turn.load(std::memory_order_acquire) != 2 * i + rank) std::this_thread::yield();
      const std::uint64_t now = monotonic_nanoseconds();
      if (now < latest) went_back.fetch_add(1, std::memory_order_relaxed);
      latest = now;
      turn.store(2 * i + rank + 1, std::memory_order_release);
    }
  });
  EXPECT_EQ(went_back.load(), 0);
}

TEST(clock, ticks_never_go_back_in_one_thread_and_do_go_on) {
  const std::uint64_t first = tick_clock::now();
  std::uint64_t last = first;
  for (int i = 0; i < 10000 || last == first; ++i) {
    const std::uint64_t now = tick_clock::now();
    ASSERT_GE(now, last);
    last = now;
  }
}

TEST(clock, tick_rate_is_positive_and_measured_once) {
  const double rate = tick_clock::rate();
  EXPECT_GT(rate, 0);
  EXPECT_EQ(tick_clock::rate(), rate);
}

TEST(clock, ticks_in_nanoseconds_agree_with_the_steady_clock_within_a_wide_factor) {
  const std::uint64_t first_time = monotonic_nanoseconds(), first_tick = tick_clock::now();
  while (monotonic_nanoseconds() - first_time < 20000000) continue;
  const double ticks = tick_clock::nanoseconds(tick_clock::now() - first_tick);
  const double time = static_cast<double>(monotonic_nanoseconds() - first_time);
  EXPECT_GT(ticks, time / 10);
  EXPECT_LT(ticks, time * 10);
}

TEST(clock, nanoseconds_of_one_second_of_ticks_are_a_second) {
  EXPECT_NEAR(tick_clock::nanoseconds(static_cast<std::uint64_t>(tick_clock::rate())), 1e9, 100);
  EXPECT_EQ(tick_clock::nanoseconds(0), 0);
}

}  // namespace
