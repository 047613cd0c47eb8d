// SPDX-License-Identifier: MIT
// tests/wait/arrival_tree_test.cpp -- the combining tree by itself; tests/sync/ranked_barrier_test.cpp has barriers by it
#include "wait/ranked_phases.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "support/effort.hpp"
#include "support/rank_places.hpp"

namespace {

using lockstep::detail::arrival_tree;
using lockstep::detail::rank_groups;
using lockstep::detail::rank_tree;
using lockstep::test::rank_places;

/// What arrives where in a phase: each rank alone, and for each node what goes on from it.
struct phase_of_tree {
  std::vector<std::set<std::size_t>> ranks;  // that pass a node, by node
  std::vector<std::size_t> width;
  std::vector<std::vector<std::size_t>> way;  // the nodes of a rank

  phase_of_tree(const rank_tree& shape, std::size_t size)
      : ranks(shape.lines()), width(shape.lines()), way(size) {
    for (std::size_t rank = 0; rank < size; ++rank) {
      EXPECT_TRUE(shape.climb(rank, size, [&](std::size_t node, std::size_t count) {
        EXPECT_LT(node, shape.lines());
        EXPECT_TRUE(width.at(node) == 0 || width[node] == count);
        width[node] = count;
        ranks[node].insert(rank);
        way[rank].push_back(node);
        return true;
      }));
    }
  }
};

/// RANKED-2: the nodes that are passed form a tree; as many enter each node as its width says.
void check_shape(const rank_tree& shape, std::size_t fan_in, std::size_t size) {
  const phase_of_tree phase(shape, size);
  std::map<std::size_t, std::set<std::size_t>>
      below;  // by node: what comes to it, a rank or a node + size
  std::map<std::size_t, std::size_t> above;
  for (std::size_t rank = 0; rank < size; ++rank) {
    const std::vector<std::size_t>& way = phase.way[rank];
    for (std::size_t i = 0; i < way.size(); ++i) {
      below[way[i]].insert(i == 0 ? rank : size + way[i - 1]);
      if (i == 0) continue;
      const auto known = above.emplace(way[i - 1], way[i]).first;
      ASSERT_EQ(known->second, way[i]) << "a node has one above";
    }
    if (size > 1) {
      ASSERT_FALSE(way.empty());
      ASSERT_EQ(way.back(), phase.way[0].back()) << "all come to one root";
    }
  }
  for (const auto& [node, parts] : below) {
    ASSERT_EQ(parts.size(), phase.width[node]) << "node " << node;
    ASSERT_GE(parts.size(), 2u);
    ASSERT_LE(parts.size(), fan_in);
  }
}

TEST(climb, RANKED_2_LINES_3_each_node_has_as_many_below_it_as_its_width) {
  for (const std::size_t fan_in : {2u, 3u, 4u, 8u}) {
    const std::size_t step = lockstep::test::is_brief() ? 7 : 1;
    for (std::size_t participants = 1; participants <= 300;
         participants += participants > 40 ? step : 1) {
      SCOPED_TRACE(testing::Message() << participants << " by " << fan_in);
      const rank_tree shape(participants, fan_in);
      for (const std::size_t size : {participants, (participants + 1) / 2, std::size_t{1}}) {
        check_shape(shape, fan_in, size);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(climb, without_groups_a_way_is_as_short_as_the_fan_in_allows) {
  for (std::size_t participants = 2; participants <= 300; ++participants) {
    std::size_t levels = 0;
    for (std::size_t reached = 1; reached < participants; reached *= 4) ++levels;
    const phase_of_tree phase(rank_tree(participants, 4), participants);
    for (const auto& way : phase.way) EXPECT_LE(way.size(), levels);
  }
}

/// Of the arrivals at nodes that several caches come to, there are as few as can be.
void check_groups(const rank_places& places, std::size_t size) {
  const rank_tree shape(places.size(), 4, rank_groups(places));
  check_shape(shape, 4, size);
  const phase_of_tree phase(shape, size);
  for (unsigned level = 0; level < rank_groups::levels; ++level) {
    std::size_t crossings = 0;
    for (std::size_t node = 0; node < shape.lines(); ++node) {
      const std::set<std::size_t>& ranks = phase.ranks[node];
      const bool is_mixed = std::any_of(ranks.begin(), ranks.end(), [&](std::size_t rank) {
        return !lockstep::test::are_in_one_group(places, rank, *ranks.begin(), level);
      });
      if (is_mixed) crossings += phase.width[node] - 1;
    }
    ASSERT_EQ(crossings, lockstep::test::groups_among(places, size, level) - 1)
        << "level " << level;
  }
}

TEST(climb, of_each_group_one_arrival_goes_out_in_phases_of_any_size) {
  const unsigned seed = std::random_device{}();
  std::printf("seed %u\n", seed);
  std::mt19937 random(seed);
  const std::size_t step = lockstep::test::is_brief() ? 7 : 1;
  for (std::size_t participants = 5; participants <= 40; participants += step) {
    for (const rank_places& places : lockstep::test::shapes_of_ranks(participants, random)) {
      for (std::size_t size = 1; size <= participants; ++size) {
        check_groups(places, size);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(arrival_tree,
     RANKED_2_RANKED_3_exactly_the_last_to_arrive_is_told_so_in_every_order_and_phase) {
  std::mt19937 random(20240607);
  for (const std::size_t fan_in : {2u, 4u, 8u}) {
    for (std::size_t participants = 1; participants <= 300; ++participants) {
      arrival_tree tree(participants, fan_in);
      std::vector<std::size_t> order(participants);
      std::iota(order.begin(), order.end(), std::size_t{0});
      for (int phase = 0; phase < 4; ++phase) {
        for (std::size_t i = 0; i < participants; ++i) {
          ASSERT_EQ(tree.arrive(order[i], participants), i + 1 == participants)
              << participants << " by " << fan_in << ", arrival " << i << " of phase " << phase;
        }
        std::shuffle(order.begin(), order.end(), random);
      }
    }
  }
}

TEST(arrival_tree, with_groups_the_last_of_a_phase_of_any_size_is_told_so) {
  std::mt19937 random(20240607);
  for (std::size_t participants = 2; participants <= 40; ++participants) {
    for (const rank_places& places : lockstep::test::shapes_of_ranks(participants, random)) {
      arrival_tree tree(participants, 4, rank_groups(places));
      for (std::size_t size = participants; size > 1; size -= 1 + size / 5) {
        std::vector<std::size_t> order(size);
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::shuffle(order.begin(), order.end(), random);
        for (std::size_t i = 0; i < size; ++i) {
          ASSERT_EQ(tree.arrive(order[i], size), i + 1 == size)
              << size << " of " << participants << ", arrival " << i;
        }
      }
    }
  }
}

}  // namespace
