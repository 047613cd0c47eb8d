// SPDX-License-Identifier: MIT
// tests/graph/plan_test.cpp -- runs of a plan: loops, conditions, stops, exceptions, late members (PLAN-1 to PLAN-5)
#include <lockstep/plan.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <lockstep/buffer.hpp>
#include <lockstep/external_team.hpp>

#include "graph/plan_body.hpp"
#include "support/team_sizes.hpp"
#include "support/threads.hpp"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define LOCKSTEP_TEST_HAS_LSAN 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(LOCKSTEP_TEST_HAS_LSAN)
#include <sanitizer/lsan_interface.h>
#endif

namespace {

using lockstep::buffer;
using lockstep::external_team;
using lockstep::graph;
using lockstep::member;
using lockstep::plan;
using lockstep::started_region;
using lockstep::team;
using lockstep::timed_run;
using lockstep::test::dawdle;

class plan_run : public lockstep::test::each_team {};
INSTANTIATE_TEST_SUITE_P(teams, plan_run, testing::ValuesIn(lockstep::test::all_teams()),
                         lockstep::test::team_name);

/// Nodes that look at how far others are: each writes the number of iterations that it has done.
class progress {
 public:
  explicit progress(std::size_t nodes) : done_(nodes) {}

  /// Iteration i of that node: each of `others` must have done at least i - ahead iterations.
  void step(std::size_t node, std::size_t i, const std::vector<std::size_t>& others,
            std::size_t ahead = 0) {
    for (const std::size_t each : others) {
      wrong += done_[each].load(std::memory_order_relaxed) + ahead < i;
    }
    done_[node].store(i + 1, std::memory_order_relaxed);
  }

  std::atomic<int> wrong{0};

 private:
  std::vector<std::atomic<std::size_t>> done_;
};

TEST_P(plan_run, GRAPH_3_feedback_takes_no_order_away) {
  team on(members(), policy());
  graph g;
  progress at(3);
  buffer<std::size_t, 2> target;
  const auto setpoint = g.node("setpoint", [&](std::size_t i) {
    target[i] = i;
    at.step(0, i, {0, 1, 2});
  });
  const auto control = g.node("control", [&](std::size_t i) {
    dawdle(1, i);
    at.wrong += target[i] != i;
    at.step(1, i, {0, 1, 2});
  });
  const auto plant = g.node("plant", [&](std::size_t i) { at.step(2, i, {0, 1, 2}); });
  g.series(setpoint, control, plant);
  g.feedback(plant, control, 1);
  if (members() > 1) {
    setpoint.pin(0);
    control.pin(1);
  }
  plan flow(g, on);
  ASSERT_TRUE(flow.run(static_cast<std::size_t>(times(1000))));
  EXPECT_EQ(at.wrong.load(), 0);
}

TEST_P(plan_run, GRAPH_4_a_channel_lets_its_ends_apart_and_keeps_all_others_in_order) {
  team on(members(), policy());
  graph g;
  progress at(5);
  buffer<std::size_t, 3> values;
  std::vector<std::size_t> seen;
  const auto read = g.node("read", [&](std::size_t i) { at.step(0, i, {0, 1, 4}); });
  const auto make = g.node("make", [&](std::size_t i) {
    values[i] = 3 * i;
    at.step(1, i, {0, 1, 4});
    at.step(1, i, {2, 3}, 2);
  });
  const auto use = g.node("use", [&](std::size_t i) {
    dawdle(1, i);
    seen.push_back(values[i]);
    at.step(2, i, {0, 1, 2, 3, 4});
  });
  const auto write = g.node("write", [&](std::size_t i) { at.step(3, i, {2, 3, 4}); });
  const auto beside = g.node("beside", [&](std::size_t i) { at.step(4, i, {0, 1, 2, 3}); });
  g.edge(read, make).edge(use, write).channel(make, use, values);
  if (members() > 1) {
    make.pin(0);
    use.pin(1);
    beside.pin(0);
  }
  plan flow(g, on);
  const std::size_t count = static_cast<std::size_t>(times(300));
  ASSERT_TRUE(flow.run(count));
  EXPECT_EQ(at.wrong.load(), 0);
  ASSERT_EQ(seen.size(), count);
  for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(seen[i], 3 * i);
}

TEST_P(plan_run, GRAPH_4_a_channel_is_as_long_as_its_buffer) {
  if (members() < 2) GTEST_SKIP() << "one member runs one node after the other";
  team on(members(), policy());
  graph g;
  buffer<int, 3> first;
  buffer<int, 2> second;
  std::atomic<std::size_t> made{0};
  const auto make = g.node("make", [&](std::size_t i) { made = i + 1; }).pin(0);
  const auto pass = g.node("pass", [](std::size_t) {}).pin(0);
  // Iteration 0 ends when `make` is as far ahead as both buffers allow.
  const auto use = g.node("use", [&](std::size_t i) {
                      while (i == 0 && made < 3) std::this_thread::yield();
                    }).pin(1);
  g.channel(make, pass, first).channel(pass, use, second);
  plan flow(g, on);
  EXPECT_TRUE(flow.run(20));
  EXPECT_EQ(made, 20u);
}

TEST_P(plan_run, asks_until_when_on_the_calling_thread) {
  team on(members(), policy());
  graph g;
  int iterations = 0;
  const auto a = g.node("a", [&] { ++iterations; });
  std::vector<int> parts(3, 0);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    g.edge(a, g.node(std::to_string(i), [&, i] { parts[i] = iterations; }));
  }
  plan flow(g, on);
  const auto here = std::this_thread::get_id();
  const int count = times(20);
  bool is_here = true;
  ASSERT_TRUE(flow.run_until([&] {
    is_here = is_here && std::this_thread::get_id() == here;
    for (const int each : parts) EXPECT_EQ(each, iterations);
    return iterations == count;
  }));
  EXPECT_TRUE(is_here);
  EXPECT_EQ(iterations, count);
  ASSERT_TRUE(flow.run_until([] { return true; }));
  EXPECT_EQ(iterations, count);
  ASSERT_TRUE(flow.run(2));
  EXPECT_EQ(iterations, count + 2);
}

