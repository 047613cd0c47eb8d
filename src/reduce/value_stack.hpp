// SPDX-License-Identifier: MIT
// src/reduce/value_stack.hpp -- evaluates a reduction's tree without its types (layer: reduce)
//
// The walk along the tree of reduction_tree.hpp is compiled once for the program. What depends on the user's types is
// called through a table: `fold` evaluates a node of up to 16 leaves, or 1024 iterations, by one call; `combine` makes
// one value of two.
//
//   STACK-1  Values are destroyed once, also where the user's code throws.
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

/// Room for values, on lines of their own or packed. Destroys those that are in it.
class value_room {
 public:
  value_room() noexcept = default;
  ~value_room() {
    if (memory_ != nullptr) clear();
  }
  value_room(const value_room&) = delete;
  value_room& operator=(const value_room&) = delete;

  /// Once. Before each value: the byte that says whether it is there. `type`: null for values that fit a cell.
  void make(const value_type* type, std::size_t count, bool on_lines = true) {
    const std::size_t size = type != nullptr ? type->size : cell::size;
    const std::size_t alignment = type != nullptr ? type->alignment : cell::size;
    const std::size_t line = on_lines && alignment < 64 ? 64 : alignment;
    stride_ = (size + line - 1) / line * line + line;
    memory_ = ::operator new(stride_ * count + line);
    const std::uintptr_t begin = reinterpret_cast<std::uintptr_t>(memory_);
    first_ = static_cast<unsigned char*>(memory_) + (line - begin % line);
    gap_ = line;
    type_ = type;
    for (; count_ < count; ++count_) note(count_, false);
  }
  void* operator[](std::size_t k) const noexcept { return first_ + k * stride_ + gap_; }
  std::size_t stride() const noexcept { return stride_; }
  bool is_set(std::size_t k) const noexcept { return first_[k * stride_] != 0; }
  /// The value there, if it needs that.
  void destroy(std::size_t k) noexcept {
    note(k, false);
    if (type_ != nullptr) type_->destroy((*this)[k]);
  }
  /// A value has been made there, or destroyed.
  void note(std::size_t k, bool is_set) noexcept { first_[k * stride_] = is_set ? 1 : 0; }

 private:
  void clear() {
    for (std::size_t k = 0; type_ != nullptr && k < count_; ++k) {
      if (is_set(k)) type_->destroy((*this)[k]);
    }
    ::operator delete(memory_);
  }

  const value_type* type_ = nullptr;
  void* memory_ = nullptr;
  unsigned char* first_ = nullptr;
  std::size_t stride_ = 0, gap_ = 0, count_ = 0;
};

/// The values of nodes whose right halves are still to come.
class value_stack {
 public:
  value_stack(const operations& what, const operands& of) : what_(what), of_(of) {
    if (what.type != nullptr) make_large();
  }
  value_stack(const value_stack&) = delete;
  value_stack& operator=(const value_stack&) = delete;

  void* top() noexcept { return at(size_ - 1); }
  void* below_top() noexcept { return at(size_ - 2); }
  /// Where the next value is to be made; then push().
  void* next() noexcept { return at(size_); }
  void push() noexcept {
    if (what_.type != nullptr) large_.note(size_, true);
    ++size_;
  }
  void pop() {
    --size_;
    if (what_.type != nullptr) destroy_large();
  }
  void combine() {
    what_.combine(of_, at(size_ - 2), at(size_ - 1));
    pop();
  }

  /// Moves the top to where no value is.
  void take_top(void* to) {
    if (what_.type == nullptr) {
      std::memcpy(to, at(--size_), cell::size);
    } else {
      take_large(to);
    }
  }
  /// Pushes what a cell has: a copy, or that of which this is the only reader.
  void push_copy(const cell& from) {
    push_copy_of(what_.type == nullptr ? from.bytes : address_in(from));
  }
  void push_taken(const cell& from) {
    push_moved(what_.type == nullptr ? const_cast<unsigned char*>(from.bytes) : address_in(from));
  }
  /// Pushes a copy of a value that lies elsewhere, or below the top.
  void push_copy_of(const void* from) {
    copy_to(from, next());
    push();
  }
  void push_copy_of_top() { push_copy_of(top()); }
  void push_moved(void* from) {
    if (what_.type == nullptr) return push_copy_of(from);
    what_.type->move(next(), from);
    push();
  }
  /// Makes a copy of a value.
  void copy_to(const void* value, void* to) const {
    if (what_.type == nullptr) {
      std::memcpy(to, value, cell::size);
    } else {
      what_.type->copy(to, value);
    }
  }
  /// Moves the top into a cell, where `room` is that of prepare().
  void put_top(void* room, cell& into) {
    if (what_.type == nullptr) {
      std::memcpy(into.bytes, at(--size_), cell::size);
    } else {
      put_large(room, into);
    }
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
  /// That of the tree, and one.
  static constexpr std::size_t depth = 12;

  void* at(std::size_t k) noexcept { return first_ + k * stride_; }

  void make_large() {
    large_.make(what_.type, depth);
    first_ = static_cast<unsigned char*>(large_[0]);
    stride_ = large_.stride();
  }
  void destroy_large() {
    large_.note(size_, false);
    what_.type->destroy(next());
  }
  void take_large(void* to) {
    what_.type->move(to, top());
    pop();
  }
  void put_large(void* room, cell& into) {
    what_.type->put(room, into, top());
    pop();
  }

  std::size_t size_ = 0;
  alignas(cell::size) unsigned char small_[depth * cell::size];
  unsigned char* first_ = small_;
  std::size_t stride_ = cell::size;
  value_room large_;
};

/// Evaluates nodes, for a member or a share of a loop.
class tree_walk final : public value_stack {
 public:
  /// At: member_state or loop_share.
  template <class At>
  tree_walk(const At& at, const operations& what, const operands& of, std::size_t length)
      : tree_walk(at.stop(), at.region(), what, of, length) {}

