// SPDX-License-Identifier: MIT
// tests/team/for_range_test.cpp -- loops whose function is called with whole parts: for_range, reduce_range of a team
#include <lockstep/team.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <lockstep/weighted_schedule.hpp>

#include "support/team_sizes.hpp"

namespace {

using lockstep::schedule;
using lockstep::team;

class for_range_of : public lockstep::test::each_team {
 protected:
  std::vector<schedule> schedules() const {
    using namespace lockstep;
    if (is_slow()) return {static_schedule(), dynamic_schedule(5)};
    return {static_schedule(),   static_schedule(1), static_schedule(9), dynamic_schedule(),
            dynamic_schedule(9), guided_schedule(1), guided_schedule(9), grain(7),
            grain(1000),         only_if(false),     only_if(true)};
  }
  std::vector<std::size_t> lengths() const {
    std::vector<std::size_t> all;
    for (std::size_t n = 0; n <= 1000; n += is_slow() ? 250 : n < 70 ? 1 : 31) all.push_back(n);
    return all;
  }
};
INSTANTIATE_TEST_SUITE_P(teams, for_range_of, testing::ValuesIn(lockstep::test::all_teams()),
                         lockstep::test::team_name);

/// Counts how often each index was in a part; plain, so that an index of two threads is a data race.
class visited {
 public:
  explicit visited(std::size_t length) : visits_(length, 0) {}

  void operator()(std::size_t first, std::size_t last) {
    if (first >= last || last > visits_.size()) is_wrong_ = true;
    for (std::size_t i = first; i < last && i < visits_.size(); ++i) ++visits_[i];
  }
  ::testing::AssertionResult all_are(int value) const {
    if (is_wrong_) return ::testing::AssertionFailure() << "a part is empty or outside";
    return std::count(visits_.begin(), visits_.end(), value) ==
                   static_cast<std::ptrdiff_t>(visits_.size())
               ? ::testing::AssertionSuccess()
               : ::testing::AssertionFailure() << "not each index once, of " << visits_.size();
  }

 private:
  std::vector<int> visits_;
  std::atomic<bool> is_wrong_{false};
};

TEST_P(for_range_of, every_index_is_in_one_part_whatever_length_and_schedule) {
  team workers(members(), policy());
  lockstep::weighted_schedule weighted(members());
  for (const std::size_t length : lengths()) {
    visited seen(length);
    int expected = 0;
    const auto visit = [&](std::size_t first, std::size_t last) { seen(first - 3, last - 3); };
    ASSERT_TRUE(workers.for_range(3, 3 + length, visit));
    ASSERT_TRUE(seen.all_are(++expected));
    for (const schedule how : schedules()) {
      ASSERT_TRUE(workers.for_range(3, 3 + length, visit, how));
      ASSERT_TRUE(seen.all_are(++expected));
    }
    ASSERT_TRUE(workers.for_range(3, 3 + length, visit, weighted));
    ASSERT_TRUE(seen.all_are(++expected));
  }
}

TEST_P(for_range_of, a_place_that_is_learned_goes_on_to_visit_every_index_once) {
  team workers(members(), policy());
  visited seen(60000);
  const int rounds = times(200);
  for (int round = 0; round < rounds; ++round) {
    const auto visit = [&](int first, int last) {
      seen(static_cast<std::size_t>(first), static_cast<std::size_t>(last));
    };
    ASSERT_TRUE(workers.for_range(0, 60000, visit));
    visited few(40);
    ASSERT_TRUE(workers.for_range(
        0, 40, [&few](std::size_t first, std::size_t last) { few(first, last); }));
    ASSERT_TRUE(few.all_are(1));
  }
  EXPECT_TRUE(seen.all_are(rounds));
}

TEST_P(for_range_of, takes_closures_of_every_size_and_functions_of_every_kind) {
  team workers(members(), policy());
  std::vector<int> visits(300, 0);
  int expected = 0;
  int* const at = visits.data();
  const auto check = [&](bool answer) {
    ++expected;
    EXPECT_TRUE(answer && std::count(visits.begin(), visits.end(), expected) == 300);
  };
  check(workers.for_range(0, 300, [at](int i, int last) {
    for (; i < last; ++i) ++at[i];
  }));
  const std::array<int, 20> zeros = {};
  check(workers.for_range(0, 300, [at, zeros](int i, int last) {
    for (; i < last; ++i) ++at[i + zeros[static_cast<std::size_t>(i) % 20]];
  }));
  const std::vector<int> many(300, 0);
  check(workers.for_range(0, 300, [at, many](int i, int last) {
    for (; i < last; ++i) ++at[i + many[static_cast<std::size_t>(i)]];
  }));
  const std::function<void(int, int)> erased = [at](int i, int last) {
    for (; i < last; ++i) ++at[i];
  };
  check(workers.for_range(0, 300, erased));
  struct functor {
    int* at;
    std::atomic<int> calls{0};
    explicit functor(int* visits_at) : at(visits_at) {}
    void operator()(int i, int last) {
      ++calls;
      for (; i < last; ++i) ++at[i];
    }
  } not_const(at);
  check(workers.for_range(0, 300, not_const));
  EXPECT_GT(not_const.calls.load(), 0) << "called where it is";
  check(workers.for_range(0, 300, functor(at)));
  check(workers.for_range(0, 300, lockstep::independent([at](int i, int last) {
                            for (; i < last; ++i) ++at[i];
                          })));
}

TEST_P(for_range_of, reduce_range_has_the_bits_of_reduce_each) {
  team workers(members(), policy());
  const auto value = [](std::size_t i) { return 1.0 / static_cast<double>(i + 1); };
  const auto fold = [&](std::size_t first, std::size_t last) {
    double sum = value(first);
    while (++first < last) sum += value(first);
    return sum;
  };
  const std::plus<double> add;
  for (const std::size_t length : {0u, 1u, 2u, 100u, 129u, 1000u, 70000u}) {
    const double expected = workers.reduce_each(0, length, 0.5, value, add);
    EXPECT_EQ(workers.reduce_range(0, length, 0.5, fold, add), expected);
    EXPECT_EQ(workers.reduce_range(0, length, 0.5, fold, add, lockstep::grain(100)), expected);
  }
}

TEST_P(for_range_of, reduce_range_combines_parts_in_order_and_moves_values_of_any_type) {
  team workers(members(), policy());
  std::string expected = "<";
  for (int i = 0; i < 300; ++i) expected += std::to_string(i);
  const auto text = [](int i, int last) {
    std::string all;
    for (; i < last; ++i) all += std::to_string(i);
    return all;
  };
  const std::plus<std::string> join;
  EXPECT_EQ(workers.reduce_range(0, 300, std::string("<"), text, join), expected);

  using pointer = std::unique_ptr<long>;
  const pointer sum = workers.reduce_range(
      0, 1000, pointer(new long(7)),
      [](int first, int last) {
        long part = 0;
        for (; first < last; ++first) part += first;
        return pointer(new long(part));
      },
      [](pointer a, const pointer& b) {
        *a += *b;
        return a;
      });
  EXPECT_EQ(*sum, 7 + 499500);
}

}  // namespace
