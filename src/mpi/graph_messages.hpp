// SPDX-License-Identifier: MIT
// src/mpi/graph_messages.hpp -- the order of a graph across ranks, and the messages between them (layer: mpi)
//
// Pure, and the same on all ranks. The nodes and edges are those of an ordinary graph_model. Beside it stand the rank
// of each node, and which bytes travel along which edge.
//
// The order is the one in which the planner of a single process would begin the nodes, if each rank were a member: the
// longest way to the end first. In it all edges go forward, and a loop is a range.
//
//   WMSG-1  An edge between ranks is one message in each turn of the innermost block that has both ends. An edge that
//           leaves a loop is sent after the loop's last turn. One that enters a loop is received before its first turn.
//   WMSG-2  A loop with nodes of several ranks is shared. The rank of its test tells the other ranks of the loop, in
//           each turn, whether there is another.
//   WMSG-3  No node waits for a node of another rank that may be skipped: such graphs are refused.
#ifndef LOCKSTEP_SRC_MPI_GRAPH_MESSAGES_HPP
#define LOCKSTEP_SRC_MPI_GRAPH_MESSAGES_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <lockstep/mpi/world_graph.hpp>

#include "../graph/flow_plan.hpp"
#include "../platform/cpus.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {
namespace mpi {

/// How many messages of an edge may be on their way.
constexpr std::uint32_t slots = 2;

struct placed_graph {
  const graph_model* nodes = nullptr;
  std::vector<std::uint32_t> rank_of;  ///< of each node
  std::vector<edge_bytes> data;        ///< at most one for each edge
};

struct world_graph_access {
  static placed_graph placed(const lockstep::mpi::world_graph& of) {
    placed_graph made;
    made.nodes = &body_of(of).model;
    made.rank_of = of.rank_of_;
    made.data = of.data_;
    return made;
  }
  static const graph_body& body_of(const lockstep::mpi::world_graph& of) {
    return graph_access::body_of(of);
  }
};

inline std::string placed(const placed_graph& of, node_index node) {
  return quoted(*of.nodes, node) + " on rank " + std::to_string(of.rank_of[node]);
}

/// A text of all that has to be equal on all ranks: a line for each node, edge, loop and wish, in the order in which
/// they were made. It has no addresses.
inline std::string lines_of(const placed_graph& of) {
  const graph_model& from = *of.nodes;
  std::string lines;
  for (std::size_t i = 0; i < from.nodes.size(); ++i) {
    const model_node& node = from.nodes[i];
    std::string line = "node " + placed(of, static_cast<node_index>(i));
    if (node.is_wide && node.width == 0) line += ", for the whole team";
    if (node.is_wide && node.width != 0) line += ", for " + std::to_string(node.width) + " members";
    if (node.returns_bool) line += ", returns bool";
    if (node.pin != no_node) line += ", pinned to member " + std::to_string(node.pin);
    if (node.cost >= 0)
      line += ", takes " + std::to_string(static_cast<std::uint64_t>(node.cost)) + " ns";
    lines += line + '\n';
  }
  std::vector<std::size_t> size(from.edges.size(), 0);
  for (const edge_bytes& each : of.data) size[each.edge] = each.bytes;
  const auto way = [&](node_index a, node_index b, std::size_t bytes) {
    std::string text = " from " + quoted(from, a) + " to " + quoted(from, b);
    if (bytes > 0) text += " with " + std::to_string(bytes) + " bytes";
    return text + '\n';
  };
  for (std::size_t i = 0; i < from.edges.size(); ++i) {
    const model_edge& each = from.edges[i];
    const char* const kind = each.kind == edge_kind::plain     ? "edge"
                             : each.kind == edge_kind::if_true ? "edge_if"
                                                               : "edge_unless";
    lines += kind + way(each.from, each.to, size[i]);
  }
  for (const model_feedback& each : from.feedbacks) {
    lines += "repeat_while" + way(each.from, each.to, 0);
  }
  for (const model_wish& each : from.wishes) {
    lines += "keep_near" + way(each.node, each.other, 0);
  }
  return lines;
}

/// The first line in which two ranks differ, as the end of a sentence; empty if there is none.
inline std::string difference_of(const std::string& own, std::size_t own_rank,
                                 const std::string& other, std::size_t other_rank) {
  if (own == other) return std::string();
  const auto line_of = [](const std::string& lines, std::size_t at) {
    return at < lines.size() ? lines.substr(at, lines.find('\n', at) - at)
                             : std::string("nothing more");
  };
  std::size_t item = 0, at = 0;
  for (; line_of(own, at) == line_of(other, at); ++item) at += line_of(own, at).size() + 1;
  return "item " + std::to_string(item) + ": rank " + std::to_string(other_rank) + " has " +
         line_of(other, at) + ", rank " + std::to_string(own_rank) + " has " + line_of(own, at);
}

/// A message carries the user's bytes or none, or what a node has returned.
struct graph_message {
  edge_kind edge;       ///< how the receiver's node looks at an answer
  std::uint32_t block;  ///< it is sent in the turns of this block
  node_index from, to;  ///< of a decision, whether a loop goes on: the loop's test twice
  std::uint32_t from_item,
      to_item;  ///< beside each other in the block: nodes, or loops after all nodes
  std::uint32_t from_rank, to_rank;
  const void* source;
  void* target;
  std::size_t bytes;

