// SPDX-License-Identifier: MIT
// src/reduce/value_stack.hpp -- evaluates a reduction's tree without its types (layer: reduce)
//
// The walk along the tree of reduction_tree.hpp is compiled once for the program. It calls what depends on the user's
// types through a table. One call of `fold` evaluates a node of up to 16 leaves, or 1024 iterations. `combine` makes
// one value of two.
//
//   STACK-1  Values are destroyed once, even if the user's code throws.
//   STACK-2  Values of up to 16 trivially copyable bytes lie in the stack itself; others in memory of their own.
#ifndef LOCKSTEP_SRC_REDUCE_VALUE_STACK_HPP
#define LOCKSTEP_SRC_REDUCE_VALUE_STACK_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>

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
  value_stack(const operations& what, const operands& of) : what_(what), of_(of) {
    if (what.type != nullptr) make_large();
  }
  /// With a copy of a value: a scan's prefix.
  value_stack(const operations& what, const operands& of, const void* init)
      : value_stack(what, of) {
    push_copy_of(init);
  }
  ~value_stack() {
    if (memory_) clear();
  }
  value_stack(const value_stack&) = delete;
  value_stack& operator=(const value_stack&) = delete;

  void* top() noexcept { return at(size_ - 1); }
  /// Where the next value is to be made. Call push() after that.
  void* next() noexcept { return at(size_); }
  void push() noexcept { ++size_; }
  void pop() {
    --size_;
    if (what_.type != nullptr) what_.type->destroy(next());
  }
  void combine() {
    what_.combine(of_, at(size_ - 2), at(size_ - 1));
    pop();
  }

  /// Moves the top to memory that holds no value.
  void take_top(void* to) {
    if (what_.type == nullptr) {
      std::memcpy(to, at(--size_), cell::size);
    } else {
      what_.type->move(to, top());
      pop();
    }
  }
  void leave_top(result_room& to) {
    take_top(to.at);
    to.has_value = true;
  }
  /// Moves the top into a cell. `room` comes from prepare().
  void put_top(void* room, cell& into) {
    if (what_.type == nullptr) return take_top(into.bytes);
    put_value(room, into, top());
    pop();
  }
  /// Pushes the value of a cell: a copy, or (push_taken) the value itself, if the caller is the cell's only reader.
  void push_copy(const cell& from) {
    push_copy_of(what_.type == nullptr ? from.bytes : address_in(from));
  }
  void push_taken(const cell& from) {
    if (what_.type == nullptr) return push_copy_of(from.bytes);
    what_.type->move(next(), address_in(from));
    push();
  }
  /// Pushes a copy of a value that lies elsewhere.
  void push_copy_of(const void* from) {
    if (what_.type == nullptr) {
      std::memcpy(next(), from, cell::size);
    } else {
      what_.type->copy(next(), from);
    }
    push();
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

  static void* address_in(const cell& from) noexcept {
    void* address;
    std::memcpy(&address, from.bytes, sizeof address);
    return address;
  }

 protected:
  const operations& what_;
  const operands& of_;

 private:
  /// A tree of depth 10 needs 11: ten left halves and a right one.
  static constexpr std::size_t depth = 12;

  void* at(std::size_t k) noexcept { return first_ + k * stride_; }

  LOCKSTEP_NOINLINE void make_large() {
    memory_.reset(new any_aligned_array(depth, what_.type->room));
    first_ = static_cast<unsigned char*>(memory_->data());
    stride_ = what_.type->room.size;
  }
  LOCKSTEP_NOINLINE void clear() {
    while (size_ > 0) pop();
    memory_.reset();
  }

  std::size_t size_ = 0;
  alignas(cell::size) unsigned char small_[depth * cell::size];
  owner<any_aligned_array> memory_;
  unsigned char* first_ = small_;
  std::size_t stride_ = cell::size;
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
        at_once_(what.type != nullptr || known != nullptr ? 1
                 : run.leaf_size <= 64                    ? reduction_tree::most_leaves_at_once
                                       : (reduction_tree::strip_length - 1) / run.leaf_size + 1) {}

  /// Pushes the value of the node [a, b). False once the region is stopped.
  LOCKSTEP_NOINLINE bool push_node(std::size_t a, std::size_t b) {
    if (b - a <= at_once_) return push_leaves(a, b);
    const std::size_t middle = reduction_tree::middle_of(a, b);
    if (!push_node(a, middle) || !push_node(middle, b)) return false;
    combine();
    return true;
  }

  /// Puts the values of the maximal nodes in a block of leaves into cell_of(number, first leaf). `room` comes from
  /// prepare(). False once the region is stopped.
  template <class CellOf>
  bool put_nodes(index_range block, void* room, const CellOf& cell_of) {
    std::size_t number = 0;
    bool goes_on = true;
    reduction_tree::maximal_nodes(reduction_tree::leaves_of(run_.length), block.first, block.last,
                                  [&](std::size_t a, std::size_t b) {
                                    goes_on = goes_on && push_node(a, b);
                                    if (goes_on) put_top(room, cell_of(number++, a));
                                  });
    return goes_on;
  }
  /// Puts the values of the leaves into cells, each into that with its number. `room` comes from prepare(). False once the
  /// region is stopped.
  bool put_leaves(index_range leaves, void* room, cell* cells) {
    for (std::size_t leaf = leaves.first; leaf < leaves.last; ++leaf) {
      if (!push_node(leaf, leaf + 1)) return false;
      put_top(room, cells[leaf]);
    }
    return true;
  }

 private:
  bool push_leaves(std::size_t a, std::size_t b) {
    if (is_stopped(run_)) return false;
    if (known_ != nullptr) {
      push_taken(known_[a]);  // each leaf is in one node
      return true;
    }
    const std::size_t first = a * run_.leaf_size;
    const std::size_t last =
        run_.length - first <= (b - a) * run_.leaf_size ? run_.length : b * run_.leaf_size;
    const std::size_t end = b - a == 1 && what_.in_strips ? end_of_strip(first, last) : last;
    what_.fold(of_, next(), first, end, run_.leaf_size, reduction_tree::known_combines(b - a));
    push();
    return end == last || go_on(end, last);
  }
  /// The rest of a long leaf.
  LOCKSTEP_NOINLINE bool go_on(std::size_t i, std::size_t last) {
    while (i < last) {
      if (is_stopped(run_)) return false;
      const std::size_t end = end_of_strip(i, last);
      what_.fold(of_, top(), i, end, 0, 0);
      i = end;
    }
    return true;
  }
  static std::size_t end_of_strip(std::size_t first, std::size_t last) noexcept {
    constexpr std::size_t most = reduction_tree::strip_length;
    return last - first > most ? first + most : last;
  }

  const leaf_run run_;
  const cell* const known_;
  const std::size_t at_once_;
};

}  // namespace reductions
}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_REDUCE_VALUE_STACK_HPP
