// SPDX-License-Identifier: MIT
// The parts of the team's benchmarks that need no threads. The kernels and programs are checked by every
// run of theirs: the runners compare with the serial result.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <utility>

#include "team/break_even.hpp"
#include "team/necklace.hpp"

namespace {

using team_bench::break_even;
using team_bench::ladder_of_sizes;
using team_bench::make_necklace;

TEST(Ladder, BeginsAtTheFirstSizeGrowsAndKeepsToTheLast) {
  const std::vector<std::size_t> sizes = ladder_of_sizes(4, 1024, 1.19);
  EXPECT_EQ(sizes.front(), 4u);
  EXPECT_LE(sizes.back(), 1024u);
  EXPECT_GT(static_cast<double>(sizes.back()) * 1.19, 1023);
  for (std::size_t i = 1; i < sizes.size(); ++i) EXPECT_LT(sizes[i - 1], sizes[i]);
}

TEST(Ladder, EndsWithTheLastSizeIfThatIsAPower) {
  EXPECT_EQ(ladder_of_sizes(1, 8, 2), (std::vector<std::size_t>{1, 2, 4, 8}));
  EXPECT_EQ(ladder_of_sizes(5, 5, 2), (std::vector<std::size_t>{5}));
}

TEST(BreakEven, IsTheFirstSizeThatWinsWhateverItIs) {
  const std::vector<std::size_t> ladder = ladder_of_sizes(1, 4096, 2);
  for (const std::size_t least : ladder) {
    EXPECT_EQ(break_even(ladder, [least](std::size_t size) { return size >= least; }), least);
  }
}

TEST(BreakEven, IsNothingIfNothingWins) {
  EXPECT_EQ(break_even({1, 2, 4}, [](std::size_t) { return false; }), std::nullopt);
}

TEST(BreakEven, AsksAboutFewSizes) {
  const std::vector<std::size_t> ladder = ladder_of_sizes(1, 1 << 20, 1.19);
  std::size_t asked = 0;
  const auto least = break_even(ladder, [&](std::size_t size) {
    ++asked;
    return size >= 5000;
  });
  EXPECT_TRUE(least.has_value());
  EXPECT_LE(asked, 10u);
}

TEST(BreakEven, IsNotASingleWinBelowLosses) {
  // Halving meets 8 first, which wins by chance; its neighbour above loses.
  const std::vector<std::size_t> ladder{1, 2, 4, 8, 16, 32, 64};
  const std::set<std::size_t> winners{8, 32, 64};
  EXPECT_EQ(break_even(ladder, [&](std::size_t size) { return winners.count(size) != 0; }), 32u);
}

TEST(BreakEven, IsNothingIfWhatWonDoesNotWinAgain) {
  std::size_t asked = 0;
  EXPECT_EQ(break_even({1, 2, 4}, [&](std::size_t) { return ++asked == 1; }), std::nullopt);
}

TEST(SplitMix, GivesThePublishedNumbers) {
  EXPECT_EQ(team_bench::split_mix(0), 0xE220A8397B1DCDAFU);
  EXPECT_EQ(team_bench::split_mix(1), 0x6E789E6AA1B965F4U);
}

TEST(Necklace, HasEachEdgeOnceInBothDirections) {
  const team_bench::graph made = make_necklace({3, 7, 16});
  ASSERT_EQ(made.vertices(), 3u * 128);
  ASSERT_EQ(made.begins.back(), made.neighbours.size());
  std::set<std::pair<std::size_t, std::size_t>> edges;
  for (std::size_t i = 0; i < made.vertices(); ++i) {
    for (std::size_t j = made.begins[i]; j < made.begins[i + 1]; ++j) {
      EXPECT_NE(made.neighbours[j], i);
      if (j > made.begins[i]) {
        EXPECT_LT(made.neighbours[j - 1], made.neighbours[j]);
      }
      edges.emplace(i, made.neighbours[j]);
    }
  }
  EXPECT_EQ(edges.size(), made.neighbours.size());
  for (const auto& [from, to] : edges) EXPECT_EQ(edges.count({to, from}), 1u);
}

TEST(Necklace, HasOneBridgeBetweenNeighboursOnTheRing) {
  const team_bench::graph made = make_necklace({4, 8, 16});
  std::size_t bridges = 0;
  for (std::size_t i = 0; i < made.vertices(); ++i) {
    for (std::size_t j = made.begins[i]; j < made.begins[i + 1]; ++j) {
      const std::size_t here = i / 256, there = made.neighbours[j] / 256;
      if (here == there) continue;
      EXPECT_TRUE(there == (here + 1) % 4 || here == (there + 1) % 4);
      EXPECT_LT(std::max<std::size_t>(i % 256, made.neighbours[j] % 256), 64u);
      ++bridges;
    }
  }
  EXPECT_EQ(bridges, 2u * 4);
}

TEST(Necklace, OfOneCommunityHasNoBridges) {
  const team_bench::graph one = make_necklace({1, 8, 16}), more = make_necklace({2, 8, 16});
  // The first community is the same with and without a ring, but for its bridges.
  EXPECT_EQ(one.neighbours.size() + 2, more.begins[256]);
}

}  // namespace
