// SPDX-License-Identifier: MIT
// lockstep/detail/graph/graph_model.hpp -- a graph as plain data, as the user described it, unchecked (layer: graph)
//
// The pure parts read it: flow.hpp checks it, flow_planner.hpp schedules it. The functions of the nodes lie beside it.
#ifndef LOCKSTEP_DETAIL_GRAPH_GRAPH_MODEL_HPP
#define LOCKSTEP_DETAIL_GRAPH_GRAPH_MODEL_HPP

#include <cstddef>
#include <cstdint>
#include <string>

#include <lockstep/detail/base/growing_array.hpp>
#include <lockstep/detail/platform/config.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

using node_index = std::uint32_t;
using node_list = growing_array<node_index>;

constexpr node_index no_node = ~node_index{0};

struct model_node {
  std::string name;
  double cost = -1;           ///< nanoseconds; below 0: not known
  node_index pin = no_node;   ///< the rank of its member, or of none
  std::uint32_t width = 1;    ///< how many members run it together; 0: all
  bool is_wide = false;       ///< its function takes a member
  bool returns_bool = false;  ///< so others may ask it
};

enum class edge_kind : std::uint8_t { plain, if_true, if_false };

struct model_edge {
  node_index from, to;
  edge_kind kind;
};

struct model_feedback {
  static constexpr std::uint32_t while_true = ~std::uint32_t{0};

  node_index from, to;
  std::uint32_t delay;  ///< in iterations; while_true: `to` comes again while `from` returns true

  bool is_loop() const noexcept { return delay == std::uint32_t{while_true}; }
};

/// A wish: two nodes on the same member.
struct model_wish {
  node_index node, other;
};

struct graph_model {
  growing_array<model_node> nodes;
  growing_array<model_edge> edges;
  growing_array<model_feedback> feedbacks;
  growing_array<model_wish> wishes;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_GRAPH_GRAPH_MODEL_HPP
