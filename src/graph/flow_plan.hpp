// SPDX-License-Identifier: MIT
// src/graph/flow_plan.hpp -- which member runs which node, and waits for what (layer: graph)
//
// Pure: the same flow, costs and members give the same plan. Each block (the graph, and each loop in it) has a lane for
// each member that takes part in it: a list of steps. A member goes down its lane of the graph again and again, and
// where it comes to a loop, down its lane of the loop, turn after turn. How many steps of a lane are done is one
// number.
//
//   FPLAN-1  A step begins when the lane's steps before it are done, and for each of its waits the lane that it names
//            has done so many steps in the same turn, or `delay` turns before. Steps of a lane are done in order.
//   FPLAN-2  So every edge, feedback, and GRAPH-3 hold. A wait that others imply is left out.
//   FPLAN-3  All lanes follow one order of the nodes (`line`), and waits in one turn go back in it. So no run of a
//            plan can get stuck: tests go through plans without threads.
//   FPLAN-4  In a loop every lane waits at the end of a turn for the lane that has `from`, and that has waited for
//            all of them. To wait for a loop is to wait until the member of that lane has left it.
#ifndef LOCKSTEP_SRC_GRAPH_FLOW_PLAN_HPP
#define LOCKSTEP_SRC_GRAPH_FLOW_PLAN_HPP

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "flow.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

constexpr std::uint32_t no_lane = ~std::uint32_t{0};

/// Nanoseconds, from 0 on. No floating-point numbers: where these are kept with more digits than are stored (x87), one
/// that is compared with itself may be the lesser one, and an order is none.
using plan_time = std::int64_t;
constexpr plan_time most_time = (std::numeric_limits<plan_time>::max)();
/// The cost of an edge between members, and of a node of which nothing is known.
constexpr plan_time crossing_time = 100, usual_node_time = 1000;

/// The end of what begins then and takes so long. At most the longest time.
inline plan_time time_after(plan_time begin, plan_time length) noexcept {
  return begin < most_time - length ? begin + length : plan_time{most_time};
}
inline plan_time whole_time(double nanoseconds) noexcept {
  // The conversion of most_time is one more.
  return nanoseconds < static_cast<double>(most_time) ? static_cast<plan_time>(nanoseconds + 0.5)
                                                      : plan_time{most_time};
}

struct plan_wait {
  std::uint32_t lane;
  std::uint32_t steps;  ///< so many of the lane's must be done
  std::uint32_t delay;  ///< in turns
};

struct plan_call {
  node_index node;
  std::uint32_t rank;  ///< of a team-wide node
};

struct plan_step {
  std::uint32_t first_call, last_call;
  std::uint32_t first_wait, last_wait;
  std::uint32_t loop;  ///< the block that is run here, or 0
  bool is_open;        ///< any member may run it
  bool is_awaited;     ///< somebody waits for it
  bool decides;        ///< it has the loop's `from`
  bool
      is_followed;  ///< it decides, and if the loop goes on the lane's first step tells: all others wait for that
};

struct plan_lane {
  std::uint32_t block, member;
  std::uint32_t first_step, steps;
  std::uint32_t parent;       ///< the same member's lane of the block around
  std::uint32_t parent_step;  ///< where that has this loop
};

struct flow_plan {
  std::string problem;  ///< empty, or else the rest is of no use
  std::uint32_t members = 1;
  std::vector<plan_lane> lanes;
  std::vector<plan_step> steps;
  std::vector<plan_wait> waits;
  std::vector<plan_call> calls;
  std::vector<std::uint32_t> lane_at;  ///< of a block and a member, or none
  std::vector<std::uint32_t> decider;  ///< of each loop: the lane that has its `from`
  node_list from;                      ///< of each loop
  node_list line;                      ///< the order for one member
  std::vector<std::uint32_t>
      again;  ///< for each place in it: where its loop begins, if it decides one, else none
  std::vector<std::uint32_t> member_of;  ///< of each node; of a team-wide one the first
  std::vector<std::uint32_t> width_of;
  std::vector<plan_time> costs;
  std::vector<plan_time> start;  ///< of each node, in the first turn
  plan_time critical_path = 0, serial_time = 0, predicted_time = 0;

  std::uint32_t lane(std::uint32_t block, std::uint32_t member) const noexcept {
    return lane_at[block * members + member];
  }
};

/// `costs`: of each node in nanoseconds, below 0 where it is not known.
flow_plan make_flow_plan(const graph_model& of, const flow& checked,
                         const std::vector<double>& costs, std::size_t members);

// As text, and as pictures for Graphviz.
std::string dot_of(const graph_model& of);
std::string dot_of(const graph_model& of, const flow& checked, const flow_plan& plan);
std::string text_of(const graph_model& of, const flow_plan& plan);

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_GRAPH_FLOW_PLAN_HPP
