// SPDX-License-Identifier: MIT
// src/reduce/member_nodes.hpp -- the members of a region evaluate a part of a reduction's tree (layer: reduce)
//
// The part is a run of leaves: all leaves for a reduction of one process, those of one rank where ranks share the tree.
// Each member takes its block of the part, evaluates the maximal nodes in it, and leaves their values in its cells. A
// reader of the cells, after the phase, finds every node of the part or combines it from its halves, as a walk by one
// thread does (TREE-4). For REDUCE-1 to REDUCE-5 see reductions.hpp.
#ifndef LOCKSTEP_SRC_REDUCE_MEMBER_NODES_HPP
#define LOCKSTEP_SRC_REDUCE_MEMBER_NODES_HPP

#include <cstddef>
#include <cstdint>

#include <lockstep/detail/reduce/reductions.hpp>

#include "../loop/loops.hpp"
#include "value_stack.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {
namespace reductions {

/// Where values that do not fit a cell are kept until the end of the region; null if they do.
inline kept_values* prepare(member_state& at, const operations& what, kept_values& keeps) {
  if (!what.are_kept) return nullptr;
  member_state::note_kept_values(at.shared());
  keeps.clear();
  return &keeps;
}

class member_nodes {
 public:
  /// For a range of `length` iterations. Requires: `part` lies in the range of its leaves.
  member_nodes(member_state& at, const operations& what, const operands& of, std::size_t length,
               index_range part) noexcept
      : at_(at), what_(what), of_(of), length_(length), part_(part) {}

  /// All members evaluate the part and meet, so that all can read the values: member_state::meet() with `combine`,
  /// which may call push_published(). False once the region is stopped. Requires: this member is not alone.
  bool put(schedule how, cell& out, const cell_combine& combine) {
    if (how.kind() != schedule_kind::static_blocks) return put_own(how) && meet(at_, out, combine);
    phase_ = at_.next_phase();
    cell values[most_met_by_cells];
    if (at_.meets_by_flags()) first_values_ = values;
    const auto put_share = [this](std::size_t rank) { return put_nodes(rank, false); };
    return run_claimed(at_, {put_share, length_of(part_), combine, first_values_}, out);
  }
  /// The same without the meeting: the caller must still meet the others. No member takes a share of another.
  bool put_own(schedule how) {
    const bool from_leaves = how.kind() != schedule_kind::static_blocks;
    if (from_leaves && !put_leaves(how)) return false;  // ends with a phase of its own
    phase_ = at_.next_phase();
    return put_nodes(at_.rank(), from_leaves);
  }

  /// Pushes the value of the node [a, b) from the cells of the phase. Nodes are asked for from left to right.
  void push_published(value_stack& values, reduction_tree::published_nodes& nodes, std::size_t a,
                      std::size_t b) const {
    values.push_published(nodes, a, b, [&](std::size_t rank, std::size_t node, std::size_t) {
      values.push_copy(cell_of(rank, node));
    });
  }

 protected:
  member_state& at_;
  const operations& what_;
  const operands& of_;
  const std::size_t length_;
  const index_range part_;

 private:
  /// Puts the values of all leaves of the part, handed out by `how`, into the group's cells, and waits until all are
  /// there. False once the region is stopped.
  bool put_leaves(schedule how) {
    kept_values* const keeps = prepare(at_, what_, at_.kept[member_state::leaves]);
    bool goes_on = true;
    const auto put_part = [&](std::size_t first, std::size_t last) {
      const without_constructs mark(at_, "a reduction");
      const index_range leaves = {part_.first + first, part_.first + last};
      tree_walk walk(what_, of_, run_of(at_, length_));
      goes_on = goes_on && walk.put_leaves(leaves, keeps, &at_.shared().leaves[0]);
    };
    const std::size_t chunk = (how.chunk() - 1) / reduction_tree::leaf_size(length_) + 1;
    const bool complete =
        loops::hand_out(at_, length_of(part_), schedule(how.kind(), chunk), put_part);
    return goes_on && at_.sync() && complete;
  }
  /// Puts the nodes of a rank into its cells of the phase: from the iterations, or from the values of all leaves.
  bool put_nodes(std::size_t rank, bool from_leaves) const {
    group& shared = at_.shared();
    kept_values* const keeps = prepare(at_, what_, shared.state(rank).kept[phase_ & 1u]);
    const cell* const known = from_leaves ? &shared.leaves[0] : nullptr;
    const index_range mine = static_block(part_.first, part_.last, rank, at_.size());
    return tree_walk(what_, of_, run_of(at_, length_), known)
        .put_nodes(mine, keeps, [&](std::size_t node, std::size_t) -> cell& {
          return rank == at_.rank() ? cell_of(rank, node) : shared.cell_of(rank, phase_, node);
        });
  }
  cell& cell_of(std::size_t rank, std::size_t node) const {
    return node == 0 && first_values_ != nullptr ? first_values_[rank]
                                                 : at_.shared().cell_of(rank, phase_, node);
  }

  std::uint32_t phase_ = 0;
  cell* first_values_ = nullptr;  ///< of all ranks, where members meet by flags
};

}  // namespace reductions
}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_REDUCE_MEMBER_NODES_HPP
