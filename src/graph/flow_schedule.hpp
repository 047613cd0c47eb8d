// SPDX-License-Identifier: MIT
// src/graph/flow_schedule.hpp -- list scheduling of a block, loops as one item (layer: graph)
//
// Pure, for flow_planner.cpp. The items of a block are its nodes and the loops in it. A loop is scheduled first, for
// members that are numbers only; the block around chooses which members they are, and these are in the loop until it
// ends. Where a node is pinned, they are as they are numbered.
#ifndef LOCKSTEP_SRC_GRAPH_FLOW_SCHEDULE_HPP
#define LOCKSTEP_SRC_GRAPH_FLOW_SCHEDULE_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "flow_plan.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// A node is an item by its number; a loop by its block's, after all nodes.
struct placed_item {
  std::uint32_t item;
  plan_time start;
  std::uint32_t first_member, last_member;  ///< in block_schedule::members
};

struct block_schedule {
  std::vector<std::uint32_t> items;
  std::vector<item_edge> edges;
  std::vector<placed_item> placed;  ///< in order
  std::vector<std::uint32_t> members;
  std::uint32_t used = 0;  ///< how many members
  bool is_bound = false;   ///< to their numbers
  plan_time length = 0;
  plan_time critical_path = 0;
};

class flow_scheduler {
 public:
  flow_scheduler(const graph_model& of, const flow& checked, const std::vector<plan_time>& costs,
                 std::uint32_t members);

  std::vector<block_schedule> blocks;

 private:
  struct arrival {
    plan_time latest, second;  ///< when the last value is there; the last from another member
    std::uint32_t home;
  };

  /// What is known of an item when its member is chosen.
  struct candidate {
    std::uint32_t item;
    arrival at;
    std::uint32_t next;  ///< the member that waits for it in the next turn, or none
    std::uint32_t wish;  ///< the member of those that it is kept near, or none
    node_list writers;   ///< members that run what it depends on, the latest first
  };

  void collect();
  void collect_wishes();
  void schedule(std::uint32_t block);
  void choose(block_schedule& in, const candidate& of, std::vector<plan_time>& free,
              placed_item& place);
  plan_time start_on(const arrival& at, plan_time free, std::uint32_t member) const noexcept {
    plan_time there = time_after(at.latest, crossing_time);
    if (member == at.home || at.home == no_lane) {
      there =
          at.second < 0 ? at.latest : (std::max)(at.latest, time_after(at.second, crossing_time));
    }
    return (std::max)(there, free);
  }
  plan_time length_of(std::uint32_t item) const noexcept {
    return item < nodes_ ? costs_[item] : blocks[item - nodes_].length;
  }

  const graph_model& of_;
  const flow& flow_;
  const std::vector<plan_time>& costs_;
  const std::uint32_t nodes_, members_;
  node_list
      group_of_;  ///< of each node: one of those that it is kept near, the same for all; empty: no wishes
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_GRAPH_FLOW_SCHEDULE_HPP
