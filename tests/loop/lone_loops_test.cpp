// SPDX-License-Identifier: MIT
// tests/loop/lone_loops_test.cpp -- LONE-1 to LONE-5: when loops run without a region; promises_test.cpp shows
// that they are loops all the same
#include <lockstep/detail/loop/leaf_loop.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include <lockstep/lockstep.hpp>
#include "region/turns.hpp"

namespace {

using lockstep::team;
using lockstep::detail::place_pace;

// --- hints ---

TEST(lone_loops, a_hint_is_of_one_team_and_of_loops_up_to_a_length_LONE_4) {
  place_pace place;
  EXPECT_FALSE(place.allows(1, 0)) << "nothing is known";
  place.allow(7, 100.9, 5);
  EXPECT_TRUE(place.allows(7, 100));
  EXPECT_TRUE(place.allows(7, 0));
  EXPECT_FALSE(place.allows(7, 101));
  EXPECT_FALSE(place.allows(8, 100)) << "another team's";
}

TEST(lone_loops, a_hint_is_for_so_many_loops_LONE_4) {
  place_pace place;
  place.allow(7, 10, 3);
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(place.is_spent(7));
    EXPECT_TRUE(place.allows(7, 10));
    EXPECT_FALSE(place.allows(7, 11)) << "it counts as little as it allows";
  }
  EXPECT_FALSE(place.allows(7, 10));
  EXPECT_TRUE(place.is_spent(7));
  EXPECT_FALSE(place.is_spent(8));
}

TEST(lone_loops, hints_of_any_size_keep_their_fields_apart_LONE_4) {
  for (const std::uint32_t number : {1u, 0xFFFFFFu}) {
    for (const double limit : {0.0, 1.0, 16777215.0, 1e300}) {
      for (const std::uint32_t loops : {1u, place_pace::most_loops}) {
        place_pace place;
        place.allow(number, limit, loops);
        const std::size_t most = limit < 16777215 ? static_cast<std::size_t>(limit) : 16777215;
        EXPECT_FALSE(place.allows(number, most + 1));
        EXPECT_FALSE(place.allows(number - 1, most));
        for (std::uint32_t i = 0; i < loops; ++i) ASSERT_TRUE(place.allows(number, most));
        EXPECT_FALSE(place.allows(number, most));
      }
    }
  }
}

// --- loops ---
//
// They have few and short iterations: also in builds that are ten times as slow no second member would pay.

/// Calls loop() until it has run without a region, as its iterations tell, and then some.
template <class Loop>
void until_alone(const std::atomic<int>& alone, const Loop& loop) {
  for (int i = 0; alone < 100 && i < 1000000; ++i) loop();
  ASSERT_GE(alone.load(), 100) << "the loop always takes the full way";
}
/// Whether the calling thread runs a loop without a region.
bool is_alone() {
  const auto* const at = lockstep::detail::innermost_region();
  return at != nullptr && at->boards == nullptr;
}

struct lone_team_sizes : testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(members, lone_team_sizes, testing::Values(1u, 2u, 8u));

TEST_P(lone_team_sizes, short_loops_come_to_run_without_a_region) {
  team workers(GetParam());
  std::atomic<int> alone{0};
  std::vector<int> visits(3);
  int loops = 0;
  until_alone(alone, [&] {
    ++loops;
    ASSERT_TRUE(workers.for_each(std::size_t{0}, visits.size(), [&](std::size_t i) {
      ++visits[i];
      if (i == 0 && is_alone()) ++alone;
    }));
  });
  EXPECT_EQ(visits, std::vector<int>(3, loops));
}

TEST_P(lone_team_sizes, what_a_stopped_region_throws_ends_a_loop_that_was_stopped_only) {
  team workers(GetParam());
  std::atomic<int> alone{0};
  int how = 0;
  const auto loop = [&] {
    return workers.for_each(0, 3, [&](int i) {
      if (i == 0 && is_alone()) ++alone;
      if (i != 1 || how == 0) return;
      if (how == 1) workers.request_stop();
      throw lockstep::region_stopped();
    });
  };
  until_alone(alone, [&] { ASSERT_TRUE(loop()); });
  for (int round = 0; round < 200; ++round) {
    how = 1;
    ASSERT_FALSE(loop());
    how = 2;
    ASSERT_THROW(loop(), lockstep::region_stopped) << "it is that of another region";
    how = 0;
    ASSERT_TRUE(loop());
  }
}

TEST_P(lone_team_sizes, loops_of_several_threads_visit_every_index_once_LONE_4) {
  team workers(GetParam());
  constexpr int loops = 3000;
  const auto work = [&](std::vector<int>& visits) {
    for (int round = 0; round < loops; ++round) {
      workers.for_each(std::size_t{0}, visits.size(), [&](std::size_t i) { ++visits[i]; });
    }
  };
  std::vector<int> first(50), second(50);
  std::thread other([&] { work(second); });
  work(first);
  other.join();
  EXPECT_EQ(first, std::vector<int>(50, loops));
  EXPECT_EQ(second, std::vector<int>(50, loops));
}

TEST(lone_loops, below_twice_the_grain_a_loop_needs_nobody) {
  team workers(2);
  bool was_alone = false;
  workers.for_each(0, 19, [&](int) { was_alone = is_alone(); }, lockstep::grain(10));
  EXPECT_TRUE(was_alone);
  workers.for_each(0, 0, [&](int) { FAIL(); }, lockstep::grain(10));
}

TEST(lone_loops, a_place_whose_iterations_become_long_gets_help_again) {
  if (lockstep::detail::usable_cpus() < 2) GTEST_SKIP() << "nobody can help";
  team workers(2);
  std::atomic<int> alone{0};
  volatile double sink = 0;
  int work = 0;
  bool is_region = false;
  const auto loop = [&] {
    workers.for_each(0, 4, [&](int i) {
      if (i == 0) is_region = !is_alone();
      if (i == 0 && is_alone()) ++alone;
      double x = i;
      for (int k = 0; k < work; ++k) x = 1 / (1 + x);
      if (x < 0) sink = x;
    });
  };
  until_alone(alone, loop);
  work = 20000;
  int alone_again = 0;
  for (int round = 0; round < 1000; ++round) {
    loop();
    if (!is_region) ++alone_again;
  }
  EXPECT_LT(alone_again, 300) << "256 may have been allowed before";
}

}  // namespace
