// SPDX-License-Identifier: MIT
// tests/graph/flow_plan_test.cpp -- plans as values: which member runs what, which waits are left (FPLAN-1 to FPLAN-4)
#include "graph/flow_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <lockstep/graph.hpp>
#include <lockstep/plan.hpp>

#include "support/effort.hpp"
#include "support/plan_simulation.hpp"
#include "support/random_graph.hpp"

namespace {

using namespace lockstep::detail;
using lockstep::graph;
using lockstep::member;
using lockstep::test::graph_taste;
using lockstep::test::random_graph;

const auto nothing = [] {};

std::vector<std::uint32_t> values_of(const std::vector<std::uint32_t>& of) {
  return std::vector<std::uint32_t>(of.begin(), of.end());
}

struct planned {
  flow checked;
  flow_plan plan;

  /// `factor`: of the hints, so that the times are fractions, as those that were measured.
  planned(const graph& g, std::size_t members, double factor = 1)
      : checked(make_flow(model_of(g))) {
    std::vector<double> costs;
    for (const model_node& each : model_of(g).nodes) costs.push_back(factor * each.cost);
    plan = make_flow_plan(model_of(g), checked, costs, members);
    if (plan.problem.empty()) {
      plan.problem = lockstep::test::plan_simulation(checked, plan).run();
    }
  }
  static const graph_model& model_of(const graph& g) { return graph_access::body_of(g).model; }
};

TEST(flow_plan, keeps_a_chain_on_one_member_in_one_step) {
  graph g;
  auto last = g.node("0", nothing);
  for (int i = 1; i < 100; ++i) {
    const auto next = g.node(std::to_string(i), nothing);
    g.edge(last, next);
    last = next;
  }
  const planned made(g, 8);
  EXPECT_EQ(made.plan.members, 1u);
  EXPECT_EQ(made.plan.steps.size(), 1u);
  EXPECT_EQ(made.plan.waits.size(), 0u);
  EXPECT_EQ(made.plan.critical_path, 100 * usual_node_time);
  EXPECT_EQ(made.plan.serial_time, 100 * usual_node_time);
}

TEST(flow_plan, spreads_what_is_worth_it) {
  graph g;
  const auto first = g.node("first", nothing), last = g.node("last", nothing);
  for (int i = 0; i < 16; ++i) {
    const auto each = g.node(std::to_string(i), nothing);
    g.edge(first, each).edge(each, last);
  }
  const planned made(g, 4);
  EXPECT_EQ(made.plan.members, 4u);
  EXPECT_LE(made.plan.predicted_time, 7 * usual_node_time);
  // One wait for each of the other members to begin, and for `last` to begin after each of them.
  EXPECT_LE(made.plan.waits.size(), 7u);
}

TEST(flow_plan, does_not_spread_what_takes_less_than_a_crossing) {
  graph g;
  const auto first = g.node("first", nothing).cost(std::chrono::nanoseconds(5));
  for (int i = 0; i < 10; ++i) {
    g.edge(first, g.node(std::to_string(i), nothing).cost(std::chrono::nanoseconds(5)));
  }
  EXPECT_EQ(planned(g, 4).plan.members, 1u);
}

TEST(flow_plan, predicts_a_crossing_where_the_value_comes_from_another_member) {
  graph g;
  const auto first = g.node("first", nothing), left = g.node("left", nothing);
  g.edge(first, left).edge(first, g.node("right", nothing));
  g.edge(left, g.node("short", nothing).cost(std::chrono::nanoseconds(5)));
  EXPECT_EQ(planned(g, 3).plan.predicted_time, 2 * usual_node_time + crossing_time);
  graph wide;
  wide.edge(wide.node("all", graph::whole_team, [](member&) {}), wide.node("after", nothing));
  EXPECT_EQ(planned(wide, 3).plan.predicted_time, 2 * usual_node_time) << "it is there on all";
}

TEST(flow_plan, gives_stages_of_iterations_that_overlap_to_different_members) {
  graph g;
  const auto read = g.node("read", nothing), work = g.node("work", nothing),
             write = g.node("write", nothing);
  g.channel(read, work, 2).channel(work, write, 2);
  const planned three(g, 4);
  EXPECT_EQ(three.plan.problem, "");
  EXPECT_EQ(three.plan.members, 3u);
  EXPECT_EQ(three.plan.predicted_time, 1 * usual_node_time);
  const planned two(g, 2);
  EXPECT_EQ(two.plan.predicted_time, 2 * usual_node_time);
  EXPECT_TRUE(std::is_sorted(two.plan.member_of.begin(), two.plan.member_of.end()))
      << "a member waits for its own next iteration";
  for (const auto& each : {read, work, write}) each.cost(std::chrono::nanoseconds(5));
  EXPECT_EQ(planned(g, 4).plan.members, 1u) << "each takes less than a crossing";
}

TEST(flow_plan, keeps_stages_together_where_feedback_keeps_iterations_apart) {
  graph g;
  const auto read = g.node("read", nothing), work = g.node("work", nothing),
             write = g.node("write", nothing), rate = g.node("rate", nothing);
  g.channel(read, work, 2).channel(work, write, 2).edge(rate, write);
  rate.cost(std::chrono::nanoseconds(usual_node_time / 10));
  const planned made(g, 2);  // `rate` comes after the last `write`, so it is with that
  EXPECT_EQ(made.plan.member_of, (std::vector<std::uint32_t>{0, 0, 1, 1}));
  EXPECT_EQ(made.plan.problem, "");
  g.feedback(write, read, 1);
  EXPECT_EQ(planned(g, 2).plan.predicted_time, 3 * usual_node_time) << "no two iterations overlap";
}

TEST(flow_plan, leaves_out_waits_that_others_imply) {
  graph g;
  const auto a = g.node("a", nothing).pin(0), b = g.node("b", nothing).pin(1),
             c = g.node("c", nothing).pin(2), d = g.node("d", nothing).pin(2);
  g.edge(a, b).edge(b, c).edge(a, c).edge(a, d).edge(b, d);
  // b waits for a, c for b; d follows c on the same member. a of the next iteration comes after c and d: it waits for d
  // alone.
  EXPECT_EQ(planned(g, 3).plan.waits.size(), 3u);
}

TEST(flow_plan, waits_for_the_iteration_before_at_beginnings_only) {
  graph g;
  const auto a = g.node("a", nothing).pin(0), b = g.node("b", nothing).pin(1);
  const planned apart(g, 2);
  ASSERT_EQ(apart.plan.waits.size(), 2u);
  for (const plan_wait& each : apart.plan.waits) EXPECT_EQ(each.delay, 1u);
  g.edge(a, b);
  EXPECT_EQ(planned(g, 2).plan.waits.size(), 2u);
  g.feedback(b, a, 2);
  EXPECT_EQ(planned(g, 2).plan.waits.size(), 2u) << "feedback takes no order away";
  g.overlap();
  const planned overlapping(g, 2);
  ASSERT_EQ(overlapping.plan.waits.size(), 2u);
  EXPECT_EQ(overlapping.plan.waits[0].delay + overlapping.plan.waits[1].delay, 2u);
}

TEST(flow_plan, decides_a_loop_where_it_begins) {
  graph g;
  const auto first = g.node("first", nothing), left = g.node("left", nothing),
             right = g.node("right", nothing), test = g.node("test", [] { return false; });
  g.loop(g.series(first, g.parallel(left, right), test));
  const planned made(g, 2);
  EXPECT_EQ(made.plan.members, 2u);
  EXPECT_EQ(made.plan.member_of[first.number()], made.plan.member_of[test.number()]);
}

TEST(flow_plan, gives_loops_that_are_apart_to_different_members) {
  graph g;
  for (int i = 0; i < 3; ++i) {
    const std::string name = std::to_string(i);
    g.loop(g.series(g.node("a" + name, nothing), g.node("b" + name, [] { return false; })));
  }
  EXPECT_EQ(planned(g, 3).plan.members, 3u);
}

TEST(flow_plan, is_the_same_each_time) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const random_graph shape(seed, graph_taste());
    const graph g = shape.build();
    if (!g.validate().empty()) continue;
    const flow_plan a = planned(g, 4).plan, b = planned(g, 4).plan;
    EXPECT_EQ(values_of(a.line), values_of(b.line));
    EXPECT_EQ(values_of(a.member_of), values_of(b.member_of));
    ASSERT_EQ(a.waits.size(), b.waits.size());
  }
}

