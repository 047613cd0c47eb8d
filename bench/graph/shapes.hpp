// SPDX-License-Identifier: MIT
// bench/graph/shapes.hpp -- the graphs that all peers run: nodes and edges (pure)
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace graph_bench {

using node_number = std::uint32_t;

/// Edges go from lower to higher numbers, so that the order of numbers is an order to run the nodes in.
class shape {
 public:
  using edge_list = std::vector<std::pair<node_number, node_number>>;

  shape(std::size_t nodes, edge_list edges);

  [[nodiscard]] std::size_t size() const { return begin_.size() - 1; }
  [[nodiscard]] const edge_list& edges() const { return edges_; }

  struct numbers {
    const node_number* first;
    const node_number* last;
    [[nodiscard]] const node_number* begin() const { return first; }
    [[nodiscard]] const node_number* end() const { return last; }
    [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(last - first); }
  };
  /// The nodes that have an edge to this one.
  [[nodiscard]] numbers before(std::size_t node) const {
    return {before_.data() + begin_[node], before_.data() + begin_[node + 1]};
  }

  /// On which member each node has to run: node n on n modulo this; 0: on any.
  std::size_t pinned_over = 0;
  /// A result is time over this many: nodes, or the edges on the longest way.
  std::size_t units = 0;

 private:
  edge_list edges_;
  std::vector<std::size_t> begin_;
  std::vector<node_number> before_;
};

/// One after the other.
[[nodiscard]] shape chain(std::size_t nodes);
/// A chain whose nodes are pinned to two members in turns: every edge crosses. Units: edges.
[[nodiscard]] shape crossing_chain(std::size_t nodes);
/// A beginning, two chains beside each other, an end. Units: edges of a chain.
[[nodiscard]] shape twin_chains(std::size_t each);
/// Two nodes a level, each of which needs both of the level before. Units: levels.
[[nodiscard]] shape lattice(std::size_t levels);
/// A beginning, `width` nodes, an end. A diamond is a fork of 2.
[[nodiscard]] shape fork(std::size_t width);
/// A binary tree, from the root on, with so many levels.
[[nodiscard]] shape tree(std::size_t levels);
/// Each cell of a square needs the one above and the one to its left.
[[nodiscard]] shape wavefront(std::size_t side);
/// A random series-parallel graph with one beginning and one end, always the same for the same number
/// of nodes, which is at least 2.
[[nodiscard]] shape random_series_parallel(std::size_t nodes);

/// By the name that a work has. Throws std::invalid_argument.
[[nodiscard]] shape make_shape(const std::string& name, std::size_t size);

}  // namespace graph_bench
