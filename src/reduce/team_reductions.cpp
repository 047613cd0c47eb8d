// SPDX-License-Identifier: MIT
// src/reduce/team_reductions.cpp -- the bodies of team_reductions.hpp (layer: reduce)
#include <lockstep/detail/reduce/team_reductions.hpp>

#include "../loop/loop_crew.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {
namespace reductions {

LOCKSTEP_INLINE void range_reduction::run(loop_share& me, const operations& what,
                                          const operands& of, std::size_t length) {
  const std::size_t leaves = reduction_tree::leaves_of(length);
  tree_walk values(me, what, of, length);
  if (me.is_alone()) {
    if (!values.push_node(0, leaves) || me.is_stopped()) return;
    values.take_top(result_);
    has_result_ = true;
    return;
  }
  if (is_beside(what, leaves, me.size(), me.parts())) {
    const index_range node = reduction_tree::node_at(leaves, me.size(), me.rank());
    if (values.push_node(node.first, node.last)) values.put_top(nullptr, *me.beside_report());
    return;
  }
  run_nodes(me, values);
}

/// Of a share in parts, or of a number of shares that is no power of two.
LOCKSTEP_INLINE void range_reduction::run_nodes(loop_share& me, tree_walk& values) {
  const index_range mine = me.block_of(index_range{0, nodes_});
  for (std::size_t number = mine.first; number < mine.last; ++number) {
    const index_range node = reduction_tree::node_at(leaves_, nodes_, number);
    if (!values.push_node(node.first, node.last)) return;
    if (what_.type == nullptr) {
      values.put_top(nullptr, (*cells_)[number]);
    } else {
      values.take_top(values_[number]);
      values_.note(number, true);
    }
  }
}

LOCKSTEP_INLINE void range_reduction::prepare(void* data, const loop_plan& plan,
                                              loop_cells& cells) {
  range_reduction& self = *static_cast<range_reduction*>(data);
  if (plan.shares == 1) return;
  self.cells_ = &cells;
  if (is_beside(self.what_, self.leaves_, plan.shares, plan.parts)) {
    self.nodes_ = plan.shares;
    return;
  }
  const std::size_t wanted = std::size_t{plan.shares} * (plan.parts > 16 ? plan.parts : 16);
  while (self.nodes_ < wanted && 2 * self.nodes_ <= self.leaves_) self.nodes_ *= 2;
  if (self.what_.type != nullptr) self.values_.make(*self.what_.type, self.nodes_);
}

LOCKSTEP_INLINE void range_reduction::finish(void* data, const loop_plan& plan,
                                             const loop_values& of_share) {
  range_reduction& self = *static_cast<range_reduction*>(data);
  if (plan.shares == 1) return;
  const bool beside = is_beside(self.what_, self.leaves_, plan.shares, plan.parts);
  value_stack values(self.what_, self.of_);
  for (std::size_t number = 0; number < self.nodes_; ++number) {
    if (self.what_.type != nullptr) {
      values.push_moved(self.values_[number]);
    } else {
      values.push_copy(beside ? of_share(number) : (*self.cells_)[number]);
    }
    // The nodes are those of one level, a power of two: each second one completes its parent, and so on.
    for (std::size_t done = number; (done & 1u) != 0; done >>= 1) values.combine();
  }
  values.take_top(self.result_);
  self.has_result_ = true;
}

}  // namespace reductions
}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