TEST_P(plan_run, gives_a_team_wide_node_members_that_synchronise) {
  team on(members(), policy());
  graph g;
  std::size_t before = 0, sum = 0, sides = 0;
  const auto a = g.node("a", [&] { ++before; });
  const auto wide = g.node("wide", graph::whole_team, [&](member& me) {
    const std::size_t all = me.sync_sum(before);
    me.publish(me.rank() + 1);
    if (me.rank() > 0 && !me.await_step_unless_stopped(me.rank() - 1, me.rank())) return;
    if (me.rank() == 0) sum += all;
    me.sync_threads();
  });
  const auto after = g.node("after", [&] { sides = sum; });
  g.edge(a, wide).edge(wide, after);
  plan flow(g, on);
  const std::size_t count = static_cast<std::size_t>(times(20));
  ASSERT_TRUE(flow.run(count));
  EXPECT_EQ(sides, members() * count * (count + 1) / 2);
  ASSERT_TRUE(flow.run());
  EXPECT_EQ(sides, members() * (count + 1) * (count + 2) / 2);
}

TEST_P(plan_run, begins_the_steps_of_a_team_wide_node_anew_also_where_few_runs_have_some) {
  team on(members(), policy());
  graph g;
  std::vector<std::uint64_t> seen(members() + 1);
  std::atomic<int> early{0};
  g.node("wide", graph::whole_team, [&](member& me, std::uint64_t run) {
    if (run % 4 != 3) return;  // so members may be runs apart
    if (me.rank() > 0 && !me.await_step_unless_stopped(me.rank() - 1, 1)) return;
    if (me.rank() > 0 && seen[me.rank() - 1] != run) ++early;
    seen[me.rank()] = run;
    me.publish(1);
    me.sync_threads();
  });
  plan flow(g, on);
  ASSERT_TRUE(flow.run(static_cast<std::uint64_t>(times(2000))));
  EXPECT_EQ(early, 0);
}

TEST_P(plan_run, begins_the_steps_of_a_team_wide_node_anew_after_a_run_that_not_all_have_begun) {
  if (members() == 1) return;
  team on(members(), policy());
  graph g;
  std::atomic<bool> has_begun{false};
  bool fails = true;
  const auto fail = [&](std::uint64_t run) {
    if (!fails || run != 1) return;
    while (!has_begun) std::this_thread::yield();
    throw std::runtime_error("before its part of the other node");
  };
  g.node("failing", fail).pin(1).cost(std::chrono::milliseconds(1));
  g.node("wide", graph::whole_team, [&](member& me, std::uint64_t run) {
    if (run == 0) me.sync_threads();
    if (me.rank() == 0 && run == 1) has_begun = true;
    if (fails) return;
    me.publish(1);
    me.await_step((me.rank() + 1) % me.size(), 1);
  });
  plan flow(g, on);
  EXPECT_THROW(flow.run(2), std::runtime_error);
  fails = false;
  EXPECT_TRUE(flow.run(3));
}

