// SPDX-License-Identifier: MIT
// lockstep/detail/reduce/reduction_tree.hpp -- the fixed order in which the values of a range are combined (layer: reduce)
//
// A reduction over n iterations is bitwise the same for every team size, schedule and run. The range is cut into leaves
// that depend on n alone. Each leaf is folded from the left, and the leaves are combined along a binary tree that
// depends on their number alone. Which member computes what changes nothing. The operation is applied to neighbours in
// the order of their indices, so it must be associative, but not commutative. The result is that of a left fold only
// where the operation is truly associative. The compiler must not reorder either: no -ffast-math.
//
//   TREE-1  leaves_of(n) <= n, <= 1024; leaf_range() cuts [first, last) without gap or overlap.
//   TREE-2  A node [a, b) of the tree with b - a > 1 has the children [a, m), [m, b), m = middle_of(a, b). The root is
//           [0, leaves). Depth 10 at most. The root's children are the blocks of a team of 2.
//   TREE-3  The maximal nodes inside a run of leaves are unique, most_nodes at most.
//   TREE-4  Whatever the number of members, the operation is applied as by one that evaluates the root.
//   TREE-5  A scan's prefix before a leaf is the left fold of init and the sums of all leaves before it.
//   TREE-6  Where leaves_keep_blocks(), a rank's block of the leaves is its block of the iterations.
//
// The walks along it: src/reduce/reduction_nodes.hpp. The values themselves: reductions.hpp.
//
// Pure functions.
#ifndef LOCKSTEP_DETAIL_REDUCE_REDUCTION_TREE_HPP
#define LOCKSTEP_DETAIL_REDUCE_REDUCTION_TREE_HPP

#include <cstddef>

#include <lockstep/detail/base/cells.hpp>

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

/// Where the node [a, b) splits; the left half is the longer one. Requires b - a > 1.
constexpr std::size_t middle_of(std::size_t a, std::size_t b) noexcept {
  return a + (b - a + 1) / 2;
}

}  // namespace reduction_tree
}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_REDUCE_REDUCTION_TREE_HPP
