// SPDX-License-Identifier: MIT
// tests/fork/plan_test.cpp -- plans in the child processes of a program that has threads (TEAM-5)
//
// Every test runs in a child of its own (expect_in_child), and makes grandchildren.
#include <lockstep/plan.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdlib>
#include <string>
#include <vector>

#include "fault/child_process.hpp"

namespace {

using lockstep::graph;
using lockstep::plan;
using lockstep::team;
using lockstep::test::expect_in_child;
using lockstep::test::in_child;

int status() { return testing::Test::HasFailure() ? 1 : 0; }

class plan_fork : public testing::TestWithParam<std::size_t> {
 protected:
  std::size_t members() const { return GetParam(); }
};
INSTANTIATE_TEST_SUITE_P(sizes, plan_fork, testing::Values<std::size_t>(1, 2, 4));

/// first -> many -> last, and a function that is called in one of them.
struct forked_flow {
  template <class Function>
  forked_flow(team& on, Function f, bool pins) : flow(made(f, pins), on) {}

  template <class Function>
  const graph& made(Function f, bool pins) {
    std::vector<lockstep::graph_block> all;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      all.push_back(g.node(std::to_string(i), [this, i] { ++parts[i]; }));
    }
    auto forks = g.node("forks", f);
    if (pins) forks.pin(0);
    all.push_back(forks);
    const auto first = g.node("first", [] {}), last = g.node("last", [this] { ++runs; });
    g.series(first, g.parallel(all), last);
    return g;
  }
  void expect_usable() {
    const int before = runs;
    EXPECT_TRUE(flow.run(3));
    EXPECT_EQ(runs, before + 3);
  }

  std::vector<int> parts = std::vector<int>(6, 0);
  int runs = 0;
  graph g;
  plan flow;
};

TEST_P(plan_fork, a_child_runs_the_plans_of_its_parent_TEAM_5) {
  expect_in_child([&] {
    team on(members());
    forked_flow of(on, [] {}, false);
    for (int i = 0; i < 3; ++i) {
      of.expect_usable();
      expect_in_child([&] {
        of.expect_usable();
        EXPECT_TRUE(of.flow.measure(2));
        EXPECT_TRUE(of.flow.refine());
        of.expect_usable();
      });
    }
    of.expect_usable();
  });
}

TEST_P(plan_fork, a_node_may_make_a_child_that_ends_in_it_TEAM_5) {
  expect_in_child([&] {
    team on(members());
    plan* self = nullptr;
    std::vector<int> ends;
    forked_flow of(
        on,
        [&] {
          ends.push_back(in_child([&] {
            EXPECT_THROW(self->run(), std::logic_error) << "it runs in the child, too";
            return status() + 20;
          }));
        },
        false);
    self = &of.flow;
    EXPECT_TRUE(of.flow.run(3));
    EXPECT_EQ(ends, std::vector<int>(3, 20));
    of.expect_usable();
  });
}

TEST_P(plan_fork, a_run_that_its_caller_forks_in_is_stopped_in_the_child_TEAM_5) {
  expect_in_child([&] {
    team on(members());
    pid_t child = -1;
    bool forks = true;
    const auto make_child = [&] {
      if (!forks) return;
      forks = false;
      child = fork();
      if (child == 0) prctl(PR_SET_PDEATHSIG, SIGKILL);
    };
    forked_flow of(on, make_child, true);
    const bool is_complete = of.flow.run(3);
    if (child == 0) {
      EXPECT_FALSE(is_complete);
      const int least = members() == 1 ? 1 : 0;
      EXPECT_LE(of.runs, 1) << "the caller ends the iteration, if the others came too late for it";
      EXPECT_GE(of.runs, least);
      of.expect_usable();
      std::_Exit(status());
    }
    EXPECT_TRUE(is_complete);
    EXPECT_EQ(of.runs, 3);
    int how = 0;
    waitpid(child, &how, 0);
    EXPECT_TRUE(WIFEXITED(how) && WEXITSTATUS(how) == 0) << how;
    of.expect_usable();
  });
}

}  // namespace
