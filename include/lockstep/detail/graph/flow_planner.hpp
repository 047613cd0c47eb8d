// SPDX-License-Identifier: MIT
// lockstep/detail/graph/flow_planner.hpp -- makes a plan of a graph (layer: graph)
//
// Scheduling: of the nodes that could begin, the one with the longest path to the end is next. It goes to the member
// on which it can begin first; a value from another member arrives `crossing` later. [KA99]
#ifndef LOCKSTEP_DETAIL_GRAPH_FLOW_PLANNER_HPP
#define LOCKSTEP_DETAIL_GRAPH_FLOW_PLANNER_HPP

#include <cstddef>

#include <lockstep/detail/graph/flow_plan.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// `costs`: of each node in nanoseconds, below 0 where it is not known.
flow_plan make_flow_plan(const graph_model& of, const flow& checked,
                         const growing_array<double>& costs, std::size_t members);

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_GRAPH_FLOW_PLANNER_HPP
