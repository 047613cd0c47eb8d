// SPDX-License-Identifier: MIT
// tests/support/reference_tree.hpp -- what the tree of a reduction says, evaluated as it is defined
#pragma once

#include <lockstep/detail/reduce/reduction_tree.hpp>

#include <cstddef>
#include <utility>

namespace lockstep::test {

/// The value of the node [a, b), from leaf_value(leaf) of its leaves, called from left to right.
template <class T, class LeafValue, class Op>
T reduce_node(std::size_t a, std::size_t b, LeafValue&& leaf_value, Op&& op) {
  if (b - a == 1) return leaf_value(a);
  const std::size_t middle = detail::reduction_tree::middle_of(a, b);
  T left(reduce_node<T>(a, middle, leaf_value, op));
  T right(reduce_node<T>(middle, b, leaf_value, op));
  return op(std::move(left), std::move(right));
}

/// The value of the node [a, b), where value_of(rank, k) is what member `rank` has published as its k-th.
template <class T, class ValueOf, class Op>
T combine_node(detail::reduction_tree::published_nodes& nodes, std::size_t a, std::size_t b,
               ValueOf& value_of, Op& op) {
  if (nodes.has(b)) {
    T value(value_of(nodes.rank(), nodes.node()));
    nodes.advance(b);
    return value;
  }
  const std::size_t middle = detail::reduction_tree::middle_of(a, b);
  T left(combine_node<T>(nodes, a, middle, value_of, op));
  T right(combine_node<T>(nodes, middle, b, value_of, op));
  return op(std::move(left), std::move(right));
}
template <class T, class ValueOf, class Op>
T combine(std::size_t leaves, std::size_t size, ValueOf&& value_of, Op&& op) {
  detail::reduction_tree::published_nodes nodes(leaves, size);
  return combine_node<T>(nodes, 0, leaves, value_of, op);
}

}  // namespace lockstep::test
