// SPDX-License-Identifier: MIT
// lockstep/detail/graph/series_parallel.hpp -- where a graph stops being series-parallel (layer: graph)
//
// Pure. A graph is series-parallel if it is made from nodes by "after each other" and "beside each other". It is so
// exactly if no four nodes form an N: a and b come before c, b before d, and nothing else holds among them [VTL82].
// Each loop is looked at by itself, and counts as one node outside.
#ifndef LOCKSTEP_DETAIL_GRAPH_SERIES_PARALLEL_HPP
#define LOCKSTEP_DETAIL_GRAPH_SERIES_PARALLEL_HPP

#include <string>

#include "flow.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// A sentence, or nothing if the graph is series-parallel. Takes time and memory as the square of the nodes.
LOCKSTEP_COLD std::string where_not_series_parallel(const graph_model& of, const flow& checked);

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#if LOCKSTEP_HAS_BODIES
#include "series_parallel.ipp"
#endif

#endif  // LOCKSTEP_DETAIL_GRAPH_SERIES_PARALLEL_HPP
