// SPDX-License-Identifier: MIT
// lockstep/detail/team/reductions.hpp -- values of all members, or of a whole range, become one (layer: team)
//
// Values of one per member are combined in the order of ranks; values over a range along the fixed tree of
// reduction_tree.hpp, which gives the same bits for every number of members, schedule and run. Either takes
// one phase of the region's barrier: members put what they have into their cells, arrive, and each combines
// all cells (above 8 members: the last to arrive does, for all). A reduction that is a region by itself
// needs no phase: its caller combines after the join. For users: member.hpp.
//
//   N1  `op` may run on every member at once, with the same arguments: it must not change shared data.
//   N2  All members of the region call the same function with the same range, schedule, and op.
//   N3  init is an argument of op once in all, the first; of an empty range it is the result.
//   N4  Once the region is stopped a member ends within one more strip of iterations (reduction_tree.hpp).
#ifndef LOCKSTEP_DETAIL_TEAM_REDUCTIONS_HPP
#define LOCKSTEP_DETAIL_TEAM_REDUCTIONS_HPP

#include <cstddef>
#include <memory>
#include <utility>

#include "cells.hpp"
#include "loops.hpp"
#include "reduction_types.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {
namespace reductions {

/// Whether the region is not stopped: what a fold asks. Where it is, the member leaves from here.
template <class At>
struct watch_of {
  const At& at;

  bool operator()() const {
    if (!at.may_stop()) return true;
    leave_stopped_region();
    return false;
  }
};

using watch = watch_of<member_state>;

/// Meets the others by pass.meet(out, put_result); the result of combine(phase), which has T. The value at hand where the
/// region was stopped and exceptions are off.
template <class T, class Pass, class Combine>
T meet_by(member_state& at, const T& at_hand, Pass pass, Combine combine) {
  cell out = {};
  const std::uint32_t phase = at.next_phase();
  const auto put_result = [&](cell& into) {
    T result(combine(phase));
    cell_access<T>::put(cell_access<T>::prepare(at.shared(), at.kept_result, 1), into,
                        std::move(result));
  };
  if (pass.meet(out, put_result)) return cell_access<T>::get(out);
  leave_stopped_region();
  return at_hand;
}
struct by_barrier {
  member_state& at;

  template <class PutResult>
  bool meet(cell& out, PutResult& put_result) const {
    return at.meet(out, put_result);
  }
};
template <class T, class Combine>
T meet(member_state& at, const T& at_hand, Combine combine) {
  return meet_by<T>(at, at_hand, by_barrier{at}, combine);
}

// --- one value of each member ---

/// This member's value for the next meeting.
template <class T>
void put_value(member_state& at, T value) {
  const std::uint32_t phase = at.next_phase();
  cell_access<T>::put(cell_access<T>::prepare(at.shared(), at.kept[phase & 1u], 1),
                      at.shared().cell_of(at.rank(), phase, 0), std::move(value));
}

/// op over the values of all members, in the order of ranks.
template <class T, class Op>
T reduce_values(member_state& at, const T& value, Op& op) {
  check_operation<T, Op>();
  check_copyable<T>();
  if (!at.goes_on()) leave_stopped_region();
  if (at.is_alone() || !at.goes_on()) return value;
  put_value<T>(at, value);
  return meet<T>(at, value, [&](std::uint32_t phase) {
    T sum(cell_access<T>::get(at.shared().cell_of(0, phase, 0)));
    for (std::size_t rank = 1; rank < at.size(); ++rank) {
      sum = op(std::move(sum), cell_access<T>::get(at.shared().cell_of(rank, phase, 0)));
    }
    return sum;
  });
}

/// The value of member `root`.
template <class T>
T broadcast(member_state& at, std::size_t root, const T& value) {
  check_copyable<T>();
  if (!at.goes_on()) leave_stopped_region();
  if (at.is_alone() || !at.goes_on()) return value;
  if (at.rank() == root) put_value<T>(at, value);
  return meet<T>(at, value, [&](std::uint32_t phase) {
    return cell_access<T>::get(at.shared().cell_of(root, phase, 0));
  });
}

// --- a range, along the tree ---

/// The nodes of a rank, of the tree over `leaves` leaves, into its cells of a phase.
template <class T, class LeafValue, class Op>
void put_nodes_of(member_state& at, std::size_t rank, std::uint32_t phase, std::size_t leaves,
                  LeafValue& leaf_value, Op& op) {
  auto&& kept = cell_access<T>::prepare(at.shared(), at.shared().state(rank).kept[phase & 1u],  //
                                        reduction_tree::most_nodes);
  const index_range part = static_block(0, leaves, rank, at.size());
  std::size_t k = 0;
  reduction_tree::maximal_nodes(leaves, part.first, part.last, [&](std::size_t a, std::size_t b) {
    cell_access<T>::put(kept, at.shared().cell_of(rank, phase, k),
                        reduction_tree::reduce_node<T>(a, b, leaf_value, op));
    ++k;
  });
}
/// The nodes of all ranks as shares of a loop: late_shares.hpp.
template <class T, class LeafValue, class Op>
struct node_shares {
  member_state& at;
  std::uint32_t phase;
  std::size_t leaves;
  LeafValue& leaf_value;
  Op& op;

