// SPDX-License-Identifier: MIT
// lockstep/detail/mpi/world_values.hpp -- values of users' types that all members of all ranks combine (layer: mpi)
//
// In a construct across ranks the members of a rank meet. Member 0 meets the other ranks while they wait, and its
// arrival lets them go. That is one phase of the team if members meet by flags, else two. Code without users' types is
// in src/mpi: world_region.hpp has the meetings, world.cpp the tree of a range that ranks share.
#ifndef LOCKSTEP_DETAIL_MPI_WORLD_VALUES_HPP
#define LOCKSTEP_DETAIL_MPI_WORLD_VALUES_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include <lockstep/detail/mpi/library.hpp>
#include <lockstep/detail/mpi/world_construct.hpp>
#include <lockstep/detail/reduce/reductions.hpp>
#include <lockstep/member.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {
namespace mpi {

struct world_body;     // src/mpi/world_region.hpp
class rank_reduction;  // src/mpi/world.cpp

/// Combines two values that follow each other: *into = *into op *next. world_combine() means that there are no values.
struct world_combine {
  void (*call)(const void* context, void* into, const void* next);
  const void* context;

  void operator()(void* into, const void* next) const {
    if (call != nullptr) call(context, into, next);
  }
};

/// The most bytes that a rank brings to a meeting.
constexpr std::size_t most_meeting_bytes = 8192;

/// By member 0 of the region: meets the other ranks. False if the region is over.
bool meet_ranks(world_body& of, member_state& at, world_construct construct, std::uint32_t argument,
                void* value, std::size_t bytes, const world_combine& combine);
/// Whether there is no other rank: then the members meet as without a world.
bool has_one_rank(world_body& of, const member_state& at, world_construct construct);
bool sync_members(world_body& of, member_state& at, call_site where);
/// Whether this rank is `root`. Fails if the world has no such rank.
bool is_root(const world_body& of, std::size_t root);

/// The members of a rank evaluate its block of the leaves of a reduction. Then meet(context, what) is called: in it
/// member 0 calls collect_and_meet(), when all have arrived. Once the region is stopped: false, without that call.
bool evaluate_leaves(world_body& of, member_state& at, const reductions::operations& what,
                     const reductions::operands& values, std::size_t length, schedule how,
                     const world_combine& combine_values, std::size_t value_size,
                     void (*meet)(void*, rank_reduction&), void* context);
/// *whole becomes the value of the range of all ranks. False once the region is stopped.
bool collect_and_meet(rank_reduction& what, void* whole);

/// Calls op for the meeting of ranks.
template <class Type, class Operation>
struct combine_of {
  static void call(const void* context, void* into, const void* next) {
    Operation& op = *static_cast<Operation*>(const_cast<void*>(context));
    const Type result(op(copy_of_bytes<Type>(into), copy_of_bytes<Type>(next)));
    std::memcpy(into, static_cast<const void*>(&result), sizeof(Type));
  }
  static world_combine with(Operation& op) noexcept { return {call, &op}; }
};

/// What one rank sends and another keeps.
template <class Type>
struct sent_value {
  Type value;
  bool is_there;

  static world_combine combine() noexcept { return {call, nullptr}; }