TEST(flow_plan, never_gets_stuck) {
  for (std::size_t members = 1; members <= 16; ++members) {
    for (std::uint64_t seed = 1; seed <= lockstep::test::effort(100u); ++seed) {
      graph_taste taste;
      taste.most_nodes = 30;
      taste.most_width = taste.pins = members;
      const random_graph shape(seed, taste);
      const graph g = shape.build();
      if (!g.validate().empty()) continue;
      const planned made(g, members);
      ASSERT_EQ(made.plan.problem, "") << "seed " << seed << ", " << members << " members";
    }
  }
}

/// Edges go to higher numbers, and any node may be the test of a loop to any other: most such graphs are refused.
graph loops_anywhere(std::mt19937& random, std::vector<std::pair<std::size_t, std::size_t>>& edges,
                     std::vector<std::pair<std::size_t, std::size_t>>& loops) {
  graph g;
  const std::size_t count = 4 + random() % 7;
  std::vector<lockstep::graph_node> nodes;
  for (std::size_t i = 0; i < count; ++i) {
    nodes.push_back(g.node(std::to_string(i), [] { return false; }));
  }
  const auto join = [&](std::size_t from, std::size_t to) {
    edges.emplace_back(from, to);
    g.edge(nodes[from], nodes[to]);
  };
  for (std::size_t left = random() % (count + 1); left > 0; --left) {
    const std::size_t to = 1 + random() % (count - 1);
    join(random() % to, to);
  }
  for (std::size_t left = 1 + random() % 3; left > 0; --left) {
    const std::size_t from = random() % count, to = random() % (from + 1);
    if (from != to && random() % 4 != 0) join(to, from);  // so that there is a way
    loops.emplace_back(from, to);
    g.repeat_while(nodes[from], nodes[to]);
  }
  return g;
}

