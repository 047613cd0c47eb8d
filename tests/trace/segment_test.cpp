// SPDX-License-Identifier: MIT
// tests/trace/segment_test.cpp -- which member came last, what balance gains, how many were busy: on made-up times
#include "trace/ledger_board.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <vector>

namespace {

using lockstep::detail::busy_time;
using lockstep::detail::figures_of;
using lockstep::detail::segment_figures;

std::map<std::size_t, std::uint64_t> busy_of(const std::vector<busy_time>& of, std::uint64_t over) {
  std::map<std::size_t, std::uint64_t> times;
  std::vector<std::uint64_t> scratch(2 * of.size());
  lockstep::detail::share_by_busy(of.data(), of.size(), over, scratch.data(),
                                  [&](std::size_t k, std::uint64_t time) { times[k] += time; });
  return times;
}

TEST(segment, the_last_arrival_and_the_gain_are_those_of_the_times) {
  const busy_time of[] = {{100, 150, 0}, {100, 250, 1}, {110, 200, 2}};
  const segment_figures figures = figures_of(of, 3);
  EXPECT_EQ(figures.last, 1u);
  EXPECT_EQ(figures.gain, (100 + 0 + 50) / 3u);
}

TEST(segment, balanced_members_gain_nothing_and_the_first_counts_as_last) {
  const busy_time of[] = {{5, 9, 0}, {5, 9, 1}};
  EXPECT_EQ(figures_of(of, 2).last, 0u);
  EXPECT_EQ(figures_of(of, 2).gain, 0u);
}

TEST(segment, time_is_shared_by_how_many_are_busy) {
  using times = std::map<std::size_t, std::uint64_t>;
  EXPECT_EQ(busy_of({{0, 10, 0}, {0, 30, 1}}, 32), (times{{2, 10}, {1, 20}, {0, 2}}));
  EXPECT_EQ(busy_of({{0, 10, 0}, {20, 30, 1}}, 30), (times{{1, 20}, {0, 10}}));
  EXPECT_EQ(busy_of({{7, 7, 0}}, 7), times{});
}

TEST(segment, a_member_that_seems_to_arrive_before_it_begins_was_not_busy) {
  using times = std::map<std::size_t, std::uint64_t>;
  EXPECT_EQ(busy_of({{10, 8, 0}, {10, 20, 1}}, 20), (times{{1, 10}}));
}

TEST(segment, busy_times_add_up_to_the_segment_and_to_what_members_did) {
  std::mt19937 random(7);
  std::uniform_int_distribution<std::uint64_t> time(0, 1000);
  for (int round = 0; round < 500; ++round) {
    std::vector<busy_time> of(static_cast<std::size_t>(1 + round % 9));
    std::uint64_t first = ~std::uint64_t{0}, last = 0, work = 0;
    for (busy_time& each : of) {
      each.begin = 1000 + time(random);
      each.arrival = each.begin + time(random);
      first = std::min(first, each.begin);
      last = std::max(last, each.arrival);
      work += each.arrival - each.begin;
    }
    std::uint64_t whole = 0, done = 0;
    for (const auto& [k, ticks] : busy_of(of, last + 5)) {
      whole += ticks;
      done += k * ticks;
    }
    EXPECT_EQ(whole, last + 5 - first);
    EXPECT_EQ(done, work);
  }
}

}  // namespace