TEST_P(plan_run, refuses_to_run_in_its_own_node_when_it_was_started_PLAN_5) {
  team on(members(), policy());
  graph g;
  plan* self = nullptr;
  std::vector<int> refused(8, 0);
  const auto first = g.node("first", [] {});
  for (std::size_t i = 0; i < refused.size(); ++i) {
    g.edge(first, g.node(std::to_string(i), [&, i] {
      try {
        if (i % 2 == 0) self->run();
        if (i % 2 != 0) static_cast<void>(self->measure(1));
      } catch (const std::logic_error&) {
        ++refused[i];
      }
    }));
  }
  plan flow(g, on);
  self = &flow;
  for (int again = 1; again <= 3; ++again) {
    started_region run = flow.start(2);
    EXPECT_TRUE(run.join());
    EXPECT_EQ(refused, std::vector<int>(8, 2 * again));
  }
  refused.assign(8, 0);
  EXPECT_TRUE(flow.run());
  EXPECT_EQ(refused, std::vector<int>(8, 1));
}

TEST_P(plan_run, that_was_started_is_free_when_it_is_joined_although_another_region_runs) {
  team on(members(), policy());
  graph g;
  int count = 0;
  g.node("a", [&] { ++count; });
  plan flow(g, on);
  EXPECT_TRUE(flow.start(2).join());
  on.run([&](member& me) { me.masked([&] { EXPECT_TRUE(flow.run(3)); }); });
  EXPECT_EQ(count, 5);
}

TEST_P(plan_run, that_goes_before_its_run_is_joined_joins_it) {
  team on(members(), policy());
  graph g;
  std::vector<int> parts(6, 0);
  int sum = 0;
  const auto last = g.node("last", [&] {
    for (const int each : parts) sum += each;
  });
  for (std::size_t i = 0; i < parts.size(); ++i) {
    g.edge(g.node(std::to_string(i), [&, i] { ++parts[i]; }), last);
  }
  started_region run;
  {
    plan flow(g, on);
    run = flow.start(4);
  }
  EXPECT_EQ(sum, 6 * 10) << "all four iterations are over";
  EXPECT_FALSE(static_cast<bool>(run));
  EXPECT_THROW(static_cast<void>(run.join()), std::logic_error);
  EXPECT_TRUE(on.run([] {}));
}

TEST_P(plan_run, that_goes_before_its_run_is_joined_drops_what_nodes_throw) {
  team on(members(), policy());
  graph g;
  for (int i = 0; i < 4; ++i) g.node(std::to_string(i), [] { throw std::runtime_error("node"); });
  started_region run;
  {
    plan flow(g, on);
    run = flow.start();
  }
  // An exception that leaves the block stops the run, whose nodes would go on for ever.
  graph endless;
  endless.feedback(endless.node("again", [] { return true; }), endless.node("other", [] {}), 1);
  endless.node("loop", [] {});
  try {
    plan flow(endless, on);
    run = flow.start(~std::size_t{0});
    throw std::runtime_error("caller");
  } catch (const std::runtime_error& error) {
    EXPECT_EQ(std::string(error.what()), "caller");
  }
  EXPECT_FALSE(static_cast<bool>(run));
  EXPECT_TRUE(on.run([] {}));
}

/// What is allocated while it lives is no leak for LeakSanitizer.
struct no_leaks_here {
#if defined(__SANITIZE_ADDRESS__) || defined(LOCKSTEP_TEST_HAS_LSAN)
  no_leaks_here() { __lsan_disable(); }
  ~no_leaks_here() { __lsan_enable(); }
  no_leaks_here(const no_leaks_here&) = delete;
  no_leaks_here& operator=(const no_leaks_here&) = delete;
#endif
};

TEST(plan, that_goes_where_its_run_cannot_be_joined_leaves_it_to_the_run) {
  team on(2);
  graph g;
  int count = 0;
  g.node("a", [&] { ++count; });
  std::unique_ptr<plan> flow;
  {
    [[maybe_unused]] const no_leaks_here what_is_left;
    flow = std::make_unique<plan>(g, on);
  }
  started_region run = flow->start(3);
  std::thread([&] { flow.reset(); }).join();
  EXPECT_TRUE(run.join());
  EXPECT_EQ(count, 3);
}

TEST(plan, that_was_moved_is_none_and_says_so) {
  team on(2);
  graph g;
  g.node("a", [] {});
  plan flow(g, on);
  plan other(std::move(flow));
  EXPECT_EQ(flow.members(), 0u);
  EXPECT_EQ(flow.max_ahead(), 0u);
  EXPECT_THROW(flow.run(), std::logic_error);
  EXPECT_THROW(flow.run_until([] { return true; }), std::logic_error);
  EXPECT_THROW(static_cast<void>(flow.start()), std::logic_error);
  EXPECT_THROW(static_cast<void>(flow.run_by(lockstep::deadline::never())), std::logic_error);
  EXPECT_THROW(flow.request_stop(), std::logic_error);
  EXPECT_THROW(static_cast<void>(flow.measure(1)), std::logic_error);
  EXPECT_THROW(static_cast<void>(flow.refine()), std::logic_error);
  EXPECT_THROW(static_cast<void>(flow.critical_path()), std::logic_error);
  EXPECT_THROW(static_cast<void>(flow.serial_time()), std::logic_error);
  EXPECT_THROW(static_cast<void>(flow.predicted_time()), std::logic_error);
  EXPECT_THROW(static_cast<void>(flow.text()), std::logic_error);
  EXPECT_THROW(static_cast<void>(flow.report()), std::logic_error);
  EXPECT_THROW(static_cast<void>(flow.dot()), std::logic_error);
  EXPECT_TRUE(other.run());
}

