// SPDX-License-Identifier: MIT
// src/reduce/value_stack.hpp -- evaluates a reduction's tree without its types (layer: reduce)
//
// The walk along the tree of reduction_tree.hpp is compiled once for the program. It calls what depends on the user's
// types through a table. One call of `fold` evaluates a node of up to 1024 iterations. `combine` makes one value of two.
//
//   STACK-1  Values are destroyed once, even if the user's code throws.
//   STACK-2  Values of up to 16 trivially copyable bytes lie in the stack itself; of others it owns a kept_value.
#ifndef LOCKSTEP_SRC_REDUCE_VALUE_STACK_HPP
#define LOCKSTEP_SRC_REDUCE_VALUE_STACK_HPP

#include <cstddef>
#include <cstdint>

#include <lockstep/detail/loop/leaf_loop.hpp>
#include <lockstep/detail/reduce/reduction_operations.hpp>
#include "../region/stop_source.hpp"

#include "reduction_tree.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {
namespace reductions {

/// The values of nodes whose right halves are still to come.
class value_stack {
 public:
  value_stack(const operations& what, const operands& of) noexcept : what_(what), of_(of) {}
  ~value_stack() {
    if (what_.are_kept) clear();
  }
  value_stack(const value_stack&) = delete;
  value_stack& operator=(const value_stack&) = delete;

  /// The value itself.
  void* top() noexcept { return at(size_ - 1); }
  void pop() {
    --size_;
    if (what_.are_kept) delete kept_address::in(values_[size_]).keeper;
  }
  void combine() {
    what_.combine(of_, at(size_ - 2), at(size_ - 1));
    pop();
  }

  /// Pushes the value of a cell; or a copy; or what is moved out of it, if the caller is the cell's only reader.
  void push(const cell& from) noexcept { values_[size_++] = from; }
  void push_copy(const cell& from) { push(copy_of(from)); }
  void push_moved(const cell& from) { push(what_.are_kept ? what_.move(from) : from); }
  cell copy_of(const cell& from) const { return what_.are_kept ? what_.copy(from) : from; }
  cell take_top() noexcept { return values_[--size_]; }
  /// Puts the top into a cell. `keeps` comes from prepare().
  void put_top(kept_values* keeps, cell& into) noexcept {
    into = take_top();
    if (keeps != nullptr) keeps->add(kept_address::in(into).keeper);
  }

  /// Pushes the value of the node [a, b), whose parts were published: push(block, node, first leaf) pushes one. Nodes are
  /// asked for from left to right.
  template <class Push>
  void push_published(reduction_tree::published_nodes& nodes, std::size_t a, std::size_t b,
                      const Push& push) {
    if (nodes.has(b)) {
      push(nodes.block(), nodes.node(), a);
      return nodes.advance(b);
    }
    const std::size_t middle = reduction_tree::middle_of(a, b);
    push_published(nodes, a, middle, push);
    push_published(nodes, middle, b, push);
    combine();
  }

 protected:
  const operations& what_;
  const operands& of_;

  bool push_fold(const leaf_run& run, std::size_t a, std::size_t b) {
    if (!what_.fold(of_, run, a, b, values_[size_])) return false;
    ++size_;
    return true;
  }

 private:
  /// A tree of depth 10 needs 11: ten left halves and a right one.
  static constexpr std::size_t depth = 12;

  void* at(std::size_t k) noexcept {
    return what_.are_kept ? kept_address::in(values_[k]).value : values_[k].bytes;
  }
  LOCKSTEP_NOINLINE void clear() {
    while (size_ > 0) pop();
  }

  std::size_t size_ = 0;
  alignas(cell::size) cell values_[depth];  // with the alignment of the types that fit
};

/// Leaves for a member or a share of a loop.
template <class At>
leaf_run run_of(const At& at, std::size_t length, index_range leaves = {0, 0}) noexcept {
  return {length, reduction_tree::leaf_size(length), leaves, &at.stop(), at.region()};
}

/// Evaluates nodes, for a member or a share of a loop.
class tree_walk final : public value_stack {
 public:
  /// `known`: the values of the leaves, if they lie in cells; the walk takes them.
  tree_walk(const operations& what, const operands& of, const leaf_run& run,
            const cell* known = nullptr)
      : value_stack(what, of),
        run_(run),
        known_(known),
        at_once_(known != nullptr || what.are_large
                     ? 1
                     : reduction_tree::leaves_at_once(run.leaf_size)) {}

  /// Pushes the value of the node [a, b). False once the region is stopped.
  LOCKSTEP_NOINLINE bool push_node(std::size_t a, std::size_t b) {
    if (b - a > at_once_) {
      const std::size_t middle = reduction_tree::middle_of(a, b);
      if (!push_node(a, middle) || !push_node(middle, b)) return false;
      combine();
      return true;
    }
    if (is_stopped(run_)) return false;
    if (known_ == nullptr) return push_fold(run_, a, b);
    push_moved(known_[a]);  // each leaf is in one node
    return true;
  }

  /// Puts the values of the maximal nodes in a block of leaves into cell_of(number, first leaf). `keeps` comes from
  /// prepare(). False once the region is stopped.
  template <class CellOf>
  bool put_nodes(index_range block, kept_values* keeps, const CellOf& cell_of) {
    std::size_t number = 0;
    bool goes_on = true;
    reduction_tree::maximal_nodes(reduction_tree::leaves_of(run_.length), block.first, block.last,
                                  [&](std::size_t a, std::size_t b) {
                                    goes_on = goes_on && push_node(a, b);
                                    if (goes_on) put_top(keeps, cell_of(number++, a));
                                  });
    return goes_on;
  }
  /// Puts the values of the leaves into cells, each into that with its number. `keeps` comes from prepare(). False once
  /// the region is stopped.
  bool put_leaves(index_range leaves, kept_values* keeps, cell* cells) {
    for (std::size_t leaf = leaves.first; leaf < leaves.last; ++leaf) {
      if (!push_node(leaf, leaf + 1)) return false;
      put_top(keeps, cells[leaf]);
    }
    return true;
  }

 private:
  const leaf_run run_;
  const cell* const known_;
  const std::size_t at_once_;
};

}  // namespace reductions
}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_REDUCE_VALUE_STACK_HPP
