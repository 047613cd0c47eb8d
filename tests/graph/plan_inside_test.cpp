// SPDX-License-Identifier: MIT
// tests/graph/plan_inside_test.cpp -- what nodes do to the run they are in: throw, stop it, run other things (PLAN-3, PLAN-4)
#include <lockstep/plan.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "support/team_sizes.hpp"
#include "support/threads.hpp"

namespace {

using lockstep::external_team;
using lockstep::graph;
using lockstep::graph_block;
using lockstep::member;
using lockstep::plan;
using lockstep::started_region;
using lockstep::team;

class plan_inside : public lockstep::test::each_team {
 protected:
  /// A graph of nodes side by side on different members, so that all run at the same time.
  template <class Function>
  graph side_by_side(Function f) const {
    graph g;
    std::vector<graph_block> all;
    for (std::size_t i = 0; i < members(); ++i) {
      all.push_back(g.node(std::to_string(i), [f, i] { f(i); }).pin(i));
    }
    const auto last = g.node("last", [] {});
    g.series(g.parallel(all), last);
    return g;
  }
};
INSTANTIATE_TEST_SUITE_P(teams, plan_inside, testing::ValuesIn(lockstep::test::all_teams()),
                         lockstep::test::team_name);

/// An exception that counts how many there are.
class counted_error : public std::runtime_error {
 public:
  explicit counted_error(std::atomic<int>& count) : std::runtime_error("counted"), count_(&count) {
    ++*count_;
  }
  counted_error(const counted_error& other) : std::runtime_error(other), count_(other.count_) {
    ++*count_;
  }
  counted_error& operator=(const counted_error&) = delete;
  ~counted_error() override { --*count_; }