TEST_P(plan_run, goes_on_for_as_many_iterations_as_can_be_counted) {
  team on(members(), policy());
  for (const bool overlaps : {false, true}) {
    graph g;
    plan* self = nullptr;
    int count = 0;
    const auto a = g.node("a", [&] {
      if (++count >= 5) self->request_stop();
    });
    const auto b = g.node("b", [] {}), c = g.node("c", [] {});
    g.edge(a, b).edge(a, c);
    if (overlaps) g.overlap().feedback(b, a, 3).feedback(c, a, 2);
    plan flow(g, on);
    self = &flow;
    for (int again = 0; again < 2; ++again) {
      for (const std::size_t most : {~std::size_t{0}, ~std::size_t{0} - 1, ~std::size_t{0} / 2}) {
        count = 0;
        ASSERT_TRUE(flow.run());
        ASSERT_EQ(count, 1);
        EXPECT_FALSE(flow.run(most));
        EXPECT_GE(count, 5);
        count = 0;
        ASSERT_TRUE(flow.run(2));
        EXPECT_FALSE(flow.start(most).join());
        EXPECT_GE(count, 5);
        EXPECT_FALSE(flow.measure(most));
      }
    }
    EXPECT_NE(flow.report().find("not measured yet"), std::string::npos) << "none was completed";
  }
}

TEST(plan_report, counts_one_of_a_kind_without_a_plural) {
  team on(1);
  graph g;
  g.node("only", [] {});
  plan flow(g, on);
  EXPECT_EQ(flow.report().find("1 node on 1 member, 0 waits\n"), 0u) << flow.report();
  ASSERT_TRUE(flow.measure(1));
  EXPECT_NE(flow.report().find(": 1 time, mean "), std::string::npos) << flow.report();
}

TEST_P(plan_run, starts_without_its_caller) {
  team on(members(), policy());
  graph g;
  std::vector<int> parts(4, 0);
  int sum = 0;
  const auto last = g.node("last", [&] {
    for (const int each : parts) sum += each;
  });
  for (std::size_t i = 0; i < parts.size(); ++i) {
    g.edge(g.node(std::to_string(i), [&, i] { ++parts[i]; }), last);
  }
  plan flow(g, on);
  started_region run = flow.start(5);
  EXPECT_THROW(flow.run(), std::logic_error) << "it is not joined";
  EXPECT_TRUE(run.join());
  EXPECT_EQ(sum, 4 * 15);
  EXPECT_TRUE(flow.start(1).join());
  EXPECT_TRUE(flow.run());
  EXPECT_EQ(sum, 4 * (15 + 6 + 7));
}

TEST_P(plan_run, is_made_anew_with_measured_times) {
  team on(members(), policy());
  graph g;
  int a = 0, b = 0;
  const auto first = g.node("first", [&] { ++a; }), second = g.node("second", [&] { b += a; });
  g.edge(first, second);
  plan flow(g, on);
  EXPECT_FALSE(flow.refine()) << "nothing was measured";
  ASSERT_TRUE(flow.measure(10));
  EXPECT_NE(flow.report().find("10 times"), std::string::npos) << flow.report();
  EXPECT_TRUE(flow.refine());
  EXPECT_NE(flow.report().find("not measured yet"), std::string::npos) << flow.report();
  ASSERT_TRUE(flow.run(10));
  EXPECT_EQ(a, 20);
  EXPECT_EQ(b, 210);
}

/// By default 20 us: many times what a plan guesses of a node, so that a plan that has measured it is made anew.
void take_long(std::chrono::microseconds time = std::chrono::microseconds(20)) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) continue;
}

/// Two chains side by side, and whether the plan of them says that it was made anew.
struct two_chains {
  explicit two_chains(bool has_hint) {
    std::vector<lockstep::graph_block> chains;
    for (int c = 0; c < 2; ++c) {
      std::vector<lockstep::graph_block> links;
      for (int i = 0; i < 5; ++i) {
        links.push_back(
            g.node(std::to_string(c) + std::to_string(i), [this, c] { ++sums[c].value; }));
      }
      chains.push_back(g.series(links));
    }
    const auto last = g.node("last", [this] {
      both += sums[0].value + sums[1].value;
      take_long();
    });
    if (has_hint) last.cost(std::chrono::nanoseconds(1));
    g.series(g.parallel(chains), last);
  }
  static bool is_new(const plan& flow) {
    return flow.report().find("made anew after") != std::string::npos;
  }

