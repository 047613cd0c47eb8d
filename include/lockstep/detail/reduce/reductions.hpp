// SPDX-License-Identifier: MIT
// lockstep/detail/reduce/reductions.hpp -- values of all members, or of a whole range, become one (layer: reduce)
//
// If each member has one value, the values are combined in the order of ranks. Values over a range are combined along
// the fixed tree of reduction_tree.hpp: the same bits for every number of members, schedule and run. Both use a phase
// of the region's barrier. Members put their values into their cells and arrive. Then each combines all cells; above 8
// members the last one to arrive does it for all. For users: member.hpp.
//
//   REDUCE-1  `op` may run on every member at once, with the same arguments: it must not change shared data.
//   REDUCE-2  All members of the region call the same function with the same range, schedule, and op.
//   REDUCE-3  init is the left argument of the last op on each member; scans fold from init on. The result of an empty
//             range is init.
//   REDUCE-4  Once the region is stopped, a member ends within 1024 more calls of f(i).
//   REDUCE-5  A member's leaves need not be its block. So f(i) may read data that another member writes in an earlier
//             loop without a wait. If members have run such a construct since they last met, they meet before the
//             leaves. One case needs no meeting: a loop in blocks, over a range of this length, with the same blocks as
//             the leaves. Then no member takes leaves of others (LOOPS-6), and f(i) sees only what iteration i of that
//             loop wrote. All members decide alike: MEMBER-1.
//
#ifndef LOCKSTEP_DETAIL_REDUCE_REDUCTIONS_HPP
#define LOCKSTEP_DETAIL_REDUCE_REDUCTIONS_HPP

#include <cstddef>
#include <cstdint>
#include <utility>

#include <lockstep/detail/reduce/reduction_operations.hpp>
#include <lockstep/detail/region/member_state.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

class team_host;

namespace reductions {

// --- one value of each member ---

/// The result of combine(cells); `at_hand` if the region was stopped and exceptions are off.
template <class Type, class Combine>
Type meet(member_state& at, cell mine, const Type& at_hand, const Combine& combine) {
  const std::uint32_t phase = at.next_phase();
  const auto put_result = [&](cell& into) {
    cell_access<Type>::put(at.memory_for(member_state::result, !fits_cell<Type>()), into,
                           combine(at.values_of(phase)));
  };
  cell values[most_met_by_cells];
  const meeting how = at.meet(mine, put_result, values);
  if (how == meeting::by_cells) return combine(cells_of_ranks{values[0].bytes, sizeof(cell)});
  if (how == meeting::by_value) return cell_access<Type>::get(values[0]);
  leave_stopped_region();
  return at_hand;
}

/// A cell with this member's value for the next meeting.
template <class Type>
cell cell_with(member_state& at, Type value) {
  cell made = {};
  cell_access<Type>::put(at.memory_for(at.next_phase() & 1u, !fits_cell<Type>()), made,
                         std::move(value));
  return made;
}

/// Combines the values of all members by op, in the order of ranks.
template <class Type, class Operation>
Type reduce_values(member_state& at, const Type& value, Operation& op) {
  check_operation<Type, Operation>();
  check_copyable<Type>();
  if (!at.goes_on()) leave_stopped_region();
  if (at.is_alone() || !at.goes_on()) return value;
  return meet<Type>(at, cell_with<Type>(at, value), value, [&](cells_of_ranks values) {
    Type sum(cell_access<Type>::get(values[0]));
    for (std::size_t rank = 1; rank < at.size(); ++rank) {
      sum = op(std::move(sum), cell_access<Type>::get(values[rank]));
    }
    return sum;
  });
}

/// The value of member `root`.
template <class Type>
Type broadcast(member_state& at, std::size_t root, const Type& value) {
  check_copyable<Type>();
  if (!at.goes_on()) leave_stopped_region();
  if (at.is_alone() || !at.goes_on()) return value;
  const cell mine = at.rank() == root ? cell_with<Type>(at, value) : cell{};
  return meet<Type>(at, mine, value,
                    [&](cells_of_ranks values) { return cell_access<Type>::get(values[root]); });
}

// --- a range ---

/// The members of a region reduce, and each gets the result.
struct by_members {
  static constexpr bool is_for_all = true;
  member_state& at;
};
/// The reduction is a region by itself; its caller gets the result.
struct as_region {
  static constexpr bool is_for_all = false;
  team_host& on;
  source_place where;
};

/// A cell, and the memory of a value that does not fit.
struct result_cell {
  cell value;
  kept_values keeps;
};
/// Makes the value of the tree over [0, length), unless that is empty. False: the region was stopped.
bool reduce(by_members in, const operations& what, const operands& of, std::size_t length,
            schedule how, result_cell& result);
bool reduce(as_region in, const operations& what, const operands& of, std::size_t length,
            schedule how, result_cell& result);
/// Runs a scan; `total`, which begins as `init`, gets the combination of init and all values. False: it was stopped.
bool scan(by_members in, const operations& what, const operands& of, std::size_t length,
          schedule how, const void* init, void* total);
bool scan(as_region in, const operations& what, const operands& of, std::size_t length,
          schedule how, const void* init, void* total);

/// Returns op(init, value of the tree over the range). Values: each_value or block_value.
template <template <class, class, class> class Values, class Type, class Place, class Index,
          class Function, class Operation>
LOCKSTEP_ALWAYS_INLINE Type reduce(Place in, const index_span<Index>& span, Function& f, Type& init,
                                   Operation& op, schedule how) {
  using values_of_range = Values<Type, Index, Function>;
  const values_of_range values(&op, span.first, f);
  check_types<Type, typename values_of_range::value, Operation>();
  check_copyable<Type, Place::is_for_all>();
  result_cell result;
  if (!reduce(in, operations_for<Type, Operation, values_of_range>::reduction, values, span.length,
              how, result)) {
    leave_stopped_region();
    return std::move(init);
  }
  if (span.length == 0) return std::move(init);
  return op(std::move(init), cell_access<Type>::take(result.value, true));
}
/// Calls store(i, op(init, f(first), ..., f(i))) for every i; returns op(init, all values).
template <class Type, class Place, class Index, class Function, class Operation, class Store>
Type scan(Place in, const index_span<Index>& span, Function& f, Operation& op, Store& store,
          const Type& init, schedule how) {
  using values_of_scan = scanned_value<Type, Index, Function, Store>;
  const values_of_scan values(&op, span.first, f, store);
  check_types<Type, typename values_of_scan::value, Operation>();
  check_copyable<Type>();
  Type total(init);
  if (scan(in, operations_for<Type, Operation, values_of_scan>::scan, values, span.length, how,
           &init, &total)) {
    return total;
  }
  leave_stopped_region();
  return init;
}

}  // namespace reductions
}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_REDUCE_REDUCTIONS_HPP
