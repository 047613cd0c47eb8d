// SPDX-License-Identifier: MIT
// tests/mpi/world_tree_test.cpp -- one tree for every number of ranks, bit for bit (WORLD-TREE-1 to WORLD-TREE-5)
#include "mpi/world_tree.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <limits>
#include <random>
#include <stdexcept>
#include <vector>

#include "support/reference_tree.hpp"

namespace {

using lockstep::index_range;
using lockstep::detail::length_of;
using lockstep::detail::mpi::leaves_of_rank;
using lockstep::detail::mpi::merge;
using lockstep::detail::mpi::node_record;
using lockstep::detail::mpi::part_of_rank;
using lockstep::detail::mpi::record_fault;
using lockstep::detail::reduction_tree::leaves_of;
using lockstep::detail::reduction_tree::maximal_nodes;
using lockstep::detail::reduction_tree::most_nodes;
using lockstep::test::leaf_range;
using lockstep::test::reduce_node;

constexpr std::size_t most = std::numeric_limits<std::size_t>::max();

/// LOCKSTEP_TEST_SEED repeats a run.
std::mt19937_64 seeded_random() {
  const char* const text = std::getenv("LOCKSTEP_TEST_SEED");
  const auto seed = text != nullptr ? static_cast<unsigned>(std::strtoul(text, nullptr, 0))
                                    : std::random_device()();
  std::cout << "LOCKSTEP_TEST_SEED=" << seed << '\n';
  return std::mt19937_64(seed);
}

/// Neither associative nor commutative: each way to combine, and each order, gives a value of its own.
std::uint64_t mix(std::uint64_t left, std::uint64_t right) {
  std::uint64_t z = left * 0x9e3779b97f4a7c15u + (right ^ (right >> 29)) * 0xbf58476d1ce4e5b9u + 1;
  z = (z ^ (z >> 30)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}
std::uint64_t leaf_value(std::size_t leaf) { return mix(leaf, 0x51ed); }

/// Hashes, combined by mix(), in memory of a record. Values of other types and sizes: world_reductions_test.cpp.
class hashes {
 public:
  hashes(std::size_t length, index_range leaves)
      : bytes_(node_record::size(sizeof(std::uint64_t)) / sizeof(aligned)) {
    record().begin(length, leaves);
  }

  node_record record() { return {bytes_.data(), sizeof(std::uint64_t)}; }
  void append(std::uint64_t value) { record().append(&value); }
  std::uint64_t at(std::size_t k) {
    std::uint64_t value;
    std::memcpy(&value, record().value(k), sizeof value);
    return value;
  }
  void merge_with(hashes& next) {
    merge(record(), next.record(), [](void* left, const void* right) {
      std::uint64_t* const into = static_cast<std::uint64_t*>(left);
      *into = mix(*into, *static_cast<const std::uint64_t*>(right));
    });
  }
  bool operator==(const hashes& other) const {
    return std::memcmp(bytes_.data(), other.bytes_.data(), used()) == 0;
  }

 private:
  struct alignas(16) aligned {
    unsigned char bytes[16];
  };
  std::size_t used() const {
    const node_record record(const_cast<aligned*>(bytes_.data()), sizeof(std::uint64_t));
    return sizeof(lockstep::detail::mpi::record_head) + record.head().count * sizeof(std::uint64_t);
  }

  std::vector<aligned> bytes_;
};

/// WORLD-TREE-1, as it is defined. One leaf for each iteration: length <= 128.
auto record_of(std::size_t length, std::size_t first, std::size_t last) {
  hashes record(length, index_range{first, last});
  maximal_nodes(leaves_of(length), first, last, [&](std::size_t a, std::size_t b) {
    record.append(reduce_node<std::uint64_t>(a, b, leaf_value, mix));
  });
  return record;
}

TEST(world_tree, WORLD_TREE_2_records_of_all_neighbours_make_that_of_both) {
  for (std::size_t leaves = 1; leaves <= 40; ++leaves) {
    for (std::size_t a = 0; a <= leaves; ++a) {
      for (std::size_t b = a; b <= leaves; ++b) {
        for (std::size_t c = b; c <= leaves; ++c) {
          auto both = record_of(leaves, a, b);
          auto next = record_of(leaves, b, c);
          const auto before = next;
          both.merge_with(next);
          ASSERT_TRUE(next == before) << "the right record changed";
          // The record of no leaves has no place of its own.
          if (a < c) {
            ASSERT_TRUE(both == record_of(leaves, a, c))
                << a << ' ' << b << ' ' << c << " of " << leaves;
          }
        }
      }
    }
  }
}

TEST(world_tree, WORLD_TREE_2_in_the_largest_tree_too) {
  std::mt19937_64 random = seeded_random();
  const std::size_t length = 65536;
  ASSERT_EQ(leaves_of(length), 1024u);
  for (int repeat = 0; repeat < 300; ++repeat) {
    std::size_t at[3];
    for (std::size_t& x : at) x = random() % 1025;
    std::sort(at, at + 3);
    if (at[0] == at[2]) continue;
    auto both = record_of(length, at[0], at[1]);
    auto next = record_of(length, at[1], at[2]);
    both.merge_with(next);
    ASSERT_TRUE(both == record_of(length, at[0], at[2])) << at[0] << ' ' << at[1] << ' ' << at[2];
    ASSERT_LE(both.record().head().count, most_nodes);
  }
}

TEST(world_tree, WORLD_TREE_3_every_number_of_ranks_and_order_of_merging_makes_the_root) {
  std::mt19937_64 random = seeded_random();
  for (const std::size_t length : {1u, 2u, 3u, 7u, 100u, 128u, 129u, 1000u, 65536u, 100003u}) {
    const std::size_t leaves = leaves_of(length);
    const std::uint64_t root = reduce_node<std::uint64_t>(0, leaves, leaf_value, mix);
    for (const std::size_t ranks : {1u, 2u, 3u, 4u, 5u, 8u, 13u, 64u, 150u}) {
      std::vector<hashes> records;
      for (std::size_t rank = 0; rank < ranks; ++rank) {
        const index_range mine = leaves_of_rank(length, rank, ranks);
        records.push_back(record_of(length, mine.first, mine.last));
      }
      while (records.size() > 1) {
        const std::size_t k = random() % (records.size() - 1);
        records[k].merge_with(records[k + 1]);
        records.erase(records.begin() + static_cast<std::ptrdiff_t>(k) + 1);
      }
      ASSERT_EQ(records[0].record().head().count, 1u) << ranks << " ranks";
      ASSERT_EQ(records[0].record().head().fault, record_fault::none);
      ASSERT_EQ(records[0].at(0), root) << length << " iterations, " << ranks << " ranks";
    }
  }
}

TEST(world_tree, WORLD_TREE_4_parts_of_ranks_are_the_range_and_whole_leaves) {
  const std::size_t lengths[] = {0,    1,    2,    63,    127,       128,      129,      1000,
                                 8192, 8193, 9999, 65536, 1u << 20u, most / 2, most - 1, most};
  for (const std::size_t length : lengths) {
    for (const std::size_t ranks : {1u, 2u, 3u, 7u, 64u, 1023u, 1024u, 1025u, 5000u}) {
      std::size_t next = 0;
      for (std::size_t rank = 0; rank < ranks; ++rank) {
        const index_range part = part_of_rank(length, rank, ranks);
        const index_range leaves = leaves_of_rank(length, rank, ranks);
        ASSERT_EQ(part.first, next) << "rank " << rank << " of " << ranks << ", " << length;
        ASSERT_LE(part.first, part.last);
        ASSERT_EQ(length_of(part) == 0, length_of(leaves) == 0);
        if (length_of(leaves) > 0) {
          ASSERT_EQ(part.first, leaf_range(0, length, leaves.first).first);
          ASSERT_EQ(part.last, leaf_range(0, length, leaves.last - 1).last);
        }
        next = part.last;
      }
      ASSERT_EQ(next, length) << ranks << " ranks";
    }
  }
}

TEST(world_tree, WORLD_TREE_5_lengths_that_differ_are_found_in_whatever_order) {
  std::mt19937_64 random = seeded_random();
  for (std::size_t odd = 0; odd < 6; ++odd) {
    for (int repeat = 0; repeat < 20; ++repeat) {
      std::vector<hashes> records;
      for (std::size_t rank = 0; rank < 6; ++rank) {
        const std::size_t length = rank == odd ? 90 : 100;
        const index_range mine = leaves_of_rank(length, rank, 6);
        records.push_back(record_of(length, mine.first, mine.last));
      }
      while (records.size() > 1) {
        const std::size_t k = random() % (records.size() - 1);
        records[k].merge_with(records[k + 1]);
        records.erase(records.begin() + static_cast<std::ptrdiff_t>(k) + 1);
      }
      ASSERT_EQ(records[0].record().head().fault, record_fault::lengths_differ) << odd;
    }
  }
}

TEST(world_tree, a_fault_of_one_record_is_that_of_all_and_what_an_operation_throws_is_passed_on) {
  for (std::size_t bad = 0; bad < 3; ++bad) {
    auto all = record_of(100, 0, 30);
    auto middle = record_of(100, 30, 30);
    auto last = record_of(100, 30, 100);
    (bad == 0   ? all
     : bad == 1 ? middle
                : last)
        .record()
        .head()
        .fault = record_fault::operation_threw;
    all.merge_with(middle);
    all.merge_with(last);
    EXPECT_EQ(all.record().head().fault, record_fault::operation_threw) << bad;
  }
  auto left = record_of(100, 0, 50), right = record_of(100, 50, 100);
  EXPECT_THROW(
      merge(left.record(), right.record(), [](void*, void*) { throw std::runtime_error("no"); }),
      std::runtime_error);
}

}  // namespace
