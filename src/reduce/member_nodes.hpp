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
#include "reduction_tree.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {
namespace reductions {

/// Leaves for a member or a share of a loop.
template <class At>
leaf_run run_of(const At& at, std::size_t length, index_range leaves) noexcept {
  return {length, reduction_tree::leaf_size(length), leaves, &at.stop(), at.region()};
}

/// Calls evaluate(number, node) for the maximal nodes in a block of leaves, until it returns false: then the region is
/// stopped, and so does this.
template <class Evaluate>
bool for_nodes(std::size_t length, index_range block, const Evaluate& evaluate) {
  std::size_t number = 0;
  bool goes_on = true;
  reduction_tree::maximal_nodes(reduction_tree::leaves_of(length), block.first, block.last,
                                [&](std::size_t a, std::size_t b) {
                                  goes_on = goes_on && evaluate(number++, index_range{a, b});
                                });
  return goes_on;
}

class member_nodes {
 public:
  /// For a range of `length` iterations. Requires: `part` lies in the range of its leaves.
  member_nodes(member_state& at, const operations& what, const operands& of, std::size_t length,
               index_range part) noexcept
      : at_(at), what_(what), of_(of), length_(length), part_(part) {}

  /// All members evaluate the part and meet, so that all can read the values: member_state::meet() with `combine`,
  /// which may call combine(). False once the region is stopped. Requires: this member is not alone.
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

  /// Puts the value of a node into a cell, from the cells of the phase. Nodes are asked for from left to right.
  void combine(reduction_tree::published_nodes& nodes, index_range node, kept_values* keeps,
               cell& into) const {
    const auto from = [&](std::size_t, std::size_t b) -> const cell* {
      if (!nodes.has(b)) return nullptr;
      const cell& found = cell_of(nodes.block(), nodes.node());
      nodes.advance(b);
      return &found;
    };
    what_.combine(of_, node, from, false, keeps, into);
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
    kept_values* const keeps = at_.memory_for(member_state::leaves, what_.are_kept);
    bool goes_on = true;
    const auto put_part = [&](std::size_t first, std::size_t last) {
      const without_constructs mark(at_, "a reduction");
      for (std::size_t leaf = part_.first + first; goes_on && leaf < part_.first + last; ++leaf) {
        goes_on = what_.fold(of_, run_of(at_, length_, {leaf, leaf + 1}), keeps,
                             at_.shared().leaves[leaf]);
      }
    };
    const std::size_t chunk = (how.chunk() - 1) / reduction_tree::leaf_size(length_) + 1;
    const bool complete =
        loops::hand_out(at_, length_of(part_), schedule(how.kind(), chunk), put_part);
    return goes_on && at_.sync() && complete;
  }
  /// Puts the nodes of a rank into its cells of the phase: from the iterations, or from the values of all leaves.
  bool put_nodes(std::size_t rank, bool from_leaves) const {
    group& shared = at_.shared();
    kept_values* const keeps = shared.state(rank).memory_for(phase_ & 1u, what_.are_kept);
    const index_range mine = static_block(part_.first, part_.last, rank, at_.size());
    const auto leaf = [&shared](std::size_t a, std::size_t b) {
      return b - a == 1 ? &shared.leaves[a] : nullptr;
    };
    return for_nodes(length_, mine, [&](std::size_t number, index_range node) {
      cell& into =
          rank == at_.rank() ? cell_of(rank, number) : shared.cell_of(rank, phase_, number);
      if (!from_leaves) return what_.fold(of_, run_of(at_, length_, node), keeps, into);
      what_.combine(of_, node, leaf, true, keeps, into);
      return true;
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
