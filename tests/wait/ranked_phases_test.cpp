// SPDX-License-Identifier: MIT
// tests/wait/ranked_phases_test.cpp -- the combining tree by itself, then barriers that have nothing else
//
// Every thread writes its own *plain* slot between barriers and reads the others': a hole in the ordering
// is a ThreadSanitizer report, an early return a wrong value, a lost wake-up a ctest timeout.
#include <lockstep/ranked_barrier.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <numeric>
#include <random>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "support/policies.hpp"
#include "support/ranked_barriers.hpp"
#include "support/threads.hpp"

namespace {

using lockstep::wait_status;
using lockstep::detail::arrival_tree;
using lockstep::detail::tree_shape;
using lockstep::test::barrier_by_tree;

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

using parameters = std::tuple<lockstep::test::named_policy, std::size_t, std::uint32_t>;

class barrier_by_tree_of : public testing::TestWithParam<parameters> {
 protected:
  lockstep::wait_policy policy() const { return std::get<0>(GetParam()).policy; }
  std::size_t participants() const { return std::get<1>(GetParam()); }
  std::uint32_t first_phase() const { return std::get<2>(GetParam()); }
  int phases() const {
    // Spinning crowds pass a time slice for every hand-over.
    if (policy().is_spin()) return participants() > lockstep::detail::usable_cpus() ? 2 : 50;
    return participants() > 8 ? 50 : 300;
  }
};

// 4 is one node, 5 two levels, 17 three.
INSTANTIATE_TEST_SUITE_P(counts, barrier_by_tree_of,
                         testing::Combine(testing::ValuesIn(lockstep::test::all_policies()),
                                          testing::Values<std::size_t>(1, 2, 4, 5, 17),
                                          testing::Values<std::uint32_t>(0u, 0xFFFFFFFDu,
                                                                         0x7FFFFFFDu)));

TEST_P(barrier_by_tree_of,
       RANKED_1_nobody_returns_before_all_have_arrived_and_sees_what_they_wrote) {
  barrier_by_tree all(first_phase(), participants(), policy());
  EXPECT_EQ(all.participants(), participants());
  std::vector<long> even(participants(), -1), odd(participants(), -1);
  std::atomic<long> wrong{0};
  lockstep::test::run_threads(participants(), [&](std::size_t rank) {
    for (long phase = 0; phase < phases(); ++phase) {
      std::vector<long>& written = phase % 2 == 0 ? even : odd;
      written[rank] = phase;
      if (phase % 3 == 0) {
        if (!all.arrive_and_wait(rank)) ++wrong;
      } else {
        all.arrive(rank);
        if (!all.wait(rank)) ++wrong;
      }
      for (const long slot : written) wrong += slot != phase;
    }
  });
  EXPECT_EQ(wrong.load(), 0);
}

TEST_P(barrier_by_tree_of, terminate_releases_everybody) {
  barrier_by_tree all(first_phase(), participants() + 1, policy());
  std::atomic<std::size_t> released{0};
  lockstep::test::run_threads(participants() + 1, [&](std::size_t rank) {
    if (rank == participants()) {
      all.terminate();
    } else {
      released += !all.arrive_and_wait(rank);
    }
  });
  EXPECT_EQ(released.load(), participants());
  EXPECT_TRUE(all.terminated());
  EXPECT_FALSE(all.try_wait(0));
  EXPECT_EQ(all.wait_for(0, std::chrono::hours(1)), wait_status::terminated);
}

TEST_P(barrier_by_tree_of, a_timed_out_wait_can_be_taken_up_again) {
  if (participants() == 1) GTEST_SKIP() << "one participant never waits";
  barrier_by_tree all(first_phase(), participants(), policy());
  for (int phase = 0; phase < 3; ++phase) {
    for (std::size_t rank = 0; rank + 1 < participants(); ++rank) {
      all.arrive(rank);
      EXPECT_FALSE(all.try_wait(rank));
      EXPECT_EQ(all.wait_for(rank, std::chrono::microseconds(20)), wait_status::timed_out);
      EXPECT_EQ(all.wait_until(rank, std::chrono::steady_clock::now()), wait_status::timed_out);
    }
    all.arrive(participants() - 1);
    EXPECT_TRUE(all.try_wait(0));
    for (std::size_t rank = 1; rank < participants(); ++rank) {
      EXPECT_EQ(all.wait_for(rank, std::chrono::nanoseconds(0)), wait_status::ready);
    }
  }
}

TEST(barrier_by_tree, a_crowd_of_64_gets_through_under_every_policy_that_leaves_the_cpu) {
  for (const auto& named : lockstep::test::crowd_safe_policies()) {
    SCOPED_TRACE(named.name);
    barrier_by_tree all(64, named.policy);
    std::atomic<int> arrived{0};
    std::atomic<long> wrong{0};
    lockstep::test::run_threads(64, [&](std::size_t rank) {
      for (int phase = 1; phase <= 20; ++phase) {
        ++arrived;
        all.arrive_and_wait(rank);
        wrong += arrived.load() < phase * 64;
        all.arrive_and_wait(rank);
      }
    });
    EXPECT_EQ(wrong.load(), 0);
  }
}

TEST(barrier_by_tree, bad_counts_and_ranks_are_refused) {
  EXPECT_THROW(barrier_by_tree(0), std::invalid_argument);
  EXPECT_THROW(barrier_by_tree(65537), std::invalid_argument);
  barrier_by_tree three(3);
  EXPECT_THROW(three.arrive(3), std::out_of_range);
  EXPECT_THROW(three.arrive_and_wait(3), std::out_of_range);
  EXPECT_THROW(three.wait(3), std::out_of_range);
  EXPECT_THROW(three.try_wait(3), std::out_of_range);
}

}  // namespace
