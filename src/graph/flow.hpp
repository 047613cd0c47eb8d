// SPDX-License-Identifier: MIT
// src/graph/flow.hpp -- a checked graph: its order, its loops, what may be skipped (layer: graph)
//
// Pure. make_flow() takes what the user has said, and finds what is wrong with it, or its structure:
//   FLOW-1  `order` is an order of all nodes in which each edge goes forward.
//   FLOW-2  Blocks lie inside each other or apart. Block 0 is the graph; each other is a loop, after the block that
//           it is in. All nodes of a loop come after its `to` and before its `from`, which lies in no loop further
//           inside.
//           A loop runs as a whole: `item_order` is an order of all items, loops and nodes, in which edges between
//           those that lie beside each other in a block go forward.
//   FLOW-3  `delayed` has the feedback between nodes that are not of one loop, what keeps iterations in order beside channels,
//           and what makes sure that no node is asked for an iteration when it is in the next one already. Where iterations
//           do not overlap it is empty.
#ifndef LOCKSTEP_SRC_GRAPH_FLOW_HPP
#define LOCKSTEP_SRC_GRAPH_FLOW_HPP

#include <cstddef>
#include <cstdint>
#include <string>

#include "graph_model.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// Numbers of edges.
struct edge_range {
  const std::uint32_t *first, *last;

  const std::uint32_t* begin() const noexcept { return first; }
  const std::uint32_t* end() const noexcept { return last; }
  bool empty() const noexcept { return first == last; }
};

/// For each node the edges that leave it, or reach it.
struct adjacency {
  std::vector<std::uint32_t> begin;  // one more than there are nodes
  std::vector<std::uint32_t> edges;

  edge_range of(std::size_t node) const noexcept {
    return {edges.data() + begin[node], edges.data() + begin[node + 1]};
  }
};

/// Between two that lie beside each other in a block: nodes, or loops with what is in them. An item is a node by its
/// number, or a loop by its block's number after all nodes.
struct item_edge {
  std::uint32_t block;
  std::uint32_t from, to;
};

struct flow_block {
  std::uint32_t parent = 0;
  std::uint32_t depth = 0;
  node_index from = no_node, to = no_node;  ///< of a loop
};

/// Whether what its beginning returns counts.
inline bool asks(edge_kind kind) noexcept {
  return kind == edge_kind::if_true || kind == edge_kind::if_false;
}

struct flow {
  std::string problem;  ///< empty, or else the rest is of no use
  std::vector<model_edge> edges;
  adjacency out, in;
  node_list order;
  std::vector<item_edge> item_edges;  ///< of each edge
  std::vector<std::uint32_t> item_order;
  std::vector<flow_block> blocks;
  std::vector<std::uint32_t> block_of;   ///< the innermost block of each node
  std::vector<std::uint32_t> loop_from;  ///< of each node: the loop that it decides, or 0
  std::vector<model_feedback> delayed;
  bool overlaps = false;  ///< iterations do
  std::uint32_t most_delay = 0;
  std::vector<bool> may_be_skipped;
  std::vector<bool> is_asked;  ///< what it returns, or whether it ran, is looked at by others

  /// Whether the node at its end may be skipped because of this edge.
  bool tells(const model_edge& edge) const { return asks(edge.kind) || may_be_skipped[edge.from]; }
  bool is_inside(std::uint32_t block, std::uint32_t of) const noexcept {
    while (blocks[block].depth > blocks[of].depth) block = blocks[block].parent;
    return block == of;
  }
};

/// An order of so many in which edges go forward; without those that lie on a cycle or after one.
std::vector<std::uint32_t> order_of(const std::vector<model_edge>& edges, const adjacency& out,
                                    std::size_t count);

flow make_flow(const graph_model& of);

/// In a forest where each node knows one nearer to its root, or itself.
node_index root_of(node_list& forest, node_index node);

/// The name of a node, and its number among several of that name, from 1.
std::string name_of(const graph_model& of, node_index node);
inline std::string quoted(const graph_model& of, node_index node) {
  return "'" + name_of(of, node) + "'";
}

/// Of the edges between so many nodes, by their beginning or their end.
adjacency edges_by(const std::vector<model_edge>& edges, std::size_t nodes, bool by_end);

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_GRAPH_FLOW_HPP
