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

/// Values of Type, combined by op, in memory of a record.
template <class Type, class Op>
class values {
 public:
  values(std::size_t length, index_range leaves, Op op)
      : bytes_(node_record::size(sizeof(Type)) / sizeof(aligned)), op_(op) {
    record().begin(length, leaves);
  }

  node_record record() { return {bytes_.data(), sizeof(Type)}; }
  void append(Type value) { record().append(&value); }
  Type at(std::size_t k) {
    Type value;
    std::memcpy(&value, record().value(k), sizeof value);
    return value;
  }
  void merge_with(values& next) {
    merge(record(), next.record(), [&](void* left, void* right) {
      *static_cast<Type*>(left) = op_(*static_cast<Type*>(left), *static_cast<const Type*>(right));
    });
  }
  bool operator==(const values& other) const {
    return std::memcmp(bytes_.data(), other.bytes_.data(), used()) == 0;
  }

 private:
  struct alignas(16) aligned {
    unsigned char bytes[16];
  };
  std::size_t used() const {
    const node_record record(const_cast<aligned*>(bytes_.data()), sizeof(Type));
    return sizeof(lockstep::detail::mpi::record_head) + record.head().count * sizeof(Type);
  }

  std::vector<aligned> bytes_;
  Op op_;
};
template <class Op>
using hashes = values<std::uint64_t, Op>;

/// WORLD-TREE-1, as it is defined. One leaf for each iteration: length <= 128.
auto record_of(std::size_t length, std::size_t first, std::size_t last) {
  values<std::uint64_t, decltype(&mix)> record(length, index_range{first, last}, mix);
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
      std::vector<values<std::uint64_t, decltype(&mix)>> records;
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

TEST(world_tree, WORLD_TREE_3_of_sums_of_doubles) {
  const auto plus = [](double a, double b) { return a + b; };
  using sums = values<double, decltype(plus)>;
  std::mt19937_64 random = seeded_random();
  std::uniform_real_distribution<double> numbers(-1e6, 1e6);
  const std::size_t length = 10'007, leaves = leaves_of(length);
  std::vector<double> x(length);
  for (double& value : x) value = numbers(random);
  const auto leaf = [&](std::size_t number) {
    const index_range part = leaf_range(0, length, number);
    double sum = x[part.first];
    for (std::size_t i = part.first + 1; i < part.last; ++i) sum += x[i];
    return sum;
  };
  const double expected = reduce_node<double>(0, leaves, leaf, plus);
  for (std::size_t ranks = 1; ranks <= 40; ++ranks) {
    sums all(length, index_range{0, 0}, plus);
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      const index_range mine = leaves_of_rank(length, rank, ranks);
      sums own(length, mine, plus);
      maximal_nodes(leaves, mine.first, mine.last, [&](std::size_t a, std::size_t b) {
        own.append(reduce_node<double>(a, b, leaf, plus));
      });
      all.merge_with(own);
    }
    ASSERT_EQ(std::memcmp(all.record().value(0), &expected, sizeof expected), 0) << ranks;
  }
}

TEST(world_tree, WORLD_TREE_3_of_values_of_any_size) {
  struct wide {
    std::uint64_t words[27];
  };
  const auto mix_all = [](const wide& a, const wide& b) {
    wide both;
    for (std::size_t k = 0; k < 27; ++k) both.words[k] = mix(a.words[k], b.words[(k + 1) % 27]);
    return both;
  };
  const auto leaf = [](std::size_t number) {
    wide value;
    for (std::size_t k = 0; k < 27; ++k) value.words[k] = mix(number, k);
    return value;
  };
  const std::size_t length = 77;
  const wide expected = reduce_node<wide>(0, length, leaf, mix_all);
  for (const std::size_t ranks : {1u, 3u, 4u, 77u, 80u}) {
    values<wide, decltype(mix_all)> all(length, index_range{0, 0}, mix_all);
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      const index_range mine = leaves_of_rank(length, rank, ranks);
      values<wide, decltype(mix_all)> own(length, mine, mix_all);
      maximal_nodes(length, mine.first, mine.last, [&](std::size_t a, std::size_t b) {
        own.append(reduce_node<wide>(a, b, leaf, mix_all));
      });
      all.merge_with(own);
    }
    const wide result = all.at(0);
    ASSERT_EQ(std::memcmp(&result, &expected, sizeof expected), 0) << ranks;
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
      std::vector<values<std::uint64_t, decltype(&mix)>> records;
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
