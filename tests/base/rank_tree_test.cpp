// SPDX-License-Identifier: MIT
// tests/base/rank_tree_test.cpp -- which member tells which, and which reports to which: teams of up to 600, and larger
#include "base/rank_tree.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "support/effort.hpp"
#include "support/rank_places.hpp"
#include "support/watchers.hpp"

namespace {

using lockstep::detail::rank_groups;
using lockstep::detail::rank_tree;
using lockstep::test::rank_places;
using lockstep::test::watchers_of;
using line = rank_tree::line;

/// In brief 75. The trees of width 8 have three levels from 65 members on, those of width 3 five from 28.
const std::size_t exhaustive = lockstep::test::effort(std::size_t{600});
/// Where widths, or groups, multiply the cases.
const std::size_t most_members = lockstep::test::is_brief() ? 36 : 90;

std::vector<std::size_t> widths() { return {2, 3, rank_tree::usual_width}; }

/// Sizes next to those where the tree grows, and some in between.
std::vector<std::size_t> large_teams() {
  if (lockstep::test::is_brief()) return {601, 1024, 4097, 32769};
  return {601, 1000, 1023, 1024, 1025, 4095, 4096, 4097, 5003, 32767, 32768, 32769, 65535, 65536};
}

std::string text_of(const line& at) {
  return "line " + std::to_string(at.index) + " of leader " + std::to_string(at.leader) +
         ", first watcher " + std::to_string(at.first_watcher);
}

/// How many ranks hear of a region by way of a line.
std::size_t behind(const rank_tree& tree, const line& at) {
  std::size_t count = 0;
  std::vector<std::size_t> ranks = watchers_of(tree, at);
  while (!ranks.empty()) {
    const std::size_t rank = ranks.back();
    ranks.pop_back();
    ++count;
    for (const rank_tree::told& told : tree.told_by(rank)) ranks.push_back(told.rank);
  }
  return count;
}

/// The lines that a region of `size` members is announced on, by the leaders that are reached from rank 0.
struct announcement {
  std::vector<int> times;        // by line
  std::vector<bool> is_reached;  // by rank
  std::vector<std::string> wrong;

