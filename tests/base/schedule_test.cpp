// SPDX-License-Identifier: MIT
// tests/base/schedule_test.cpp -- pure functions, tested exhaustively for small numbers
#include <lockstep/detail/base/range_parts.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <type_traits>
#include <vector>

#include "support/message_of.hpp"

namespace {

using lockstep::index_range;
using lockstep::schedule;
using lockstep::schedule_kind;
using lockstep::static_block;
using lockstep::detail::chunks_of;
using lockstep::detail::guided_cursor;
using lockstep::detail::known_chunk;
using lockstep::detail::length_of;

constexpr std::size_t most = std::numeric_limits<std::size_t>::max();

static_assert(static_block(0, 10, 0, 3).last == 4, "constexpr, the longer blocks first");
static_assert(known_chunk(0, 10, 3, 3).last == 10, "constexpr");
static_assert(chunks_of(0, 10, 3) == 4 && length_of({3, 10}) == 7, "constexpr");
static_assert(lockstep::dynamic_schedule(7).chunk() == 7, "constexpr");
static_assert(std::is_trivially_copyable<schedule>::value, "a value");

TEST(schedule, knows_its_kind_and_chunk) {
  EXPECT_EQ(schedule(), lockstep::static_schedule());
  EXPECT_EQ(lockstep::static_schedule().kind(), schedule_kind::static_blocks);
  EXPECT_EQ(lockstep::static_schedule().chunk(), 0u);
  EXPECT_EQ(lockstep::static_schedule(3).kind(), schedule_kind::static_chunks);
  EXPECT_EQ(lockstep::static_schedule(3).chunk(), 3u);
  EXPECT_EQ(lockstep::dynamic_schedule().kind(), schedule_kind::dynamic);
  EXPECT_EQ(lockstep::dynamic_schedule().chunk(), 1u);
  EXPECT_EQ(lockstep::guided_schedule().kind(), schedule_kind::guided);
  EXPECT_EQ(lockstep::guided_schedule().chunk(), 1u);
  EXPECT_EQ(lockstep::guided_schedule(8).chunk(), 8u);
  EXPECT_NE(lockstep::guided_schedule(8), lockstep::dynamic_schedule(8));
  EXPECT_NE(lockstep::guided_schedule(8), lockstep::guided_schedule(9));
  EXPECT_EQ(schedule(schedule_kind::static_blocks, 5), lockstep::static_schedule());
}

TEST(schedule, a_grain_is_one_of_blocks) {
  static_assert(lockstep::grain(7).chunk() == 7, "constexpr");
  EXPECT_EQ(lockstep::grain(7).kind(), schedule_kind::static_blocks);
  EXPECT_NE(lockstep::grain(7), lockstep::static_schedule());
  EXPECT_NE(lockstep::grain(7), lockstep::static_schedule(7)) << "those are chunks";
  EXPECT_NE(lockstep::grain(7), lockstep::grain(8));
  EXPECT_EQ(lockstep::grain(7), lockstep::grain(7));
}

TEST(schedule, refuses_a_chunk_of_zero_by_name) {
  for (schedule (*const make)(std::size_t) :
       {+[](std::size_t chunk) { return lockstep::static_schedule(chunk); },
        +[](std::size_t chunk) { return lockstep::dynamic_schedule(chunk); },
        +[](std::size_t chunk) { return lockstep::guided_schedule(chunk); },
        +[](std::size_t chunk) { return lockstep::grain(chunk); }}) {
    EXPECT_EQ(lockstep::test::message_of([&] { make(0); }),
              "lockstep::schedule: a chunk of 0 iterations given, must be 1 or more");
    EXPECT_EQ(make(most).chunk(), most);
  }
}

TEST(length_of, is_zero_for_a_backward_range) {
  EXPECT_EQ(length_of({10, 3}), 0u);
  EXPECT_EQ(length_of({3, 3}), 0u);
  EXPECT_EQ(length_of({0, most}), most);
}

void expect_partition(std::size_t first, std::size_t last, std::size_t size) {
  std::size_t next = first, shortest = most, longest = 0;
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

/// All chunks but the last have `chunk` iterations, one follows the other.
void expect_tickets(std::size_t first, std::size_t last, std::size_t chunk) {
  const std::size_t tickets = chunks_of(first, last, chunk);
  std::size_t next = first;
  for (std::size_t ticket = 0; ticket < tickets; ++ticket) {
    const index_range part = known_chunk(first, last, chunk, ticket);
    ASSERT_EQ(part.first, next) << "gap or overlap at ticket " << ticket;
    ASSERT_GT(length_of(part), 0u);
    ASSERT_EQ(length_of(part), ticket + 1 < tickets ? chunk : last - next);
    ASSERT_LE(length_of(part), chunk);
    next = part.last;
  }
  ASSERT_EQ(next, std::max(first, last));
}

TEST(known_chunk, covers_every_small_range_in_the_order_of_numbers) {
  for (std::size_t chunk = 1; chunk <= 20; ++chunk) {
    for (std::size_t length = 0; length <= 70; ++length) {
      expect_tickets(0, length, chunk);
      expect_tickets(1000, 1000 + length, chunk);
    }
  }
}

TEST(known_chunk, does_not_overflow_at_the_ends_of_the_number_range) {
  for (const std::size_t chunk : {most / 3, most / 2, most / 2 + 1, most - 1, most}) {
    expect_tickets(0, most, chunk);
    expect_tickets(5, most, chunk);
    expect_tickets(5, most - 1, chunk);
    expect_tickets(most - 100, most, chunk);
  }
  for (const std::size_t chunk : {1u, 7u, 100u, 101u}) expect_tickets(most - 100, most, chunk);
  EXPECT_EQ(known_chunk(0, most, 1, most - 1).first, most - 1);
  EXPECT_EQ(known_chunk(0, most, 1, most - 1).last, most);
}

TEST(known_chunk, a_backward_range_has_none) {
  for (const std::size_t chunk : {std::size_t{1}, std::size_t{3}, most}) {
    EXPECT_EQ(chunks_of(10, 3, chunk), 0u);
  }
}

/// The chunks of a guided loop, by the definition.
std::vector<index_range> guided_chunks(std::size_t first, std::size_t last, std::size_t least,
                                       std::size_t size) {
  std::vector<index_range> chunks;
  while (first < last) {
    const std::size_t left = last - first;
    const std::size_t parts = 2 * size, share = left / parts + (left % parts != 0);
    const std::size_t length = std::min(left, std::max(least, share));
    chunks.push_back({first, first + length});
    first += length;
  }
  return chunks;
}

/// A member that gets every `stride`-th ticket sees the same chunks as one that gets all.
void expect_guided(std::size_t first, std::size_t last, std::size_t least, std::size_t size) {
  const std::vector<index_range> chunks = guided_chunks(first, last, least, size);
  for (const std::size_t stride : {std::size_t{1}, std::size_t{3}, size}) {
    for (std::size_t start = 0; start < stride; ++start) {
      guided_cursor cursor(first, last, least, size);
      for (std::size_t ticket = start; ticket < chunks.size() + 2 * stride; ticket += stride) {
        for (int again = 0; again < 2; ++again) {
          const index_range part = cursor.advance_to(ticket);
          if (ticket < chunks.size()) {
            ASSERT_EQ(part.first, chunks[ticket].first) << "ticket " << ticket;
            ASSERT_EQ(part.last, chunks[ticket].last);
          } else {
            ASSERT_EQ(length_of(part), 0u);
          }
        }
      }
      ASSERT_EQ(length_of(cursor.advance_to(most)), 0u);
    }
  }
}

TEST(guided_cursor, gives_every_member_the_same_chunks_for_every_small_range) {
  for (std::size_t size = 1; size <= 8; ++size) {
    for (const std::size_t least : {1u, 2u, 3u, 7u, 100u}) {
      for (std::size_t length = 0; length <= 70; ++length) {
        expect_guided(1000, 1000 + length, least, size);
      }
    }
  }
}

TEST(guided_cursor, never_grows_and_never_falls_below_the_least_but_for_the_last) {
  for (const std::size_t size : {1u, 2u, 17u, 64u}) {
    for (const std::size_t least : {1u, 5u, 1000u}) {
      guided_cursor cursor(0, 100000, least, size);
      const std::size_t tickets = guided_chunks(0, 100000, least, size).size();
      std::size_t before = most;
      for (std::size_t ticket = 0; ticket < tickets; ++ticket) {
        const std::size_t length = length_of(cursor.advance_to(ticket));
        EXPECT_LE(length, before);
        EXPECT_TRUE(length >= least || ticket + 1 == tickets);
        before = length;
      }
    }
  }
}

TEST(guided_cursor, does_not_overflow_at_the_ends_of_the_number_range) {
  for (const std::size_t size : {1u, 3u, 64u}) {
    for (const std::size_t least : {std::size_t{1}, most / 2, most}) {
      expect_guided(0, most, least, size);
      expect_guided(most - 100, most, least, size);
    }
  }
  EXPECT_EQ(guided_cursor(0, most, 1, 65536).advance_to(0).last, most / 131072 + 1);
}

TEST(guided_cursor, a_backward_range_has_no_tickets) {
  guided_cursor cursor(10, 3, 1, 4);
  EXPECT_EQ(length_of(cursor.advance_to(0)), 0u);
  EXPECT_EQ(length_of(cursor.advance_to(5)), 0u);
}

}  // namespace
