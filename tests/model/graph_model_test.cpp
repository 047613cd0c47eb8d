// SPDX-License-Identifier: MIT
// tests/model/graph_model_test.cpp -- members go through a plan, help and decide, under all schedules (CLAIM-1 to WALK-4)
//
// The members' walks on threads of the scenario, without a team. Nodes write plain memory: a missing order is a race.
#include "graph/flow_plan.hpp"
#include "graph/flow_walk.hpp"
#include "graph/plan_stop.hpp"

#include <functional>
#include <vector>

#include <lockstep/graph.hpp>

#include "model/scenario.hpp"

namespace lockstep::model {

using namespace detail;
namespace {

class flow_walk_model : public model_test {};
INSTANTIATE_TEST_SUITE_P(policies, flow_walk_model,
                         testing::ValuesIn(std::vector<setting>{
                             {"block", wait_policy::block()},
                             {"crowded", wait_policy().when_crowded(true)},
                             {"adaptive", wait_policy()}}),
                         setting_name);

/// Whether all lanes have done all iterations of the run.
bool has_done_all(const flow_machine& of) {
  for (std::size_t lane = 0; lane < of.plan.lanes.size(); ++lane) {
    const plan_lane& at = of.plan.lanes[lane];
    if (at.block == 0 && of.board.done(lane).value() != of.turns.last * at.steps) return false;
  }
  return true;
}

/// A plan that is made once, of a graph whose functions do nothing; each execution has functions of its own.
class planned_graph {
 public:
  planned_graph(const graph& g, std::size_t members)
      : model_(graph_access::body_of(g).model), checked_(make_flow(model_)) {
    plan_ = make_flow_plan(model_, checked_, std::vector<double>(), members);
  }

  std::size_t members() const noexcept { return plan_.members; }
  /// Of a member, in the graph.
  std::uint32_t lane(std::uint32_t member) const noexcept { return plan_.lane(0, member); }
  /// One run, by those members that come; `work` has a function for each node. False if it was stopped.
  bool run(wait_policy policy, std::vector<node_function>& work, std::uint64_t iterations,
           const std::vector<std::size_t>& who_comes) const {
    return run(policy, work, iterations, nullptr, 1, who_comes);
  }
  bool run(wait_policy policy, std::vector<node_function>& work, std::uint64_t iterations,
           const iteration_gate* gate, int runs, const std::vector<std::size_t>& who_comes,
           flow_board** look = nullptr) const {
    stop_source stop;
    flow_machine machine(model_, checked_, plan_, work, policy, &stop);
    if (look != nullptr) *look = &machine.board;
    bool goes_on = true;
    for (std::uint32_t region = 1; region <= static_cast<std::uint32_t>(runs); ++region) {
      stop.keep_near(region);
      machine.prepare(iterations, gate);
      std::vector<std::function<void()>> bodies;
      for (const std::size_t rank : who_comes) {
        bodies.push_back([&, rank] {
          try {
            flow_walk(machine, machine.turns, rank, stop, region).walk();
          } catch (int) {
            stop.request(region);
          }
        });
      }
      threads(bodies);
      goes_on = !stop.requested(region);
      if (goes_on && gate == nullptr) check(has_done_all(machine), "every lane has done its part");
      machine.come_to_rest(!goes_on);
    }
    return goes_on;
  }

 private:
  graph_model model_;
  flow checked_;
  flow_plan plan_;
};

template <class Function>
node_function does(Function f) {
  return node_function::of<alone_on_node>(f);
}

const auto nothing = [] {};
const auto no = [] { return false; };

/// first -> {left, right} -> last
planned_graph fork_and_join(bool loops) {
  graph g;
  const auto first = g.node("first", nothing), left = g.node("left", nothing),
             right = g.node("right", nothing), last = g.node("last", no);
  const graph_block all = g.series(first, g.parallel(left, right), last);
  if (loops) g.loop(all);
  return planned_graph(g, 2);
}

/// What its nodes do: each sees what came before it.
struct forked_sum {
  int before = 0, left = 0, right = 0, sum = 0, turns = 0;

