// SPDX-License-Identifier: MIT
// src/reduce/reduction_tree.hpp -- the fixed order in which the values of a range are combined (layer: reduce)
//
// A reduction over n iterations is bitwise the same for every team size, schedule and run. The range is cut into leaves
// that depend on n alone. Each leaf is folded from the left, and the leaves are combined along a binary tree that
// depends on their number alone. Which member computes what changes nothing. The operation is applied to neighbours in
// the order of their indices, so it must be associative, but not commutative. The result is that of a left fold only
// where the operation is truly associative. The compiler must not reorder either: no -ffast-math.
//
//   TREE-1  leaves_of(n) <= n, <= 1024; each leaf but the last has leaf_size(n) iterations.
//   TREE-2  A node [a, b) of the tree with b - a > 1 has the children [a, m), [m, b), m = middle_of(a, b). The root is
//           [0, leaves). Depth 10 at most. The root's children are the blocks of a team of 2.
//   TREE-3  The maximal nodes inside a run of leaves are unique, most_nodes at most.
//   TREE-4  Any number of members applies the operation as one member does that evaluates the root.
//   TREE-5  A scan's prefix before a leaf is the left fold of init and the sums of all leaves before it.
//   TREE-6  Where leaves_keep_blocks(), a rank's block of the leaves is its block of the iterations.
//
// How a team reduces: member r takes the leaves static_block(0, leaves, r, size), evaluates the maximal_nodes() in
// them, and publishes their values in order. published_nodes finds the values again. The same holds for the shares of a
// loop, and their parts. If a schedule hands out single leaves, leaf values are published. member_nodes.hpp has the
// values themselves.
//
// Pure functions.
#ifndef LOCKSTEP_SRC_REDUCE_REDUCTION_TREE_HPP
#define LOCKSTEP_SRC_REDUCE_REDUCTION_TREE_HPP

#include <cstddef>

#include <lockstep/detail/base/cells.hpp>
#include <lockstep/detail/base/range_parts.hpp>
#include <lockstep/detail/reduce/reduction_operations.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {
namespace reduction_tree {

/// The most leaves of any range, and the most maximal nodes inside a run of them.
constexpr std::size_t most_leaves = most_values_of_loop, most_nodes = most_values_of_member;

/// Iterations per leaf of a range of n, the last leaf perhaps shorter: 1 for short ranges, so that a few
/// expensive iterations can be spread, and at least 64 where there are many, so that combining costs little.
constexpr std::size_t leaf_size(std::size_t n) noexcept {
  return n <= 128 ? 1 : n <= 8192 ? (n - 1) / 128 + 1 : n <= 65536 ? 64 : (n - 1) / most_leaves + 1;
}

/// The number of leaves of a range of n iterations: 0 to most_leaves.
constexpr std::size_t leaves_of(std::size_t n) noexcept {
  return n == 0 ? 0 : (n - 1) / leaf_size(n) + 1;
}

/// TREE-6. It may be false even if the blocks are the same.
constexpr bool leaves_keep_blocks(std::size_t n, std::size_t size) noexcept {
  return leaf_size(n) == 1 || (n % leaf_size(n) == 0 && leaves_of(n) % size == 0);
}

/// Walks from `node` down, through nodes that cross an end of `block`, to those inside it. Requires: they have leaves in
/// common.
template <class Function>
void visit_maximal_nodes(index_range node, index_range block, Function& f) {
  while (node.first < block.first || block.last < node.last) {
    const std::size_t middle = middle_of(node.first, node.last);
    if (block.first < middle && middle < block.last) {
      visit_maximal_nodes(index_range{node.first, middle}, block, f);
    }
    (block.last <= middle ? node.last : node.first) = middle;
  }
  f(node.first, node.last);
}

/// Calls f(first, last), from left to right, for the nodes of the tree over `leaves` leaves that lie in [a, b) while
/// their parents do not. They are at most most_nodes, and together all of [a, b). Requires b <= leaves. An empty run
/// has none.
template <class Function>
void maximal_nodes(std::size_t leaves, std::size_t a, std::size_t b, Function&& f) {
  if (a < b) visit_maximal_nodes(index_range{0, leaves}, index_range{a, b}, f);
}

/// Finds the published values in the order of the tree, where `part` is cut into a block of leaves for each of `shares`,
/// and these into `parts`. The next value is number node() of block number block().
class published_nodes {
 public:
  published_nodes(index_range part, std::size_t shares, std::size_t parts = 1) noexcept
      : last_(part.last),
        parts_(parts),
        shares_(length_of(part), shares),
        blocks_(shares_.length(0), parts),
        end_(part.first + blocks_.length(0)) {}

  /// Whether the node that ends at leaf b is, or lies in, a published one.
  bool has(std::size_t b) const noexcept { return b <= end_; }
  std::size_t block() const noexcept { return rank_ * parts_ + number_; }
  std::size_t node() const noexcept { return node_; }
  /// Steps past the value of the node that ends at b. Nodes come from left to right. So a node that does not go beyond
  /// the block's end is inside the block, and the first such node on the way down is maximal.
  void advance(std::size_t b) noexcept {
    ++node_;
    if (b != end_ || b == last_) return;
    node_ = 0;
    do {  // a block may have no leaves
      if (++number_ == parts_) {
        number_ = 0;
        blocks_ = cut(shares_.length(++rank_), parts_);
      }
      end_ += blocks_.length(number_);
    } while (end_ == b);
  }

 private:
  /// The lengths of static_block()s, with one division for all.
  struct cut {
    std::size_t shorter, longer;

    cut(std::size_t whole, std::size_t blocks) noexcept
        : shorter(whole / blocks), longer(whole % blocks) {}
    std::size_t length(std::size_t block) const noexcept {
      return shorter + (block < longer ? 1 : 0);
    }
  };

  const std::size_t last_, parts_;
  const cut shares_;
  cut blocks_;  ///< of the share
  std::size_t rank_ = 0, number_ = 0, node_ = 0;
  std::size_t end_;  ///< of the block
};

}  // namespace reduction_tree
}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_REDUCE_REDUCTION_TREE_HPP