  graph g;
  lockstep::detail::padded<int> sums[2] = {};
  int both = 0;
};

TEST_P(plan_run, is_made_anew_once_it_has_seen_five_iterations) {
  team on(members(), policy());
  two_chains of(false);
  plan flow(of.g, on);
  const bool learns = flow.members() > 1;
  for (int i = 1; i <= 5; ++i) {
    ASSERT_TRUE(flow.run());
    EXPECT_FALSE(two_chains::is_new(flow));
  }
  EXPECT_EQ(of.both, 10 * 15);
  ASSERT_TRUE(flow.run());
  EXPECT_EQ(two_chains::is_new(flow), learns) << flow.report();
  EXPECT_EQ(of.both, 10 * 21);
}

TEST_P(plan_run, is_made_anew_within_a_run_that_goes_on) {
  team on(members(), policy());
  two_chains of(false);
  plan flow(of.g, on);
  const bool learns = flow.members() > 1;
  ASSERT_TRUE(flow.run(100));
  EXPECT_EQ(two_chains::is_new(flow), learns) << flow.report();
  EXPECT_EQ(of.both, 10 * 50 * 101);
  const std::string text = flow.text();
  ASSERT_TRUE(flow.start(2).join());
  EXPECT_EQ(flow.text(), text) << "once";
  EXPECT_EQ(of.both, 10 * 51 * 103);
}

/// `late` takes what `early` has left in a buffer, up to 4 iterations before. So many others take as long as `late`: with
/// none the measured plan has one member, with one it has two. With all the plan is most likely not made anew.
struct long_run {
  explicit long_run(std::size_t long_ones) {
    const std::chrono::microseconds time(long_ones == all ? 1 : 20);
    const auto early = g.node("early", [this, long_ones, time](std::size_t i) {
      wrong += early_runs++ != i;
      values[i] = i;
      if (hook) hook(i);
      if (long_ones == all) take_long(time);
    });
    const auto late = g.node("late", [this, time](std::size_t i) {
      wrong += late_runs++ != i || values[i] != i;
      take_long(time);
    });
    g.channel(early, late, values).feedback(late, early, 3);
    for (std::size_t b = 0; b < all; ++b) {
      g.edge(early, g.node(std::to_string(b), [this, b, long_ones, time](std::size_t i) {
        wrong += beside[b].value++ != i;
        if (b < long_ones) take_long(time);
      }));
    }
  }
  /// Whether each node has had iterations 0 to `count` - 1, once each. Then they begin anew.
  bool has_done(std::size_t count) {
    bool is_so = wrong == 0 && early_runs == count && late_runs == count;
    for (auto& each : beside) is_so = is_so && each.value == count;
    restart();
    return is_so;
  }
  void restart() {
    wrong = 0;
    early_runs = late_runs = 0;
    for (auto& each : beside) each.value = 0;
    hook = nullptr;
  }

  static constexpr std::size_t all = 6;
  graph g;
  buffer<std::size_t, 4> values;
  std::function<void(std::size_t)> hook;
  std::atomic<int> wrong{0};
  std::size_t early_runs = 0, late_runs = 0;
  std::array<lockstep::detail::padded<std::size_t>, all> beside = {};
};

TEST_P(plan_run, goes_on_where_it_is_made_anew_within_its_run) {
  team on(members(), policy());
  for (const std::size_t long_ones : {std::size_t{0}, std::size_t{1}, std::size_t{long_run::all}}) {
    long_run of(long_ones);
    const bool learns = plan(of.g, on).members() > 1;
    const auto has_learnt = [&](const plan& flow) {
      return two_chains::is_new(flow) == learns || long_ones == long_run::all;
    };
    {
      plan flow(of.g, on);
      const std::size_t ahead = flow.max_ahead();
      ASSERT_TRUE(flow.run(40));
      EXPECT_TRUE(has_learnt(flow)) << flow.report();
      EXPECT_TRUE(of.has_done(40));
      ASSERT_TRUE(flow.start(3).join());
      EXPECT_TRUE(of.has_done(3));
      EXPECT_EQ(flow.max_ahead(), ahead);
    }
    for (const std::size_t before : {0u, 2u}) {
      plan flow(of.g, on);
      ASSERT_TRUE(flow.run(before));
      EXPECT_TRUE(of.has_done(before));
      std::size_t asked = 0;
      ASSERT_TRUE(flow.run_until([&] { return asked++ == 20; }));
      EXPECT_EQ(asked, 21u) << "once before each iteration";
      EXPECT_TRUE(has_learnt(flow)) << flow.report();
      EXPECT_TRUE(of.has_done(20));
      ASSERT_TRUE(flow.run(6));
      EXPECT_TRUE(of.has_done(6));
    }
    {
      plan flow(of.g, on);
      on.run([&](member& me) { me.masked([&] { EXPECT_TRUE(flow.run(9)); }); });
      EXPECT_TRUE(has_learnt(flow)) << flow.report();
      EXPECT_TRUE(of.has_done(9));
      ASSERT_TRUE(flow.run(3));
      EXPECT_TRUE(of.has_done(3));
    }
    for (const std::size_t end : {4u, 5u, 7u}) {
      plan stopped(of.g, on), failing(of.g, on);
      of.hook = [&](std::size_t i) {
        if (i == end) stopped.request_stop();
      };
      EXPECT_FALSE(stopped.run(1000));
      EXPECT_EQ(of.wrong, 0);
      of.restart();
      ASSERT_TRUE(stopped.run(10));
      EXPECT_TRUE(of.has_done(10));
      of.hook = [&](std::size_t i) {
        if (i == end) throw std::runtime_error("early");
      };
      EXPECT_THROW(failing.run(1000), std::runtime_error);
      EXPECT_EQ(of.wrong, 0);
      of.restart();
      ASSERT_TRUE(failing.run(10));
      EXPECT_TRUE(of.has_done(10));
    }
  }
}