TEST(flow_plan, of_loops_anywhere_has_them_in_one_piece_or_none_could_GRAPH_5) {
  using pairs = std::vector<std::pair<std::size_t, std::size_t>>;
  int accepted = 0, refused = 0;
  const unsigned seeds = lockstep::test::is_brief() ? 500u : 30000u;
  for (unsigned seed = 1; seed <= seeds; ++seed) {
    std::mt19937 random(seed);
    pairs edges, loops;
    const graph g = loops_anywhere(random, edges, loops);
    const std::string problem = g.validate();
    const bool waits = problem.find("loops that can only run after each other") == 0;
    if (!problem.empty() && !waits) continue;
    // What is reached from what; a loop as a whole comes after what any of its nodes comes after.
    const std::size_t count = g.size();
    std::vector<std::vector<bool>> before(count, std::vector<bool>(count, false));
    const auto close = [&] {
      for (std::size_t k = 0; k < count; ++k) {
        for (std::size_t i = 0; i < count; ++i) {
          for (std::size_t j = 0; j < count; ++j) {
            if (before[i][k] && before[k][j]) before[i][j] = true;
          }
        }
      }
    };
    for (const auto& each : edges) before[each.first][each.second] = true;
    close();
    std::vector<std::vector<bool>> bodies;
    for (const auto& each : loops) {
      std::vector<bool> body(count);
      for (std::size_t n = 0; n < count; ++n) {
        body[n] = (n == each.second || before[each.second][n]) &&
                  (n == each.first || before[n][each.first]);
      }
      bodies.push_back(body);
    }
    if (!waits) {
      ++accepted;
      const planned made(g, 3);
      ASSERT_EQ(made.plan.problem, "") << "seed " << seed;
      ASSERT_EQ(made.plan.line.size(), count) << "seed " << seed;
      std::vector<std::size_t> place(count);
      for (std::size_t at = 0; at < count; ++at) place[made.plan.line[at]] = at;
      for (const auto& each : edges) ASSERT_LT(place[each.first], place[each.second]) << seed;
      for (const std::vector<bool>& body : bodies) {
        std::size_t first = count, last = 0, size = 0;
        for (std::size_t n = 0; n < count; ++n) {
          if (!body[n]) continue;
          ++size;
          first = std::min(first, place[n]);
          last = std::max(last, place[n]);
        }
        ASSERT_EQ(last - first + 1, size) << "seed " << seed;
      }
      continue;
    }
    ++refused;
    for (bool grows = true; grows;) {
      const auto old = before;
      for (const std::vector<bool>& body : bodies) {
        for (std::size_t out = 0; out < count; ++out) {
          if (body[out]) continue;
          bool comes_first = false, comes_last = false;
          for (std::size_t in = 0; in < count; ++in) {
            comes_first = comes_first || (body[in] && before[out][in]);
            comes_last = comes_last || (body[in] && before[in][out]);
          }
          for (std::size_t in = 0; in < count; ++in) {
            if (body[in] && comes_first) before[out][in] = true;
            if (body[in] && comes_last) before[in][out] = true;
          }
        }
      }
      close();
      grows = old != before;
    }
    bool comes_before_itself = false;
    for (std::size_t n = 0; n < count; ++n) comes_before_itself |= before[n][n];
    EXPECT_TRUE(comes_before_itself) << "seed " << seed << ": " << problem;
  }
  EXPECT_GT(accepted, static_cast<int>(seeds / 30));
  EXPECT_GT(refused, static_cast<int>(seeds / 3000));
}

