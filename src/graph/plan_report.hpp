// SPDX-License-Identifier: MIT
// src/graph/plan_report.hpp -- a plan's report on the runs that it has measured (layer: graph)
#ifndef LOCKSTEP_SRC_GRAPH_PLAN_REPORT_HPP
#define LOCKSTEP_SRC_GRAPH_PLAN_REPORT_HPP

#include <chrono>
#include <cstdio>
#include <string>

#include <lockstep/detail/base/growing_array.hpp>
#include <lockstep/detail/graph/plan_body.hpp>
#include "plan_text.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// The node whose last run exceeded its earlier mean most.
const char* cause_of_delay(const plan_body& of, std::chrono::nanoseconds& excess);

/// What is predicted, what was measured, and where time is lost.
std::string report_of(const plan_body& of);

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_GRAPH_PLAN_REPORT_HPP
