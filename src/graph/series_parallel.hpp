// SPDX-License-Identifier: MIT
// src/graph/series_parallel.hpp -- where a graph stops being series-parallel (layer: graph)
//
// Pure. A graph is series-parallel if it is made from nodes by "after each other" and "beside each other". It is so
// exactly if no four nodes form an N: a and b come before c, b before d, and nothing else holds among them [VTL82].
// Each loop is looked at by itself, and counts as one node outside.
//
// To find whether there is an N takes time in proportion to the edges. If there is none, the following holds, and the
// code checks whether it holds:
//   NFREE-1  Let first(u) be the first of the order that u has an edge to, last(v) the last that has one to v. The edges
//            (u, v) with first(u) == first(last(v)) are those that no others imply; those with the same first(u) form
//            a block, in which each beginning has an edge to each end.
//   NFREE-2  With a place for each block, and an item as an arc from the block that it ends to the block that it begins,
//            arcs after each other and beside each other can be joined until one is left.
//   NFREE-3  That is a tree of series and parallel parts, whose order implies all other edges.
// An N lies in the shortest beginning of the order that has one, and there in the shortest end: so two of the four are
// known after some looks.
#ifndef LOCKSTEP_SRC_GRAPH_SERIES_PARALLEL_HPP
#define LOCKSTEP_SRC_GRAPH_SERIES_PARALLEL_HPP

#include <string>

#include <lockstep/detail/graph/flow.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// A sentence, or nothing if the graph is series-parallel. Takes time in proportion to edges times log(nodes), and to a
/// 64th of its square where an N is hard to name.
std::string where_not_series_parallel(const graph_model& of, const flow& checked);

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_GRAPH_SERIES_PARALLEL_HPP
