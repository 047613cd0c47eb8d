// SPDX-License-Identifier: MIT
// src/mpi/world_tree.hpp -- one tree of a reduction, shared by ranks (layer: mpi)
//
// The tree of reduction_tree.hpp spans the range of all ranks. Each rank has a block of its leaves and evaluates the
// maximal nodes in it. It puts their values into a record; records of neighbours are merged until one of them is the
// root's. Merging applies the operation only to the two halves of a node. So the order of merging does not change the
// bits, even if the operation itself is not associative, such as the sum of doubles.
//
//   WORLD-TREE-1  A record of the leaves [a, b) has the values of the maximal nodes in [a, b), from left to right.
//   WORLD-TREE-2  merge() of the records of [a, b) and [b, c) makes that of [a, c), bit for bit: it is associative.
//   WORLD-TREE-3  The record of all leaves has one value: that of the root, whatever the number of ranks.
//   WORLD-TREE-4  The parts of all ranks are the range, without gap or overlap, in the order of ranks.
//   WORLD-TREE-5  Records of ranges of different lengths do not merge: the result says so, in whatever order.
//
// A merge appends the values of the right record one by one. Whenever the last two nodes are halves of one, the
// operation makes its value of theirs. So a merge needs no stack and is done in place.
//
// Pure functions. No MPI.
// Cost   a record: 32 bytes and 18 values. A merge: at most 10 calls of the operation, and for each value a look at
//        each level of the tree.
#ifndef LOCKSTEP_SRC_MPI_WORLD_TREE_HPP
#define LOCKSTEP_SRC_MPI_WORLD_TREE_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <lockstep/detail/base/range_parts.hpp>

#include "../reduce/reduction_tree.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {
namespace mpi {

/// The leaves of a rank, for a range of `length` iterations.
inline index_range leaves_of_rank(std::size_t length, std::size_t rank,
                                  std::size_t ranks) noexcept {
  return static_block(0, reduction_tree::leaves_of(length), rank, ranks);
}
/// The iterations in the leaves of a rank (WORLD-TREE-4).
inline index_range part_of_rank(std::size_t length, std::size_t rank, std::size_t ranks) noexcept {
  const index_range leaves = leaves_of_rank(length, rank, ranks);
  const std::size_t all = reduction_tree::leaves_of(length);
  const std::size_t size = reduction_tree::leaf_size(length);
  // Computes no product for the end: the last leaf may be shorter, and the product may be above the largest number.
  return {leaves.first < all ? leaves.first * size : length,
          leaves.last < all ? leaves.last * size : length};
}

/// Why a record has no values.
enum class record_fault : std::uint32_t { none, operation_threw, lengths_differ };

/// What comes before the values.
struct alignas(16) record_head {
  std::uint64_t length;       ///< of the range of all ranks
  std::uint32_t first, last;  ///< the leaves
  std::uint32_t count;        ///< of values
  record_fault fault;
};
static_assert(sizeof(record_head) == 32, "values behind it are aligned");

/// A record in bytes that are aligned to 16. Copies refer to the same bytes.
class node_record {
 public:
  static constexpr std::size_t most_alignment = alignof(record_head);

  /// A multiple of 16.
  static constexpr std::size_t size(std::size_t value_size) noexcept {
    return sizeof(record_head) + (reduction_tree::most_nodes * value_size + most_alignment - 1) /
                                     most_alignment * most_alignment;
  }

  node_record(void* bytes, std::size_t value_size) noexcept
      : bytes_(static_cast<unsigned char*>(bytes)), value_size_(value_size) {}

  /// Makes it the record of these leaves, without values yet. Clears all bytes, so that no byte is sent unset.
  void begin(std::size_t length, index_range leaves) const noexcept {
    std::memset(bytes_, 0, size(value_size_));
    record_head& to = head();
    to.length = length;
    to.first = static_cast<std::uint32_t>(leaves.first);
    to.last = static_cast<std::uint32_t>(leaves.last);
  }
  void append(const void* value) const noexcept {
    std::memmove(this->value(head().count++), value, value_size_);
  }

  record_head& head() const noexcept { return *reinterpret_cast<record_head*>(bytes_); }
  void* value(std::size_t k) const noexcept {
    return bytes_ + sizeof(record_head) + k * value_size_;
  }
  std::size_t value_size() const noexcept { return value_size_; }
  bool is_empty() const noexcept { return head().first == head().last; }

 private:
  unsigned char* bytes_;
  std::size_t value_size_;
};

/// Whether [first, middle) and [middle, last) are the halves of a node, in the tree over `leaves` leaves. Each border
/// between leaves is the middle of one node. Requires: 0 < middle < leaves.
inline bool are_halves(std::size_t leaves, std::size_t first, std::size_t middle,
                       std::size_t last) noexcept {
  index_range node = {0, leaves};
  for (;;) {
    const std::size_t at = reduction_tree::middle_of(node.first, node.last);
    if (at == middle) return node.first == first && node.last == last;
    (at < middle ? node.first : node.last) = at;
  }
}

/// WORLD-TREE-2: `into`, the record of [a, b), becomes that of [a, c); `next` is that of [b, c). combine(left, right)
/// stores the value of both in `left`, and leaves `right`. What it throws is passed on; then `into` is of no use.
template <class Combine>
void merge(const node_record& into, const node_record& next, Combine&& combine) {
  record_head& left = into.head();
  const record_head& right = next.head();
  if (left.length != right.length) left.fault = record_fault::lengths_differ;
  if (left.fault < right.fault) left.fault = right.fault;
  if (left.fault != record_fault::none || next.is_empty()) return;
  if (into.is_empty()) left.first = right.first;
  const std::size_t leaves = reduction_tree::leaves_of(static_cast<std::size_t>(left.length));
  std::size_t begins[reduction_tree::most_nodes], count = 0;  // of the nodes of `into`
  reduction_tree::maximal_nodes(leaves, left.first, left.last,
                                [&](std::size_t a, std::size_t) { begins[count++] = a; });
  std::uint32_t taken = 0;
  reduction_tree::maximal_nodes(leaves, right.first, right.last, [&](std::size_t a, std::size_t b) {
    void* value = next.value(taken++);
    for (; left.count > 0 && are_halves(leaves, begins[left.count - 1], a, b);
         a = begins[--left.count]) {
      combine(into.value(left.count - 1), value);
      value = into.value(left.count - 1);
    }
    begins[left.count] = a;
    into.append(value);
  });
  left.last = right.last;
}

}  // namespace mpi
}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_MPI_WORLD_TREE_HPP
