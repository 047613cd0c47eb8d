// SPDX-License-Identifier: MIT
// tests/mpi/world_graph_test.cpp -- graphs across ranks over MPI: results, errors, stops (WGRAPH-1 to -4, WPLAN-1 to -3)
#include <lockstep/mpi/world_plan.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/world_shape.hpp"

namespace {

using lockstep::team;
using lockstep::mpi::rank_failed;
using lockstep::mpi::world;
using lockstep::mpi::world_graph;
using lockstep::mpi::world_plan;
using lockstep::test::first_seed;
using lockstep::test::graph_taste;
using lockstep::test::graphs;
using lockstep::test::world_shape;

/// The text of the std::invalid_argument that f() throws; empty if it does not.
template <class Function>
std::string refusal(const Function& f) {
  try {
    f();
  } catch (const std::invalid_argument& refused) {
    return refused.what();
  }
  return std::string();
}
bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

class world_graphs : public testing::TestWithParam<std::size_t> {
 protected:
  std::size_t last() const { return world_.size() - 1; }
  /// Some rank, by a number.
  std::size_t rank(std::size_t number) const { return number % world_.size(); }
  bool is_on(std::size_t number) const { return rank(number) == world_.rank(); }

  void compare(const graph_taste& taste, int count) {
    for (int k = 0; k < count; ++k) {
      const std::uint64_t seed = first_seed() + static_cast<std::uint64_t>(k);
      const world_shape shape(seed, taste, static_cast<std::uint32_t>(world_.size()));
      if (!shape.problem.empty()) continue;
      const std::size_t iterations = 1 + seed % 6;
      world_shape::variables own(shape);
      world_graph g;
      shape.build(g, own);
      world_plan plan(g, world_, team_);
      EXPECT_TRUE(plan.run(iterations));
      const world_shape::numbers right = shape.interpret(iterations);
      for (std::size_t n = 0; n < shape.size(); ++n) {
        if (shape.rank_of[n] != world_.rank()) continue;
        EXPECT_EQ(own.said.said[n], right.said[n]) << "seed " << seed << ", node " << n;
      }
    }
  }

  static void SetUpTestSuite() { made_ = new world(); }
  static void TearDownTestSuite() { delete made_; }

