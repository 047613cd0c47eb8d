// SPDX-License-Identifier: MIT
// lockstep/detail/team/team_reductions.ipp -- the bodies of team_reductions.hpp (layer: team)
#ifndef LOCKSTEP_DETAIL_TEAM_TEAM_REDUCTIONS_IPP
#define LOCKSTEP_DETAIL_TEAM_TEAM_REDUCTIONS_IPP

#include "team_reductions.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

namespace reductions {

LOCKSTEP_OUT_OF_LINE void range_reduction::run(loop_share& me, const operations& what,
                                               const operands& of, std::size_t length) {
  const std::size_t leaves = reduction_tree::leaves_of(length);
  walk values(me, what, of, length);
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
  const index_range mine = me.block_of(index_range{0, nodes_});
  for (std::size_t number = mine.first; number < mine.last; ++number) {
    const index_range node = reduction_tree::node_at(leaves, nodes_, number);
    if (!values.push_node(node.first, node.last)) return;
    if (what.type == nullptr) {
      values.put_top(nullptr, (*cells_)[number]);
    } else {
      values.take_top(values_[number]);
      values_.note(number, true);
    }
  }
}

LOCKSTEP_OUT_OF_LINE void range_reduction::prepare(void* data, const loop_plan& plan,
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

LOCKSTEP_OUT_OF_LINE void range_reduction::finish(void* data, const loop_plan& plan,
                                                  const loop_values& of_share) {
  range_reduction& self = *static_cast<range_reduction*>(data);
  if (plan.shares == 1) return;
  const bool beside = is_beside(self.what_, self.leaves_, plan.shares, plan.parts);
  value_stack values(self.what_, self.of_);
  self.combine(values, 0, self.nodes_, beside ? &of_share : nullptr);
  values.take_top(self.result_);
  self.has_result_ = true;
}

LOCKSTEP_OUT_OF_LINE void range_reduction::combine(value_stack& values, std::size_t first,
                                                   std::size_t last, const loop_values* beside) {
  if (last - first == 1) {
    if (beside != nullptr) {
      values.push_copy((*beside)(first));
    } else if (what_.type == nullptr) {
      values.push_copy((*cells_)[first]);
    } else {
      values.push_moved(values_[first]);
    }
    return;
  }
  const std::size_t middle = first + (last - first) / 2;
  combine(values, first, middle, beside);
  combine(values, middle, last, beside);
  values.combine();
}

}  // namespace reductions

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TEAM_TEAM_REDUCTIONS_IPP