  bool is_decision() const noexcept { return from == to; }
  bool is_answer() const noexcept { return asks(edge) || is_decision(); }
  /// Between nodes of one rank: bytes are copied.
  bool is_local() const noexcept { return from_rank == to_rank; }
};

/// A graph with its messages, or what is wrong with it.
struct graph_split {
  std::string problem;
  flow checked;
  node_list line;  ///< the order
  std::vector<graph_message> messages;
  std::vector<std::vector<std::uint32_t>> ranks_in;  ///< of each block: sorted

  bool is_shared(std::uint32_t loop) const { return ranks_in[loop].size() > 1; }
  bool has_part(std::uint32_t loop, std::uint32_t rank) const {
    return std::binary_search(ranks_in[loop].begin(), ranks_in[loop].end(), rank);
  }
};

/// Makes a graph_split, step by step. Stops at the first fault.
class message_planner {
 public:
  message_planner(const placed_graph& of, std::size_t ranks)
      : of_(of), model_(*of.nodes), ranks_(ranks) {}

  graph_split make() {
    made_.problem = find();
    return std::move(made_);
  }

 private:
  std::string find() {
    for (node_index i = 0; i < model_.nodes.size(); ++i) {
      if (of_.rank_of[i] < ranks_) continue;
      return "the node " + placed(of_, i) + ": there are ranks 0 to " + std::to_string(ranks_ - 1);
    }
    made_.checked = make_flow(model_);
    if (!made_.checked.problem.empty()) return made_.checked.problem;
    std::string wrong = sort();
    if (wrong.empty()) wrong = find_shared_loops();
    if (wrong.empty()) wrong = take_edges();
    if (wrong.empty()) take_decisions();
    return wrong;
  }

  std::string sort() {
    graph_model as_one = model_;
    std::vector<double> costs;
    for (std::size_t i = 0; i < as_one.nodes.size(); ++i) {
      model_node& each = as_one.nodes[i];
      each.pin = of_.rank_of[i];
      each.is_wide = false;
      each.width = 1;
      costs.push_back(each.cost);
    }
    as_one.wishes.clear();
    flow_plan plan = make_flow_plan(as_one, made_.checked, costs, ranks_);
    made_.line = std::move(plan.line);
    return plan.problem;
  }

  // --- loops ---

  std::string find_shared_loops() {
    const flow& checked = made_.checked;
    made_.ranks_in.resize(checked.blocks.size());
    for (node_index i = 0; i < model_.nodes.size(); ++i) {
      for (std::uint32_t b = checked.block_of[i];; b = checked.blocks[b].parent) {
        made_.ranks_in[b].push_back(of_.rank_of[i]);
        if (b == 0) break;
      }
    }
    for (std::vector<std::uint32_t>& each : made_.ranks_in) sort_once(each);
    for (std::uint32_t b = 1; b < checked.blocks.size(); ++b) {
      const flow_block& loop = checked.blocks[b];
      if (!made_.is_shared(b)) continue;
      for (const node_index end : {loop.to, loop.from}) {
        if (!checked.may_be_skipped[end]) continue;
        return "the loop from " + placed(of_, loop.to) + " to " + placed(of_, loop.from) +
               " has nodes of several ranks, but " + quoted(model_, end) +
               " may be skipped, which only its own rank knows; ask in a node inside the loop "
               "instead";
      }
    }
    return std::string();
  }

  // --- messages ---

  void add_message(node_index from, node_index to, std::uint32_t to_rank, edge_kind kind,
                   const model_edge& items, const edge_bytes* data) {
    graph_message made = {kind,
                          made_.checked.block_around(items.from),
                          from,
                          to,
                          items.from,
                          items.to,
                          of_.rank_of[from],
                          to_rank,
                          nullptr,
                          nullptr,
                          0};
    if (made.is_answer()) made.bytes = 1;
    if (data != nullptr) {
      made.source = data->source;
      made.target = data->target;
      made.bytes = data->bytes;
    }
    made_.messages.push_back(made);
  }
  std::string take_edges() {
    std::vector<const edge_bytes*> data(model_.edges.size(), nullptr);
    for (const edge_bytes& each : of_.data) data[each.edge] = &each;
    for (std::size_t e = 0; e < model_.edges.size(); ++e) {
      const model_edge& edge = model_.edges[e];
      const bool crosses = of_.rank_of[edge.from] != of_.rank_of[edge.to];
      if (!crosses && data[e] == nullptr) continue;
      if (made_.checked.may_be_skipped[edge.from]) {
        return std::string(crosses ? "an edge between ranks" : "an edge with data") + ", from " +
               placed(of_, edge.from) + " to " + placed(of_, edge.to) + ": " +
               quoted(model_, edge.from) +
               (crosses
                    ? " may be skipped, which only its own rank knows; place both on one rank, or "
                      "ask in the node itself"
                    : " may be skipped, and then there are none");
      }
      add_message(edge.from, edge.to, of_.rank_of[edge.to], edge.kind, made_.checked.item_edges[e],
                  data[e]);
    }
    return std::string();
  }

  void take_decisions() {
    for (std::uint32_t b = 1; b < made_.checked.blocks.size(); ++b) {
      if (!made_.is_shared(b)) continue;
      const node_index test = made_.checked.blocks[b].from;
      for (const std::uint32_t rank : made_.ranks_in[b]) {
        if (rank == of_.rank_of[test]) continue;
        add_message(test, test, rank, edge_kind::plain, {test, test, edge_kind::plain}, nullptr);
      }
    }
  }

  const placed_graph& of_;
  const graph_model& model_;
  const std::size_t ranks_;
  graph_split made_;
};

inline graph_split split_of(const placed_graph& of, std::size_t ranks) {
  return message_planner(of, ranks).make();
}

}  // namespace mpi
}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_MPI_GRAPH_MESSAGES_HPP
