// SPDX-License-Identifier: MIT
// lockstep/detail/graph/plan_text.hpp -- graphs and plans as text, and as pictures for Graphviz (layer: graph)
#ifndef LOCKSTEP_DETAIL_GRAPH_PLAN_TEXT_HPP
#define LOCKSTEP_DETAIL_GRAPH_PLAN_TEXT_HPP

#include <string>

#include "flow_plan.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

LOCKSTEP_COLD std::string dot_of(const graph_model& of);
LOCKSTEP_COLD std::string dot_of(const graph_model& of, const flow& checked, const flow_plan& plan);
LOCKSTEP_COLD std::string text_of(const graph_model& of, const flow_plan& plan);

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#if LOCKSTEP_HAS_BODIES
#include "plan_text.ipp"
#endif

#endif  // LOCKSTEP_DETAIL_GRAPH_PLAN_TEXT_HPP
