// SPDX-License-Identifier: MIT
// tests/support/world_shape.hpp -- random graphs with their nodes on ranks, and what is right
//
// Nodes and edges come from random_graph.hpp. Each node has a number of its own; numbers travel along edges only, in plain
// variables of the rank. A node computes its number from its last one and from what has reached it. So a
// message that is lost, doubled, early or late shows in all numbers after it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <lockstep/graph.hpp>
#include "graph/flow.hpp"
#include "support/graph_oracle.hpp"
#include "support/random_graph.hpp"

namespace lockstep::test {

class world_shape {
 public:
  world_shape(std::uint64_t seed, const graph_taste& taste, std::uint32_t ranks)
      : shape_(seed, without_delays(taste)),
        graph_(shape_.build()),
        order_(detail::graph_access::body_of(graph_).model, 3),
        checked_(detail::make_flow(detail::graph_access::body_of(graph_).model)) {
    problem = checked_.problem;
    if (problem.empty()) place(seed, ranks);
  }

  struct numbers {
    std::vector<std::vector<std::uint64_t>> said;  ///< of each node, in order
    bool operator==(const numbers& other) const { return said == other.said; }
  };

  /// The variables of a rank, and what its nodes have said.
  struct variables {
    explicit variables(const world_shape& of)
        : out(of.size(), 0), runs(of.size(), 0), in(of.size()) {
      said.said.resize(of.size());
      for (std::size_t n = 0; n < of.size(); ++n) in[n].assign(of.shape_.nodes[n].in.size(), 0);
    }
    std::vector<std::uint64_t> out, runs;
    std::vector<std::vector<std::uint64_t>> in;
    numbers said;
  };

  std::size_t size() const { return shape_.nodes.size(); }

  /// All nodes one after the other.
  numbers interpret(std::size_t iterations) const {
    variables all(*this);
    graph_interpreter(order_).run(iterations, [&](std::size_t n, std::size_t i) {
      for (std::size_t k = 0; k < shape_.nodes[n].in.size(); ++k) {
        all.in[n][k] = all.out[static_cast<std::size_t>(shape_.nodes[n].in[k].from)];
      }
      return compute(n, i, all);
    });
    return all.said;
  }

  /// Adds all to a graph across ranks, or to what has the same functions.
  template <class Graph>
  void build(Graph& g, variables& with) const {
    std::vector<graph_node> made;
    for (std::size_t n = 0; n < size(); ++n) {
      made.push_back(g.node(rank_of[n], "n" + std::to_string(n),
                            [this, n, &with](std::size_t i) { return compute(n, i, with); }));
      made.back().cost(std::chrono::nanoseconds(shape_.nodes[n].cost));
    }
    for (std::size_t n = 0; n < size(); ++n) {
      const random_graph::node& node = shape_.nodes[n];
      for (std::size_t k = 0; k < node.in.size(); ++k) {
        const std::size_t from = static_cast<std::size_t>(node.in[k].from);
        if (node.in[k].kind == 1) g.edge_if(made[from], made[n]);
        if (node.in[k].kind == 2) g.edge_unless(made[from], made[n]);
        if (node.in[k].kind != 0) continue;
        if (has_data(n, k)) {
          g.edge(made[from], made[n], &with.out[from], &with.in[n][k], 1);
        } else {
          g.edge(made[from], made[n]);
        }
      }
      if (node.loop_first >= 0) {
        g.repeat_while(made[n], made[static_cast<std::size_t>(node.loop_first)]);
      }
    }
  }

  std::string problem;  ///< of a graph that makes no sense
  std::vector<std::uint32_t> rank_of;

 private:
  static graph_taste without_delays(graph_taste taste) {
    taste.has_delays = false;
    return taste;
  }
  /// Nodes that only one rank may have together are on one.
  void place(std::uint64_t seed, std::uint32_t ranks) {
    std::vector<std::size_t> group(size());
    for (std::size_t n = 0; n < size(); ++n) group[n] = n;
    const auto join = [&](std::size_t a, std::size_t b) {
      const std::size_t old = group[a], now = group[b];
      for (std::size_t& each : group) each = each == old ? now : each;
    };
    for (std::size_t n = 0; n < size(); ++n) {
      for (const random_graph::edge& each : shape_.nodes[n].in) {
        const std::size_t from = static_cast<std::size_t>(each.from);
        if (checked_.may_be_skipped[from]) join(n, from);
      }
      if (shape_.nodes[n].loop_first < 0) continue;
      const std::size_t first = static_cast<std::size_t>(shape_.nodes[n].loop_first);
      if (!checked_.may_be_skipped[first] && !checked_.may_be_skipped[n]) continue;
      for (std::size_t k = first; k <= n; ++k) join(k, n);
    }
    std::mt19937_64 random(seed * 77 + ranks);
    std::vector<std::uint32_t> of_group(size());
    for (std::uint32_t& each : of_group) each = static_cast<std::uint32_t>(random() % ranks);
    for (std::size_t n = 0; n < size(); ++n) rank_of.push_back(of_group[group[n]]);
  }

  bool has_data(std::size_t n, std::size_t k) const {
    const random_graph::edge& each = shape_.nodes[n].in[k];
    return each.kind == 0 && !checked_.may_be_skipped[static_cast<std::size_t>(each.from)];
  }
  bool compute(std::size_t n, std::size_t i, variables& with) const {
    const random_graph::node& node = shape_.nodes[n];
    std::uint64_t h = mix(mix(n + 1, i), with.out[n]);
    for (std::size_t k = 0; k < node.in.size(); ++k) {
      if (has_data(n, k)) h = mix(h, with.in[n][k]);
    }
    with.out[n] = h;
    with.said.said[n].push_back(h);
    return order_.answer(n, h, ++with.runs[n]);
  }

  random_graph shape_;
  graph graph_;
  graph_shape order_;
  detail::flow checked_;
};

}  // namespace lockstep::test
