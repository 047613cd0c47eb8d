// SPDX-License-Identifier: MIT
// tests/wait/ranked_phases_test.cpp -- the combining tree by itself; tests/sync/ranked_barrier_test.cpp has barriers by it
#include <lockstep/detail/wait/ranked_phases.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "support/threads.hpp"

namespace {

using lockstep::detail::arrival_tree;
using lockstep::detail::tree_shape;

TEST(tree_shape, RANKED_2_each_rank_has_one_leaf_and_each_node_as_many_below_it_as_its_width) {
  for (const std::size_t fan_in : {2u, 3u, 4u, 8u}) {
    for (std::size_t participants = 1; participants <= 300; ++participants) {
      SCOPED_TRACE(testing::Message() << participants << " by " << fan_in);
      const tree_shape shape(participants, fan_in);
      const std::size_t nodes = shape.nodes(), none = nodes;
      std::vector<std::size_t> ranks_at(nodes, 0), width(nodes, 0), parent(nodes, none);
      for (std::size_t rank = 0; rank < participants; ++rank) {
        bool leaf = true;
        std::size_t expected = none, last = none;
        EXPECT_TRUE(shape.climb(rank, [&](const tree_shape::node& at) {
          EXPECT_LT(at.index, nodes);
          if (at.index >= nodes) return false;
          if (leaf) ++ranks_at[at.index];
          EXPECT_TRUE(leaf || at.index == expected) << "the next node is the parent";
          EXPECT_TRUE(parent[at.index] == none || parent[at.index] == at.parent);
          EXPECT_TRUE(width[at.index] == 0 || width[at.index] == at.width);
          EXPECT_GE(at.width, 1u);
          EXPECT_LE(at.width, fan_in);
          parent[at.index] = expected = at.parent;
          width[at.index] = at.width;
          leaf = false;
          last = at.index;
          return true;
        }));
        EXPECT_EQ(last, nodes - 1) << "the root is the last node";
      }
      std::vector<std::size_t> below = ranks_at;
      for (std::size_t node = 0; node + 1 < nodes; ++node) {
        ASSERT_NE(parent[node], none) << "every node is used";
        ++below[parent[node]];
      }
      EXPECT_EQ(below, width);
      EXPECT_EQ(std::accumulate(ranks_at.begin(), ranks_at.end(), std::size_t{0}), participants);
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
          ASSERT_EQ(tree.arrive(order[i]), i + 1 == participants)
              << participants << " by " << fan_in << ", arrival " << i << " of phase " << phase;
        }
        std::shuffle(order.begin(), order.end(), random);
      }
    }
  }
}

TEST(arrival_tree, RANKED_2_the_last_of_concurrent_arrivals_sees_what_came_before_all_of_them) {
  for (const std::size_t fan_in : {2u, 4u}) {
    for (int round = 0; round < 100; ++round) {
      arrival_tree tree(9, fan_in);
      std::vector<int> slots(9, 0);  // plain: read by the last
      std::atomic<int> last{0}, sum{0};
      lockstep::test::run_threads(9, [&](std::size_t rank) {
        slots[rank] = 1;
        if (!tree.arrive(rank)) return;
        ++last;
        sum += std::accumulate(slots.begin(), slots.end(), 0);
      });
      ASSERT_EQ(last.load(), 1);
      ASSERT_EQ(sum.load(), 9);
    }
  }
}

}  // namespace
