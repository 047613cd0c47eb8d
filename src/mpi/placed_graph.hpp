// SPDX-License-Identifier: MIT
// src/mpi/placed_graph.hpp -- a graph across ranks as plain data, and as text to compare (layer: mpi)
//
// Pure. The nodes and edges are those of an ordinary graph_model. Beside it stand the rank of each node, and which
// bytes travel along which edge.
#ifndef LOCKSTEP_SRC_MPI_PLACED_GRAPH_HPP
#define LOCKSTEP_SRC_MPI_PLACED_GRAPH_HPP

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <lockstep/mpi/world_graph.hpp>

#include "../graph/flow.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {
namespace mpi {

struct placed_graph {
  const graph_model* nodes = nullptr;
  std::vector<std::uint32_t> rank_of;  ///< of each node
  std::vector<edge_bytes> data;        ///< at most one for each edge
};

struct world_graph_access {
  static placed_graph placed(const lockstep::mpi::world_graph& of) {
    placed_graph made;
    made.nodes = &graph_access::body_of(of.graph_).model;
    made.rank_of = of.rank_of_;
    made.data = of.data_;
    return made;
  }
  static const std::vector<node_function>& functions(const lockstep::mpi::world_graph& of) {
    return graph_access::body_of(of.graph_).functions;
  }
};

inline std::string placed(const placed_graph& of, node_index node) {
  return quoted(*of.nodes, node) + " on rank " + std::to_string(of.rank_of[node]);
}

/// All that has to be equal on all ranks, a line for each node, edge, feedback and wish: in the order in which they were
/// made. Addresses are not in it.
inline std::vector<std::string> lines_of(const placed_graph& of) {
  const graph_model& from = *of.nodes;
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < from.nodes.size(); ++i) {
    const model_node& node = from.nodes[i];
    std::string line = "node " + placed(of, static_cast<node_index>(i));
    if (node.is_wide && node.width == 0) line += ", for the whole team";
    if (node.is_wide && node.width != 0) line += ", for " + std::to_string(node.width) + " members";
    if (node.returns_bool) line += ", returns bool";
    if (node.pin != no_node) line += ", pinned to member " + std::to_string(node.pin);
    if (node.cost >= 0)
      line += ", takes " + std::to_string(static_cast<std::uint64_t>(node.cost)) + " ns";
    lines.push_back(line);
  }
  std::vector<std::size_t> edge_size(from.edges.size(), 0);
  std::vector<std::size_t> feedback_size(from.feedbacks.size(), 0);
  for (const edge_bytes& each : of.data) {
    (each.is_feedback ? feedback_size : edge_size)[each.index] = each.bytes;
  }
  const auto way = [&](node_index a, node_index b, std::size_t bytes) {
    std::string text = " from " + quoted(from, a) + " to " + quoted(from, b);
    if (bytes > 0) text += " with " + std::to_string(bytes) + " bytes";
    return text;
  };
  for (std::size_t i = 0; i < from.edges.size(); ++i) {
    const model_edge& each = from.edges[i];
    const char* const kind = each.kind == edge_kind::plain     ? "edge"
                             : each.kind == edge_kind::if_true ? "edge_if"
                                                               : "edge_unless";
    lines.push_back(kind + way(each.from, each.to, edge_size[i]));
  }
  for (std::size_t i = 0; i < from.feedbacks.size(); ++i) {
    const model_feedback& each = from.feedbacks[i];
    lines.push_back((each.is_loop() ? std::string("repeat_while")
                                    : "feedback of delay " + std::to_string(each.delay)) +
                    way(each.from, each.to, feedback_size[i]));
  }
  for (const model_wish& each : from.wishes) {
    lines.push_back("keep_near" + way(each.node, each.other, 0));
  }
  return lines;
}

/// FNV-1a over all lines.
inline std::uint64_t hash_of(const std::vector<std::string>& lines) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  const auto take = [&hash](unsigned char byte) { hash = (hash ^ byte) * 0x100000001b3u; };
  for (const std::string& line : lines) {
    for (const char each : line) take(static_cast<unsigned char>(each));
    take('\n');
  }
  return hash;
}

/// The first line of all in which two ranks differ, as the end of a sentence; empty if there is none.
inline std::string difference_of(const std::vector<std::string>& own, std::size_t own_rank,
                                 const std::vector<std::string>& other, std::size_t other_rank) {
  std::size_t at = 0;
  while (at < own.size() && at < other.size() && own[at] == other[at]) ++at;
  if (at == own.size() && at == other.size()) return std::string();
  const auto has = [at](const std::vector<std::string>& lines, std::size_t rank) {
    return "rank " + std::to_string(rank) + " has " +
           (at < lines.size() ? lines[at] : std::string("nothing more"));
  };
  return "item " + std::to_string(at) + ": " + has(other, other_rank) + ", " + has(own, own_rank);
}

}  // namespace mpi
}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_MPI_PLACED_GRAPH_HPP
