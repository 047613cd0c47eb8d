// SPDX-License-Identifier: MIT
// src/graph/flow_simulation.hpp -- goes through a plan without threads (layer: graph)
//
// Pure. Does what the members will do (flow_walk.hpp), but one member after the other, each as far as it can go: so a
// plan that could get stuck does so here. Adds up times to predict how long an iteration takes.
#ifndef LOCKSTEP_SRC_GRAPH_FLOW_SIMULATION_HPP
#define LOCKSTEP_SRC_GRAPH_FLOW_SIMULATION_HPP

#include <string>

#include <lockstep/detail/graph/flow_plan.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// Goes through some iterations, each loop twice. Returns where the plan would get stuck, or nothing. Sets
/// predicted_time.
std::string simulate(const flow& checked, flow_plan& of);

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_GRAPH_FLOW_SIMULATION_HPP
