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

#include <lockstep/detail/reduce/reductions.hpp>

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

template <class Type>
inline void check_reducible() noexcept {
  static_assert(std::is_trivially_copyable<Type>::value,
                "lockstep: the type of init goes from rank to rank, so it must be trivially "
                "copyable: a struct or an "
                "array of numbers, no std::string or std::vector");
  static_assert(alignof(Type) <= node_record::most_alignment,
                "lockstep: a type that goes from rank to rank is aligned to 16 bytes at most");
  static_assert(node_record::size(sizeof(Type)) <= node_board::most_bytes,
                "lockstep: the type of init has 448 bytes at most where ranks reduce a range; "
                "reduce a larger one on each "
                "rank, and send it by MPI, on world.comm()");
}
static_assert(node_record::size(448) <= node_board::most_bytes, "check_reducible says so");

/// op(init, the tree over the range of all ranks), on every member of every rank.
template <class Type, class Operation, class Values>
Type reduce(world_region& region, member_state& at, const Values& values, bool in_strips,
            std::size_t length, const Type& init, Operation& op, schedule how) {
  check_reducible<Type>();
  reductions::check_types<Type, typename Values::value, Operation>();
  const reductions::operations& what =
      reductions::operations_for<Type, Operation>(values, in_strips);
  reductions::run_of_leaves part = {
      at, what, values, length, leaves_of_rank(length, region.ranks().rank(), region.ranks().size()),
      0};
  const auto meets = [&](Type& whole) {
    alignas(node_record::most_alignment) unsigned char bytes[node_record::size(sizeof(Type))];
    const node_record mine(bytes, sizeof(Type));
    mine.begin(length, part.leaves);
    const auto append = [](void* into, const void* value) {
      static_cast<const node_record*>(into)->append(value);
    };
    if (!reductions::collect(part, const_cast<node_record*>(&mine), append)) return false;
    record_merge merge = {what, values, sizeof(Type), nullptr};
    if (!region.meet(at, world_construct::reduce_range, 0, bytes, sizeof bytes, merge.combine())) {
      return false;
    }
    check_merged(mine.head(), merge.thrown);
    if (mine.head().count != 0) std::memcpy(&whole, mine.value(0), sizeof whole);
    return true;
  };
  if (!reductions::evaluate(part, how)) {
    leave_stopped_region();
    return init;
  }
  Type whole(region.meet_by_first<Type>(at, init, meets));
  return length == 0 ? init : op(Type(init), std::move(whole));
}

}  // namespace mpi
}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_MPI_WORLD_REDUCTIONS_HPP
