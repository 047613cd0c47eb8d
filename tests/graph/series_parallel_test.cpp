// SPDX-License-Identifier: MIT
// tests/graph/series_parallel_test.cpp -- where a graph stops being series-parallel, against a search for four nodes
#include "graph/series_parallel.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include <lockstep/graph.hpp>
#include <lockstep/plan.hpp>
#include "support/effort.hpp"

namespace {

using lockstep::graph;
using lockstep::graph_node;

const auto nothing = [] {};
const auto yes = [] { return true; };

TEST(series_parallel, is_said_where_it_ends) {
  graph g;
  const auto a = g.node("a", nothing), b = g.node("b", nothing), c = g.node("c", nothing),
             d = g.node("d", nothing);
  g.edge(a, c).edge(b, c).edge(b, d);
  EXPECT_EQ(g.not_series_parallel(),
            "'a' and 'b' come before 'c', and 'b' before 'd', but 'a' does not");
  EXPECT_EQ(g.validate(), "") << "allowed";
  g.edge(a, d);
  EXPECT_EQ(g.not_series_parallel(), "");
}

TEST(series_parallel, is_not_lost_by_an_edge_that_others_imply) {
  graph g;
  const auto a = g.node("a", nothing), b = g.node("b", nothing), c = g.node("c", nothing);
  g.edge(a, b).edge(b, c).edge(a, c);
  EXPECT_EQ(g.not_series_parallel(), "");
}

TEST(series_parallel, is_looked_for_inside_of_loops) {
  graph g;
  const auto first = g.node("first", nothing), a = g.node("a", nothing), b = g.node("b", nothing),
             c = g.node("c", nothing), d = g.node("d", nothing), last = g.node("last", yes);
  g.edge(first, a).edge(first, b).edge(a, c).edge(b, c).edge(b, d).edge(c, last).edge(d, last);
  g.repeat_while(last, first);
  EXPECT_NE(g.not_series_parallel(), "");
}

/// Whether there are four as the sentence says, looked for one by one; edges go to higher numbers.
struct slow_order {
  std::vector<std::vector<bool>> before;

  explicit slow_order(std::size_t count) : before(count, std::vector<bool>(count, false)) {}
  void close() {
    for (std::size_t k = 0; k < before.size(); ++k) {
      for (std::size_t i = 0; i < k; ++i) {
        for (std::size_t j = k + 1; before[i][k] && j < before.size(); ++j) {
          if (before[k][j]) before[i][j] = true;
        }
      }
    }
  }
  bool is_n(std::size_t a, std::size_t b, std::size_t c, std::size_t d) const {
    const auto apart = [&](std::size_t x, std::size_t y) { return !before[x][y] && !before[y][x]; };
    return before[a][c] && before[b][c] && before[b][d] && apart(a, b) && apart(c, d) &&
           apart(a, d);
  }
  bool has_n() const {
    const std::size_t count = before.size();
    for (std::size_t i = 0; i < count * count * count * count; ++i) {
      if (is_n(i % count, i / count % count, i / count / count % count,
               i / count / count / count)) {
        return true;
      }
    }
    return false;
  }
};

TEST(series_parallel, is_what_has_no_four_nodes_that_form_an_n) {
  int with = 0, without = 0;
  for (unsigned seed = 1; seed <= 3000; ++seed) {
    std::mt19937 random(seed);
    const std::size_t count = 3 + random() % 6;
    slow_order order(count);
    graph g;
    std::vector<graph_node> nodes;
    for (std::size_t i = 0; i < count; ++i) nodes.push_back(g.node(std::to_string(i), nothing));
    for (std::size_t left = random() % (2 * count); left > 0; --left) {
      const std::size_t to = 1 + random() % (count - 1), from = random() % to;
      g.edge(nodes[from], nodes[to]);
      order.before[from][to] = true;
    }
    order.close();
    const std::string text = g.not_series_parallel();
    ASSERT_EQ(text.empty(), !order.has_n()) << "seed " << seed << ": " << text << g.dot();
    ++(text.empty() ? without : with);
    if (text.empty()) continue;
    std::vector<std::size_t> said;
    for (std::size_t at = 0; (at = text.find('\'', at)) != std::string::npos; at += 3) {
      said.push_back(static_cast<std::size_t>(text[at + 1] - '0'));
    }
    ASSERT_EQ(said.size(), 6u) << text;
    EXPECT_TRUE(order.is_n(said[0], said[1], said[2], said[4])) << "seed " << seed << ": " << text;
  }
  EXPECT_GT(with, 500);
  EXPECT_GT(without, 500);
}

/// A hundred thousand nodes, of which the rule takes no longer than the making of the graph.
TEST(series_parallel, of_large_graphs_is_found_at_once) {
  const int size = lockstep::test::is_brief() ? 30000 : 100000;
  graph chain, fork, deep, twisted;
  graph_node last = chain.node("first", nothing);
  const graph_node begin = fork.node("begin", nothing), end = fork.node("end", nothing);
  graph_node outer_begin = begin, outer_end = end;  // of `deep`, from its second level on
  std::vector<graph_node> row;
  for (int i = 0; i < size; ++i) {
    const std::string name = std::to_string(i);
    const graph_node next = chain.node(name, nothing), side = fork.node(name, nothing);
    chain.edge(last, next);
    last = next;
    fork.edge(begin, side).edge(side, end);
    if (i % 3 == 0) {
      const graph_node opens = deep.node(name, nothing), beside = deep.node(name + "b", nothing),
                       closes = deep.node(name + "c", nothing);
      deep.edge(opens, beside).edge(beside, closes);
      if (i > 0) deep.edge(outer_begin, opens).edge(closes, outer_end);
      outer_begin = opens;
      outer_end = closes;
    }
    row.push_back(twisted.node(name, nothing));
    if (i >= 2) twisted.edge(row[static_cast<std::size_t>(i) - 2], row.back());
    if (i > size / 2 && i % 1000 == 1) {
      twisted.edge(row[static_cast<std::size_t>(i) - 1001], row.back());
    }
  }
  EXPECT_EQ(chain.not_series_parallel(), "");
  EXPECT_EQ(fork.not_series_parallel(), "");
  EXPECT_EQ(deep.not_series_parallel(), "");
  EXPECT_NE(twisted.not_series_parallel(), "");
}

}  // namespace