  static world* made_;
  world& world_ = *made_;
  team team_{GetParam()};
};
world* world_graphs::made_ = nullptr;
INSTANTIATE_TEST_SUITE_P(members, world_graphs, testing::Values(1, 2, 4),
                         testing::PrintToStringParamName());

// Tastes by themselves: rank_graph_test.cpp, with queues in place of MPI.
TEST_P(world_graphs, random_ones_with_all) {
  graph_taste taste;
  taste.most_nodes = 30;
  compare(taste, graphs(15, 1));
}

TEST_P(world_graphs, the_bytes_of_an_edge_arrive_in_each_iteration) {
  constexpr std::size_t size = 100000;  // more than an MPI library sends at once
  std::vector<int> made(size), got(size);
  std::size_t wrong = 0;
  world_graph g;
  const auto make = g.node(
      0, "make", [&](std::size_t i) { std::iota(made.begin(), made.end(), static_cast<int>(i)); });
  const auto test = g.node(last(), "test", [&](std::size_t i) {
    for (std::size_t k = 0; k < size; ++k) wrong += got[k] != static_cast<int>(i + k);
  });
  g.edge(make, test, made.data(), got.data(), size);
  world_plan plan(g, world_, team_);
  EXPECT_TRUE(plan.run(20));
  EXPECT_TRUE(plan.run(1));
  EXPECT_EQ(wrong, 0u);
}

TEST_P(world_graphs, a_value_for_the_next_iteration_goes_to_an_empty_node) {
  std::vector<std::size_t> came;
  std::size_t left = 0, before = 1000;
  world_graph g;
  const auto use = g.node(0, "use", [&] { came.push_back(before); });
  const auto leave = g.node(last(), "leave", [&](std::size_t i) { left = i; });
  g.edge(use, leave).edge(leave, g.node(0, "keep"), &left, &before, 1);
  world_plan plan(g, world_, team_);
  EXPECT_TRUE(plan.run(4));
  if (world_.rank() == 0) {
    EXPECT_EQ(came, (std::vector<std::size_t>{1000, 0, 1, 2}));
  }
}

TEST_P(world_graphs, a_team_wide_node_runs_on_the_members_of_its_rank) {
  std::size_t sum = 0, got = 0;
  world_graph g;
  const auto wide = g.node(last(), "wide", world_graph::whole_team, [&](lockstep::member& me) {
    const std::size_t all = me.sync_sum(me.rank() + 1);
    if (me.rank() == 0) sum += all;
  });
  const auto use = g.node(0, "use", [&] { got = sum; });
  g.edge(wide, use, &sum, &sum, 1);
  world_plan plan(g, world_, team_);
  EXPECT_TRUE(plan.run(4));
  const std::size_t members = GetParam();
  if (world_.rank() == 0) {
    EXPECT_EQ(got, 2 * members * (members + 1));
  }
}

TEST_P(world_graphs, an_exception_ends_the_run_on_all_ranks_and_they_name_it) {
  std::size_t fails_at = 3;
  long long value = 0;
  std::size_t ran = 0;
  world_graph g;
  const auto fail = g.node(last(), "fail", [&](std::size_t i) {
    if (i == fails_at) throw std::out_of_range("on purpose");
    ++value;
  });
  for (std::size_t r = 0; r < world_.size(); ++r) {
    const auto use = g.node(r, "use " + std::to_string(r), [&] { ++ran; });
    g.edge(fail, use, value);
  }
  world_plan plan(g, world_, team_);
  for (int again = 0; again < 3; ++again) {
    fails_at = 3;
    ran = 0;
    if (world_.rank() == last()) {
      EXPECT_THROW(plan.run(1000), std::out_of_range);
    } else {
      try {
        plan.run(1000);
        ADD_FAILURE() << "the run is not over here";
      } catch (const rank_failed& failed) {
        EXPECT_EQ(failed.rank(), last());
        EXPECT_TRUE(has(failed.what(), "'fail'")) << failed.what();
        EXPECT_TRUE(has(failed.what(), "rank " + std::to_string(last()))) << failed.what();
      }
    }
    EXPECT_LE(ran, 3u);
    fails_at = 1000;
    ran = 0;
    value = 0;
    EXPECT_TRUE(plan.run(20));  // nothing is left of the run that failed
    EXPECT_EQ(ran, 20u);
    EXPECT_EQ(value, 20);
  }
}

TEST_P(world_graphs, exceptions_on_several_ranks_at_once) {
  world_graph g;
  const auto begin = g.node(0, "begin");
  const auto end = g.node(last(), "end", [] {});
  for (std::size_t r = 0; r < world_.size(); ++r) {
    const auto fail = g.node(r, "fail " + std::to_string(r), [](std::size_t i) {
      if (i == 2) throw std::out_of_range("on purpose");
    });
    g.edge(begin, fail).edge(fail, end);
  }
  world_plan plan(g, world_, team_);
  for (int again = 0; again < 5; ++again) {
    try {
      plan.run(10);
      ADD_FAILURE();
    } catch (const std::out_of_range&) {
    } catch (const rank_failed&) {
    }
    EXPECT_TRUE(plan.run(2));
  }
}

TEST_P(world_graphs, a_request_to_stop_ends_the_run_on_all_ranks) {
  world_plan* running = nullptr;
  bool stops = true;
  std::size_t ran = 0;
  world_graph g;
  const auto stop = g.node(last(), "stop", [&](std::size_t i) {
    if (stops && i == 5) running->request_stop();
  });
  const auto follow = g.node(0, "follow", [&] { ++ran; });
  g.edge(stop, follow);
  world_plan plan(g, world_, team_);
  running = &plan;
  for (int again = 0; again < 3; ++again) {
    stops = true;
    ran = 0;
    EXPECT_FALSE(plan.run(SIZE_MAX / 4));
    EXPECT_LE(ran, 6u);
    stops = false;
    ran = 0;
    EXPECT_TRUE(plan.run(10));
    if (world_.rank() == 0) {
      EXPECT_EQ(ran, 10u);
    }
  }
}

TEST_P(world_graphs, ranks_with_different_graphs_are_told_what_differs) {
  if (world_.size() == 1) GTEST_SKIP() << "there is one graph only";
  int value = 0;
  long long other = 0;
  const auto make = [&](int variant) {
    const bool is_other = world_.rank() == last();
    world_graph g;
    const auto a = g.node(0, variant == 1 && is_other ? "c" : "a", [] {});
    const auto b = g.node(variant == 2 && is_other ? 0u : 1u, "b", [] {});
    if (variant == 3 && is_other) {
      g.edge(a, b, other);
    } else {
      g.edge(a, b, value);
    }
    if (variant == 4 && is_other) g.node(0, "one more");
    const world_plan plan(g, world_, team_);
  };
  const std::string other_rank = "rank " + std::to_string(last());
  const char* const parts[] = {"", "node 'a' on rank 0", "node 'b' on rank 1", "with 4 bytes",
                               "node 'one more'"};
  const char* const others[] = {"", "node 'c' on rank 0", "node 'b' on rank 0", "with 8 bytes",
                                "edge from 'a' to 'b'"};
  EXPECT_EQ(refusal([&] { make(0); }), "");
  for (int variant = 1; variant <= 4; ++variant) {
    const std::string text = refusal([&] { make(variant); });
    EXPECT_TRUE(has(text, parts[variant])) << text;
    EXPECT_TRUE(has(text, others[variant])) << text;
    EXPECT_TRUE(has(text, other_rank)) << text;
  }
}

TEST_P(world_graphs, a_graph_that_makes_no_sense_is_refused_on_all_ranks) {
  world_graph none;
  none.node(world_.size(), "nowhere", [] {});
  EXPECT_TRUE(has(refusal([&] { world_plan(none, world_, team_); }), "'nowhere' on rank"));
  world_graph cycle;
  const auto a = cycle.node(0, "a", [] {}), b = cycle.node(last(), "b", [] {});
  cycle.edge(a, b).edge(b, a);
  EXPECT_TRUE(has(refusal([&] { world_plan(cycle, world_, team_); }), "a cycle of edges"));
  world_graph pinned;  // on one rank only
  pinned.node(last(), "pinned", [] {}).pin(77);
  const std::string text = refusal([&] { world_plan(pinned, world_, team_); });
  EXPECT_TRUE(has(text, "on rank " + std::to_string(last()))) << text;
  EXPECT_TRUE(has(text, "'pinned'")) << text;
  world_graph lost;
  const auto from = lost.node(0, "from"), to = lost.node(last(), "to");
  lost.edge(from, to, static_cast<const int*>(nullptr), static_cast<int*>(nullptr), 2);
  EXPECT_TRUE(has(refusal([&] { world_plan(lost, world_, team_); }), "null pointer"));
}

TEST_P(world_graphs, a_graph_that_was_changed_needs_a_new_plan) {
  world_graph g;
  g.node(0, "first", [] {});
  world_plan flow(g, world_, team_);
  ASSERT_TRUE(flow.run());
  int count = 0;
  g.node(world_.rank(), "second", [&] { ++count; });
  EXPECT_THROW(flow.run(), std::logic_error);
  EXPECT_EQ(count, 0);
}

TEST_P(world_graphs, ranks_that_ask_for_different_numbers_of_iterations) {
  if (world_.size() == 1) GTEST_SKIP() << "there is one number only";
  world_graph g;
  const auto a = g.node(0, "a", [] {}), b = g.node(last(), "b", [] {});
  g.edge(a, b);
  world_plan plan(g, world_, team_);
  const std::size_t count = world_.rank() == 0 ? 5 : 7;
  try {
    plan.run(count);
    ADD_FAILURE();
  } catch (const std::logic_error& refused) {
    EXPECT_TRUE(has(refused.what(), "argument 5") && has(refused.what(), "argument 7"));
  }
  EXPECT_TRUE(plan.run(3));
}

TEST_P(world_graphs, a_rank_without_nodes_takes_part) {
  int ran = 0;
  world_graph g;
  g.node(0, "only", [&] { ++ran; });
  world_plan plan(g, world_, team_);
  EXPECT_TRUE(plan.run(3));
  EXPECT_TRUE(plan.run(0));
  EXPECT_EQ(ran, world_.rank() == 0 ? 3 : 0);
}

TEST_P(world_graphs, a_rank_that_needs_no_message_hears_of_a_stop) {
  world_plan* running = nullptr;
  std::atomic<std::size_t> ran{0};
  world_graph g;
  g.node(0, "stop", [&](std::size_t i) {
    if (i == 100) running->request_stop();
  });
  for (std::size_t r = 0; r < world_.size(); ++r) {
    g.node(r, "goes on " + std::to_string(r), [&] { ++ran; });
  }
  world_plan plan(g, world_, team_);
  running = &plan;
  EXPECT_FALSE(plan.run(SIZE_MAX / 4));
}

TEST_P(world_graphs, inside_of_a_region_a_plan_runs_on_the_thread_that_calls_it) {
  int value = 0, sum = 0;
  world_graph g;
  const auto make = g.node(0, "make", [&](std::size_t i) { value = static_cast<int>(i); }),
             add = g.node(last(), "add", [&] { sum += value; });
  g.edge(make, add, value);
  world_plan plan(g, world_, team_);
  team_.run([&](lockstep::member& me) { me.masked([&] { EXPECT_TRUE(plan.run(10)); }); });
  EXPECT_EQ(sum, world_.rank() == last() ? 45 : 0);
}

TEST_P(world_graphs, several_plans_at_the_same_time) {
  int value = 0, first = 0, second = 0;
  world_graph g, h;
  g.edge(g.node(0, "make", [&](std::size_t i) { value = static_cast<int>(i); }),
         g.node(last(), "use", [&] { first += value; }), value);
  int other = 0;
  h.edge(h.node(last(), "make", [&](std::size_t i) { other = 2 * static_cast<int>(i); }),
         h.node(0, "use", [&] { second += other; }), other);
  world_plan one(g, world_, team_), two(h, world_, team_);
  for (int again = 0; again < 3; ++again) {
    EXPECT_TRUE(one.run(5));
    EXPECT_TRUE(two.run(5));
  }
  EXPECT_EQ(first, is_on(last()) ? 30 : 0);
  EXPECT_EQ(second, is_on(0) ? 60 : 0);
}

}  // namespace
