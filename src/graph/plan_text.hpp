// SPDX-License-Identifier: MIT
// src/graph/plan_text.hpp -- graphs and plans as text, and as pictures for Graphviz (layer: graph)
#ifndef LOCKSTEP_SRC_GRAPH_PLAN_TEXT_HPP
#define LOCKSTEP_SRC_GRAPH_PLAN_TEXT_HPP

#include <string>

#include "flow_plan.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

std::string dot_of(const graph_model& of);
std::string dot_of(const graph_model& of, const flow& checked, const flow_plan& plan);
std::string text_of(const graph_model& of, const flow_plan& plan);

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_GRAPH_PLAN_TEXT_HPP
