// SPDX-License-Identifier: MIT
// tests/base/rank_groups_test.cpp -- GROUPS-1 and GROUPS-2 for ordered, dealt and random places
#include <lockstep/detail/base/rank_groups.hpp>

#include <gtest/gtest.h>

#include <cstdio>
#include <random>
#include <set>
#include <vector>

#include "support/rank_places.hpp"

namespace {

using lockstep::detail::rank_groups;
using lockstep::test::are_in_one_group;
using lockstep::test::rank_places;

TEST(rank_groups, ranks_at_one_place_have_no_groups) {
  EXPECT_FALSE(rank_groups().has_groups());
  EXPECT_FALSE(rank_groups(rank_places{}).has_groups());
  EXPECT_FALSE(rank_groups(rank_places(1)).has_groups());
  EXPECT_FALSE(rank_groups(lockstep::test::blocks_of_ranks(9, 9)).has_groups());
  EXPECT_EQ(rank_groups().rank_at(7), 7u);
  EXPECT_TRUE(rank_groups().begins_at(0, 0));
  EXPECT_FALSE(rank_groups().begins_at(1, 2));
  EXPECT_TRUE(rank_groups().begins_at(1, rank_groups::levels));
}

TEST(rank_groups, those_that_are_dealt_come_together) {
  const rank_groups groups(lockstep::test::dealt_ranks(7, 3));
  ASSERT_TRUE(groups.has_groups());
  std::vector<std::size_t> sequence;
  for (std::size_t i = 0; i < 7; ++i) sequence.push_back(groups.rank_at(i));
  EXPECT_EQ(sequence, (std::vector<std::size_t>{0, 3, 6, 1, 4, 2, 5}));
}

void check(const rank_places& places) {
  const rank_groups groups(places);
  std::set<std::size_t> seen;
  for (std::size_t i = 0; i < places.size(); ++i) seen.insert(groups.rank_at(i));
  ASSERT_EQ(seen.size(), places.size()) << "GROUPS-1";
  ASSERT_EQ(*seen.rbegin(), places.size() - 1);
  bool has_two = false;
  for (unsigned level = 0; level < rank_groups::levels; ++level) {
    std::size_t begins = 0, first_before = 0, first_of_wider = 0;
    for (std::size_t i = 0; i < places.size(); ++i) {
      const std::size_t rank = groups.rank_at(i);
      if (!groups.begins_at(i, level)) {
        ASSERT_TRUE(are_in_one_group(places, rank, groups.rank_at(i - 1), level));
        ASSERT_LT(first_before, rank) << "GROUPS-2: a group begins with its lowest rank";
        continue;
      }
      if (i > 0) {
        has_two = true;
        ASSERT_FALSE(are_in_one_group(places, rank, groups.rank_at(i - 1), level));
        const bool is_new_wider = level == 0 || groups.begins_at(i, level - 1);
        if (!is_new_wider) {
          ASSERT_LT(first_before, rank) << "GROUPS-2: parts come in the order of lowest ranks";
        } else if (level > 0) {
          ASSERT_TRUE(level > 1 || first_of_wider < rank);
        }
      }
      if (level == 0 || groups.begins_at(i, level - 1)) first_of_wider = rank;
      first_before = rank;
      ++begins;
    }
    ASSERT_EQ(begins, lockstep::test::groups_among(places, places.size(), level))
        << "GROUPS-1: the members of a group follow each other";
  }
  ASSERT_EQ(groups.has_groups(), has_two);
}

TEST(rank_groups, hold_for_all_shapes) {
  const unsigned seed = std::random_device{}();
  std::printf("seed %u\n", seed);
  std::mt19937 random(seed);
  for (std::size_t ranks = 1; ranks <= 70; ++ranks) {
    for (const rank_places& places : lockstep::test::shapes_of_ranks(ranks, random)) {
      check(places);
      if (HasFatalFailure()) return;
    }
  }
}

}  // namespace
