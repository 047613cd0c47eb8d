// SPDX-License-Identifier: MIT
// tests/support/reference_tree.hpp -- what the tree of a reduction says, evaluated as it is defined
#pragma once

#include <lockstep/detail/reduce/reduction_operations.hpp>

#include <cstddef>
#include <utility>

#include "reduce/reduction_tree.hpp"

namespace lockstep::test {

/// The iterations of leaf number `leaf` (0, 1, ...) of [first, last); empty past the last leaf.
constexpr index_range leaf_range(std::size_t first, std::size_t last, std::size_t leaf) noexcept {
  const std::size_t size =
      detail::reduction_tree::leaf_size(detail::length_of(index_range{first, last}));
  return leaf < detail::chunks_of(first, last, size) ? detail::known_chunk(first, last, size, leaf)
                                                     : index_range{last, last};
}

/// The value of the node [a, b), from leaf_value(leaf) of its leaves, called from left to right.
template <class T, class LeafValue, class Op>
T reduce_node(std::size_t a, std::size_t b, LeafValue&& leaf_value, Op&& op) {
  if (b - a == 1) return leaf_value(a);
  const std::size_t middle = detail::reduction_tree::middle_of(a, b);
  T left(reduce_node<T>(a, middle, leaf_value, op));
  T right(reduce_node<T>(middle, b, leaf_value, op));
  return op(std::move(left), std::move(right));
}

/// The value of the node [a, b), where value_of(block, k) is what was published as the k-th of a block.
template <class T, class ValueOf, class Op>
T combine_node(detail::reduction_tree::published_nodes& nodes, std::size_t a, std::size_t b,
               ValueOf& value_of, Op& op) {
  if (nodes.has(b)) {
    T value(value_of(nodes.block(), nodes.node()));
    nodes.advance(b);
    return value;
  }
  const std::size_t middle = detail::reduction_tree::middle_of(a, b);
  T left(combine_node<T>(nodes, a, middle, value_of, op));
  T right(combine_node<T>(nodes, middle, b, value_of, op));
  return op(std::move(left), std::move(right));
}
template <class T, class ValueOf, class Op>
T combine(std::size_t leaves, std::size_t size, ValueOf&& value_of, Op&& op,
          std::size_t parts = 1) {
  detail::reduction_tree::published_nodes nodes({0, leaves}, size, parts);
  return combine_node<T>(nodes, 0, leaves, value_of, op);
}

/// op(...op(sum, value(first))..., value(last - 1)), each value as a Type. Asks goes_on() once in every strip, and ends
/// early, with a value of no use, where that says no; where the looks are does not change the bits.
template <class Type, class Value, class Operation, class GoesOn>
Type fold_on(Type sum, index_range range, Value&& value, Operation&& op, GoesOn&& goes_on) {
  for (std::size_t i = range.first; goes_on() && i < range.last;) {
    const std::size_t end = range.last - i > detail::reduction_tree::strip_length
                                ? i + detail::reduction_tree::strip_length
                                : range.last;
    for (; i < end; ++i) {
      sum = op(std::move(sum),
               static_cast<detail::reductions::as_value<Type, decltype(value(i))>>(value(i)));
    }
  }
  return sum;
}

/// value(i) of a non-empty range, folded from the left: the value of a leaf.
template <class Type, class Value, class Operation, class GoesOn>
Type fold(index_range range, Value&& value, Operation&& op, GoesOn&& goes_on) {
  return fold_on<Type>(value(range.first), index_range{range.first + 1, range.last}, value, op,
                       goes_on);
}
template <class Type, class Value, class Operation>
Type fold(index_range range, Value&& value, Operation&& op) {
  return fold<Type>(range, value, op, [] { return true; });
}

/// What a scan starts leaf number `leaf` with: op(...op(op(init, sum_of(0)), sum_of(1))..., sum_of(leaf - 1)).
/// That of leaf + 1 is op(that of leaf, sum_of(leaf)), with the same bits: a member computes the first
/// of its leaves so, and goes on from there.
template <class Type, class SumOf, class Operation>
Type exclusive_prefix(std::size_t leaf, Type init, SumOf&& sum_of, Operation&& op) {
  for (std::size_t before = 0; before < leaf; ++before) init = op(std::move(init), sum_of(before));
  return init;
}

}  // namespace lockstep::test
