// SPDX-License-Identifier: MIT
// tests/team/team_loops_test.cpp -- regions with one loop in them: for_each, sections, reductions, a scan
#include <lockstep/team.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <lockstep/weighted_schedule.hpp>

#include "support/team_sizes.hpp"

namespace {

using lockstep::index_range;
using lockstep::member;
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

bool all_are(const std::vector<int>& visits, int value) {
  return std::count(visits.begin(), visits.end(), value) ==
         static_cast<std::ptrdiff_t>(visits.size());
}

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

TEST_P(one_liners_of, for_each_visits_every_index_once_with_closures_of_every_size) {
  team workers(members(), policy());
  std::vector<int> visits(300, 0);  // plain
  int expected = 0;
  int* const at = visits.data();
  const auto check = [&](bool answer) { EXPECT_TRUE(answer && all_are(visits, ++expected)); };
  check(workers.for_each(0, 300, [at](std::size_t i) { ++at[i]; }));  // 8 bytes
  const std::size_t zero = members() - members();
  check(workers.for_each(0, 300, [at, zero](std::size_t i) { ++at[i + zero]; }));  // 16
  check(
      workers.for_each(0, 300, [at, zero, z = zero](std::size_t i) { ++at[i + zero + z]; }));  // 24
  check(workers.for_each(
      0, 300, [at, zero, y = zero, z = zero](std::size_t i) { ++at[i + zero + y + z]; }));  // 32
  const std::array<std::size_t, 20> zeros = {};
  check(workers.for_each(0, 300, [at, zeros](std::size_t i) { ++at[i + zeros[i % 20]]; }));
  const std::vector<std::size_t> many(300, 0);
  check(workers.for_each(0, 300, [at, many](std::size_t i) { ++at[i + many[i]]; }));
  const std::function<void(std::size_t)> erased = [at](std::size_t i) { ++at[i]; };
  check(workers.for_each(0, 300, erased));
}

std::atomic<int> counted{0};
void count(std::size_t) { ++counted; }

TEST_P(one_liners_of, for_each_takes_functions_pointers_and_functors_that_are_not_const) {
  team workers(members(), policy());
  counted = 0;
  workers.for_each(0, 50, count);
  workers.for_each(0, 50, &count);
  EXPECT_EQ(counted.load(), 100);
  struct functor {
    std::atomic<int>& calls;
    void operator()(std::size_t) { ++calls; }
  };
  functor not_const{counted};
  workers.for_each(0, 50, not_const);
  workers.for_each(0, 50, functor{counted});
  workers.for_each(0, 50, functor{counted}, lockstep::dynamic_schedule());
  EXPECT_EQ(counted.load(), 250);
}

TEST(one_liners, a_functor_with_a_state_of_its_own_is_not_copied) {
  team workers(1);
  std::size_t seen = 0;
  workers.for_each(0, 10, [&seen, calls = std::size_t{0}](std::size_t) mutable { seen = ++calls; });
  EXPECT_EQ(seen, 10u);
  struct counter {
    std::size_t calls = 0;
    void operator()(std::size_t) { ++calls; }
  } own;
  workers.for_each(0, 10, own);
  EXPECT_EQ(own.calls, 10u);
}

TEST_P(one_liners_of, for_each_visits_every_index_once_with_every_schedule) {
  team workers(members(), policy());
  lockstep::weighted_schedule weighted(members());
  for (const std::size_t length : {0u, 1u, 5u, 200u}) {
    std::vector<int> visits(length, 0);
    int expected = 0;
    const auto visit = [&](std::size_t i) { ++visits[i - 3]; };
    for (const schedule how : schedules()) {
      EXPECT_TRUE(workers.for_each(3, 3 + length, visit, how));
      EXPECT_TRUE(all_are(visits, ++expected));
    }
    for (int round = 0; round < times(10); ++round) {
      EXPECT_TRUE(workers.for_each(3, 3 + length, visit, weighted));
      EXPECT_TRUE(all_are(visits, ++expected));
    }
  }
}

TEST_P(one_liners_of, for_each_visits_every_tuple_once_with_every_schedule) {
  team workers(members(), policy());
  std::vector<int> pairs(7 * 11, 0), triples(3 * 5 * 4, 0);
  int expected = 0;
  for (const schedule how : schedules()) {
    workers.for_each(
        lockstep::index_range_2{{2, 9}, {1, 12}},
        [&](std::size_t i, std::size_t j) { ++pairs[(i - 2) * 11 + j - 1]; }, how);
    workers.for_each(
        lockstep::index_range_3{{1, 4}, {0, 5}, {6, 10}},
        [&](std::size_t i, std::size_t j, std::size_t k) {
          ++triples[((i - 1) * 5 + j) * 4 + k - 6];
        },
        how);
    ++expected;
    ASSERT_TRUE(all_are(pairs, expected));
    ASSERT_TRUE(all_are(triples, expected));
  }
  const auto none = [](std::size_t, std::size_t) { FAIL(); };
  EXPECT_TRUE(workers.for_each(lockstep::index_range_2{{0, 0}, {0, 5}}, none));
  EXPECT_TRUE(workers.for_each(lockstep::index_range_2{{0, 5}, {3, 3}}, none));
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

TEST_P(one_liners_of, scan_each_stores_every_prefix_and_returns_the_whole) {
  team workers(members(), policy());
  for (const std::size_t length : {0u, 1u, 2u, 100u, 129u, 1000u}) {
    std::vector<long> out(length, -1), expected(length);
    std::vector<int> stores(length, 0);
    for (std::size_t i = 0; i < length; ++i) {
      expected[i] = (i == 0 ? 10 : expected[i - 1]) + static_cast<long>(i * i);
    }
    const long whole = workers.scan_each(
        5, 5 + length, 10L, [](std::size_t i) { return static_cast<long>((i - 5) * (i - 5)); },
        std::plus<long>(),
        [&](std::size_t i, long value) {
          out[i - 5] = value;
          ++stores[i - 5];
        });
    EXPECT_EQ(whole, length == 0 ? 10 : expected.back());
    EXPECT_EQ(out, expected);
    EXPECT_TRUE(all_are(stores, 1));
  }
}

}  // namespace