  /// Pushes the value of the node [a, b). False once the region is stopped.
  LOCKSTEP_NOINLINE bool push_node(std::size_t a, std::size_t b) {
    if (b - a <= at_once_) return push_leaves(a, b);
    const std::size_t middle = reduction_tree::middle_of(a, b);
    if (!push_node(a, middle) || !push_node(middle, b)) return false;
    combine();
    return true;
  }
  /// Adds the iterations [first, last) to the top, or pushes their value. False once the region is stopped.
  LOCKSTEP_NOINLINE bool fold(std::size_t first, std::size_t last, bool goes_on) {
    if (!what_.in_strips) {
      if (may_stop()) return false;
      what_.fold(of_, next(), first, last, last - first, 0);
      push();
      if (goes_on) combine();
      return true;
    }
    for (std::size_t i = first; i < last; goes_on = true) {
      if (may_stop()) return false;
      const std::size_t end =
          last - i > reduction_tree::strip_length ? i + reduction_tree::strip_length : last;
      if (goes_on) {
        what_.fold(of_, top(), i, end, 0, 0);
      } else {
        what_.fold(of_, next(), i, end, end - i, 0);
        push();
      }
      i = end;
    }
    return true;
  }

  /// From the prefix at the top: runs through the leaves [0, leaves), and makes that of all of it. False once the region is
  /// stopped.
  bool scan_alone(std::size_t leaves) {
    if (what_.scan_leaves != nullptr && leaf_size_ <= reduction_tree::strip_length) {
      // As many leaves by one call as are due in a strip.
      const std::size_t most = reduction_tree::strip_length / leaf_size_ * leaf_size_;
      for (std::size_t i = 0, end; i < length_; i = end) {
        if (may_stop()) return false;
        end = length_ - i > most ? i + most : length_;
        what_.scan_leaves(of_, top(), i, end, leaf_size_);
      }
      return true;
    }
    for (std::size_t leaf = 0; leaf < leaves; ++leaf) {
      if (!push_leaves(leaf, leaf + 1)) return false;
      push_copy_of(below_top());
      if (!run_through(leaf)) return false;
      combine();
    }
    return true;
  }
  /// Runs a scan through a leaf, from the top on, which is gone then. False once the region is stopped.
  bool run_through(std::size_t leaf) {
    std::size_t i = leaf * leaf_size_;
    const std::size_t last = length_ - i <= leaf_size_ ? length_ : i + leaf_size_;
    // A look takes as long as a short leaf: all that are due in a strip look once.
    const bool looks = leaf_size_ >= 64 || leaf % 16 == 0;
    while (i < last) {
      if (looks && may_stop()) return false;
      const std::size_t end =
          last - i > reduction_tree::strip_length ? i + reduction_tree::strip_length : last;
      what_.run_through(of_, top(), i, end);
      i = end;
    }
    pop();
    return true;
  }

 private:
  LOCKSTEP_NOINLINE tree_walk(const stop_source& stop, std::uint32_t region, const operations& what,
                              const operands& of, std::size_t length)
      : value_stack(what, of),
        stop_(stop),
        region_(region),
        length_(length),
        leaf_size_(reduction_tree::leaf_size(length)),
        at_once_(what.type != nullptr ? 1
                 : leaf_size_ <= 64   ? reduction_tree::most_leaves_at_once
                                      : (reduction_tree::strip_length - 1) / leaf_size_ + 1) {}

  bool push_leaves(std::size_t a, std::size_t b) {
    const std::size_t first = a * leaf_size_;
    const std::size_t last = length_ - first <= (b - a) * leaf_size_ ? length_ : b * leaf_size_;
    if (b - a == 1) return fold(first, last, false);
    if (may_stop()) return false;
    what_.fold(of_, next(), first, last, leaf_size_, reduction_tree::known_combines(b - a));
    push();
    return true;
  }

  bool may_stop() const noexcept { return stop_.requested_relaxed(region_); }

  const stop_source& stop_;
  const std::uint32_t region_;
  const std::size_t length_, leaf_size_, at_once_;
};

/// The parts of one member or share, folded into one value.
class folded_parts {
 public:
  /// At: member_state or loop_share.
  template <class At>
  folded_parts(const At& at, const operations& what, const operands& of, std::size_t length)
      : walk_(at, what, of, length) {}

  /// Folds the parts that it is called with.
  range_body body() noexcept { return {fold, this}; }
  /// After the parts. False if there were none, or the region was stopped.
  bool has_value() const noexcept { return has_value_ && goes_on_; }
  bool take(void* result) {
    if (has_value()) walk_.take_top(result);
    return has_value();
  }
  void* top() noexcept { return walk_.top(); }
  /// Into a cell; see value_stack.
  void put(void* room, cell& into) { walk_.put_top(room, into); }

 private:
  static void fold(const void* data, std::size_t first, std::size_t last) {
    folded_parts& self = *static_cast<folded_parts*>(const_cast<void*>(data));
    if (!self.goes_on_) return;
    self.goes_on_ = self.walk_.fold(first, last, self.has_value_);
    self.has_value_ = true;
  }

  tree_walk walk_;
  bool has_value_ = false, goes_on_ = true;
};
}  // namespace reductions
}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_REDUCE_VALUE_STACK_HPP
