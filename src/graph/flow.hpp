// SPDX-License-Identifier: MIT
// src/graph/flow.hpp -- a checked graph: its order, its loops, what may be skipped (layer: graph)
//
// Pure. make_flow() checks the user's graph_model. It returns what is wrong with it, or else its structure:
//   FLOW-1  `order` is an order of all nodes in which each edge goes forward.
//   FLOW-2  Two blocks lie apart, or one lies in the other. Block 0 is the graph. Every other block is a loop, and has
//           a higher number than the block around it. All nodes of a loop come after its `to` and before its `from`. No
//           inner loop contains `from`. A loop runs as a whole. There is an order of all items, that is loops and nodes, in
//           which edges go forward between items that lie beside each other in a block: `item_order`.
//   FLOW-3  `delayed` is empty where iterations do not overlap. Else it has the feedback between nodes that share no
//           loop, and feedback that keeps three rules: iterations stay in order beside channels, no node is asked about
//           an iteration when it is in the next one, and the members of a team-wide node are in the same iteration.
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

struct flow_block {
  std::uint32_t parent = 0;
  std::uint32_t depth = 0;
  node_index from = no_node, to = no_node;  ///< of a loop
};

/// Whether the edge depends on what the node at its beginning returns.
inline bool asks(edge_kind kind) noexcept {
  return kind == edge_kind::if_true || kind == edge_kind::if_false;
}

/// An item is a node, or a loop with all that is in it. The number of a loop as an item is that of its block plus the
/// number of nodes.
struct flow {
  std::string problem;  ///< empty, or else the rest is of no use
  std::vector<model_edge> edges;
  adjacency out, in;
  node_list order;
  std::vector<model_edge>
      item_edges;  ///< of each edge: between two items that lie beside each other in a block
  adjacency item_out, item_in;
  std::vector<std::uint32_t> item_order;
  std::vector<flow_block> blocks;
  std::vector<std::uint32_t> block_of;   ///< the innermost block of each node
  std::vector<std::uint32_t> loop_from;  ///< of each node: the loop that it decides, or 0
  std::vector<model_feedback> delayed;
  bool overlaps = false;  ///< iterations may overlap
  std::uint32_t most_delay = 0;
  std::vector<bool> may_be_skipped;
  std::vector<bool> is_asked;  ///< other nodes look at what it returned, or whether it ran

  /// Whether the node at its end may be skipped because of this edge.
  static bool tells(const model_edge& edge) noexcept { return edge.kind != edge_kind::no_question; }
  /// The block in which an item lies beside others.
  std::uint32_t block_around(std::uint32_t item) const noexcept {
    const std::size_t nodes = block_of.size();
    return item < nodes ? block_of[item] : blocks[item - nodes].parent;
  }
  bool is_inside(std::uint32_t block, std::uint32_t of) const noexcept {
    while (blocks[block].depth > blocks[of].depth) block = blocks[block].parent;
    return block == of;
  }
};

/// An order of `count` nodes in which edges go forward. It lacks nodes that lie on a cycle or after one.
std::vector<std::uint32_t> order_of(const std::vector<model_edge>& edges, const adjacency& out,
                                    std::size_t count);

flow make_flow(const graph_model& of);

/// The root of a node. In `forest` each node has a node nearer to its root, and a root has itself.
node_index root_of(node_list& forest, node_index node);

/// The name of a node. If several nodes have that name, its number among them follows, from 1.
std::string name_of(const graph_model& of, node_index node);
inline std::string quoted(const graph_model& of, node_index node) {
  return "'" + name_of(of, node) + "'";
}

/// Groups edges by the node at their end, or at their beginning. `nodes`: how many nodes there are.
adjacency edges_by(const std::vector<model_edge>& edges, std::size_t nodes, bool by_end);

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_GRAPH_FLOW_HPP
