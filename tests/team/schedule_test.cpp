// SPDX-License-Identifier: MIT
// tests/team/schedule_test.cpp -- pure functions, tested exhaustively for small numbers
#include <lockstep/team/schedule.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <limits>

namespace {

using lockstep::index_range;
using lockstep::static_block;

static_assert(static_block(0, 10, 0, 3).last == 4, "constexpr, the longer blocks first");

void expect_partition(std::size_t first, std::size_t last, std::size_t size) {
  std::size_t next = first, shortest = std::numeric_limits<std::size_t>::max(), longest = 0;
  for (std::size_t rank = 0; rank < size; ++rank) {
    const index_range block = static_block(first, last, rank, size);
    ASSERT_EQ(block.first, next) << "gap or overlap at rank " << rank;
    ASSERT_LE(block.first, block.last);
    next = block.last;
    shortest = std::min(shortest, block.last - block.first);
    longest = std::max(longest, block.last - block.first);
  }
  ASSERT_EQ(next, last);
  ASSERT_LE(longest - shortest, 1u);
}

TEST(static_block, covers_every_small_range_without_gap_or_overlap_in_rank_order) {
  for (std::size_t size = 1; size <= 17; ++size) {
    for (std::size_t length = 0; length <= 70; ++length) {
      expect_partition(0, length, size);
      expect_partition(1000, 1000 + length, size);
    }
  }
}

TEST(static_block, does_not_overflow_at_the_ends_of_the_number_range) {
  constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
  for (const std::size_t size : {1u, 2u, 3u, 7u, 64u, 65536u}) {
    expect_partition(0, most, size);
    expect_partition(most - 100, most, size);
    expect_partition(most, most, size);
  }
}

TEST(static_block, a_backward_range_is_empty_for_everybody) {
  for (std::size_t rank = 0; rank < 4; ++rank) {
    const index_range block = static_block(10, 3, rank, 4);
    EXPECT_EQ(block.first, block.last);
  }
}

}  // namespace
