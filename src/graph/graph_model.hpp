// SPDX-License-Identifier: MIT
// src/graph/graph_model.hpp -- a graph as plain data, as the user described it, unchecked (layer: graph)
//
// The pure parts read it: flow.hpp checks it, flow_planner.cpp schedules it. The functions of the nodes lie beside it.
#ifndef LOCKSTEP_SRC_GRAPH_GRAPH_MODEL_HPP
#define LOCKSTEP_SRC_GRAPH_GRAPH_MODEL_HPP

#include <cstdint>
#include <string>
#include <vector>

#include <lockstep/detail/wait/misuse.hpp>
#include <lockstep/graph.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

using node_index = std::uint32_t;
using node_list = std::vector<node_index>;

constexpr node_index no_node = ~node_index{0};

struct model_node {
  std::string name;
  double cost = -1;           ///< nanoseconds; below 0: not known
  node_index pin = no_node;   ///< the rank of its member, or no_node
  std::uint32_t width = 1;    ///< how many members run it together; 0: all
  bool is_wide = false;       ///< its function takes a member
  bool returns_bool = false;  ///< so others may ask it
};

/// no_question: of a checked graph, a plain edge from a node that is never skipped.
enum class edge_kind : std::uint8_t { plain, if_true, if_false, channel, no_question };

struct model_edge {
  node_index from, to;
  edge_kind kind;
};

struct model_feedback {
  static constexpr std::uint32_t while_true = ~std::uint32_t{0};

  node_index from, to;
  /// In iterations, not 0; while_true: `to` runs again while `from` returns true.
  std::uint32_t delay;

  bool is_loop() const noexcept { return delay == std::uint32_t{while_true}; }
};

/// A wish: two nodes on the same member.
struct model_wish {
  node_index node, other;
};

struct graph_model {
  std::vector<model_node> nodes;
  std::vector<model_edge> edges;
  std::vector<model_feedback> feedbacks;
  std::vector<model_wish> wishes;
  bool overlaps = false;  ///< only feedback orders iterations
};

/// What a graph owns, and its handles point to.
struct graph_body {
  graph_body() = default;
  ~graph_body() {
    while (misuse::forget(this, misuse::role::plan, 0)) continue;
  }
  graph_body(const graph_body&) = delete;
  graph_body& operator=(const graph_body&) = delete;

  /// The model, to be changed: plans of the graph are made anew (plan_body.hpp).
  graph_model& changed() noexcept {
    ++changes;
    return model;
  }

  graph_model model;
  std::vector<node_function> functions;  // one for each node; an empty one does nothing
  std::uint64_t changes = 0;
};
struct graph_access {
  static graph_body& body_of(const graph& of) { return of.own(); }
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_GRAPH_GRAPH_MODEL_HPP