  std::vector<node_function> work(int turns_of_loop) {
    std::vector<node_function> made;
    made.push_back(does([this] { ++before; }));
    made.push_back(does([this] { left = before; }));
    made.push_back(does([this] { right = 2 * before; }));
    made.push_back(does([this, turns_of_loop]() -> bool {
      sum += left + right;
      return ++turns % turns_of_loop != 0;
    }));
    return made;
  }
  void check_after(int times) const {
    check(before == times && turns == times, "each node is run once a turn");
    check(sum == 3 * times * (times + 1) / 2, "each node sees what came before it");
  }
};

TEST_P(flow_walk_model, every_node_is_run_once_after_all_before_it_CLAIM_1_to_3) {
  const planned_graph flow = fork_and_join(false);
  ASSERT_EQ(flow.members(), 2u);
  explore_with({{2, 0, 0}, {1, 1, 0}, {1, 0, 1}}, [&] {
    forked_sum sum;
    std::vector<node_function> work = sum.work(1);
    check(flow.run(policy(), work, 2, {0, 1}), "nobody stopped it");
    sum.check_after(2);
  });
}

TEST_P(flow_walk_model, runs_follow_each_other_without_a_reset_CLAIM_4) {
  const planned_graph flow = fork_and_join(true);
  explore_with({{1, 0, 0}, {0, 1, 0}}, [&] {
    forked_sum sum;
    std::vector<node_function> work = sum.work(2);
    check(flow.run(policy(), work, 1, nullptr, 2, {0, 1}), "nobody stopped it");
    sum.check_after(4);
  });
}

TEST_P(flow_walk_model, members_that_do_not_come_are_not_needed_WALK_1) {
  for (const bool loops : {false, true}) {
    const planned_graph flow = fork_and_join(loops);
    explore_with({{1, 1, 1}}, [&] {
      forked_sum sum;
      std::vector<node_function> work = sum.work(loops ? 2 : 1);
      check(flow.run(policy(), work, 2, {0}), "nobody stopped it");
      sum.check_after(loops ? 4 : 2);
    });
  }
}

TEST_P(flow_walk_model, all_members_hear_of_every_decision_DECIDE_1) {
  const planned_graph flow = fork_and_join(true);
  const auto run = [&](int iterations) {
    forked_sum sum;
    std::vector<node_function> work = sum.work(2);
    check(flow.run(policy(), work, static_cast<std::uint64_t>(iterations), {0, 1}),
          "nobody stopped it");
    sum.check_after(2 * iterations);
  };
  explore_with({{2, 0, 0}}, [&] { run(1); });
  explore_with({{1, 1, 0}, {1, 0, 1}}, [&] { run(2); });
}

TEST_P(flow_walk_model, iterations_overlap_no_further_than_feedback_allows) {
  graph g;
  const auto produce = g.node("produce", nothing).pin(0);
  const auto consume = g.node("consume", nothing).pin(1);
  g.edge(produce, consume).overlap().feedback(consume, produce, 2);
  const planned_graph flow(g, 2);
  explore_with({{2, 0, 0}, {1, 1, 0}, {1, 0, 1}}, [&] {
    int slots[2] = {}, made = 0, taken = 0;
    std::vector<node_function> work;
    work.push_back(does([&] {
      slots[made % 2] = made;
      ++made;
    }));
    work.push_back(does([&] {
      check(slots[taken % 2] == taken, "nobody wrote too early");
      ++taken;
    }));
    check(flow.run(policy(), work, 4, {0, 1}), "nobody stopped it");
    check(taken == 4, "all were taken");
  });
}

TEST_P(flow_walk_model, a_stop_lets_all_members_go_WALK_3) {
  const planned_graph flow = fork_and_join(false);
  explore_with({{2, 0, 0}, {1, 1, 0}, {1, 0, 1}}, [&] {
    int after = 0;
    std::vector<node_function> work;
    work.push_back(does(nothing));
    work.push_back(does(nothing));
    work.push_back(does([] { throw 1; }));
    work.push_back(does([&] { ++after; }));
    check(!flow.run(policy(), work, 3, {0, 1}), "it was stopped");
    check(after == 0, "what comes after is not run");
  });
}

TEST_P(flow_walk_model, what_came_before_a_request_is_seen_where_it_ends_the_run_PSTOP_1) {
  explore_with({{2, 0, 0}, {0, 1, 0}, {0, 0, 1}}, [&] {
    stop_source of_team;
    of_team.keep_near(1);
    plan_stop request;
    int before = 0;
    request.begin();
    threads({[&] {
               before = 1;
               request.request(of_team);
             },
             [&] {
               request.enter(of_team, 1);
               if (of_team.requested(1)) check(before == 1, "the request says so");
             }});
    check(of_team.requested(1), "the run is told to end, whoever was first");
  });
}

TEST_P(flow_walk_model, the_gate_is_asked_once_before_each_iteration) {
  const planned_graph flow = fork_and_join(false);
  explore_with({{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, [&] {
    forked_sum sum;
    int asked = 0;
    std::vector<node_function> work = sum.work(1);
    auto stop = [&] {
      check(sum.turns == asked, "the iteration before is done");
      return asked++ == 2;
    };
    const iteration_gate gate = {
        &stop, [](void* held) { return (*static_cast<decltype(stop)*>(held))(); }};
    check(flow.run(policy(), work, 1, &gate, 1, {0, 1}), "nobody stopped it");
    sum.check_after(2);
  });
}

TEST_P(flow_walk_model, loops_in_loops_are_left_by_all_DECIDE_1) {
  graph g;
  const auto first = g.node("first", nothing), left = g.node("left", nothing),
             right = g.node("right", nothing), last = g.node("last", no),
             outer = g.node("outer", no);
  g.loop(g.series(g.loop(g.series(first, g.parallel(left, right), last)), outer));
  const planned_graph flow(g, 2);
  explore_with({{1, 0, 0}, {0, 1, 0}}, [&] {
    forked_sum sum;
    int rounds = 0;
    std::vector<node_function> work = sum.work(2);
    work.push_back(does([&]() -> bool { return ++rounds % 2 != 0; }));
    check(flow.run(policy(), work, 1, {0, 1}), "nobody stopped it");
    sum.check_after(4);
  });
}

/// One member begins each turn of a loop, and the other decides on the next: only the decision leads back.
TEST_P(flow_walk_model, a_turn_begins_after_what_was_done_in_the_one_before_DECIDE_1) {
  graph g;
  const auto first = g.node("first", nothing).pin(0), last = g.node("last", no).pin(1);
  g.loop(g.series(first, last));
  const planned_graph flow(g, 2);
  explore_with({{1, 0, 0}, {0, 1, 0}}, [&] {
    int turns = 0, sum = 0;
    std::vector<node_function> work;
    work.push_back(does([&] { ++turns; }));
    work.push_back(does([&]() -> bool {
      sum += turns;
      turns += 10;
      return turns % 20 != 2;
    }));
    check(flow.run(policy(), work, 1, {0, 1}), "nobody stopped it");
    check(turns == 22 && sum == 1 + 12, "each turn sees what the one before did");
  });
}

/// In runs that follow each other, and in one after a run without steps.
TEST_P(flow_walk_model, the_steps_of_a_team_wide_node_begin_anew_in_each_of_its_runs_STEP_3) {
  graph g;
  g.node("wide", 2, [](member&) {});
  const planned_graph flow(g, 2);
  explore_with({{1, 1, 0}}, [&] {
    int data[2] = {};
    std::vector<node_function> work;
    work.push_back(node_function::of<together_on_node>([&](member& me, std::size_t run) {
      if (run == 2) return;
      const int now = static_cast<int>(run) + 1;
      data[me.rank()] = now;
      me.publish(1);
      check(me.await_step(1 - me.rank(), 1), "nobody stopped it");
      check(data[1 - me.rank()] == now, "the step of this run");
    }));
    check(flow.run(policy(), work, 4, {0, 1}), "nobody stopped it");
  });
}

/// Where no other member comes, a member waits for a step of another, and so runs it.
TEST_P(flow_walk_model, a_member_that_waits_has_told_what_it_has_done_WALK_5) {
  graph g;
  const auto left = g.node("left", nothing).cost(std::chrono::microseconds(20)),
             right = g.node("right", nothing).cost(std::chrono::microseconds(10)),
             last = g.node("last", nothing);
  g.series(g.parallel(left, right), last);
  const planned_graph flow(g, 2);
  explore_with({{0, 0, 0}}, [&] {
    flow_board* board = nullptr;
    bool has_left = false, has_right = false;
    std::vector<node_function> work;
    work.push_back(does([&] { has_left = true; }));
    work.push_back(does([&] {
      const std::uint32_t own = flow.lane(0);
      constexpr std::uint64_t one = 2 * flow_machine::first_timed + 1;  // two steps an iteration
      check(has_left && board->claimed(own) == one, "it has run its own step before");
      check(board->done(own).value() == one, "others see that the step is done");
      has_right = true;
    }));
    work.push_back(does([&] { check(has_left && has_right, "it comes after both"); }));
    check(flow.run(policy(), work, 1, nullptr, 1, {0}, &board), "nobody stopped it");
  });
}

/// A sleeper wakes up now and then, to look for work. That would end a run, too, but late.
TEST_P(flow_walk_model, a_stop_wakes_those_who_wait_for_a_lane_WALK_3) {
  graph g;
  const auto first = g.node("first", nothing).pin(0), last = g.node("last", nothing).pin(1);
  g.series(first, last);
  const planned_graph flow(g, 2);
  model::plan by;
  by.budgets = {{1, 0, 1}};
  by.how.cpus = policy().is_crowded() ? 1 : 64;
  by.how.deadlines_may_be_early = false;
  bool has_slept = false;
  explore(
      [&] {
        flow_board* board = nullptr;
        bool sleeps = false;
        unsigned before = 0;
        std::vector<node_function> work;
        work.push_back(does([&] {
          sleeps = board->done(flow.lane(0)).has_sleeper();
          before = explorer::active()->deadlines();
          throw 1;
        }));
        work.push_back(does([] { check(false, "what comes after is not run"); }));
        const bool is_done = flow.run(policy(), work, 1, nullptr, 1, {0, 1}, &board);
        check(!is_done, "it was stopped");
        has_slept |= sleeps;
        check(explorer::active()->deadlines() == before, "nobody sleeps on");
      },
      by);
  EXPECT_TRUE(has_slept || policy() == wait_policy()) << "a schedule has a sleeper";
}

}  // namespace
}  // namespace lockstep::model