TEST(plan_times, of_a_node_are_without_the_clock_and_the_longest_of_several_runs) {
  constexpr std::uint64_t clock = 10;
  const auto usual = [](std::uint64_t count, std::uint64_t sum, std::uint64_t most,
                        std::uint64_t least) {
    return lockstep::detail::usual_time({count, sum, most, least}, clock);
  };
  EXPECT_EQ(usual(3, 7000, 5000, 1000), 990);
  EXPECT_EQ(usual(2, 4000, 3000, 1000), 1990) << "two may both be usual";
  EXPECT_EQ(usual(3, 300, 100, 99), 90);
  EXPECT_EQ(usual(3, 299, 100, 99), 89) << "near the clock's own time: the shortest";
  EXPECT_EQ(usual(3, 540, 500, 20), 10);
  EXPECT_EQ(usual(3, 539, 500, 19), 0) << "less than the clock's own time";
}

TEST(plan_times, about_as_guessed_are_no_reason_to_make_the_plan_anew) {
  const two_chains of(false);
  namespace detail = lockstep::detail;
  const auto unmeasured = [](const graph& g) {
    return std::make_unique<detail::plan_body>(detail::graph_access::body_of(g), nullptr, 2,
                                               lockstep::call_site{nullptr, 0});
  };
  const auto body = unmeasured(of.g);
  EXPECT_TRUE(body->are_times_as_guessed()) << "nothing is measured";
  for (double& time : body->costs) time = 900;
  body->costs[0] = 1300;
  EXPECT_TRUE(body->are_times_as_guessed());
  for (const double other : {500.0, 1600.0, 0.0}) {
    body->costs[1] = other;
    EXPECT_FALSE(body->are_times_as_guessed()) << other << " of one in few nodes";
  }
  graph large;
  for (int i = 0; i < 1000; ++i) large.node(std::to_string(i), [] {});
  const auto many = unmeasured(large);
  for (double& time : many->costs) time = 1100;
  many->costs[7] = 8000;
  EXPECT_TRUE(many->are_times_as_guessed()) << "the plan would be shorter by 7 us of 1000 at most";
  many->costs[8] = 8000;
  EXPECT_FALSE(many->are_times_as_guessed());
  for (double& time : many->costs) time = 1800;
  EXPECT_TRUE(many->are_times_as_guessed());
  for (double& time : many->costs) time = 2100;
  EXPECT_FALSE(many->are_times_as_guessed()) << "the lines between members cost less beside that";
}

TEST_P(plan_run, is_made_anew_after_one_iteration_of_many_turns) {
  team on(members(), policy());
  graph g;
  int turns = 0, left = 0, right = 0;
  const auto begin = g.node("begin", [&] { ++turns; }), a = g.node("a", [&] { left += turns; }),
             b = g.node("b", [&] { right += turns; }), test = g.node("test", [&] {
               take_long();
               return turns % 20 != 0;
             });
  g.loop(g.series(begin, g.parallel(a, b), test));
  plan flow(g, on);
  const bool learns = flow.members() > 1;
  for (int run = 1; run <= 3; ++run) {
    ASSERT_TRUE(flow.run());
    EXPECT_EQ(turns, 20 * run);
    EXPECT_EQ(left, turns * (turns + 1) / 2);
    EXPECT_EQ(right, left);
    EXPECT_EQ(two_chains::is_new(flow), learns && run > 1) << flow.report();
  }
}