TEST(flow_plan, has_each_node_once_and_each_wait_on_another_lane) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const random_graph shape(seed, graph_taste());
    const graph g = shape.build();
    if (!g.validate().empty()) continue;
    const flow_plan plan = planned(g, 3).plan;
    std::vector<int> calls(shape.nodes.size(), 0);
    for (const plan_call& each : plan.calls) ++calls[each.node];
    for (const int each : calls) ASSERT_EQ(each, 1) << "seed " << seed;
    ASSERT_EQ(plan.line.size(), shape.nodes.size());
    for (const plan_lane& lane : plan.lanes) {
      for (std::uint32_t s = lane.first_step; s < lane.first_step + lane.steps; ++s) {
        for (std::uint32_t w = plan.steps[s].first_wait; w < plan.steps[s].last_wait; ++w) {
          const plan_lane& other = plan.lanes[plan.waits[w].lane];
          EXPECT_NE(other.member, lane.member);
          EXPECT_EQ(other.block, lane.block);
          EXPECT_LE(plan.waits[w].steps, other.steps);
        }
      }
    }
  }
}

TEST(flow_plan, keeps_nodes_near_each_other_that_others_may_still_run) {
  graph g;
  const auto first = g.node("first", nothing);
  std::vector<lockstep::graph_node> all;
  for (int i = 0; i < 8; ++i) {
    all.push_back(g.node(std::to_string(i), nothing));
    g.edge(first, all.back());
  }
  all[5].keep_near(all[2]).keep_near(all[7]);
  all[6].keep_near(all[0]);
  const planned made(g, 4);
  const auto member = [&](int i) {
    return made.plan.member_of[all[static_cast<std::size_t>(i)].number()];
  };
  EXPECT_EQ(made.plan.members, 4u);
  EXPECT_EQ(member(5), member(2));
  EXPECT_EQ(member(5), member(7));
  EXPECT_EQ(member(6), member(0));
  EXPECT_NE(member(6), member(5)) << "the others are spread";
  for (const plan_step& each : made.plan.steps) EXPECT_TRUE(each.is_open);
  all[7].pin(3);
  const planned pinned(g, 4);
  for (const int i : {2, 5, 7}) {
    EXPECT_EQ(pinned.plan.member_of[all[static_cast<std::size_t>(i)].number()], 3u);
  }
}

TEST(flow_plan, keeps_nodes_near_each_other_in_their_loop_only) {
  graph g;
  const auto before = g.node("before", nothing).pin(1), begin = g.node("begin", nothing),
             left = g.node("left", nothing), right = g.node("right", nothing),
             test = g.node("test", [] { return false; }), wide = g.node("wide", 2, [](member&) {});
  g.series(before, g.loop(g.series(begin, g.parallel(left, right), test)), wide);
  left.keep_near(right).keep_near(before);
  wide.keep_near(before);
  test.keep_near(wide);
  const planned made(g, 2);
  ASSERT_EQ(made.plan.problem, "");
  EXPECT_EQ(made.plan.member_of[left.number()], made.plan.member_of[right.number()]);
  EXPECT_EQ(made.plan.width_of[wide.number()], 2u);
}

