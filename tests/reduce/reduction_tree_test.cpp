// SPDX-License-Identifier: MIT
// tests/reduce/reduction_tree_test.cpp -- one tree for every team size, bit for bit
#include "reduce/reduction_tree.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

#include "region/stop_source.hpp"
#include "support/effort.hpp"
#include "support/reference_tree.hpp"

namespace {

using namespace lockstep::detail::reduction_tree;
using lockstep::index_range;
using lockstep::static_block;
using lockstep::detail::length_of;
using lockstep::test::combine;
using lockstep::test::exclusive_prefix;
using lockstep::test::fold;
using lockstep::test::leaf_range;
using lockstep::test::reduce_node;

constexpr std::size_t most = std::numeric_limits<std::size_t>::max();

static_assert(leaf_size(0) == 1 && leaf_size(128) == 1 && leaf_size(129) == 2, "short ranges");
static_assert(leaf_size(8192) == 64 && leaf_size(8193) == 64 && leaf_size(65536) == 64, "bends");
static_assert(leaf_size(66560) == 65 && leaf_size(66561) == 66, "bends");
static_assert(leaf_size(65537) == 65 && leaf_size(most) == most / 1024 + 1, "long ranges");
static_assert(leaves_of(0) == 0 && leaves_of(128) == 128 && leaves_of(65536) == 1024, "");
static_assert(leaf_range(5, 15, 9).first == 14, "constexpr");

/// Lengths around every bend of leaf_size, and some others.
std::vector<std::size_t> interesting_lengths() {
  std::vector<std::size_t> lengths;
  const std::size_t step = lockstep::test::is_brief() ? 7 : 1;
  for (std::size_t n = 0; n <= 600; n += n < 130 ? 1 : step) lengths.push_back(n);
  for (const std::size_t n :
       {1000u, 8191u, 8192u, 8193u, 10000u, 65535u, 65536u, 65537u, 100003u}) {
    lengths.push_back(n);
  }
  return lengths;
}

void expect_leaves(std::size_t first, std::size_t n) {
  const std::size_t leaves = leaves_of(n);
  ASSERT_LE(leaves, most_leaves);
  ASSERT_LE(leaves, n);
  std::size_t next = first;
  for (std::size_t leaf = 0; leaf < leaves; ++leaf) {
    const index_range part = leaf_range(first, first + n, leaf);
    ASSERT_EQ(part.first, next) << "gap or overlap at leaf " << leaf << " of " << n;
    ASSERT_GT(length_of(part), 0u);
    ASSERT_LE(length_of(part), leaf_size(n));
    next = part.last;
  }
  ASSERT_EQ(next, first + n);
  ASSERT_EQ(length_of(leaf_range(first, first + n, leaves)), 0u);
  ASSERT_EQ(length_of(leaf_range(first, first + n, most)), 0u);
}

TEST(reduction_tree, TREE_6_where_leaves_keep_blocks_every_rank_has_the_same_iterations) {
  std::size_t kept = 0;
  for (const std::size_t n : interesting_lengths()) {
    for (std::size_t size = 1; size <= 17; ++size) {
      if (!leaves_keep_blocks(n, size)) continue;
      kept += leaf_size(n) > 1 ? 1 : 0;
      for (std::size_t rank = 0; rank < size; ++rank) {
        const index_range leaves = static_block(0, leaves_of(n), rank, size);
        const index_range block = static_block(0, n, rank, size);
        ASSERT_EQ(std::min(n, leaves.first * leaf_size(n)), block.first) << n << ", " << size;
        ASSERT_EQ(std::min(n, leaves.last * leaf_size(n)), block.last) << n << ", " << size;
      }
    }
  }
  EXPECT_GT(kept, 10u);
  EXPECT_TRUE(leaves_keep_blocks(128, 3));
  EXPECT_TRUE(leaves_keep_blocks(4096, 4));
  EXPECT_FALSE(leaves_keep_blocks(1400, 4));
}

TEST(reduction_tree, TREE_1_leaves_cover_every_range_without_gap_or_overlap) {
  for (const std::size_t n : interesting_lengths()) {
    expect_leaves(0, n);
    expect_leaves(77, n);
    expect_leaves(most - n, n);
  }
  for (std::size_t n = 601; n <= 140000; n += 61) expect_leaves(3, n);
  for (const std::size_t n : {most, most - 1, most / 2, most / 1024, most / 1023}) {
    expect_leaves(0, n);
    expect_leaves(most - n, n);
  }
}

TEST(reduction_tree, TREE_1_the_longest_leaf_grows_with_the_length) {
  for (std::size_t n = 1; n <= 200000; ++n) ASSERT_GE(leaf_size(n + 1), leaf_size(n));
}

TEST(reduction_tree, TREE_2_a_root_splits_where_a_team_of_two_does) {
  for (std::size_t leaves = 2; leaves <= most_leaves; ++leaves) {
    ASSERT_EQ(middle_of(0, leaves), static_block(0, leaves, 0, 2).last);
  }
}

std::size_t depth_of(std::size_t a, std::size_t b) {
  if (b - a == 1) return 0;
  const std::size_t middle = middle_of(a, b);
  EXPECT_TRUE(a < middle && middle < b);
  return 1 + std::max(depth_of(a, middle), depth_of(middle, b));
}

TEST(reduction_tree, TREE_2_is_at_most_ten_deep) {
  for (std::size_t leaves = 1; leaves <= most_leaves; ++leaves) ASSERT_LE(depth_of(0, leaves), 10u);
  EXPECT_EQ(depth_of(0, most_leaves), 10u);
}

/// All nodes of the tree in [a, b), as (first, last).
void collect_nodes(std::size_t a, std::size_t b, std::vector<index_range>& into) {
  into.push_back({a, b});
  if (b - a == 1) return;
  collect_nodes(a, middle_of(a, b), into);
  collect_nodes(middle_of(a, b), b, into);
}

TEST(reduction_tree, TREE_3_maximal_nodes_are_nodes_and_no_parent_of_one_fits) {
  for (std::size_t leaves = 1; leaves <= 40; ++leaves) {
    std::vector<index_range> all;
    collect_nodes(0, leaves, all);
    for (std::size_t a = 0; a <= leaves; ++a) {
      for (std::size_t b = a; b <= leaves; ++b) {
        // By the definition: nodes inside [a, b) that no larger node inside it contains.
        std::vector<index_range> expected;
        for (const index_range node : all) {
          if (node.first < a || b < node.last) continue;
          const bool covered = std::any_of(all.begin(), all.end(), [&](index_range other) {
            return a <= other.first && other.last <= b && other.first <= node.first &&
                   node.last <= other.last && length_of(other) > length_of(node);
          });
          if (!covered) expected.push_back(node);
        }
        std::vector<index_range> found;
        maximal_nodes(leaves, a, b,
                      [&](std::size_t first, std::size_t last) { found.push_back({first, last}); });
        ASSERT_EQ(found.size(), expected.size()) << leaves << ": " << a << ", " << b;
        std::size_t next = a;
        for (std::size_t i = 0; i < found.size(); ++i) {
          ASSERT_EQ(found[i].first, next);
          ASSERT_EQ(found[i].first, expected[i].first);
          ASSERT_EQ(found[i].last, expected[i].last);
          next = found[i].last;
        }
        ASSERT_EQ(next, b);
      }
    }
  }
}

TEST(reduction_tree, TREE_3_the_bound_on_maximal_nodes_holds_and_is_reached) {
  std::size_t longest = 0;
  for (const std::size_t leaves : {1u, 2u, 3u, 127u, 128u, 129u, 513u, 600u, 769u, 1023u, 1024u}) {
    for (std::size_t a = 0; a < leaves; ++a) {
      // For the largest trees, all runs that begin or end near a bend are many enough.
      for (std::size_t b = a + 1; b <= leaves; b += leaves < 1024 ? 7 : 1) {
        std::size_t count = 0;
        maximal_nodes(leaves, a, b, [&](std::size_t, std::size_t) { ++count; });
        longest = std::max(longest, count);
      }
    }
  }
  EXPECT_EQ(longest, most_nodes);
}

/// What a team of `size` does, member by member, in blocks that are cut into `parts`: T of the whole range.
template <class T, class LeafValue, class Op>
T reduce_as_team(std::size_t leaves, std::size_t size, LeafValue leaf_value, Op op,
                 std::size_t parts = 1) {
  std::vector<std::vector<T>> published(size * parts);
  for (std::size_t number = published.size(); number-- > 0;) {  // they finish in any order
    index_range block = static_block(0, leaves, number / parts, size);
    block = static_block(block.first, block.last, number % parts, parts);
    maximal_nodes(leaves, block.first, block.last, [&](std::size_t a, std::size_t b) {
      published[number].push_back(reduce_node<T>(a, b, leaf_value, op));
    });
    EXPECT_LE(published[number].size(), most_nodes);
  }
  std::size_t asked = 0, there = 0;
  for (const auto& values : published) there += values.size();
  const T result = combine<T>(
      leaves, size,
      [&](std::size_t number, std::size_t k) {
        ++asked;
        return published.at(number).at(k);
      },
      op, parts);
  EXPECT_EQ(asked, there) << "a published value was left out or asked for twice";
  return result;
}

TEST(reduction_tree, TREE_4_the_operation_meets_neighbours_in_index_order_along_the_same_tree) {
  const auto join = [](std::string a, std::string b) { return "(" + a + b + ")"; };
  const auto letter = [](std::size_t i) { return std::string(1, static_cast<char>('a' + i % 26)); };
  for (std::size_t n = 1; n <= 300; n += n > 70 && lockstep::test::is_brief() ? 13 : 1) {
    const std::size_t leaves = leaves_of(n);
    const auto leaf_value = [&](std::size_t leaf) {
      return fold<std::string>(leaf_range(0, n, leaf), letter, join);
    };
    const std::string tree = reduce_node<std::string>(0, leaves, leaf_value, join);
    std::string in_order, flat;
    for (std::size_t i = 0; i < n; ++i) in_order += letter(i);
    std::copy_if(tree.begin(), tree.end(), std::back_inserter(flat),
                 [](char c) { return c != '(' && c != ')'; });
    ASSERT_EQ(flat, in_order);
    for (std::size_t size = 1; size <= 17; ++size) {
      ASSERT_EQ(reduce_as_team<std::string>(leaves, size, leaf_value, join), tree) << size;
    }
  }
}

/// Also where parts have no leaves, at the end of a share that is not the last.
TEST(reduction_tree, TREE_4_parts_of_shares_are_combined_to_the_whole_tree) {
  const auto join = [](std::string a, std::string b) { return "(" + a + b + ")"; };
  const auto letter = [](std::size_t i) { return std::string(1, static_cast<char>('a' + i % 26)); };
  for (std::size_t leaves = 1; leaves <= most_leaves; leaves += leaves < 140 ? 1 : 26) {
    const std::string whole = reduce_node<std::string>(0, leaves, letter, join);
    for (const std::size_t shares : {1u, 2u, 3u, 4u, 7u, 16u, 65u}) {
      for (const std::size_t parts : {1u, 2u, 3u, 8u, 64u}) {
        ASSERT_EQ(reduce_as_team<std::string>(leaves, shares, letter, join, parts), whole)
            << leaves << " leaves, " << shares << " shares, " << parts << " parts";
      }
    }
  }
}

/// The value of a share travels with its report if it is one node.
TEST(reduction_tree, NODES_1_the_blocks_of_2_and_usually_of_4_are_one_node) {
  for (std::size_t leaves = 2; leaves <= most_leaves; ++leaves) {
    for (const std::size_t shares : {2u, 4u}) {
      if (leaves % shares != 0 && shares != 2) continue;
      for (std::size_t rank = 0; rank < shares; ++rank) {
        const index_range block = static_block(0, leaves, rank, shares);
        std::size_t nodes = 0;
        maximal_nodes(leaves, block.first, block.last, [&](std::size_t, std::size_t) { ++nodes; });
        ASSERT_EQ(nodes, 1u) << leaves << " leaves, share " << rank << " of " << shares;
      }
    }
  }
}

/// The values of a range of letters, as each_value has those of a closure.
struct letters {
  static std::string at(std::size_t i) { return std::to_string(i) + " "; }
  std::string start(std::size_t& i, std::size_t) const { return at(i++); }
  template <class Operation>
  void go_on(std::string& sum, std::size_t i, std::size_t end, Operation& op) const {
    for (; i < end; ++i) sum = op(sum, at(i));
  }
};

TEST(reduction_tree, TREE_2_and_4_nodes_that_are_evaluated_by_one_call_are_those_of_the_tree) {
  auto join = [](const std::string& a, const std::string& b) { return "(" + a + b + ")"; };
  const letters values;
  const lockstep::detail::stop_source stop;
  for (const std::size_t leaf_size : {1u, 3u, 30u}) {  // 30: also nodes of more than a strip
    for (std::size_t length = leaf_size + 1; length <= 40 * leaf_size;
         length += (leaf_size + 1) / 2) {
      const std::size_t leaves = (length - 1) / leaf_size + 1;
      const lockstep::detail::reductions::leaf_run run = {length, leaf_size, {0, leaves}, &stop, 1};
      lockstep::detail::reductions::node_walk<std::string, letters, decltype(join)> nodes = {
          values, join, run, true};
      const auto leaf = [&](std::size_t k) {
        return nodes.of_leaf(k * leaf_size, std::min(length, (k + 1) * leaf_size));
      };
      EXPECT_EQ(*nodes.of_node(0, length, leaves), reduce_node<std::string>(0, leaves, leaf, join));
    }
  }
}

TEST(reduction_tree, TREE_4_the_shape_is_pinned) {
  const auto join = [](std::string a, std::string b) { return "(" + a + b + ")"; };
  const auto letter = [](std::size_t i) { return std::string(1, static_cast<char>('a' + i)); };
  EXPECT_EQ(reduce_node<std::string>(0, 7, letter, join), "(((ab)(cd))((ef)g))");
  EXPECT_EQ(fold<std::string>({0, 4}, letter, join), "(((ab)c)d)");
}

TEST(reduction_tree, TREE_5_a_scan_applies_the_operation_in_index_order) {
  const auto join = [](std::string a, std::string b) { return "(" + a + b + ")"; };
  const auto letter = [](std::size_t i) { return std::string(1, static_cast<char>('a' + i)); };
  EXPECT_EQ(exclusive_prefix<std::string>(3, "-", letter, join), "(((-a)b)c)");
  EXPECT_EQ(exclusive_prefix<std::string>(0, "-", letter, join), "-");
}

}  // namespace
