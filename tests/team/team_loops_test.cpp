// SPDX-License-Identifier: MIT
// tests/team/team_loops_test.cpp -- regions with one loop in them: a condition, turns, sections
#include <lockstep/team.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <functional>
#include <thread>
#include <vector>

#include "support/team_sizes.hpp"

namespace {

using lockstep::schedule;
using lockstep::team;

class one_liners_of : public lockstep::test::each_team {
 protected:
  std::vector<schedule> schedules() const {
    using namespace lockstep;
    if (is_slow()) return {static_schedule(), dynamic_schedule(5)};
    return {static_schedule(),   static_schedule(1), static_schedule(9), dynamic_schedule(),
            dynamic_schedule(9), guided_schedule(1), guided_schedule(9)};
  }
};
INSTANTIATE_TEST_SUITE_P(teams, one_liners_of, testing::ValuesIn(lockstep::test::all_teams()),
                         lockstep::test::team_name);

TEST_P(one_liners_of, loops_whose_condition_does_not_hold_run_on_the_caller_alone) {
  using lockstep::only_if;
  team workers(lockstep::team_options().members(members()).policy(policy()).learn(false));
  const std::thread::id caller = std::this_thread::get_id();
  for (const bool condition : {false, true}) {
    std::atomic<int> others{0}, calls{0};
    const auto count = [&](std::size_t) {
      ++calls;
      if (std::this_thread::get_id() != caller) ++others;
    };
    for (schedule how : schedules()) {
      how = only_if(condition, how);
      EXPECT_TRUE(workers.for_each(0, 300, count, how));
      EXPECT_TRUE(workers.for_each(
          lockstep::index_range_2{{0, 10}, {0, 30}}, [&](std::size_t i, std::size_t) { count(i); },
          how));
      EXPECT_TRUE(workers.for_each(
          lockstep::index_range_3{{0, 3}, {0, 10}, {0, 10}},
          [&](std::size_t i, std::size_t, std::size_t) { count(i); }, how));
    }
    EXPECT_TRUE(workers.for_each(0, 300, count, only_if(condition)));
    EXPECT_EQ(calls.load(), static_cast<int>(900 * schedules().size() + 300));
    const auto value = [&](std::size_t i) {
      count(i);
      return 1.0 / static_cast<double>(i + 1);
    };
    const std::plus<double> add;
    const double sum = workers.reduce_each(0, 5000, 0.5, value, add);
    std::vector<double> running(5000), prefixes(5000);
    const double all = workers.scan_each(0, 5000, 0.5, value, add,
                                         [&](std::size_t i, double s) { prefixes[i] = s; });
    others = 0;
    EXPECT_EQ(workers.reduce_each(0, 5000, 0.5, value, add, only_if(condition)), sum);
    EXPECT_EQ(workers.scan_each(
                  0, 5000, 0.5, value, add, [&](std::size_t i, double s) { running[i] = s; },
                  only_if(condition)),
              all);
    EXPECT_EQ(running, prefixes) << "the same bits";
    EXPECT_TRUE(condition || others.load() == 0);
  }
  static_assert(only_if(true) == lockstep::static_schedule(), "the default");
  static_assert(only_if(true, lockstep::guided_schedule(3)) == lockstep::guided_schedule(3), "");
}

TEST_P(one_liners_of, for_ordered_takes_turns_in_the_order_of_the_indices) {
  team workers(members(), policy());
  std::vector<int> in_order;  // plain
  const auto append = [&](int i, lockstep::ordered_turn& turn) {
    turn([&] { in_order.push_back(i); });
  };
  EXPECT_TRUE(workers.for_ordered(3, 40, append));
  EXPECT_TRUE(workers.for_ordered(40, 50, append, lockstep::dynamic_schedule(2)));
  ASSERT_EQ(in_order.size(), 47u);
  for (int i = 3; i < 50; ++i) EXPECT_EQ(in_order[static_cast<std::size_t>(i - 3)], i);
  EXPECT_FALSE(
      workers.for_ordered(0, 9, [&](int, lockstep::ordered_turn&) { workers.request_stop(); }));
}

TEST_P(one_liners_of, sections_calls_each_function_once_whether_fewer_or_more_than_members) {
  team workers(members(), policy());
  std::vector<int> calls(20, 0);
  const auto f = [&](std::size_t k) { return [&calls, k] { ++calls[k]; }; };
  int expected = 0;
  for (int round = 0; round < times(20); ++round) {
    EXPECT_TRUE(workers.sections(f(0)));
    EXPECT_EQ(calls[0], ++expected);
    EXPECT_TRUE(workers.sections(f(0), f(1), f(2)));
    EXPECT_EQ(calls[0], ++expected);
    EXPECT_TRUE(workers.sections(f(0), f(1), f(2), f(3), f(4), f(5), f(6), f(7), f(8), f(9), f(10),
                                 f(11), f(12), f(13), f(14), f(15), f(16), f(17), f(18), f(19)));
    EXPECT_EQ(calls[0], ++expected);
    for (std::size_t k = 1; k < 3; ++k) ASSERT_EQ(calls[k], 2 * (round + 1));
    for (std::size_t k = 3; k < 20; ++k) ASSERT_EQ(calls[k], round + 1);
  }
}

}  // namespace