 private:
  /// Keeps the value that is there.
  static void call(const void*, void* into, const void* next) {
    sent_value from;
    std::memcpy(&from, next, sizeof from);
    if (from.is_there) std::memcpy(into, &from, sizeof from);
  }
};

template <class Type>
inline void check_travels() noexcept {
  static_assert(
      std::is_trivially_copyable<Type>::value && std::is_default_constructible<Type>::value,
      "lockstep::mpi: values that go from rank to rank are trivially copyable, and have a default "
      "constructor");
  static_assert(sizeof(Type) + 16 <= most_meeting_bytes,
                "lockstep::mpi: a value that goes from rank to rank has 8 kB at most: send larger "
                "ones by MPI, on world.comm()");
}
template <class Type>
inline void check_reducible() noexcept {
  static_assert(std::is_trivially_copyable<Type>::value,
                "lockstep: the type of init goes from rank to rank, so it must be trivially "
                "copyable: a struct or an array of numbers, no std::string or std::vector");
  static_assert(alignof(Type) <= 16,
                "lockstep: a type that goes from rank to rank is aligned to 16 bytes at most");
  static_assert(sizeof(Type) <= 448,  // src/mpi/world.cpp
                "lockstep: the type of init has 448 bytes at most where ranks reduce a range; "
                "reduce a larger one on each rank, and send it by MPI, on world.comm()");
}

/// Whether the members' values travel with their arrivals.
template <class Type>
bool meets_by_cells(const member_state& at) noexcept {
  return fits_cell<Type>() && !at.is_alone() && at.goes_on() && at.meets_by_flags();
}
/// One phase: rank 0 makes the value of all when the others have arrived.
template <class Type, class Make>
Type meet_in_cells(member_state& at, const Type& at_hand, const Make& make) {
  const std::uint32_t phase = at.next_phase();
  cell& result = at.value_of(0, phase);
  const bool goes_on = at.meet_at_first([&] {
    cell_access<Type>::put(at.memory_for(member_state::result, !fits_cell<Type>()), result,
                           make(phase));
  });
  if (goes_on) return cell_access<Type>::get(result);
  leave_stopped_region();
  return at_hand;
}
/// For values that do not travel with arrivals. Member 0 calls meets(mine), which may change `mine`; all get the
/// result. Requires: all have met before, or bring nothing.
template <class Type, class Meets>
Type from_first(member_state& at, Type& mine, const Meets& meets) {
  if (!at.goes_on() || at.is_stopped()) leave_stopped_region();
  if (at.rank() == 0 && !at.is_stopped() && !meets(mine)) leave_stopped_region();
  return reductions::broadcast<Type>(at, 0, mine);
}

/// op over the values of all members of all ranks.
template <class Type, class Operation>
Type reduce_members(world_body& of, member_state& at, world_construct construct, call_site where,
                    Type value, Operation& op) {
  check_travels<Type>();
  reductions::check_operation<Type, Operation>();
  at.come_to(text_of(construct), where, sizeof(Type));
  if (has_one_rank(of, at, construct)) return reductions::reduce_values<Type>(at, value, op);
  const auto meets = [&](Type& mine) {
    return meet_ranks(of, at, construct, 0, &mine, sizeof(Type),
                      combine_of<Type, Operation>::with(op));
  };
  if (!meets_by_cells<Type>(at)) {
    Type mine = reductions::reduce_values<Type>(at, value, op);
    return from_first<Type>(at, mine, meets);
  }
  at.value_of(at.rank(), at.next_phase()) = reductions::cell_with<Type>(at, value);
  return meet_in_cells<Type>(at, value, [&](std::uint32_t phase) {
    Type mine(cell_access<Type>::get(at.value_of(0, phase)));
    for (std::size_t rank = 1; rank < at.size(); ++rank) {
      mine = op(std::move(mine), cell_access<Type>::get(at.value_of(rank, phase)));
    }
    meets(mine);
    return mine;
  });
}

/// The value of member 0 of rank `root`.
template <class Type>
Type broadcast_to_members(world_body& of, member_state& at, std::size_t root, const Type& value,
                          call_site where) {
  check_travels<Type>();
  const bool is_sender = is_root(of, root);
  at.come_to("broadcast(world)", where, sizeof(Type));
  if (has_one_rank(of, at, world_construct::broadcast)) {
    return reductions::broadcast<Type>(at, 0, value);
  }
  const auto meets = [&](Type& mine) {
    sent_value<Type> sent = {mine, is_sender};
    const bool goes_on =
        meet_ranks(of, at, world_construct::broadcast, static_cast<std::uint32_t>(root), &sent,
                   sizeof sent, sent_value<Type>::combine());
    mine = sent.value;
    return goes_on;
  };
  Type mine(value);
  if (!meets_by_cells<Type>(at)) return from_first<Type>(at, mine, meets);
  return meet_in_cells<Type>(at, value, [&](std::uint32_t) {
    meets(mine);
    return mine;
  });
}

/// op(init, the tree over the range of all ranks), on every member of every rank.
/// Values: each_value or block_value.
template <template <class, class, class> class Values, class Type, class Index, class Function,
          class Operation>
Type reduce_leaves(world_body& of, member_state& at, const index_span<Index>& span, Function& f,
                   const Type& init, Operation& op, schedule how) {
  using values_of_range = Values<Type, Index, Function>;
  const values_of_range values(&op, span.first, f);
  check_reducible<Type>();
  reductions::check_types<Type, typename values_of_range::value, Operation>();
  struct meeting {
    member_state& at;
    Type whole;

    static void meet(void* context, rank_reduction& what) {
      meeting& self = *static_cast<meeting*>(context);
      const Type met(meet_by_first(self.at, self.whole, what));
      std::memcpy(static_cast<void*>(&self.whole), &met, sizeof(Type));
    }
    /// The members meet; then member 0 meets the other ranks, and all get what it has learned.
    static Type meet_by_first(member_state& at, const Type& at_hand, rank_reduction& what) {
      const auto meets = [&](Type& whole) { return collect_and_meet(what, &whole); };
      Type mine(at_hand);
      if (!meets_by_cells<Type>(at)) {
        if (!at.is_alone() && !at.sync()) leave_stopped_region();
        return from_first<Type>(at, mine, meets);
      }
      return meet_in_cells<Type>(at, at_hand, [&](std::uint32_t) {
        meets(mine);
        return mine;
      });
    }
  } all = {at, init};
  if (!evaluate_leaves(of, at,
                       reductions::operations_for<Type, Operation, values_of_range>::reduction,
                       values, span.length, how, combine_of<Type, Operation>::with(op),
                       sizeof(Type), meeting::meet, &all)) {
    leave_stopped_region();
    return init;
  }
  return span.length == 0 ? init : op(Type(init), std::move(all.whole));
}

}  // namespace mpi
}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_MPI_WORLD_VALUES_HPP