TEST_P(plan_run, stays_as_it_is_where_the_user_has_a_say) {
  team on(members(), policy());
  two_chains hinted(true);
  plan flow(hinted.g, on);
  const std::string text = flow.text();
  for (int i = 0; i < 8; ++i) ASSERT_TRUE(flow.run(2));
  EXPECT_FALSE(two_chains::is_new(flow));
  EXPECT_EQ(flow.text(), text);
  two_chains of(false);
  plan measured(of.g, on);
  ASSERT_TRUE(measured.measure(1));
  for (int i = 0; i < 8; ++i) ASSERT_TRUE(measured.run(2));
  EXPECT_FALSE(two_chains::is_new(measured));
}

TEST_P(plan_run, runs_what_was_added_to_its_graph_since_the_run_before) {
  team on(members(), policy());
  graph g;
  std::string order;
  const auto write = [&](char name) { return [&order, name] { order += name; }; };
  const auto a = g.node("a", write('a')), b = g.node("b", write('b'));
  auto whole = g.series(a, b);
  plan flow(g, on);
  ASSERT_TRUE(flow.run(7));  // it has learnt, too
  order.clear();
  whole = g.series(whole, g.node("c", write('c')));
  ASSERT_TRUE(flow.run(2));
  EXPECT_EQ(order, "abcabc");
  order.clear();
  int turns = 0;
  g.loop(g.series(whole, g.node("again", [&] { return ++turns % 3 != 0; })));
  EXPECT_TRUE(flow.start().join());
  EXPECT_EQ(order, "abcabcabc");
  order.clear();
  const auto test = g.node("no", [] { return false; });
  g.edge_if(test, a);
  ASSERT_TRUE(flow.measure(1));
  EXPECT_EQ(order, "") << "all others depend on 'a'";
  EXPECT_NE(flow.text().find("'no'"), std::string::npos) << flow.text();
}

TEST_P(plan_run, heeds_a_pin_and_an_edge_that_came_after_it) {
  team on(members(), policy());
  graph g;
  std::size_t ran_first = 0, ran_last = 0, count = 0;
  std::thread::id pinned_to, last;
  const auto a = g.node("a", [&] { ran_first = ++count, pinned_to = std::this_thread::get_id(); });
  plan flow(g, on);
  const auto z = g.node("z", [&] { ran_last = ++count; });
  g.edge(z, a);
  a.pin(members() - 1);
  ASSERT_TRUE(flow.run());
  EXPECT_LT(ran_last, ran_first);
  on.run([&](member& me) {
    if (me.rank() + 1 == me.size()) last = std::this_thread::get_id();
  });
  EXPECT_EQ(pinned_to, last);
}

TEST_P(plan_run, stays_as_it_was_and_refuses_each_run_when_its_graph_became_wrong) {
  team on(members(), policy());
  graph g;
  int count = 0;
  const auto a = g.node("a", [&] { ++count; }), b = g.node("b", [&] { ++count; });
  g.edge(a, b);
  plan flow(g, on);
  ASSERT_TRUE(flow.run());
  const std::string text = flow.text();
  g.edge(b, a);
  for (int i = 0; i < 2; ++i) {
    try {
      flow.run();
      ADD_FAILURE() << "a cycle";
    } catch (const std::invalid_argument& wrong) {
      EXPECT_NE(std::string(wrong.what()).find("'a' -> 'b' -> 'a'"), std::string::npos)
          << wrong.what();
    }
  }
  EXPECT_EQ(count, 2);
  EXPECT_EQ(flow.text(), text);
  EXPECT_FALSE(flow.refine());
}

TEST_P(plan_run, runs_what_a_node_has_added_to_its_graph_in_the_next_run) {
  team on(members(), policy());
  graph g;
  std::size_t count = 0;
  const auto grow = g.node("grow", [&] { g.node("new", [&] { ++count; }).pin(0); });
  grow.pin(0);
  plan flow(g, on);
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(flow.run());
  EXPECT_EQ(g.size(), 5U);
  EXPECT_EQ(count, 0U + 1 + 2 + 3);
}