 private:
  std::atomic<int>* count_;
};

TEST_P(plan_inside, rethrows_one_exception_of_several_nodes_at_once_PLAN_3) {
  team on(members(), policy());
  std::atomic<int> exceptions(0), thrown(0);
  bool throws = true;
  lockstep::test::start_gate together(members());
  const graph g = side_by_side([&](std::size_t) {
    if (!throws) return;
    together.arrive_and_wait();
    ++thrown;
    throw counted_error(exceptions);
  });
  plan flow(g, on);
  for (int again = 1; again <= times(20); ++again) {
    throws = true;
    EXPECT_THROW(flow.run(3), counted_error);
    EXPECT_EQ(thrown, again * static_cast<int>(members())) << "each of them was thrown";
    EXPECT_EQ(exceptions, 0) << "and none is kept";
    throws = false;
    EXPECT_TRUE(flow.run(2));
  }
}

TEST_P(plan_inside, rethrows_what_is_thrown_by_members_of_a_team_wide_node_PLAN_3) {
  team on(members(), policy());
  graph g;
  int after = 0, turns = 0;
  bool throws = true;
  const auto wide = g.node("wide", graph::whole_team, [&](member& me) {
    me.sync_threads();
    if (throws && me.rank() % 2 == 0) throw std::runtime_error("wide");
    me.sync_threads();
  });
  const auto test = g.node("test", [&] { return ++turns % 3 != 0; });
  const auto last = g.node("last", [&] { ++after; });
  g.series(g.loop(g.series(wide, test)), last);
  plan flow(g, on);
  for (int again = 1; again <= 5; ++again) {
    throws = true;
    EXPECT_THROW(flow.run(3), std::runtime_error);
    EXPECT_EQ(turns, 6 * (again - 1));
    throws = false;
    EXPECT_TRUE(flow.run(2));
    EXPECT_EQ(after, 2 * again);
  }
}

TEST_P(plan_inside, rethrows_from_every_kind_of_run_PLAN_3) {
  team on(members(), policy());
  graph g;
  int runs = 0;
  bool throws = true;
  std::vector<graph_block> all;
  for (int i = 0; i < 5; ++i) {
    all.push_back(g.node(std::to_string(i), [&, i] {
      if (throws && i == 2) throw std::runtime_error("two");
    }));
  }
  g.series(g.parallel(all), g.node("last", [&] { ++runs; }));
  plan flow(g, on);
  EXPECT_THROW(static_cast<void>(flow.run_by(lockstep::deadline::never())), std::runtime_error);
  EXPECT_THROW(static_cast<void>(flow.measure(3)), std::runtime_error);
  EXPECT_THROW(flow.run_until([] { return false; }), std::runtime_error);
  started_region run = flow.start(2);
  EXPECT_THROW(static_cast<void>(run.join()), std::runtime_error);
  EXPECT_EQ(runs, 0);
  throws = false;
  int asked = 0;
  const auto fails_late = [&]() -> bool {
    if (++asked == 4) throw std::logic_error("asked too often");
    return false;
  };
  EXPECT_THROW(flow.run_until(fails_late), std::logic_error);
  EXPECT_EQ(runs, 3);
  EXPECT_TRUE(flow.run_by(lockstep::deadline::never()).completed);
  EXPECT_TRUE(flow.measure(2));
  EXPECT_TRUE(flow.start(2).join());
  EXPECT_TRUE(flow.run(2));
  EXPECT_EQ(runs, 10);
}

TEST_P(plan_inside, leaves_a_loop_without_end_at_a_stop_PLAN_3) {
  team on(members(), policy());
  graph g;
  plan* self = nullptr;
  std::atomic<int> turns(0), after(0);
  std::vector<graph_block> all;
  for (int i = 0; i < 4; ++i) all.push_back(g.node(std::to_string(i), [] {}));
  const auto first = g.node("first", [&] {
    if (++turns % 50 == 0) self->request_stop();
  });
  const auto again = g.node("again", [] { return true; });
  const auto last = g.node("last", [&] { ++after; });
  g.series(g.loop(g.series(first, g.parallel(all), again)), last);
  plan flow(g, on);
  self = &flow;
  for (int i = 1; i <= 3; ++i) {
    EXPECT_FALSE(flow.run(2));
    EXPECT_EQ(turns, 50 * i);
    EXPECT_EQ(after, 0);
  }
}

TEST_P(plan_inside, asks_for_no_iteration_after_a_stop_PLAN_3) {
  team on(members(), policy());
  graph g;
  plan* self = nullptr;
  int asked = 0;
  const auto a = g.node("a", [] {}), b = g.node("b", [] {});
  g.series(g.parallel(a, b), g.node("last", [&] {
    if (asked == 4) self->request_stop();
  }));
  plan flow(g, on);
  self = &flow;
  EXPECT_FALSE(flow.run_until([&] { return ++asked == 10; }));
  EXPECT_EQ(asked, 4);
}

TEST_P(plan_inside, ends_when_a_member_of_a_team_wide_node_requests_it_PLAN_3) {
  team on(members(), policy());
  graph g;
  plan* self = nullptr;
  std::atomic<int> after(0);
  bool stops = true;
  const auto wide = g.node("wide", graph::whole_team, [&](member& me) {
    if (stops && me.rank() + 1 == me.size()) self->request_stop();
    while (stops && me.sync_threads_unless_stopped()) continue;
  });
  g.series(wide, g.node("last", [&] { ++after; }));
  plan flow(g, on);
  self = &flow;
  EXPECT_FALSE(flow.run(2));
  EXPECT_EQ(after, 0);
  stops = false;
  EXPECT_TRUE(flow.run(2));
  EXPECT_EQ(after, 2);
}

TEST_P(plan_inside, ends_when_another_thread_requests_it_PLAN_3) {
  team on(members(), policy());
  std::atomic<int> iterations(0);
  graph g;
  const auto a = g.node("a", [&] { ++iterations; }), b = g.node("b", [] {}), c = g.node("c", [] {});
  g.series(a, g.parallel(b, c));
  plan flow(g, on);
  std::thread other([&] {
    while (iterations < 5) std::this_thread::yield();
    flow.request_stop();
  });
  EXPECT_FALSE(flow.run(1000000000000));
  other.join();
  const int before = iterations;
  EXPECT_TRUE(flow.run(3));
  EXPECT_EQ(iterations, before + 3);
  flow.request_stop();  // nothing runs
  EXPECT_TRUE(flow.run());
}

TEST_P(plan_inside, a_request_ends_no_other_region_of_the_team_PLAN_3) {
  team on(members(), policy());
  graph g;
  int count = 0;
  g.edge(g.node("a", [&] { ++count; }), g.node("b", [] {}));
  plan idle(g, on);
  EXPECT_TRUE(on.run([&](member& me) {
    idle.request_stop();
    me.sync_threads();
  }));
  EXPECT_TRUE(on.for_each(0, 100, [&](std::size_t) { idle.request_stop(); }));
  const graph other = side_by_side([&](std::size_t) { idle.request_stop(); });
  plan flow(other, on);
  EXPECT_TRUE(flow.run(3));
  EXPECT_TRUE(idle.start(2).join());
  EXPECT_TRUE(on.run([&] { idle.request_stop(); })) << "it is over";
  EXPECT_EQ(count, 2);
}

TEST_P(plan_inside, a_request_ends_a_run_inside_of_a_region_and_not_the_region_PLAN_3) {
  team on(members(), policy());
  for (const bool is_wide : {false, true}) {
    graph g;
    plan* self = nullptr;
    int count = 0, after = 0;
    const auto a = g.node("a", [&] {
      if (++count % 4 == 0) self->request_stop();
    });
    if (is_wide)
      g.edge(g.node("wide", graph::whole_team, [](member& me) { me.sync_threads(); }), a);
    plan inner(g, on);
    self = &inner;
    EXPECT_TRUE(on.run([&](member& me) {
      me.masked([&] {
        EXPECT_FALSE(inner.run(1000000000));
        EXPECT_FALSE(inner.run_until([] { return false; }));
        EXPECT_TRUE(inner.run_until([] { return true; }));
      });
      me.sync_threads();
      me.masked([&] { ++after; });
    }));
    EXPECT_EQ(count, 8);
    EXPECT_EQ(after, 1);
    const graph outer = side_by_side([&](std::size_t i) {
      if (i > 0) return;
      EXPECT_FALSE(inner.run(1000000000));
    });
    plan flow(outer, on);
    EXPECT_TRUE(flow.run(2));
    EXPECT_EQ(count, 16);
    EXPECT_FALSE(inner.run(1000000000));
    EXPECT_GE(count, 20) << "on all members";
  }
}

TEST_P(plan_inside, a_stop_of_the_region_around_ends_a_run_inside_of_it_PLAN_3) {
  team on(members(), policy());
  for (const bool is_wide : {false, true}) {
    graph g;
    int count = 0;
    const auto a = g.node("a", [&] {
      if (++count == 4) on.request_stop();
    });
    if (is_wide)
      g.edge(g.node("wide", graph::whole_team, [](member& me) { me.sync_threads(); }), a);
    plan inner(g, on);
    EXPECT_FALSE(on.run([&](member& me) {
      me.masked([&] {
        EXPECT_FALSE(inner.run(1000000000000));
        EXPECT_FALSE(inner.run_until([] { return false; })) << "begins in a stopped region";
      });
    }));
    EXPECT_EQ(count, 4);
    EXPECT_TRUE(inner.run(1));
  }
}

TEST_P(plan_inside, a_request_of_another_thread_ends_a_run_inside_of_a_region_PLAN_3) {
  team on(members(), policy());
  std::atomic<int> turns(0);
  graph g;
  g.node("waits", 1, [&](member& me) {
    ++turns;
    while (me.sync_threads_unless_stopped()) std::this_thread::yield();
  });
  plan inner(g, on);
  std::thread other([&] {
    while (turns == 0) std::this_thread::yield();
    inner.request_stop();
  });
  EXPECT_TRUE(on.run([&](member& me) { me.masked([&] { EXPECT_FALSE(inner.run()); }); }));
  other.join();
  EXPECT_EQ(turns, 1);
}

TEST_P(plan_inside, a_request_ends_a_run_that_waits_for_its_turn_PLAN_3) {
  team on(members(), policy());
  graph g;
  std::atomic<bool> is_asked_for(false), is_over(false);
  g.node("a", [] {});
  plan flow(g, on);
  std::thread other;
  EXPECT_TRUE(on.run([&](member& me) {
    me.masked([&] {
      other = std::thread([&] {
        is_asked_for = true;
        EXPECT_FALSE(flow.run(~std::size_t{0}));
        is_over = true;
      });
      while (!is_asked_for) std::this_thread::yield();
      flow.request_stop();  // perhaps before the run has begun
    });
  }));
  while (!is_over) {
    flow.request_stop();
    std::this_thread::yield();
  }
  other.join();
}

TEST_P(plan_inside, a_request_ends_a_run_that_was_started_PLAN_3) {
  team on(members(), policy());
  graph g;
  plan* self = nullptr;
  std::atomic<int> count(0);
  const auto a = g.node("a", [&] {
    if (++count >= 10) self->request_stop();
  });
  g.edge(a, g.node("b", [] {})).edge(a, g.node("c", [] {}));
  plan flow(g, on);
  self = &flow;
  started_region by_node = flow.start(1000000000);
  EXPECT_FALSE(by_node.join());
  EXPECT_GE(count, 10);
  EXPECT_LT(count, 1000000) << "at once";
  count = 0;
  started_region by_caller = flow.start(1000000000);
  flow.request_stop();
  EXPECT_FALSE(by_caller.join());
  count = 0;
  EXPECT_TRUE(flow.run());
}

TEST_P(plan_inside, nodes_run_another_plan_of_the_same_team_alone_PLAN_4) {
  team on(members(), policy());
  std::vector<std::unique_ptr<plan>> inner;
  std::vector<int> sums(members(), 0);
  std::vector<graph> graphs(members());
  for (std::size_t i = 0; i < members(); ++i) {
    graph& g = graphs[i];
    int& sum = sums[i];
    const auto add = g.node("add", [&sum] { ++sum; }),
               twice = g.node("twice", [&sum] { sum *= 2; }), nothing = g.node("nothing", [] {});
    g.edge(add, twice).edge(add, nothing);
    inner.push_back(std::make_unique<plan>(g, on));
  }
  const graph outer = side_by_side([&](std::size_t i) { EXPECT_TRUE(inner[i]->run(2)); });
  plan flow(outer, on);
  EXPECT_TRUE(flow.run(2));
  for (const int each : sums) EXPECT_EQ(each, 30);
}

TEST_P(plan_inside, nodes_run_regions_of_the_same_team_alone_PLAN_4) {
  team on(members(), policy());
  std::vector<std::size_t> sums(members(), 0);
  const graph g = side_by_side([&](std::size_t i) {
    EXPECT_TRUE(on.run([&](member& me) {
      EXPECT_EQ(me.size(), 1u);
      sums[i] += me.sync_sum(std::size_t{1});
    }));
    on.for_each(0, 10, [&](std::size_t) { ++sums[i]; });
  });
  plan flow(g, on);
  EXPECT_TRUE(flow.run(3));
  for (const std::size_t each : sums) EXPECT_EQ(each, 33u);
}

TEST_P(plan_inside, nodes_run_regions_and_plans_of_another_team) {
  team on(members(), policy()), other(2, policy());
  graph small;
  std::vector<int> parts(2, 0);
  for (std::size_t i = 0; i < 2; ++i) small.node(std::to_string(i), [&, i] { ++parts[i]; }).pin(i);
  plan part(small, other);
  graph g;
  std::size_t sum = 0;
  const auto a = g.node("a", [&] {
    other.run([&](member& me) {
      const std::size_t all = me.sync_sum(std::size_t{1});
      me.masked([&] { sum += all; });
    });
  });
  const auto b = g.node("b", [&] { EXPECT_TRUE(part.run(2)); });
  g.edge(a, b);
  plan flow(g, on);
  EXPECT_TRUE(flow.run(3));
  EXPECT_EQ(sum, 6u);
  EXPECT_EQ(parts, (std::vector<int>{6, 6}));
}

TEST_P(plan_inside, an_exception_of_an_inner_plan_ends_both_runs_unless_it_is_caught_PLAN_3) {
  team on(members(), policy());
  graph small;
  small.edge(small.node("a", [] { throw std::runtime_error("inner"); }), small.node("b", [] {}));
  plan inner(small, on);
  bool catches = true;
  int after = 0;
  graph g;
  const auto a = g.node("a", [&] {
    try {
      inner.run();
    } catch (const std::runtime_error&) {
      if (!catches) throw;
    }
  });
  g.edge(a, g.node("b", [&] { ++after; }));
  plan flow(g, on);
  EXPECT_TRUE(flow.run(2));
  EXPECT_EQ(after, 2);
  catches = false;
  EXPECT_THROW(flow.run(2), std::runtime_error);
  EXPECT_EQ(after, 2);
}

}  // namespace
