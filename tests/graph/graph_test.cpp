// SPDX-License-Identifier: MIT
// tests/graph/graph_test.cpp -- building a graph, and what is found wrong with one
#include <lockstep/graph.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <lockstep/buffer.hpp>
#include <lockstep/plan.hpp>

#include "graph/graph_model.hpp"

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

TEST(graph, names_the_nodes_of_a_cycle_of_edges) {
  graph g;
  const auto a = g.node("a", nothing), b = g.node("b", nothing), c = g.node("c", nothing),
             d = g.node("d", nothing);
  g.edge(a, b).edge(b, c).edge(c, d).edge(d, b);
  const std::string remedy = "; use repeat_while for a loop, feedback for a later iteration";
  EXPECT_TRUE(g.validate() == "a cycle of edges: 'b' -> 'c' -> 'd' -> 'b'" + remedy ||
              g.validate() == "a cycle of edges: 'c' -> 'd' -> 'b' -> 'c'" + remedy ||
              g.validate() == "a cycle of edges: 'd' -> 'b' -> 'c' -> 'd'" + remedy)
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
            "the loop from 'b' to 'a' is not closed: no path of edges leads from 'b' to 'a'");
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
  EXPECT_EQ(g.validate(),
            "the edge from 'a' to 'b' has a condition, but 'a' does not return bool: let it return "
            "whether the edge holds");
  graph other;
  const auto c = other.node("c", nothing);
  other.repeat_while(c, c);
  EXPECT_EQ(other.validate(),
            "the loop from 'c' to 'c' has no condition: 'c' does not return bool: let it return "
            "whether the loop goes on");
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

TEST(graph, numbers_nodes_of_one_name_in_messages_and_pictures) {
  graph g;
  const auto one = g.node("same", nothing), other = g.node("other", nothing),
             two = g.node("same", nothing);
  g.series(one, other, two);
  EXPECT_EQ(g.validate(), "");
  EXPECT_NE(g.dot().find("\"same #1\" -> \"other\""), std::string::npos) << g.dot();
  EXPECT_NE(g.dot().find("\"other\" -> \"same #2\""), std::string::npos) << g.dot();
  EXPECT_EQ(failure_of(g), "");
  g.edge(two, other);
  EXPECT_EQ(g.validate().find("a cycle of edges: 'other' -> 'same #2' -> 'other';"), 0u)
      << g.validate();
}

TEST(graph, that_overlaps_bounds_how_far_each_node_is_ahead_of_what_reads_it) {
  graph g;
  const auto a = g.node("a", nothing), b = g.node("b", nothing), c = g.node("c", nothing),
             d = g.node("d", nothing);
  const auto test = g.node("test", [] { return false; });
  g.series(a, b, c, test, d);
  g.repeat_while(test, c).feedback(c, b, 2).overlap();
  EXPECT_EQ(g.validate(),
            "'a' may be any number of iterations ahead of 'b', which may read what it writes: "
            "bound it by feedback('b', 'a', delay), or join them by a channel");
  g.feedback(test, a, 1);
  EXPECT_EQ(g.validate().substr(0, 50), "'test' may be any number of iterations ahead of 'd");
  g.feedback(d, c, 1);  // from a node behind the loop to one in it
  EXPECT_EQ(g.validate(), "");
}

TEST(graph, joins_blocks_by_a_channel_and_refuses_what_an_edge_is_refused_for) {
  graph g, other;
  buffer<int, 2> values;
  const auto a = g.node("a", nothing), b = g.node("b", nothing), c = g.node("c", nothing);
  EXPECT_THROW(g.channel(a, a, values), std::invalid_argument);
  EXPECT_THROW(g.channel(a, other.node("x", nothing), values), std::invalid_argument);
  EXPECT_THROW(g.channel(graph_block(), a, values), std::invalid_argument);
  g.channel(g.parallel(a, b), c, values);
  EXPECT_EQ(g.validate(), "");
  EXPECT_NE(g.dot().find("\"a\" -> \"c\";"), std::string::npos) << g.dot();
  EXPECT_NE(g.dot().find("\"b\" -> \"c\""), std::string::npos);
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

}  // namespace
