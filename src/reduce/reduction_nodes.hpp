// SPDX-License-Identifier: MIT
// src/reduce/reduction_nodes.hpp -- walks along the tree of a reduction (layer: reduce)
//
// TREE-1 to TREE-6 are those of reduction_tree.hpp.
//
// How a team reduces: member r takes the leaves static_block(0, leaves, r, size), evaluates the maximal_nodes() in it,
// and publishes their values in order; published_nodes finds them again. A schedule that hands out single leaves
// publishes leaf values. The values themselves: value_stack.hpp.
//
// Pure functions.
#ifndef LOCKSTEP_SRC_REDUCE_REDUCTION_NODES_HPP
#define LOCKSTEP_SRC_REDUCE_REDUCTION_NODES_HPP

#include <cstddef>
#include <cstdint>

#include <lockstep/detail/base/range_parts.hpp>
#include <lockstep/detail/reduce/reduction_tree.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

namespace reduction_tree {

/// TREE-6. False in some cases where it is so.
constexpr bool leaves_keep_blocks(std::size_t n, std::size_t size) noexcept {
  return leaf_size(n) == 1 || (n % leaf_size(n) == 0 && leaves_of(n) % size == 0);
}

/// The iterations of leaf number `leaf` (0, 1, ...) of [first, last); empty past the last leaf.
constexpr index_range leaf_range(std::size_t first, std::size_t last, std::size_t leaf) noexcept {
  return chunk_of_ticket(first, last, leaf_size(length_of(index_range{first, last})), leaf);
}

/// Iterations between two looks whether the rest is still wanted: a leaf may have 2^54 of them.
constexpr std::size_t strip_length = 1024;

/// The order of combining in a node of `count` leaves: four bits for each leaf, from the lowest on, say how many nodes end
/// with it. Requires 0 < count <= most_leaves_at_once.
constexpr std::size_t most_leaves_at_once = 16;
constexpr std::uint64_t combines_of(std::size_t count) noexcept {
  return count == 1 ? 0
                    : combines_of(middle_of(0, count)) |
                          (combines_of(count - middle_of(0, count)) +
                           (std::uint64_t{1} << 4 * (count - middle_of(0, count) - 1)))
                              << 4 * middle_of(0, count);
}
inline std::uint64_t known_combines(std::size_t count) noexcept {
  static constexpr std::uint64_t all[most_leaves_at_once + 1] = {0,
                                                                 combines_of(1),
                                                                 combines_of(2),
                                                                 combines_of(3),
                                                                 combines_of(4),
                                                                 combines_of(5),
                                                                 combines_of(6),
                                                                 combines_of(7),
                                                                 combines_of(8),
                                                                 combines_of(9),
                                                                 combines_of(10),
                                                                 combines_of(11),
                                                                 combines_of(12),
                                                                 combines_of(13),
                                                                 combines_of(14),
                                                                 combines_of(15),
                                                                 combines_of(16)};
  return all[count];
}

/// The walk from the root, through nodes that straddle an end of `block`, to those inside it.
template <class Function>
void visit_maximal_nodes(index_range node, index_range block, Function& f) {
  if (node.last <= block.first || block.last <= node.first) return;
  if (block.first <= node.first && node.last <= block.last) {
    f(node.first, node.last);
    return;
  }
  const std::size_t middle = middle_of(node.first, node.last);
  visit_maximal_nodes(index_range{node.first, middle}, block, f);
  visit_maximal_nodes(index_range{middle, node.last}, block, f);
}

/// The leaves of node number `number`, of the `nodes` that one level of the tree has. Requires: nodes is a power of two,
/// and not above leaves: then the level is complete, as the halves of a node differ by one leaf at most.
inline index_range node_at(std::size_t leaves, std::size_t nodes, std::size_t number) noexcept {
  index_range at = {0, leaves};
  for (std::size_t half = nodes / 2; half > 0; half /= 2) {
    const std::size_t middle = middle_of(at.first, at.last);
    at = (number & half) != 0 ? index_range{middle, at.last} : index_range{at.first, middle};
  }
  return at;
}

/// Calls f(first, last) for the nodes of the tree over `leaves` leaves that lie in [a, b) while their
/// parents do not, from left to right: at most most_nodes, together all of [a, b).
/// Requires b <= leaves. An empty run has none.
template <class Function>
void maximal_nodes(std::size_t leaves, std::size_t a, std::size_t b, Function&& f) {
  if (a < b) visit_maximal_nodes(index_range{0, leaves}, index_range{a, b}, f);
}

/// Finds the published values in the order of the tree: value number `node` of member `rank`, of the `size` members that
/// share the leaves of `part`.
class published_nodes {
 public:
  published_nodes(index_range part, std::size_t size) noexcept
      : part_(part), size_(size), block_(static_block(part.first, part.last, 0, size)) {}
  published_nodes(std::size_t leaves, std::size_t size) noexcept
      : published_nodes(index_range{0, leaves}, size) {}

  /// Whether the node that ends at leaf b is, or lies in, a published one.
  bool has(std::size_t b) const noexcept { return b <= block_.last; }
  std::size_t rank() const noexcept { return rank_; }
  std::size_t node() const noexcept { return node_; }
  /// After the value of the node that ends at b. Nodes come from left to right, so what is not beyond the block's end
  /// is inside the block, and the first such node on the way down is maximal.
  void advance(std::size_t b) noexcept {
    ++node_;
    if (b == block_.last && b < part_.last) {
      block_ = static_block(part_.first, part_.last, ++rank_, size_);
      node_ = 0;
    }
  }

 private:
  const index_range part_;
  const std::size_t size_;
  index_range block_;  ///< of member rank_, whose next value is number node_
  std::size_t rank_ = 0;
  std::size_t node_ = 0;
};

}  // namespace reduction_tree
}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_REDUCE_REDUCTION_NODES_HPP
