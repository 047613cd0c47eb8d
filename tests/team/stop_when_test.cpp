// SPDX-License-Identifier: MIT
// tests/team/stop_when_test.cpp -- a std::stop_token ends regions, loops and runs of plans
#include <lockstep/stop_when.hpp>

#include <gtest/gtest.h>

#include <thread>
#include <type_traits>

#include <lockstep/external_team.hpp>
#include <lockstep/graph.hpp>
#include <lockstep/plan.hpp>
#include <lockstep/team.hpp>

#include "support/team_sizes.hpp"

#if defined(__cpp_lib_jthread)

namespace {

using lockstep::member;
using lockstep::stop_when;
using lockstep::team;

static_assert(!std::is_copy_constructible<stop_when<team>>::value, "");

class stop_when_of : public lockstep::test::each_team {};
INSTANTIATE_TEST_SUITE_P(teams, stop_when_of, testing::ValuesIn(lockstep::test::all_teams()),
                         lockstep::test::team_name);

/// Waits for what never comes: only a stop ends it.
void wait_for_the_stop(member& me) {
  while (!me.stop_requested()) std::this_thread::yield();
}

TEST_P(stop_when_of, a_request_that_came_before_the_region_stops_it) {
  team workers(members(), policy());
  std::stop_source source;
  source.request_stop();
  EXPECT_FALSE(workers.run([&](member& me) {
    const stop_when over(source.get_token(), me);
    wait_for_the_stop(me);
  }));
  EXPECT_TRUE(workers.run([](member&) {})) << "the next region knows nothing of it";
}

TEST_P(stop_when_of, a_request_at_any_time_stops_a_region_that_only_the_token_ends) {
  team workers(members(), policy());
  for (int round = 0; round < times(50); ++round) {
    std::stop_source source;
    std::thread other([&, round] {
      for (int i = 0; i < round % 7; ++i) std::this_thread::yield();
      source.request_stop();
    });
    EXPECT_FALSE(workers.run([&](member& me) {
      if (me.rank() != 0) {
        me.sync_threads();  // released by the stop
        return;
      }
      const stop_when over(source.get_token(), me);
      wait_for_the_stop(me);
    }));
    other.join();
  }
}

TEST_P(stop_when_of, each_member_may_have_its_own) {
  team workers(members(), policy());
  std::stop_source source;
  EXPECT_FALSE(workers.run([&](member& me) {
    const stop_when over(source.get_token(), me);
    if (me.rank() + 1 == me.size()) source.request_stop();
    wait_for_the_stop(me);
  }));
}

TEST_P(stop_when_of, once_it_is_gone_a_request_stops_nothing) {
  team workers(members(), policy());
  std::stop_source source;
  EXPECT_TRUE(workers.run([&](member& me) { const stop_when over(source.get_token(), me); }));
  {
    const stop_when over(source.get_token(), workers);
  }
  EXPECT_TRUE(workers.run([&](member& me) {
    if (me.rank() == 0) source.request_stop();
    me.sync_threads();
  }));
}

TEST_P(stop_when_of, of_a_team_it_stops_what_runs_when_the_request_comes) {
  team workers(members(), policy());
  std::stop_source source;
  const stop_when over(source.get_token(), workers);
  EXPECT_TRUE(workers.run([](member&) {}));
  EXPECT_FALSE(workers.for_range(
      0, 1000, [&](int, int) { source.request_stop(); }, lockstep::dynamic_schedule(10)));
  EXPECT_TRUE(workers.run([](member&) {})) << "a request counts once";
}

TEST(stop_when, of_a_plan_it_ends_the_run) {
  team workers(2);
  std::stop_source source;
  lockstep::graph steps;
  int calls = 0;
  steps.node("counts", [&] {
    if (++calls == 3) source.request_stop();
  });
  lockstep::plan on(steps, workers);
  const stop_when over(source.get_token(), on);
  EXPECT_FALSE(on.run(1000));
  EXPECT_LT(calls, 1000);
}

TEST(stop_when, a_token_without_a_source_is_harmless) {
  team workers(2);
  const stop_when over(std::stop_token(), workers);
  EXPECT_TRUE(workers.run([](member&) {}));
}

}  // namespace

#endif
