// SPDX-License-Identifier: MIT
// src/mpi/world_reductions.hpp -- a range's values become one, over all ranks (layer: mpi)
//
// The members of each rank evaluate the nodes of its block of leaves, as those of one process evaluate all. Member 0
// collects them into a record (world_tree.hpp) and meets the other ranks; the meeting merges the records. So the result
// has the bits of team::reduce_range of one process over the same range, whatever the number of ranks and members.
//
//   WREDUCE-1  f is called for the rank's part of the range only, each index by one member of one rank.
//   WREDUCE-2  No exception of op passes through a meeting, where it would leave the other ranks waiting: the record has a
//              mark in its place, and each rank throws afterwards.
//   WREDUCE-3  As REDUCE-5: members meet before the leaves, if they have run a construct without a wait since they met.
//
// Cost   where members meet by flags, one phase of the team, with the meeting of ranks in it; else two. The record of a
//        double has 176 bytes.
#ifndef LOCKSTEP_SRC_MPI_WORLD_REDUCTIONS_HPP
#define LOCKSTEP_SRC_MPI_WORLD_REDUCTIONS_HPP

#include <cstddef>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <utility>

#include "../reduce/member_nodes.hpp"
#include "world_region.hpp"
#include "world_tree.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {
namespace mpi {

/// What a meeting merges records with.
struct record_merge {
  const reductions::operations& what;
  const reductions::operands& of;
  std::size_t value_size;
  std::exception_ptr thrown;  ///< by op, on this rank

  world_combine combine() noexcept { return {call, this, MPI_DATATYPE_NULL}; }

 private:
  /// WREDUCE-2.
  static void call(const void* context, void* into, const void* next) {
    record_merge& self = *static_cast<record_merge*>(const_cast<void*>(context));
    const node_record left(into, self.value_size);
    const node_record right(const_cast<void*>(next), self.value_size);
#if LOCKSTEP_HAS_EXCEPTIONS
    try {
      self.merge_two(left, right);
    } catch (...) {
      self.thrown = std::current_exception();
      left.head().fault = record_fault::operation_threw;
    }
#else
    self.merge_two(left, right);
#endif
  }
  void merge_two(const node_record& left, const node_record& right) const {
    merge(left, right, [this](void* a, void* b) { what.combine(of, a, b); });
  }
};

/// Fails where a record has no values.
LOCKSTEP_NOINLINE inline void check_merged(const record_head& head, std::exception_ptr& thrown) {
  if (head.fault == record_fault::none) return;
#if LOCKSTEP_HAS_EXCEPTIONS
  if (thrown) std::rethrow_exception(std::move(thrown));
#else
  static_cast<void>(thrown);
#endif
  if (head.fault == record_fault::operation_threw) {
    fail<std::runtime_error>(
        "lockstep::member::reduce_range(world): op threw on another rank, while it combined values "
        "of ranks");
  }
  fail_argument(
      "lockstep::member::reduce_range(world): ranks gave ranges of different lengths: all ranks "
      "give the whole range, "
      "first and last of all, and each is called for its part (world::part_of)");
}

/// A rank's block of the leaves, evaluated by its members.
class rank_reduction : private reductions::member_nodes {
 public:
  rank_reduction(world_region& region, member_state& at, const reductions::operations& what,
                 const reductions::operands& of, std::size_t value_size,
                 std::size_t length) noexcept
      : member_nodes(at, what, of, length,
                     leaves_of_rank(length, region.ranks().rank(), region.ranks().size())),
        region_(region),
        value_size_(value_size) {}

  /// By all members; the phase in which the values become known is still to be met. False once the region is stopped.
  bool evaluate(schedule how) {
    if (at_.is_alone() || length_of(part_) == 0) return at_.goes_on();
    return (at_.has_waited() || at_.wait_before_construct()) && put_own(how);
  }
  /// By member 0, when all have arrived. False once the region is stopped.
  bool collect_and_meet(void* whole) {
    alignas(node_record::most_alignment) unsigned char bytes[node_board::most_bytes];
    const node_record mine(bytes, value_size_);
    if (!collect(mine)) return false;
    record_merge merge = {what_, of_, value_size_, nullptr};
    if (!region_.meet(at_, world_construct::reduce_range, 0, bytes, node_record::size(value_size_),
                      merge.combine())) {
      return false;
    }
    check_merged(mine.head(), merge.thrown);
    if (mine.head().count != 0) std::memcpy(whole, mine.value(0), value_size_);
    return true;
  }

 private:
  static_assert(node_record::size(448) <= node_board::most_bytes, "check_reducible() says so");

  bool collect(const node_record& into) {
    into.begin(length_, part_);
    reductions::tree_walk values(at_, what_, of_, length_);
    reduction_tree::published_nodes nodes(part_, at_.size());
    bool goes_on = true;
    reduction_tree::maximal_nodes(reduction_tree::leaves_of(length_), part_.first, part_.last,
                                  [&](std::size_t a, std::size_t b) {
                                    if (!at_.is_alone()) {
                                      push_published(values, nodes, a, b);
                                    } else if (!goes_on || !values.push_node(a, b)) {
                                      goes_on = false;
                                      return;
                                    }
                                    into.append(values.top());
                                    values.pop();
                                  });
    return goes_on;
  }

  world_region& region_;
  const std::size_t value_size_;
};

}  // namespace mpi
}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_MPI_WORLD_REDUCTIONS_HPP
