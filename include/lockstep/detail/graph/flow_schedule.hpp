// SPDX-License-Identifier: MIT
// lockstep/detail/graph/flow_schedule.hpp -- list scheduling of a block, loops as one item (layer: graph)
//
// Pure, for flow_planner.ipp. The items of a block are its nodes and the loops in it. A loop is scheduled first, for
// members that are numbers only; the block around chooses which members they are, and these are in the loop until it
// ends. Where a node is pinned, they are as they are numbered.
#ifndef LOCKSTEP_DETAIL_GRAPH_FLOW_SCHEDULE_HPP
#define LOCKSTEP_DETAIL_GRAPH_FLOW_SCHEDULE_HPP

#include <cstddef>
#include <cstdint>

#include "flow_plan.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// A node is an item by its number; a loop by its block's, after all nodes.
struct placed_item {
  std::uint32_t item;
  double start;
  std::uint32_t first_member, last_member;  ///< in block_schedule::members
};

struct block_schedule {
  growing_array<std::uint32_t> items;
  growing_array<item_edge> edges;
  growing_array<placed_item> placed;  ///< in order
  growing_array<std::uint32_t> members;
  std::uint32_t used = 0;  ///< how many members
  bool is_bound = false;   ///< to their numbers
  double length = 0;
  double critical_path = 0;
};

class flow_scheduler {
 public:
  LOCKSTEP_COLD flow_scheduler(const graph_model& of, const flow& checked,
                               const growing_array<double>& costs, std::uint32_t members);

  growing_array<block_schedule> blocks;

 private:
  struct arrival {
    double latest, second;  ///< when the last value is there; the last from another member
    std::uint32_t home;
  };

  LOCKSTEP_COLD void collect();
  LOCKSTEP_COLD void schedule(std::uint32_t block);
  LOCKSTEP_COLD void choose(block_schedule& in, std::uint32_t item, const arrival& at,
                            std::uint32_t next, growing_array<double>& free, placed_item& place);
  double start_on(const arrival& at, double free, std::uint32_t member) const noexcept {
    const double there =
        member == at.home || at.home == no_lane
            ? (at.latest > at.second + crossing_time || at.second < 0 ? at.latest
                                                                      : at.second + crossing_time)
            : at.latest + crossing_time;
    return there > free ? there : free;
  }
  double length_of(std::uint32_t item) const noexcept {
    return item < nodes_ ? costs_[item] : blocks[item - nodes_].length;
  }

  const graph_model& of_;
  const flow& flow_;
  const growing_array<double>& costs_;
  const std::uint32_t nodes_, members_;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#if LOCKSTEP_HAS_BODIES
#include "flow_schedule.ipp"
#endif

#endif  // LOCKSTEP_DETAIL_GRAPH_FLOW_SCHEDULE_HPP
