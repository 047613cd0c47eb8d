// SPDX-License-Identifier: MIT
#include "graph/shapes.hpp"

#include <algorithm>
#include <map>
#include <random>
#include <stdexcept>

namespace graph_bench {

shape::shape(std::size_t nodes, edge_list edges)
    : units(nodes), edges_(std::move(edges)), begin_(nodes + 1) {
  std::sort(edges_.begin(), edges_.end(), [](const auto& a, const auto& b) {
    return std::pair(a.second, a.first) < std::pair(b.second, b.first);
  });
  for (const auto& [from, to] : edges_) {
    before_.push_back(from);
    ++begin_[to + 1];
  }
  for (std::size_t i = 1; i <= nodes; ++i) begin_[i] += begin_[i - 1];
}

namespace {

node_number number(std::size_t index) { return static_cast<node_number>(index); }

/// The numbers of a graph in an order in which every edge goes forward.
std::vector<node_number> ranks(std::size_t nodes, const shape::edge_list& edges) {
  std::vector<std::vector<node_number>> after(nodes);
  std::vector<std::size_t> missing(nodes);
  for (const auto& [from, to] : edges) {
    after[from].push_back(to);
    ++missing[to];
  }
  std::vector<node_number> order, rank(nodes);
  for (std::size_t i = 0; i < nodes; ++i) {
    if (missing[i] == 0) order.push_back(number(i));
  }
  for (std::size_t i = 0; i < order.size(); ++i) {
    rank[order[i]] = number(i);
    for (const node_number to : after[order[i]]) {
      if (--missing[to] == 0) order.push_back(to);
    }
  }
  return rank;
}

}  // namespace

shape chain(std::size_t nodes) {
  shape::edge_list edges;
  for (std::size_t i = 1; i < nodes; ++i) edges.emplace_back(number(i - 1), number(i));
  return {nodes, std::move(edges)};
}

shape crossing_chain(std::size_t nodes) {
  shape result = chain(nodes);
  result.pinned_over = 2;
  result.units = nodes - 1;
  return result;
}

shape twin_chains(std::size_t each) {
  const std::size_t last = 2 * each + 1;
  shape::edge_list edges;
  for (std::size_t i = 1; i < last; ++i) {
    edges.emplace_back(number(i <= 2 ? 0 : i - 2), number(i));
    if (i + 2 >= last) edges.emplace_back(number(i), number(last));
  }
  shape result(last + 1, std::move(edges));
  result.units = each + 1;
  return result;
}

shape lattice(std::size_t levels) {
  shape::edge_list edges;
  for (std::size_t i = 2; i < 2 * levels; ++i) {
    const std::size_t above = i - i % 2 - 2;
    edges.emplace_back(number(above), number(i));
    edges.emplace_back(number(above + 1), number(i));
  }
  shape result(2 * levels, std::move(edges));
  result.units = levels;
  return result;
}

shape fork(std::size_t width) {
  shape::edge_list edges;
  for (std::size_t i = 1; i <= width; ++i) {
    edges.emplace_back(number(0), number(i));
    edges.emplace_back(number(i), number(width + 1));
  }
  return {width + 2, std::move(edges)};
}

shape tree(std::size_t levels) {
  const std::size_t nodes = (std::size_t{1} << levels) - 1;
  shape::edge_list edges;
  for (std::size_t i = 1; i < nodes; ++i) edges.emplace_back(number((i - 1) / 2), number(i));
  return {nodes, std::move(edges)};
}

shape wavefront(std::size_t side) {
  shape::edge_list edges;
  for (std::size_t i = 0; i < side * side; ++i) {
    if (i >= side) edges.emplace_back(number(i - side), number(i));
    if (i % side != 0) edges.emplace_back(number(i - 1), number(i));
  }
  return {side * side, std::move(edges)};
}

shape random_series_parallel(std::size_t nodes) {
  // From one edge on: a node in the middle of an edge (series), or on a way beside it (parallel).
  std::mt19937 random(number(nodes));
  shape::edge_list edges = {{0, 1}};
  for (std::size_t i = 2; i < nodes; ++i) {
    const std::size_t chosen = random() % edges.size();
    const auto [from, to] = edges[chosen];
    if (random() % 2 == 0) {
      edges[chosen].second = number(i);
    } else {
      edges.emplace_back(from, number(i));
    }
    edges.emplace_back(number(i), to);
  }
  const std::vector<node_number> rank = ranks(nodes, edges);
  for (auto& [from, to] : edges) {
    from = rank[from];
    to = rank[to];
  }
  return {nodes, std::move(edges)};
}

shape make_shape(const std::string& name, std::size_t size) {
  using maker = shape (*)(std::size_t);
  static const std::map<std::string, maker> makers = {
      {"chain", chain},         {"crossing", crossing_chain},
      {"twins", twin_chains},   {"lattice", lattice},
      {"fork", fork},           {"tree", tree},
      {"wavefront", wavefront}, {"random", random_series_parallel},
  };
  const auto found = makers.find(name);
  if (found == makers.end() || size < 2) throw std::invalid_argument("no such graph: " + name);
  return found->second(size);
}

}  // namespace graph_bench
