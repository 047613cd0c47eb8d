// SPDX-License-Identifier: MIT
// tests/region/region_tree_test.cpp -- who tells whom, for every team up to 600 members and some larger ones
#include <lockstep/detail/region/region_tree.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "support/effort.hpp"
#include "support/watchers.hpp"

namespace {

using lockstep::detail::region_tree;
using lockstep::test::watchers_of;
using line = region_tree::line;

/// By day up to 150: the trees of width 8 have three levels from 65 on.
const std::size_t exhaustive = lockstep::test::effort(std::size_t{600});

std::vector<std::size_t> widths() { return {2, 3, region_tree::usual_width}; }

/// Next to the places where the tree grows, and some in between.
std::vector<std::size_t> large_teams() {
  return {601, 1000, 1023, 1024, 1025, 4095, 4096, 4097, 5003, 32767, 32768, 32769, 65535, 65536};
}

std::string text_of(const line& at) {
  return "line " + std::to_string(at.index) + " of leader " + std::to_string(at.leader) +
         ", step " + std::to_string(at.step);
}
bool is_same(const line& a, const line& b) {
  return a.index == b.index && a.leader == b.leader && a.step == b.step;
}

/// The lines that a region of `size` members is announced on, by the leaders that are reached from rank 0.
struct announcement {
  std::vector<int> times;        // by line
  std::vector<bool> is_reached;  // by rank
  std::vector<std::string> wrong;

  announcement(const region_tree& tree, std::size_t size)
      : times(tree.lines()), is_reached(tree.members()) {
    is_reached[0] = true;
    std::vector<std::size_t> leaders = {0};
    while (!leaders.empty()) {
      const std::size_t leader = leaders.back();
      leaders.pop_back();
      std::size_t step_before = ~std::size_t{0};
      tree.for_each_led(leader, size, [&](const line& at) {
        if (at.leader != leader)
          wrong.push_back(text_of(at) + " is not " + std::to_string(leader) + "'s");
        if (at.step >= step_before)
          wrong.push_back(text_of(at) + " has more behind it than the one before");
        if (at.first_watcher() >= size) wrong.push_back(text_of(at) + " is needed by nobody");
        step_before = at.step;
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
void check_region(const region_tree& tree, std::size_t size) {
  const announcement told(tree, size);
  for (const std::string& each : told.wrong) ADD_FAILURE() << each;
  for (std::size_t rank = 0; rank < size; ++rank) ASSERT_TRUE(told.is_reached[rank]) << rank;
  std::vector<int> needed(tree.lines());
  tree.for_each_needed(size, [&](const line& at) {
    ASSERT_LT(at.index, tree.lines());
    ++needed[at.index];
  });
  ASSERT_EQ(needed, told.times);
  for (const int count : needed) ASSERT_LE(count, 1);
}

/// What it promises for the team as a whole.
void check_lines(const region_tree& tree) {
  std::map<std::size_t, line> known;
  std::map<std::size_t, std::size_t> watchers;
  for (std::size_t rank = 1; rank < tree.members(); ++rank) {
    const line at = tree.watched_by(rank);
    ASSERT_LT(at.index, tree.lines());
    ASSERT_TRUE(is_same(known.emplace(at.index, at).first->second, at)) << text_of(at);
    ASSERT_LT(at.leader, rank);
    ASSERT_EQ((rank - at.leader) % at.step, 0u);
    ++watchers[at.index];
    const std::vector<std::size_t> all = watchers_of(tree, at);
    ASSERT_TRUE(std::find(all.begin(), all.end(), rank) != all.end())
        << rank << " does not watch " << text_of(at);
  }
  std::set<std::size_t> steps;
  for (const auto& [index, at] : known) {
    const std::size_t count = watchers_of(tree, at).size();
    ASSERT_EQ(count, watchers[index]) << text_of(at) << ": a watcher watches another line";
    ASSERT_LE(count, tree.width() - 1);
    steps.insert(at.step);
  }
  // On each level the last leader may have nobody to lead.
  ASSERT_LE(known.size(), tree.lines());
  ASSERT_LE(tree.lines(), known.size() + steps.size());
}

TEST(region_tree, every_rank_but_0_watches_one_line_with_less_than_width_watchers) {
  for (const std::size_t width : widths()) {
    for (std::size_t members = 1; members <= exhaustive; ++members) {
      SCOPED_TRACE(testing::Message() << members << " members, width " << width);
      check_lines(region_tree(members, width));
      if (HasFatalFailure()) return;
    }
  }
}

TEST(region_tree,
     a_region_of_any_size_reaches_all_its_members_by_the_lines_it_needs_and_no_others) {
  for (std::size_t members = 1; members <= exhaustive; ++members) {
    for (std::size_t size = 1; size <= members; ++size) {
      SCOPED_TRACE(testing::Message() << size << " of " << members << " members");
      check_region(region_tree(members), size);
      if (HasFatalFailure() || HasNonfatalFailure()) return;
    }
  }
}

TEST(region_tree, a_region_of_all_members_reaches_them_in_every_team_up_to_600) {
  for (const std::size_t width : widths()) {
    for (std::size_t members = 1; members <= exhaustive; ++members) {
      SCOPED_TRACE(testing::Message() << members << " members, width " << width);
      check_region(region_tree(members, width), members);
      if (HasFatalFailure() || HasNonfatalFailure()) return;
    }
  }
}

TEST(region_tree, the_same_holds_for_narrow_trees_and_regions_of_any_size) {
  for (const std::size_t width : {2u, 3u}) {
    for (std::size_t members = 1; members <= 90; ++members) {
      for (std::size_t size = 1; size <= members; ++size) {
        SCOPED_TRACE(testing::Message() << size << " of " << members << ", width " << width);
        check_region(region_tree(members, width), size);
        if (HasFatalFailure() || HasNonfatalFailure()) return;
      }
    }
  }
}

TEST(region_tree, the_same_holds_for_large_teams) {
  for (const std::size_t members : large_teams()) {
    SCOPED_TRACE(members);
    const region_tree tree(members);
    check_lines(tree);
    for (const std::size_t size : {std::size_t{1}, std::size_t{2}, std::size_t{8}, std::size_t{9},
                                   members / 2, members - 1, members}) {
      SCOPED_TRACE(size);
      check_region(tree, size);
    }
    if (HasFatalFailure() || HasNonfatalFailure()) return;
  }
}

TEST(region_tree, a_team_up_to_the_width_has_a_single_line_and_one_member_has_none) {
  EXPECT_EQ(region_tree(1).lines(), 0u);
  for (std::size_t members = 2; members <= region_tree::usual_width; ++members) {
    EXPECT_EQ(region_tree(members).lines(), 1u) << members;
  }
  EXPECT_GT(region_tree(region_tree::usual_width + 1).lines(), 1u);
}

TEST(region_tree, the_way_from_rank_0_to_any_other_is_as_short_as_the_width_allows) {
  for (const std::size_t width : widths()) {
    for (const std::size_t members : {2u, 9u, 64u, 65u, 512u, 513u, 600u}) {
      const region_tree tree(members, width);
      std::size_t levels = 0;
      for (std::size_t reached = 1; reached < members; reached *= width) ++levels;
      for (std::size_t rank = 1; rank < members; ++rank) {
        std::size_t hops = 0;
        for (std::size_t at = rank; at != 0; at = tree.watched_by(at).leader) ++hops;
        EXPECT_LE(hops, levels) << rank << " of " << members << ", width " << width;
      }
    }
  }
}

}  // namespace