  bool is_empty(std::size_t rank) const noexcept { return rank >= leaves; }
  void operator()(std::size_t rank) const {
    put_nodes_of<T>(at, rank, phase, leaves, leaf_value, op);
  }
  template <class PutResult>
  bool meet(cell& out, PutResult& put_result) const {
    return run_claimed(at, *this, out, put_result);
  }
};

/// What init, and the nodes of all members in a phase, make together.
template <class T, class Op>
T combine_nodes(group& shared, std::size_t size, std::uint32_t phase, std::size_t leaves, T init,
                Op& op) {
  const auto value_in = [&](std::size_t rank, std::size_t k) {
    return cell_access<T>::get(shared.cell_of(rank, phase, k));
  };
  T whole(reduction_tree::combine<T>(leaves, size, value_in, op));
  return op(std::move(init), std::move(whole));
}

/// The values of all leaves, handed out by `how`, into the group's cells; after it they are there.
/// False once the region is stopped.
template <class T, class LeafValue>
bool put_leaves(member_state& at, std::size_t leaves, schedule how, LeafValue& leaf_value) {
  auto&& kept = cell_access<T>::prepare(at.shared(), at.kept_leaves, leaves);
  const bool complete =
      loops::hand_out(at, index_range{0, leaves}, how, [&](std::size_t first, std::size_t last) {
        for (std::size_t leaf = first; leaf < last; ++leaf) {
          cell_access<T>::put(kept, at.shared().leaves[leaf], leaf_value(leaf));
        }
      });
  return at.sync() && complete;
}

/// A schedule of chunks of iterations as one of leaves.
inline schedule of_leaves(schedule how, std::size_t iterations) {
  const std::size_t leaf = reduction_tree::leaf_size(iterations);
  return schedule(how.kind(), (how.chunk() - 1) / leaf + 1);
}

/// Puts this member's nodes of a range, computed by a schedule of chunks: false once the region is stopped.
template <class T, class LeafValue, class Op>
bool put_chunks(member_state& at, std::size_t iterations, LeafValue& leaf_value, Op& op,
                schedule how) {
  const std::size_t leaves = reduction_tree::leaves_of(iterations);
  if (!put_leaves<T>(at, leaves, of_leaves(how, iterations), leaf_value)) return false;
  const auto handed_out = [&](std::size_t leaf) {  // each is in one node, of one member
    return cell_access<T>::take(at.shared().leaves[leaf]);
  };
  put_nodes_of<T>(at, at.rank(), at.next_phase(), leaves, handed_out, op);
  return true;
}

/// The value of a range on a member that is alone.
template <class T, class LeafValue, class Op>
T reduce_alone(std::size_t iterations, LeafValue& leaf_value, Op& op) {
  return reduction_tree::reduce_node<T>(0, reduction_tree::leaves_of(iterations), leaf_value, op);
}

/// op(init, the tree over the range) on every member, leaf_value(leaf) being the value of a leaf.
template <class T, class LeafValue, class Op>
T reduce_leaves(member_state& at, std::size_t iterations, const T& init, LeafValue leaf_value,
                Op& op, schedule how) {
  check_copyable<T>();
  if (iterations == 0 || !at.goes_on()) {
    if (!at.sync()) leave_stopped_region();
    return init;
  }
  if (at.is_alone()) {
    T whole(reduce_alone<T>(iterations, leaf_value, op));
    if (!at.goes_on()) leave_stopped_region();
    return op(T(init), std::move(whole));
  }
  const std::size_t leaves = reduction_tree::leaves_of(iterations);
  const auto combine = [&](std::uint32_t phase) {
    return combine_nodes<T>(at.shared(), at.size(), phase, leaves, init, op);
  };
  if (how.kind() == schedule_kind::static_blocks) {
    const node_shares<T, LeafValue, Op> shares = {at, at.next_phase(), leaves, leaf_value, op};
    return meet_by<T>(at, init, shares, combine);
  }
  if (!put_chunks<T>(at, iterations, leaf_value, op, how)) {
    leave_stopped_region();
    return init;
  }
  return meet<T>(at, init, combine);
}

/// The value of a leaf from f(first, last), or from f(i).
template <class T, class Function>
struct leaf_of_blocks {
  member_state& at;
  index_range range;
  Function& f;