TEST(flow_plan, gives_a_node_to_a_member_that_has_its_data_where_others_are_no_better) {
  // Member 0 runs `long`, so that "user" cannot begin there at once; of the others only one ran "writer".
  for (const std::size_t writer_on : {1u, 2u, 3u}) {
    graph g;
    const auto latest = g.node("latest", nothing).pin(0).cost(std::chrono::microseconds(10)),
               busy = g.node("busy", nothing).pin(0).cost(std::chrono::microseconds(50)),
               writer = g.node("writer", nothing).pin(writer_on).cost(std::chrono::microseconds(1)),
               user = g.node("user", nothing).cost(std::chrono::microseconds(1));
    g.edge(latest, user).edge(writer, user).edge(latest, busy);
    EXPECT_EQ(planned(g, 4).plan.member_of[user.number()], writer_on);
  }
}

/// On 32-bit x87 such times were longer in a register than in memory.
TEST(flow_plan, of_times_that_are_fractions_has_each_node_once) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    graph_taste taste;
    taste.most_nodes = 60;
    const random_graph shape(seed, taste);
    const graph g = shape.build();
    if (!g.validate().empty()) continue;
    const planned made(g, 4, 0.1 / 3);
    ASSERT_EQ(made.plan.problem, "") << "seed " << seed;
    ASSERT_EQ(made.plan.line.size(), shape.nodes.size()) << "seed " << seed;
  }
}

TEST(flow_plan, of_loops_inside_each_other_is_made_in_time_that_grows_with_their_number) {
  for (const int depth : {1, 2, 30, lockstep::test::is_brief() ? 150 : 400}) {
    graph g;
    lockstep::graph_block inner = g.node("innermost", nothing);
    for (int i = 0; i < depth; ++i) {
      const std::string name = std::to_string(i);
      const lockstep::graph_block left = g.node("left" + name, nothing),
                                  right = g.node("right" + name, nothing);
      inner = g.loop(g.series(g.node("begin" + name, nothing), g.parallel(left, right, inner),
                              g.node("end" + name, [] { return false; })));
    }
    const planned made(g, 3);
    ASSERT_EQ(made.plan.problem, "") << depth;
    EXPECT_EQ(made.checked.blocks.size(), static_cast<std::size_t>(depth + 1));
    // One turn of each, as critical_path() and serial_time() count.
    EXPECT_GE(made.plan.predicted_time, made.plan.critical_path);
    EXPECT_LE(made.plan.predicted_time, made.plan.serial_time + 8 * depth * crossing_time);
  }
}

TEST(flow_plan, of_the_longest_times_has_sums_that_stay_the_longest_time) {
  graph g;
  const auto first = g.node("first", nothing).cost(std::chrono::nanoseconds::max()),
             left = g.node("left", nothing).cost(std::chrono::nanoseconds::max()),
             right = g.node("right", nothing).cost(std::chrono::nanoseconds::max()),
             last = g.node("last", [] { return false; });
  g.loop(g.series(first, g.parallel(left, right), last));
  const planned made(g, 2);
  ASSERT_EQ(made.plan.problem, "");
  EXPECT_EQ(made.plan.serial_time, std::chrono::nanoseconds::max().count());
  EXPECT_EQ(made.plan.critical_path, std::chrono::nanoseconds::max().count());
  EXPECT_EQ(made.plan.predicted_time, std::chrono::nanoseconds::max().count());
  const lockstep::plan look(g, 2);
  EXPECT_EQ(look.serial_time(), std::chrono::nanoseconds::max());
  EXPECT_EQ(whole_time(0.4), 0);
  EXPECT_EQ(whole_time(0.6), 1);
  EXPECT_EQ(whole_time(1e300), most_time);
}

TEST(flow_plan, of_a_wavefront_waits_once_for_each_row_that_crosses) {
  constexpr int size = 16;
  graph g;
  std::vector<lockstep::graph_node> cells;
  for (int i = 0; i < size * size; ++i) cells.push_back(g.node(std::to_string(i), nothing));
  for (int row = 0; row < size; ++row) {
    for (int column = 0; column < size; ++column) {
      const auto here = cells[static_cast<std::size_t>(row * size + column)];
      if (row > 0) g.edge(cells[static_cast<std::size_t>((row - 1) * size + column)], here);
      if (column > 0) g.edge(cells[static_cast<std::size_t>(row * size + column - 1)], here);
    }
  }
  const planned made(g, 2);
  EXPECT_EQ(made.plan.members, 2u);
  EXPECT_LE(made.plan.waits.size(), 2u * size * size);
  EXPECT_LT(made.plan.predicted_time, made.plan.serial_time * 65 / 100);
}

}  // namespace