  announcement(const rank_tree& tree, std::size_t size)
      : times(tree.lines()), is_reached(tree.members()) {
    is_reached[0] = true;
    std::vector<std::size_t> leaders = {0};
    while (!leaders.empty()) {
      const std::size_t leader = leaders.back();
      leaders.pop_back();
      tree.for_each_led(leader, size, [&](const line& at) {
        if (at.leader != leader)
          wrong.push_back(text_of(at) + " is not " + std::to_string(leader) + "'s");
        if (at.first_watcher >= size) wrong.push_back(text_of(at) + " is needed by nobody");
        ++times.at(at.index);
        for (const std::size_t watcher : watchers_of(tree, at)) {
          if (is_reached.at(watcher)) wrong.push_back(text_of(at) + " reaches a rank twice");
          is_reached[watcher] = true;
          leaders.push_back(watcher);
        }
      });
    }
  }
};

/// What a tree promises for a region of `size` members.
void check_region(const rank_tree& tree, std::size_t size) {
  const announcement told(tree, size);
  for (const std::string& each : told.wrong) ADD_FAILURE() << each;
  for (std::size_t rank = 0; rank < size; ++rank) ASSERT_TRUE(told.is_reached[rank]) << rank;
  std::vector<int> needed(tree.lines());
  for (std::size_t index = 0; index < tree.lines(); ++index) {
    needed[index] = tree.first_watcher(index) < size ? 1 : 0;
  }
  ASSERT_EQ(needed, told.times);
}

/// What it promises for the team as a whole: LINES-1, LINES-2.
void check_lines(const rank_tree& tree) {
  std::vector<std::size_t> watchers(tree.lines());
  for (std::size_t rank = 1; rank < tree.members(); ++rank) {
    const std::size_t index = tree.watched_by(rank);
    ASSERT_LT(index, tree.lines());
    const line at = tree.line_at(index);
    ASSERT_LT(at.leader, rank) << "LINES-1";
    ASSERT_LE(at.first_watcher, rank) << "LINES-2";
    ++watchers[index];
    const std::vector<std::size_t> all = watchers_of(tree, at);
    ASSERT_TRUE(std::find(all.begin(), all.end(), rank) != all.end())
        << rank << " does not watch " << text_of(at);
    ASSERT_TRUE(std::is_sorted(all.begin(), all.end())) << "LINES-2";
    ASSERT_EQ(all.front(), at.first_watcher);
    ASSERT_FALSE(tree.told_by(at.leader).empty());
  }
  for (std::size_t index = 0; index < tree.lines(); ++index) {
    const std::size_t count = watchers_of(tree, tree.line_at(index)).size();
    ASSERT_EQ(count, watchers[index]) << "a watcher watches another line";
    ASSERT_GT(count, 0u);
    ASSERT_LE(count, tree.width() - 1);
  }
  for (std::size_t rank = 0; rank < tree.members(); ++rank) {
    for (const rank_tree::told& told : tree.told_by(rank)) {
      const line at = tree.line_at(tree.watched_by(told.rank));
      ASSERT_EQ(at.leader, rank);
      ASSERT_EQ(at.first_watcher, told.first_of_line);
    }
  }
  if (tree.members() > 1) {
    ASSERT_EQ(tree.line_at(tree.watched_by(0)).first_watcher, 1u) << "that rank 0 looks at";
  }
}

TEST(rank_tree, every_rank_but_0_watches_one_line_with_less_than_width_watchers) {
  for (const std::size_t width : widths()) {
    for (std::size_t members = 1; members <= exhaustive; ++members) {
      SCOPED_TRACE(testing::Message() << members << " members, width " << width);
      check_lines(rank_tree(members, width));
      if (HasFatalFailure()) return;
    }
  }
}

TEST(rank_tree, a_region_of_any_size_reaches_all_its_members_by_the_lines_it_needs_and_no_others) {
  for (std::size_t members = 1; members <= exhaustive; ++members) {
    for (std::size_t size = 1; size <= members; ++size) {
      SCOPED_TRACE(testing::Message() << size << " of " << members << " members");
      check_region(rank_tree(members), size);
      if (HasFatalFailure() || HasNonfatalFailure()) return;
    }
  }
}

TEST(rank_tree, the_same_holds_for_narrow_trees_and_regions_of_any_size) {
  for (const std::size_t width : {2u, 3u}) {
    for (std::size_t members = 1; members <= most_members; ++members) {
      for (std::size_t size = 1; size <= members; ++size) {
        SCOPED_TRACE(testing::Message() << size << " of " << members << ", width " << width);
        check_region(rank_tree(members, width), size);
        if (HasFatalFailure() || HasNonfatalFailure()) return;
      }
    }
  }
}

TEST(rank_tree, the_same_holds_for_large_teams) {
  for (const std::size_t members : large_teams()) {
    SCOPED_TRACE(members);
    const rank_tree tree(members);
    check_lines(tree);
    for (const std::size_t size : {std::size_t{1}, std::size_t{2}, std::size_t{8}, std::size_t{9},
                                   members / 2, members - 1, members}) {
      SCOPED_TRACE(size);
      check_region(tree, size);
    }
    if (HasFatalFailure() || HasNonfatalFailure()) return;
  }
}

TEST(rank_tree, a_team_up_to_the_width_has_a_single_line_and_one_member_has_none) {
  EXPECT_EQ(rank_tree(1).lines(), 0u);
  for (std::size_t members = 2; members <= rank_tree::usual_width; ++members) {
    EXPECT_EQ(rank_tree(members).lines(), 1u) << members;
  }
  EXPECT_GT(rank_tree(rank_tree::usual_width + 1).lines(), 1u);
}

/// The tree of a team without groups, as the banner of rank_tree.hpp describes it.
TEST(rank_tree, without_groups_it_goes_by_rank) {
  for (const std::size_t width : widths()) {
    for (const std::size_t members : {2u, 9u, 64u, 65u, 300u}) {
      const rank_tree tree(members, width);
      for (std::size_t rank = 1; rank < members; ++rank) {
        std::size_t step = 1;
        while (rank % (step * width) == 0) step *= width;
        const line at = tree.line_at(tree.watched_by(rank));
        EXPECT_EQ(at.leader, rank / (step * width) * (step * width)) << rank << " of " << members;
        EXPECT_EQ(at.first_watcher, at.leader + step) << rank << " of " << members;
      }
    }
  }
}

TEST(rank_tree, a_leaders_lines_with_the_most_behind_them_come_first) {
  for (const std::size_t members : {8u, 64u, 512u}) {
    const rank_tree tree(members);
    for (std::size_t rank = 0; rank < members; ++rank) {
      std::size_t before = members;
      tree.for_each_led(rank, members, [&](const line& at) {
        EXPECT_LE(behind(tree, at), before) << text_of(at);
        before = behind(tree, at);
      });
    }
  }
}

TEST(rank_tree, with_groups_it_keeps_its_promises_to_regions_of_any_size) {
  const unsigned seed = std::random_device{}();
  std::printf("seed %u\n", seed);
  std::mt19937 random(seed);
  const std::size_t step = lockstep::test::is_brief() ? 9 : 1;
  for (std::size_t members = 1; members <= 60; members += members > 20 ? step : 1) {
    for (const rank_places& places : lockstep::test::shapes_of_ranks(members, random)) {
      for (const std::size_t width : widths()) {
        SCOPED_TRACE(testing::Message() << members << " members, width " << width);
        const rank_tree tree(members, width, rank_groups(places));
        check_lines(tree);
        for (std::size_t size = 1; size <= members; ++size) check_region(tree, size);
        if (HasFatalFailure() || HasNonfatalFailure()) return;
      }
    }
  }
}

TEST(rank_tree, a_group_hears_of_a_region_once_from_outside_in_teams_larger_than_a_line) {
  const unsigned seed = std::random_device{}();
  std::printf("seed %u\n", seed);
  std::mt19937 random(seed);
  for (std::size_t members = 4; members <= most_members; ++members) {
    for (const rank_places& places : lockstep::test::shapes_of_ranks(members, random)) {
      const rank_tree tree(members, 3, rank_groups(places));
      for (unsigned level = 0; level < rank_groups::levels; ++level) {
        std::size_t crossings = 0;
        for (std::size_t rank = 1; rank < members; ++rank) {
          const std::size_t leader = tree.line_at(tree.watched_by(rank)).leader;
          crossings += !lockstep::test::are_in_one_group(places, rank, leader, level);
        }
        ASSERT_EQ(crossings, lockstep::test::groups_among(places, members, level) - 1)
            << members << " members, level " << level;
      }
    }
  }
}

TEST(rank_tree, directly_rank_0_leads_all_lines_and_tells_all) {
  for (const std::size_t width : widths()) {
    for (std::size_t members = 1; members <= most_members; ++members) {
      SCOPED_TRACE(testing::Message() << members << " members, width " << width);
      const rank_tree tree(members, width, rank_groups(), rank_tree::way::direct);
      check_lines(tree);
      for (std::size_t size = 1; size <= members; ++size) check_region(tree, size);
      for (std::size_t rank = 1; rank < members; ++rank) {
        ASSERT_TRUE(tree.told_by(rank).empty());
      }
      ASSERT_EQ(tree.lines(), rank_tree(members, width).lines());
      if (HasFatalFailure() || HasNonfatalFailure()) return;
    }
  }
}

TEST(rank_tree, a_team_up_to_the_width_has_one_line_whatever_its_groups) {
  for (std::size_t members = 2; members <= rank_tree::usual_width; ++members) {
    const rank_tree tree(members, rank_tree::usual_width,
                         rank_groups(lockstep::test::dealt_ranks(members, 2)));
    EXPECT_EQ(tree.lines(), 1u);
    EXPECT_EQ(tree.line_at(0).leader, 0u);
  }
}

}  // namespace