  T operator()(std::size_t leaf) const {
    watch{at}();
    const index_range part = reduction_tree::leaf_range(range.first, range.last, leaf);
    return f(part.first, part.last);
  }
};
template <class T, class Function, class Op, class At = member_state>
struct leaf_of_each {
  const At& at;
  index_range range;
  Function& f;
  Op& op;
  const std::size_t leaf_size = reduction_tree::leaf_size(length_of(range));

  leaf_of_each(const At& of, index_range over, Function& function, Op& operation)
      : at(of), range(over), f(function), op(operation) {}

  T operator()(std::size_t leaf) const {
    // A look takes as long as a short leaf: all that are due in a strip look once.
    if (leaf_size >= 64 || leaf % 16 == 0) watch_of<At>{at}();
    if (leaf_size == 1) return f(range.first + leaf);
    const index_range part = known_chunk(range.first, range.last, leaf_size, leaf);
    return leaf_size <= reduction_tree::strip_length
               ? reduction_tree::fold<T>(part, f, op)
               : reduction_tree::fold<T>(part, f, op, watch_of<At>{at});
  }
};

// --- a range, by members: `fast` ---

/// This member's parts of a range, folded. It may have none.
template <class T, class At, class Function, class Op>
void fold_each(At& at, index_range range, Function& f, Op& op, schedule how, maybe<T>& sum) {
  loops::hand_out(at, range, how, [&](std::size_t first, std::size_t last) {
    const index_range part = {first, last};
    if (sum.has_value()) {
      sum.value() =
          reduction_tree::fold_on<T>(std::move(sum.value()), part, f, op, watch_of<At>{at});
    } else {
      sum.set(reduction_tree::fold<T>(part, f, op, watch_of<At>{at}));
    }
  });
}
template <class T, class Function, class Op>
void fold_range(member_state& at, index_range range, Function& f, Op& op, schedule how,
                maybe<T>& sum) {
  loops::hand_out(at, range, how, [&](std::size_t first, std::size_t last) {
    if (sum.has_value()) {
      sum.value() = op(std::move(sum.value()), static_cast<T>(f(first, last)));
    } else {
      sum.set(f(first, last));
    }
  });
}

/// Where a member says that it has put a value: the last byte of the cell unless the value is there.
template <class T>
unsigned char& has_put(group& shared, std::size_t rank, std::uint32_t phase) noexcept {
  return fits_cell<T>() && sizeof(T) == cell::size
             ? shared.cell_of(rank, phase, 1).bytes[0]
             : shared.cell_of(rank, phase, 0).bytes[cell::size - 1];
}
static_assert(sizeof(void*) < cell::size, "a pointer leaves the last byte of its cell free");

/// This member's value for the next meeting, if it has one.
template <class T>
void put_maybe(member_state& at, maybe<T>& mine) {
  if (mine.has_value()) put_value<T>(at, std::move(mine.value()));
  has_put<T>(at.shared(), at.rank(), at.next_phase()) = mine.has_value() ? 1 : 0;
}

/// What init and the values that were put in a phase make together, in the order of ranks.
template <class T, class Op>
T combine_put(group& shared, std::size_t size, std::uint32_t phase, T init, Op& op) {
  for (std::size_t rank = 0; rank < size; ++rank) {
    if (has_put<T>(shared, rank, phase) == 0) continue;
    init = op(std::move(init), cell_access<T>::get(shared.cell_of(rank, phase, 0)));
  }
  return init;
}

/// op(init, the values of those members that have one), on every member.
template <class T, class Op>
T reduce_put(member_state& at, const T& init, maybe<T>& mine, Op& op) {
  check_copyable<T>();
  if (!at.goes_on()) leave_stopped_region();
  if (!at.goes_on() || (at.is_alone() && !mine.has_value())) return init;
  if (at.is_alone()) return op(T(init), std::move(mine.value()));
  put_maybe<T>(at, mine);
  return meet<T>(at, init, [&](std::uint32_t phase) {
    return combine_put<T>(at.shared(), at.size(), phase, init, op);
  });
}

}  // namespace reductions
}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TEAM_REDUCTIONS_HPP