TEST_P(plan_run, says_which_node_made_it_late) {
  team on(members(), policy());
  graph g;
  using clock = std::chrono::steady_clock;
  std::chrono::nanoseconds length(0);
  clock::time_point called = clock::now();
  const auto quick = g.node("quick", [] {});
  const auto slow = g.node("slow", [&] {
    // Longer than all before it, however long those were held up.
    const auto begin = clock::now(), end = begin + (begin - called) + length;
    while (clock::now() < end) continue;
  });
  g.edge(quick, slow);
  plan flow(g, on);
  timed_run made = flow.run_by(lockstep::deadline::never());
  EXPECT_TRUE(made.completed);
  EXPECT_TRUE(made.in_time);
  EXPECT_EQ(made.late.count(), 0);
  length = std::chrono::milliseconds(20) + made.took;  // and longer than it took then
  called = clock::now();
  made = flow.run_by(lockstep::deadline::after(std::chrono::microseconds(1)));
  EXPECT_TRUE(made.completed);
  EXPECT_FALSE(made.in_time);
  EXPECT_GE(made.late, std::chrono::milliseconds(15));
  ASSERT_NE(made.cause, nullptr);
  EXPECT_EQ(std::string(made.cause), "slow");
  // A deadline that was over before the call leaves no time.
  length = std::chrono::nanoseconds(0);
  called = clock::now();
  made = flow.run_by(std::chrono::steady_clock::now() - std::chrono::hours(1));
  EXPECT_FALSE(made.in_time);
  EXPECT_EQ(made.late, made.took);
}

/// A graph of many nodes, most of them beside each other, in and after a loop.
struct wide_flow {
  graph g;
  std::vector<int> parts = std::vector<int>(12, 0);
  int rounds = 0, sum = 0;

  wide_flow() {
    std::vector<lockstep::graph_block> all;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      all.push_back(g.node(std::to_string(i), [this, i] { ++parts[i]; }));
    }
    g.series(g.loop(g.series(g.node("begin", [] {}), g.parallel(all),
                             g.node("test", [this] { return ++rounds % 3 != 0; }))),
             g.node("sum", [this] {
               for (const int each : parts) sum += each;
             }));
  }
};

TEST(plan, runs_without_members_that_do_not_come) {
  external_team on(4);  // nobody serves
  wide_flow flow;
  plan what(flow.g, on);
  ASSERT_EQ(what.members(), 4u);
  ASSERT_TRUE(what.run(5));
  EXPECT_EQ(flow.rounds, 15);
  EXPECT_EQ(flow.sum, 12 * 3 * 15);
  int asked = 0;
  ASSERT_TRUE(what.run_until([&] { return asked++ == 2; }));
  EXPECT_EQ(flow.rounds, 21);
}

TEST(plan, is_joined_by_members_that_come_late) {
  external_team on(3);
  wide_flow flow;
  plan what(flow.g, on);
  std::thread second, third;
  int asked = 0;
  ASSERT_TRUE(what.run_until([&] {
    if (++asked == 3) second = std::thread([&] { on.serve(1); });
    if (asked == 50) third = std::thread([&] { on.serve(2); });
    return asked == 200;
  }));
  EXPECT_EQ(flow.rounds, 3 * 199);
  for (const int each : flow.parts) EXPECT_EQ(each, flow.rounds);
  on.release();
  second.join();
  third.join();
}

TEST(plan, of_an_external_team_runs_on_its_threads) {
  external_team on(3);
  std::thread second([&] { on.serve(1); }), third([&] { on.serve(2); });
  graph g;
  std::vector<std::size_t> ranks(3, 9);
  for (std::size_t i = 0; i < 3; ++i) g.node(std::to_string(i), [&, i] { ranks[i] = i; }).pin(i);
  plan flow(g, on);
  ASSERT_TRUE(flow.run(10));
  EXPECT_EQ(ranks, (std::vector<std::size_t>{0, 1, 2}));
  on.release();
  second.join();
  third.join();
}

TEST(plan, is_refused_a_start_inside_a_region_and_runs_afterwards) {
  team on(2);
  graph g;
  int sum = 0;
  g.node("a", [&] { ++sum; });
  plan flow(g, on);
  on.run([&](member& me) {
    if (me.rank() == 0) {
      EXPECT_THROW(static_cast<void>(flow.start()), std::logic_error);
    }
  });
  EXPECT_TRUE(flow.run());
  EXPECT_EQ(sum, 1);
}

TEST(plan, without_a_team_is_to_look_at) {
  graph g;
  g.edge(g.node("a", [] {}), g.node("b", [] {}));
  plan look(g, 64);
  EXPECT_THROW(look.run(), std::logic_error);
  EXPECT_NE(look.text().find("'a' 'b'"), std::string::npos) << look.text();
  EXPECT_NE(look.dot().find("digraph"), std::string::npos);
}

TEST(plan, of_an_empty_graph_runs) {
  team on(2);
  const graph g;
  plan flow(g, on);
  EXPECT_TRUE(flow.run(3));
  int asked = 0;
  EXPECT_TRUE(flow.run_until([&] { return ++asked == 4; }));
  EXPECT_EQ(asked, 4);
}

TEST(plan, asks_until_when_although_the_caller_has_no_node) {
  team on(2);
  graph g;
  int runs = 0;
  g.node("far", [&] { ++runs; }).pin(1);
  plan flow(g, on);
  EXPECT_TRUE(flow.run_until([&] { return runs == 5; }));
  EXPECT_EQ(runs, 5);
}

}  // namespace
