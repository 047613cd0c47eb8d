// SPDX-License-Identifier: MIT
// tests/reduce/reduction_test.cpp -- a value with its index, several values at once: the same for every team size
// (REDUCER-1, REDUCER-2)
#include <lockstep/reduction.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <lockstep/team.hpp>

#include "support/team_sizes.hpp"

namespace {

using lockstep::max_with_index;
using lockstep::maximum;
using lockstep::member;
using lockstep::min_with_index;
using lockstep::minimum;
using lockstep::no_index;
using lockstep::plus;
using lockstep::schedule;
using lockstep::team;
using lockstep::together;
using lockstep::value_and_index;
using lockstep::with_index;

using found = value_and_index<double>;
static_assert(sizeof(found) == 16 && std::is_trivially_copyable<found>::value, "travels in a cell");
static_assert(!no_index<int>().has_value() && with_index(3, 0).has_value(), "constexpr");

std::vector<schedule> schedules() {
  using namespace lockstep;
  return {static_schedule(), static_schedule(1), dynamic_schedule(7), guided_schedule()};
}

class reducers_of : public testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(members, reducers_of, testing::Values(1, 2, 3, 4, 9));

/// Values with many ties: the lowest and the greatest occur again and again.
double value_at(std::size_t i) { return static_cast<double>((i * 7 + 3) % 11); }

std::size_t first_with(std::size_t n, double value) {
  std::size_t i = 0;
  while (i < n && value_at(i) != value) ++i;
  return i;
}

TEST_P(reducers_of, REDUCER_1_ties_go_to_the_lowest_index) {
  team workers(GetParam());
  for (const std::size_t n : {11u, 127u, 1000u, 70000u}) {
    const auto value = [](std::size_t i) { return with_index(value_at(i), i); };
    const found least{0, first_with(n, 0)}, most{10, first_with(n, 10)};
    EXPECT_EQ(workers.reduce_each(std::size_t{0}, n, no_index<double>(), value, min_with_index()),
              least);
    EXPECT_EQ(workers.reduce_each(std::size_t{0}, n, no_index<double>(), value, max_with_index()),
              most);
    for (const schedule how : schedules()) {
      workers.run([&](member& me) {
        EXPECT_EQ(
            me.reduce_each(std::size_t{0}, n, no_index<double>(), value, min_with_index(), how),
            least);
        EXPECT_EQ(
            me.reduce_each(std::size_t{0}, n, no_index<double>(), value, max_with_index(), how),
            most);
      });
    }
  }
}

TEST_P(reducers_of, REDUCER_1_ties_between_members_go_to_the_lowest_index) {
  team workers(GetParam());
  workers.run([&](member& me) {
    // The highest rank has the lowest index.
    const found mine = with_index(1.5, me.size() - 1 - me.rank());
    EXPECT_EQ(me.sync_reduce(mine, min_with_index()), with_index(1.5, std::size_t{0}));
    EXPECT_EQ(me.sync_reduce(mine, max_with_index()), with_index(1.5, std::size_t{0}));
    const found of_one = me.rank() + 1 == me.size() ? mine : no_index<double>();
    EXPECT_EQ(me.sync_reduce(of_one, min_with_index()), with_index(1.5, std::size_t{0}));
  });
}

TEST_P(reducers_of, REDUCER_2_an_empty_range_has_no_value) {
  team workers(GetParam());
  const auto value = [](std::size_t i) { return with_index(value_at(i), i); };
  EXPECT_FALSE(workers.reduce_each(0, 0, no_index<double>(), value, min_with_index()).has_value());
  EXPECT_FALSE(workers.reduce_each(9, 3, no_index<double>(), value, max_with_index()).has_value());
}

TEST(reducers, values_at_the_limits_of_their_type_are_found) {
  team workers(2);
  const int most = std::numeric_limits<int>::max(), least = std::numeric_limits<int>::min();
  const auto greatest = [=](int i) { return with_index(most, i); };
  const auto smallest = [=](int i) { return with_index(least, i); };
  EXPECT_EQ(workers.reduce_each(5, 900, no_index<int, int>(), greatest, min_with_index()),
            with_index(most, 5));
  EXPECT_EQ(workers.reduce_each(-5, 900, no_index<int, int>(), smallest, max_with_index()),
            with_index(least, -5));
}

TEST(reducers, plus_minimum_and_maximum_keep_the_type) {
  static_assert(std::is_same<decltype(plus()(std::int8_t{1}, std::int8_t{2})), std::int8_t>::value,
                "");
  EXPECT_EQ(minimum()(2, 1), 1);
  EXPECT_EQ(maximum()(2, 1), 2);
}

TEST_P(reducers_of, several_values_at_once_are_those_of_reductions_by_themselves) {
  team workers(GetParam());
  using values = std::tuple<double, found, found, long>;
  const std::size_t n = 5000;
  const auto part = [](std::size_t i) { return 1.0 / static_cast<double>(i + 1); };
  const auto all = [&](std::size_t i) {
    return values(part(i), with_index(value_at(i), i), with_index(value_at(i), i), 1L);
  };
  const auto op = together(plus(), min_with_index(), max_with_index(), plus());
  const values init(0.0, no_index<double>(), no_index<double>(), 0L);
  const double sum = workers.reduce_each(std::size_t{0}, n, 0.0, part, plus());
  const values expected(sum, with_index(0.0, first_with(n, 0)), with_index(10.0, first_with(n, 10)),
                        5000L);
  EXPECT_EQ(workers.reduce_each(std::size_t{0}, n, init, all, op), expected);
  for (const schedule how : schedules()) {
    workers.run([&](member& me) {
      EXPECT_EQ(me.reduce_each(std::size_t{0}, n, init, all, op, how), expected);
    });
  }
  workers.run([&](member& me) {
    const auto mine = std::make_pair(1, with_index(2.5, me.rank()));
    const auto result = me.sync_reduce(mine, together(plus(), min_with_index()));
    EXPECT_EQ(result.first, static_cast<int>(me.size()));
    EXPECT_EQ(result.second, with_index(2.5, std::size_t{0}));
  });
}

}  // namespace
