// SPDX-License-Identifier: MIT
// tests/graph/graph_test.cpp -- building a graph, and what is found wrong with one
#include <lockstep/graph.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <lockstep/plan.hpp>

namespace {

using lockstep::buffer;
using lockstep::graph;
using lockstep::graph_block;
using lockstep::graph_node;
using lockstep::member;
using lockstep::plan;

const auto nothing = [] {};
const auto yes = [] { return true; };

std::string failure_of(const graph& g, std::size_t members = 4) {
  try {
    const plan made(g, members);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

TEST(graph, is_sound_when_edges_go_forward) {
  graph g;
  const auto a = g.node("a", nothing), b = g.node("b", nothing), c = g.node("c", nothing);
  g.edge(a, b).edge(a, c).edge(b, c);
  EXPECT_EQ(g.validate(), "");
  EXPECT_EQ(g.size(), 3u);
  EXPECT_EQ(b.name(), "b");
  EXPECT_EQ(b.number(), 1u);
}

TEST(graph, of_nothing_is_sound) {
  const graph g;
  EXPECT_EQ(g.validate(), "");
  EXPECT_EQ(failure_of(g), "");
}

TEST(graph, names_the_nodes_of_a_cycle_of_edges) {
  graph g;
  const auto a = g.node("a", nothing), b = g.node("b", nothing), c = g.node("c", nothing),
             d = g.node("d", nothing);
  g.edge(a, b).edge(b, c).edge(c, d).edge(d, b);
  EXPECT_TRUE(g.validate() == "a cycle of edges: 'b' -> 'c' -> 'd' -> 'b'" ||
              g.validate() == "a cycle of edges: 'c' -> 'd' -> 'b' -> 'c'" ||
              g.validate() == "a cycle of edges: 'd' -> 'b' -> 'c' -> 'd'")
      << g.validate();
  EXPECT_EQ(failure_of(g), "lockstep::plan: " + g.validate());
}

TEST(graph, takes_feedback_with_delay_0_for_an_edge) {
  graph g;
  const auto a = g.node("a", nothing), b = g.node("b", nothing);
  g.edge(a, b).feedback(b, a, 0);
  EXPECT_NE(g.validate().find("cycle"), std::string::npos) << g.validate();
}

TEST(graph, names_a_loop_that_no_edges_close) {
  graph g;
  const auto a = g.node("a", yes), b = g.node("b", yes);
  g.edge(a, b).repeat_while(a, b);
  EXPECT_EQ(g.validate(),
            "the loop from 'b' to 'a' is not closed: no way of edges leads from 'b' to 'a'");
}

TEST(graph, names_a_node_that_ends_two_loops) {
  graph g;
  const auto a = g.node("a", nothing), b = g.node("b", nothing), c = g.node("c", yes);
  g.edge(a, b).edge(b, c).repeat_while(c, b).repeat_while(c, a);
  EXPECT_EQ(g.validate(),
            "the loop from 'a' to 'c' and the loop from 'b' to 'c' end in the same node: 'c' can "
            "end only one of them");
}

TEST(graph, names_loops_that_cross) {
  graph g;
  const auto a = g.node("a", nothing), b = g.node("b", nothing), c = g.node("c", yes),
             d = g.node("d", yes);
  g.edge(a, b).edge(b, c).edge(c, d).repeat_while(c, a).repeat_while(d, b);
  EXPECT_NE(g.validate().find("crosses the loop from"), std::string::npos) << g.validate();
}

TEST(graph, names_a_condition_node_that_does_not_return_bool) {
  graph g;
  const auto a = g.node("a", nothing), b = g.node("b", nothing);
  g.edge_if(a, b);
  EXPECT_EQ(g.validate(), "the edge from 'a' to 'b' has a condition, but 'a' does not return bool");
  graph other;
  const auto c = other.node("c", nothing);
  other.repeat_while(c, c);
  EXPECT_EQ(other.validate(),
            "the loop from 'c' to 'c' has no condition: 'c' does not return bool");
}

TEST(graph, names_a_node_that_no_iteration_can_reach) {
  graph g;
  const auto test = g.node("test", yes), a = g.node("a", yes), b = g.node("b", nothing);
  g.edge_if(test, a).edge(a, b).edge_unless(test, b);
  EXPECT_EQ(g.validate(), "") << "b depends on test as well, which is not skipped";
  g.edge_if(a, b);
  EXPECT_EQ(g.validate(),
            "no iteration can reach 'b': 'test' would have to return both true and false");
}

TEST(graph, names_a_node_after_a_loop_that_its_decision_never_lets_run_GRAPH_5) {
  graph g;
  const auto begin = g.node("begin", nothing), test = g.node("test", yes),
             after = g.node("after", nothing), last = g.node("last", yes);
  g.edge(begin, test).repeat_while(test, begin).edge_unless(test, after);
  EXPECT_EQ(g.validate(), "") << "that always runs";
  g.edge_if(test, last);
  const std::string right =
      "no iteration can reach 'last': 'test' would have to return true, and then the loop from "
      "'begin' to 'test' goes on";
  EXPECT_EQ(g.validate(), right);
  // In a loop further outside it is after that loop all the same.
  g.edge(after, last).repeat_while(last, begin);
  EXPECT_EQ(g.validate(), right);
}

TEST(graph, may_skip_what_is_in_the_loop_that_the_asked_node_decides_from_outside) {
  graph g;
  const auto test = g.node("test", yes), begin = g.node("begin", nothing),
             again = g.node("again", yes);
  g.repeat_while(test, test).edge_unless(test, begin).edge(begin, again).repeat_while(again, begin);
  EXPECT_EQ(g.validate(), "");
}

TEST(graph, names_the_way_through_loops_that_wait_for_each_other_GRAPH_5) {
  graph g;
  const auto a = g.node("a", nothing), b = g.node("b", yes), c = g.node("c", nothing),
             d = g.node("d", yes);
  g.edge(a, b).repeat_while(b, a).edge(c, d).repeat_while(d, c);
  g.edge(a, d);
  EXPECT_EQ(g.validate(), "") << "one after the other";
  g.edge(c, b);
  const std::string there = "'a' -> 'd' in the loop from 'c' to 'd'",
                    back = "'c' -> 'b' in the loop from 'a' to 'b'";
  const std::string says = "loops that can only run after each other: ";
  EXPECT_TRUE(g.validate() == says + there + ", " + back ||
              g.validate() == says + back + ", " + there)
      << g.validate();
  EXPECT_EQ(failure_of(g), "lockstep::plan: " + g.validate());
  EXPECT_NE(g.dot(), "");
}

TEST(graph, names_the_way_through_loops_inside_of_another_one_and_nodes_between_them) {
  graph g;
  const auto first = g.node("first", nothing), last = g.node("last", yes);
  const auto a = g.node("a", nothing), b = g.node("b", yes), c = g.node("c", nothing),
             d = g.node("d", yes), between = g.node("between", nothing);
  g.edge(a, b).repeat_while(b, a).edge(c, d).repeat_while(d, c).edge(c, b);
  g.edge(first, a).edge(first, c).edge(b, last).edge(d, last).repeat_while(last, first);
  EXPECT_EQ(g.validate(), "");
  g.edge(a, between).edge(between, d);
  EXPECT_NE(g.validate().find("loops that can only run after each other: "), std::string::npos);
  EXPECT_NE(g.validate().find("'a' -> 'between'"), std::string::npos) << g.validate();
  EXPECT_NE(g.validate().find("'between' -> 'd' in the loop from 'c' to 'd'"), std::string::npos);
  EXPECT_NE(g.validate().find("'c' -> 'b' in the loop from 'a' to 'b'"), std::string::npos);
}

TEST(graph, names_two_nodes_of_one_name) {
  graph g;
  g.node("same", nothing);
  g.node("other", nothing);
  g.node("same", nothing);
  EXPECT_EQ(g.validate(), "two nodes are called 'same'");
}

TEST(graph, refuses_an_edge_to_the_same_node) {
  graph g;
  const auto a = g.node("a", nothing);
  EXPECT_THROW(g.edge(a, a), std::invalid_argument);
  EXPECT_EQ(g.validate(), "");
}

TEST(graph, refuses_nodes_of_other_graphs_and_of_none) {
  graph g, h;
  const auto a = g.node("a", nothing), b = h.node("b", nothing);
  EXPECT_THROW(g.edge(a, b), std::invalid_argument);
  EXPECT_THROW(g.edge(a, graph_node()), std::invalid_argument);
  EXPECT_THROW(g.feedback(b, a, 1), std::invalid_argument);
  EXPECT_THROW(g.series(a, b), std::invalid_argument);
  EXPECT_THROW(graph_node().pin(0), std::invalid_argument);
  EXPECT_THROW(graph_node().cost(std::chrono::nanoseconds(1)), std::invalid_argument);
  EXPECT_THROW(a.keep_near(b), std::invalid_argument);
  EXPECT_THROW(a.keep_near(graph_node()), std::invalid_argument);
  EXPECT_THROW(graph_node().keep_near(graph_node()), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(graph_node().name()), std::invalid_argument);
}

TEST(graph, is_as_before_when_an_edge_is_refused) {
  graph g, h;
  const auto a = g.node("a", nothing), b = g.node("b", nothing), c = g.node("c", nothing),
             far = h.node("far", nothing);
  const std::string before = g.dot();
  EXPECT_THROW(g.edge(g.parallel(a, b), g.parallel(c, b)), std::invalid_argument);
  EXPECT_THROW(g.series(a, b, far), std::invalid_argument);
  EXPECT_THROW(g.series(a, b, b), std::invalid_argument);
  EXPECT_EQ(g.dot(), before);
}

TEST(graph, with_a_delay_of_many_iterations_is_planned_as_quickly_as_others) {
  graph g;
  std::vector<graph_block> all;
  for (int i = 0; i < 1000; ++i) all.push_back(g.node(std::to_string(i), nothing));
  const auto first = g.node("first", nothing), last = g.node("last", nothing);
  g.series(first, g.parallel(all), last);
  g.feedback(last, first, 1000000);
  EXPECT_EQ(failure_of(g), "");
}

TEST(graph, refuses_a_width_or_a_pin_that_the_team_does_not_have) {
  graph g;
  g.node("wide", 3, [](member&) {});
  EXPECT_EQ(failure_of(g, 3), "");
  EXPECT_EQ(failure_of(g, 2),
            "lockstep::plan: the team-wide node 'wide' is for 3 members, the plan for 2");
  graph h;
  h.node("pinned", nothing).pin(2);
  EXPECT_EQ(failure_of(h, 3), "");
  EXPECT_EQ(
      failure_of(h, 2),
      "lockstep::plan: the node 'pinned' is pinned to member 2, the plan is for members 0 to 1");
}

TEST(graph, stays_what_it_is_when_moved) {
  graph g;
  const auto a = g.node("a", nothing);
  graph h(std::move(g));
  const auto b = h.node("b", nothing);
  h.edge(a, b);
  EXPECT_EQ(h.size(), 2u);
}

TEST(graph, that_was_moved_is_none_and_says_so) {
  graph g;
  const auto a = g.node("a", nothing);
  const graph h(std::move(g));
  EXPECT_EQ(g.size(), 0u);
  EXPECT_THROW(g.node("b"), std::logic_error);
  EXPECT_THROW(g.node("b", nothing), std::logic_error);
  EXPECT_THROW(g.edge(a, a), std::logic_error);
  EXPECT_THROW(g.feedback(a, a, 1), std::logic_error);
  EXPECT_THROW(g.loop(a), std::logic_error);
  EXPECT_THROW(g.series(a, a), std::logic_error);
  EXPECT_THROW(static_cast<void>(g.validate()), std::logic_error);
  EXPECT_THROW(static_cast<void>(g.not_series_parallel()), std::logic_error);
  EXPECT_THROW(static_cast<void>(g.dot()), std::logic_error);
  EXPECT_THROW(plan(g, 1), std::logic_error);
  g = graph();
  g.node("b");
  EXPECT_EQ(g.validate(), "");
  EXPECT_EQ(g.size(), 1u);
}

TEST(graph, takes_functions_that_can_only_be_moved_and_destroys_them_once) {
  auto counted = std::make_shared<int>(0);
  {
    graph g;
    g.node("moved", [held = std::make_unique<int>(1), counted] { ++*held; });
    EXPECT_EQ(counted.use_count(), 2);
  }
  EXPECT_EQ(counted.use_count(), 1);
}

struct alignas(256) aligned_function {
  bool* is_right;
  void operator()() { *is_right = reinterpret_cast<std::uintptr_t>(this) % 256 == 0; }
};

TEST(graph, keeps_functions_at_the_alignment_of_their_type) {
  bool is_right = false;
  graph g;
  g.node("aligned", aligned_function{&is_right});
  lockstep::team on(1);
  plan(g, on).run();
  EXPECT_TRUE(is_right);
}

// --- blocks ---

/// The edges as text.
std::string edges_of(const graph& g) {
  std::string text;
  const auto& body = lockstep::detail::graph_access::body_of(g);
  for (const auto& each : body.model.edges) {
    text += body.model.nodes[each.from].name + body.model.nodes[each.to].name + " ";
  }
  for (const auto& each : body.model.feedbacks) {
    text += "(" + body.model.nodes[each.from].name + body.model.nodes[each.to].name + ") ";
  }
  return text;
}

TEST(graph_blocks, join_all_ends_with_all_beginnings) {
  graph g;
  const auto a = g.node("a", nothing), b = g.node("b", nothing), c = g.node("c", nothing),
             d = g.node("d", nothing), e = g.node("e", yes);
  const graph_block body = g.series(a, g.parallel(b, c), d, e);
  g.loop(body);
  EXPECT_EQ(edges_of(g), "ab ac bd cd de (ea) ");
  EXPECT_EQ(g.validate(), "");
}

TEST(graph_blocks, lie_in_each_other) {
  graph g;
  std::vector<graph_block> rows;
  for (int i = 0; i < 3; ++i) {
    rows.push_back(g.series(g.node("a" + std::to_string(i), nothing),
                            g.loop(g.node("b" + std::to_string(i), yes))));
  }
  g.loop(g.series(g.node("first", nothing), g.parallel(rows), g.node("last", yes)));
  EXPECT_EQ(g.validate(), "");
  EXPECT_EQ(g.not_series_parallel(), "");
}

TEST(graph_blocks, of_nothing_do_not_count) {
  graph g;
  const auto a = g.node("a", nothing), b = g.node("b", nothing);
  g.series(a, g.parallel(std::vector<graph_block>()), b);
  EXPECT_EQ(edges_of(g), "ab ");
}

TEST(graph_blocks, that_loop_have_one_beginning_and_one_end) {
  graph g;
  const auto a = g.node("a", nothing), b = g.node("b", nothing), c = g.node("c", yes);
  EXPECT_THROW(g.loop(g.parallel(a, b)), std::invalid_argument);
  g.loop(g.series(g.parallel(a, b), c));
  EXPECT_EQ(g.validate(), "");
  EXPECT_EQ(g.size(), 4u) << "an empty node is where the loop begins";
}

// --- series-parallel ---

TEST(series_parallel, is_said_where_it_ends) {
  graph g;
  const auto a = g.node("a", nothing), b = g.node("b", nothing), c = g.node("c", nothing),
             d = g.node("d", nothing);
  g.edge(a, c).edge(b, c).edge(b, d);
  EXPECT_EQ(g.not_series_parallel(),
            "'a' and 'b' come before 'c', and 'b' before 'd', but 'a' does not");
  EXPECT_EQ(failure_of(g), "") << "allowed";
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
  constexpr int size = 100000;
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

// --- buffer ---

TEST(graph_buffer, has_a_slot_for_each_of_depth_iterations) {
  buffer<int, 3> values(7);
  EXPECT_EQ(values[2], 7);
  for (std::size_t i = 0; i < 3; ++i) values[i] = static_cast<int>(i);
  EXPECT_EQ(values[3], 0);
  EXPECT_EQ(values[5], 2);
  EXPECT_EQ(values.depth(), 3u);
}

}  // namespace
