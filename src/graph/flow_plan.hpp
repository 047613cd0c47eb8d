// SPDX-License-Identifier: MIT
// src/graph/flow_plan.hpp -- which member runs which node, and waits for what (layer: graph)
//
// Pure: the same flow, costs and members give the same plan. Each block (the graph, and each loop in it) has a lane for
// each member that takes part in it: a list of steps. A member runs its lane of the graph once in each turn. If a step
// is a loop, it runs its lane of that loop, turn after turn. One number says how many steps of a lane are done.
//
//   FPLAN-1  A step begins when the lane's earlier steps are done, and all its waits are over. A wait names a lane and
//            a number: it is over when that lane has done so many steps, in the same turn or `delay` turns before.
//            Steps of a lane are done in order.
//   FPLAN-2  So every edge and every feedback is obeyed, and GRAPH-3 holds. A wait that others imply is left out.
//   FPLAN-3  All lanes follow one order of the nodes (`line`). A wait within one turn names a step that is earlier in
//            this order. So no run of a plan can get stuck. Tests go through plans without threads.
//   FPLAN-4  At the end of a turn of a loop, the lane with `from` waits for all other lanes, and they wait for it. A
//            wait for a loop ends when the member of that lane has left the loop.
//   FPLAN-5  All members of a team-wide node have ended it before one begins it again.
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

/// Nanoseconds, from 0 on. Not a floating-point type: the x87 computes with more digits than it stores. There a number
/// may compare less than itself, and sorting fails.
using plan_time = std::int64_t;
constexpr plan_time most_time = (std::numeric_limits<plan_time>::max)();
/// The assumed cost of an edge between members, and of a node whose cost is not known.
constexpr plan_time crossing_time = 100, usual_node_time = 1000;

/// The sum, or most_time if that is less.
inline plan_time time_after(plan_time begin, plan_time length) noexcept {
  return begin < most_time - length ? begin + length : plan_time{most_time};
}
inline plan_time whole_time(double nanoseconds) noexcept {
  // Converted to double, most_time is one more.
  return nanoseconds < static_cast<double>(most_time) ? static_cast<plan_time>(nanoseconds + 0.5)
                                                      : plan_time{most_time};
}

struct plan_wait {
  std::uint32_t lane;
  std::uint32_t steps;  ///< how many steps of the lane must be done
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
  bool is_awaited;     ///< another lane waits for it
  bool decides;        ///< it has the loop's `from`
  bool
      is_followed;  ///< it decides; if the loop goes on, the others wait for the lane's first step instead
};

struct plan_lane {
  std::uint32_t block, member;
  std::uint32_t first_step, steps;
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
  node_list line;                      ///< the order for one member
  std::vector<std::uint32_t>
      again;  ///< for each place in `line`: if the node decides a loop, where that begins; else no_lane
  std::vector<std::uint32_t> member_of;  ///< of each node; of a team-wide one the first
  std::vector<std::uint32_t> width_of;
  std::vector<plan_time> costs;
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
std::string text_of(const graph_model& of, const flow& checked, const flow_plan& plan);

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_GRAPH_FLOW_PLAN_HPP
