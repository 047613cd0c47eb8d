// SPDX-License-Identifier: MIT
// lockstep/team/reductions.hpp -- values of all members, or of a whole range, become one (layer: team)
//
// Values of one per member are combined in the order of ranks; values over a range along the fixed tree of
// reduction_tree.hpp, which gives the same bits for every number of members, schedule and run. Either takes
// one phase of the region's barrier: members put what they have into their cells, arrive, and each combines
// all cells (above 8 members: the last to arrive does, for all). For users: member.hpp.
//
//   N1  `op` may run on every member at once, with the same arguments: it must not change shared data.
//   N2  All members of the region call the same function with the same range, schedule, and op.
#ifndef LOCKSTEP_TEAM_REDUCTIONS_HPP
#define LOCKSTEP_TEAM_REDUCTIONS_HPP

#include <cstddef>
#include <memory>
#include <utility>

#include "cargo.hpp"
#include "loops.hpp"

namespace lockstep {
namespace reductions {

/// Meets the others; the result of combine(phase), which has T. The value at hand where the region was
/// stopped and exceptions are off.
template <class T, class Combine>
T meet(const seat& at, const T& at_hand, Combine combine) {
  cell out = {};
  const std::uint32_t phase = at.next_phase();
  const auto put_result = [&](cell& into) {
    std::unique_ptr<keeper>& kept = at.own().kept_result;
    cargo<T>::prepare(kept, 1);
    cargo<T>::put(kept, into, combine(phase));
  };
  if (at.shared().barrier.meet(at.place(), out, put_result)) return cargo<T>::get(out);
  leave_stopped_region();
  return at_hand;
}

/// This member's value for the next meeting.
template <class T>
void put_value(const seat& at, const T& value) {
  const std::uint32_t phase = at.next_phase();
  std::unique_ptr<keeper>& kept = at.own().kept[phase & 1u];
  cargo<T>::prepare(kept, 1);
  cargo<T>::put(kept, at.shared().cell_of(at.rank(), phase, 0), value);
}

/// What the values of all members, put for a phase, make together.
template <class T, class Op>
T combine_values(group& shared, std::size_t size, std::uint32_t phase, Op& op) {
  T sum(cargo<T>::get(shared.cell_of(0, phase, 0)));
  for (std::size_t rank = 1; rank < size; ++rank) {
    sum = op(std::move(sum), cargo<T>::get(shared.cell_of(rank, phase, 0)));
  }
  return sum;
}

/// op over the values of all members, in the order of ranks.
template <class T, class Op>
T reduce_values(const seat& at, const T& value, Op& op) {
  if (!at.goes_on()) leave_stopped_region();
  if (at.is_alone() || !at.goes_on()) return value;
  put_value(at, value);
  return meet<T>(at, value, [&](std::uint32_t phase) {
    return combine_values<T>(at.shared(), at.size(), phase, op);
  });
}

/// The value of member `root`.
template <class T>
T broadcast(const seat& at, std::size_t root, const T& value) {
  if (!at.goes_on()) leave_stopped_region();
  if (at.is_alone() || !at.goes_on()) return value;
  if (at.rank() == root) put_value(at, value);
  return meet<T>(at, value, [&](std::uint32_t phase) {
    return cargo<T>::get(at.shared().cell_of(root, phase, 0));
  });
}

/// This member's nodes of the tree over `leaves` leaves, into its cells of the next phase.
template <class T, class LeafValue, class Op>
void put_nodes(const seat& at, std::size_t leaves, LeafValue& leaf_value, Op& op) {
  const std::uint32_t phase = at.next_phase();
  std::unique_ptr<keeper>& kept = at.own().kept[phase & 1u];
  cargo<T>::prepare(kept, reduction_tree::most_nodes);
  const index_range mine = static_block(0, leaves, at.rank(), at.size());
  std::size_t k = 0;
  reduction_tree::maximal_nodes(leaves, mine.first, mine.last, [&](std::size_t a, std::size_t b) {
    cargo<T>::put(kept, at.shared().cell_of(at.rank(), phase, k),
                  reduction_tree::reduce_node<T>(a, b, leaf_value, op));
    ++k;
  });
}

/// What the nodes of all members in a phase make together.
template <class T, class Op>
T combine_nodes(group& shared, std::size_t size, std::uint32_t phase, std::size_t leaves,
                const T& init, Op& op) {
  const auto value_of = [&](std::size_t rank, std::size_t k) {
    return cargo<T>::get(shared.cell_of(rank, phase, k));
  };
  return op(init, reduction_tree::combine<T>(leaves, size, value_of, op));
}

/// The values of all leaves, handed out by `how`, into the group's cells; after it they are there.
/// False once the region is stopped.
template <class T, class LeafValue>
bool put_leaves(const seat& at, std::size_t leaves, schedule how, LeafValue& leaf_value) {
  std::unique_ptr<keeper>& kept = at.own().kept_leaves;
  cargo<T>::prepare(kept, leaves);
  const bool complete =
      loops::hand_out(at, index_range{0, leaves}, how, [&](std::size_t first, std::size_t last) {
        for (std::size_t leaf = first; leaf < last; ++leaf) {
          cargo<T>::put(kept, at.shared().leaves[leaf], leaf_value(leaf));
        }
      });
  return at.sync() && complete;
}

/// A schedule of iterations as one of leaves.
inline schedule of_leaves(schedule how, std::size_t iterations) {
  if (how.kind() == schedule_kind::static_blocks) return how;
  const std::size_t leaf = reduction_tree::leaf_size(iterations);
  return schedule(how.kind(), (how.chunk() - 1) / leaf + 1);
}

/// op(init, the tree over the range), leaf_value(leaf) being the value of a leaf.
template <class T, class LeafValue, class Op>
T reduce_leaves(const seat& at, std::size_t iterations, const T& init, LeafValue leaf_value, Op& op,
                schedule how) {
  const std::size_t leaves = reduction_tree::leaves_of(iterations);
  if (leaves == 0 || !at.goes_on()) {
    if (!at.sync()) leave_stopped_region();
    return init;
  }
  if (at.is_alone()) return op(init, reduction_tree::reduce_node<T>(0, leaves, leaf_value, op));
  if (how.kind() == schedule_kind::static_blocks) {
    put_nodes<T>(at, leaves, leaf_value, op);
  } else {
    if (!put_leaves<T>(at, leaves, of_leaves(how, iterations), leaf_value)) {
      leave_stopped_region();
      return init;
    }
    const auto handed_out = [&](std::size_t leaf) {
      return cargo<T>::get(at.shared().leaves[leaf]);
    };
    put_nodes<T>(at, leaves, handed_out, op);
  }
  return meet<T>(at, init, [&](std::uint32_t phase) {
    return combine_nodes<T>(at.shared(), at.size(), phase, leaves, init, op);
  });
}

/// The value of a leaf from f(first, last), or from f(i).
template <class T, class Function>
struct leaf_of_blocks {
  std::size_t first, last;
  Function& f;

  T operator()(std::size_t leaf) const {
    const index_range part = reduction_tree::leaf_range(first, last, leaf);
    return f(part.first, part.last);
  }
};
template <class T, class Function, class Op>
struct leaf_of_each {
  std::size_t first, last;
  Function& f;
  Op& op;

  T operator()(std::size_t leaf) const {
    return reduction_tree::fold<T>(reduction_tree::leaf_range(first, last, leaf), f, op);
  }
};

}  // namespace reductions
}  // namespace lockstep

#endif  // LOCKSTEP_TEAM_REDUCTIONS_HPP
