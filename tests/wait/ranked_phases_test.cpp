// SPDX-License-Identifier: MIT
// tests/wait/ranked_phases_test.cpp -- phases whose participants are in groups; tests/sync/ranked_barrier_test.cpp has
// those without
#include "wait/ranked_phases.hpp"
#include <lockstep/detail/base/rank_groups.hpp>
#include "wait/arrival_tree.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <random>
#include <vector>

#include "support/policies.hpp"
#include "support/rank_places.hpp"
#include "support/threads.hpp"

namespace {

using lockstep::detail::ends_of_phases;
using lockstep::detail::rank_groups;
using lockstep::test::blocks_of_ranks;
using lockstep::test::dealt_ranks;
using lockstep::test::rank_places;

TEST(ends_of_phases, are_one_line_without_groups_and_where_groups_are_small) {
  EXPECT_EQ(ends_of_phases(0, rank_groups()).lines(), 1u);
  EXPECT_EQ(ends_of_phases(64, rank_groups()).lines(), 1u);
  EXPECT_EQ(ends_of_phases(64, rank_groups(blocks_of_ranks(64, 1, 64))).lines(), 1u);
  EXPECT_EQ(ends_of_phases(64, rank_groups(blocks_of_ranks(64, 2, 64))).lines(), 1u);
  const ends_of_phases one(9, rank_groups());
  for (std::size_t rank = 0; rank < 9; ++rank) EXPECT_EQ(one.line_of(rank), 0u);
  EXPECT_TRUE(one.is_needed(0, 1));
}

TEST(ends_of_phases, are_a_line_for_each_group_of_the_narrowest_level_with_four_in_each) {
  EXPECT_EQ(ends_of_phases(64, rank_groups(blocks_of_ranks(64, 4))).lines(), 16u);
  EXPECT_EQ(ends_of_phases(64, rank_groups(blocks_of_ranks(64, 2, 4))).lines(), 8u) << "the nodes";
  EXPECT_EQ(ends_of_phases(64, rank_groups(blocks_of_ranks(64, 1, 2, 8))).lines(), 4u)
      << "packages";
}

TEST(ends_of_phases, are_shared_by_those_of_a_group_and_needed_from_its_lowest_rank_on) {
  std::mt19937 random(20261123);
  for (std::size_t ranks = 1; ranks <= 60; ++ranks) {
    for (const rank_places& places : lockstep::test::shapes_of_ranks(ranks, random)) {
      const ends_of_phases ends(ranks, rank_groups(places));
      std::map<std::size_t, std::size_t> lowest;
      for (std::size_t rank = ranks; rank-- > 0;) lowest[ends.line_of(rank)] = rank;
      ASSERT_EQ(lowest.size(), ends.lines());
      ASSERT_LT(lowest.rbegin()->first, ends.lines());
      for (const auto& [line, rank] : lowest) {
        for (std::size_t size = 1; size <= ranks; ++size) {
          ASSERT_EQ(ends.is_needed(line, size), rank < size) << line << " of size " << size;
        }
      }
      for (std::size_t rank = 1; rank < ranks; ++rank) {
        for (unsigned level = 0; level < rank_groups::levels; ++level) {
          if (!lockstep::test::are_in_one_group(places, rank, 0, level)) break;
          if (level == lockstep::test::cache_level) {
            ASSERT_EQ(ends.line_of(rank), ends.line_of(0));
          }
        }
      }
    }
  }
}

struct value {
  std::uint64_t sum;
};
using phases = lockstep::detail::ranked_phases<value>;

/// All participants of `size` meet so often, and each sees the sum that the last to arrive has made.
void meet(phases& all, std::size_t size, std::uint32_t first_phase) {
  std::vector<std::uint64_t> own(size);
  std::atomic<int> wrong{0};
  constexpr std::uint32_t rounds = 60;
  lockstep::test::run_threads(size, [&](std::size_t rank) {
    lockstep::detail::wait_history history;
    for (std::uint32_t phase = first_phase + 1; phase != first_phase + 1 + rounds; ++phase) {
      own[rank] = std::uint64_t{phase} + rank;  // plain: read by the last
      all.arrive(rank, size, phase,
                 [&](value& of_all) {
                   of_all.sum = 0;
                   for (const std::uint64_t each : own) of_all.sum += each;
                 }) ||
          all.wait_for_others(rank, size, [&](const auto& word, std::size_t) {
            return word.wait(lockstep::detail::phase_reached{phase},
                             lockstep::detail::never_stops(), history);
          });
      const std::uint64_t expected = size * std::uint64_t{phase} + size * (size - 1) / 2;
      wrong += all.value_of_all(rank).sum != expected;
      wrong += !all.has_arrived(rank, size, {phase});
    }
  });
  EXPECT_EQ(wrong.load(), 0);
}

TEST(ranked_phases, RANKED_1_of_groups_all_meet_and_see_one_value_in_phases_of_any_size) {
  for (const auto& policy : lockstep::test::crowd_safe_policies()) {
    for (const rank_places& places : {dealt_ranks(12, 3), blocks_of_ranks(12, 4),
                                      blocks_of_ranks(12, 5, 1), dealt_ranks(12, 2, 2)}) {
      const rank_groups groups(places);
      ASSERT_GT(ends_of_phases(12, groups).lines(), 1u);
      phases all(12, policy.policy, 12, 1, groups);
      for (const std::size_t size : {12u, 7u, 2u}) {
        for (const std::uint32_t first_phase : {0u, 0xfffffff0u}) {
          all.reset(first_phase);
          meet(all, size, first_phase);
        }
      }
    }
  }
}

}  // namespace
