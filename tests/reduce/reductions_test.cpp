// SPDX-License-Identifier: MIT
// tests/reduce/reductions_test.cpp -- a whole range becomes one value, with the same bits for every team size,
// schedule and run (REDUCE-1, REDUCE-2, TREE-1 to TREE-5)
#include <lockstep/detail/reduce/reductions.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include <lockstep/team.hpp>

#include "support/reference_tree.hpp"
#include "support/team_sizes.hpp"

namespace {

using lockstep::member;
using lockstep::schedule;
using lockstep::team;
namespace reduction_tree = lockstep::detail::reduction_tree;

const std::vector<std::size_t> lengths = {1, 2, 3, 127, 128, 129, 1000, 8193, 70000};

std::vector<schedule> schedules() {
  using namespace lockstep;
  return {static_schedule(),     static_schedule(1), static_schedule(100), dynamic_schedule(),
          dynamic_schedule(100), guided_schedule(),  guided_schedule(100)};
}

template <class T>
bool same_bits(const T& a, const T& b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

/// Values of very different size: the sum depends on where the parentheses are.
template <class T>
T value_at(std::size_t i) {
  const std::uint64_t mixed = (i + 1) * std::uint64_t{0x9e3779b97f4a7c15};
  const T fraction = static_cast<T>(mixed >> 40) / T(1 << 24);
  return std::ldexp(fraction - T(0.5), static_cast<int>(mixed % 23));
}

/// What the tree says, evaluated by one thread.
template <class T, class Value, class Op>
T by_tree(std::size_t first, std::size_t last, T init, Value value, Op op) {
  const std::size_t leaves = reduction_tree::leaves_of(last - first);
  if (leaves == 0) return init;
  const auto leaf = [&](std::size_t k) {
    return lockstep::test::fold<T>(lockstep::test::leaf_range(first, last, k), value, op);
  };
  return op(init, lockstep::test::reduce_node<T>(0, leaves, leaf, op));
}

/// The scan of one thread: the prefix of each leaf, then the running values in it.
template <class T, class Value, class Op>
std::vector<T> scan_by_leaves(std::size_t first, std::size_t last, T init, Value value, Op op) {
  std::vector<T> out;
  const std::size_t leaves = reduction_tree::leaves_of(last - first);
  const auto sum_of = [&](std::size_t k) {
    return lockstep::test::fold<T>(lockstep::test::leaf_range(first, last, k), value, op);
  };
  for (std::size_t k = 0; k < leaves; ++k) {
    T running = lockstep::test::exclusive_prefix<T>(k, init, sum_of, op);
    const lockstep::index_range part = lockstep::test::leaf_range(first, last, k);
    for (std::size_t i = part.first; i < part.last; ++i)
      out.push_back(running = op(running, value(i)));
  }
  out.push_back(lockstep::test::exclusive_prefix<T>(leaves, init, sum_of, op));  // the whole
  return out;
}

class reductions_of : public testing::TestWithParam<std::size_t> {
 protected:
  std::size_t members() const { return GetParam(); }

  template <class T>
  void check_bits() const {
    team workers(members());
    const T init = T(0.1);
    for (const std::size_t length : lengths) {
      SCOPED_TRACE(length);
      const std::size_t first = 11, last = first + length;
      const auto add = std::plus<T>();
      const auto value = value_at<T>;
      const T expected = by_tree<T>(first, last, init, value, add);
      const auto block = [&](std::size_t a, std::size_t b) {
        return lockstep::test::fold<T>(lockstep::index_range{a, b}, value, add);
      };
      EXPECT_TRUE(same_bits(workers.reduce_each(first, last, init, value, add), expected));
      for (const schedule how : schedules()) {
        EXPECT_TRUE(same_bits(workers.reduce_each(first, last, init, value, add, how), expected));
      }
      std::atomic<int> wrong{0};
      workers.run([&](member& self) {
        for (const schedule how : schedules()) {
          wrong += !same_bits(self.reduce_each(first, last, init, value, add, how), expected);
          wrong += !same_bits(self.reduce_range(first, last, init, block, add, how), expected);
        }
      });
      EXPECT_EQ(wrong.load(), 0);
    }
  }

  template <class T>
  void check_scan_bits() const {
    team workers(members());
    const T init = T(0.1);
    for (const std::size_t length : lengths) {
      if (length > 10000) continue;
      SCOPED_TRACE(length);
      const std::size_t first = 3, last = first + length;
      const auto add = std::plus<T>();
      std::vector<T> expected = scan_by_leaves<T>(first, last, init, value_at<T>, add);
      const T whole = expected.back();
      expected.pop_back();
      std::vector<T> out(length);
      const auto store = [&](std::size_t i, T value) { out[i - first] = value; };
      EXPECT_TRUE(same_bits(workers.scan_each(first, last, init, value_at<T>, add, store), whole));
      EXPECT_EQ(std::memcmp(out.data(), expected.data(), length * sizeof(T)), 0);
      out.assign(length, T(0));
      std::atomic<int> wrong{0};
      workers.run([&](member& self) {
        wrong += !same_bits(self.scan_each(first, last, init, value_at<T>, add, store), whole);
        wrong += std::memcmp(out.data(), expected.data(), length * sizeof(T)) != 0;  // all are done
      });
      EXPECT_EQ(wrong.load(), 0);
    }
  }
};
INSTANTIATE_TEST_SUITE_P(sizes, reductions_of,
                         testing::ValuesIn(lockstep::test::is_brief()
                                               ? std::vector<std::size_t>{1, 2, 3, 8, 9, 16}
                                               : std::vector<std::size_t>{1, 2, 3, 4, 5, 6, 7, 8, 9,
                                                                          16}));

TEST_P(reductions_of, TREE_4_sums_of_double_have_the_bits_of_the_tree_with_every_schedule) {
  check_bits<double>();
}
TEST_P(reductions_of, TREE_4_sums_of_float_have_the_bits_of_the_tree_with_every_schedule) {
  check_bits<float>();
}
TEST_P(reductions_of, TREE_5_scans_of_double_have_the_bits_of_the_scan_by_leaves) {
  check_scan_bits<double>();
}
TEST_P(reductions_of, TREE_5_scans_of_float_have_the_bits_of_the_scan_by_leaves) {
  check_scan_bits<float>();
}

TEST(reductions, the_values_of_these_tests_tell_the_tree_from_a_left_fold) {
  // Else the bits above would prove nothing.
  const auto add = std::plus<double>();
  double fold = 0.1;
  for (std::size_t i = 11; i < 1011; ++i) fold += value_at<double>(i);
  EXPECT_FALSE(same_bits(by_tree<double>(11, 1011, 0.1, value_at<double>, add), fold));
}

TEST_P(reductions_of, strings_are_joined_in_the_order_of_indices) {
  team workers(members());
  const auto text = [](std::size_t i) { return std::to_string(i) + ','; };
  const auto join = std::plus<std::string>();
  for (const std::size_t length : {1u, 5u, 130u, 1000u}) {
    std::string expected = "begin:";
    std::vector<std::string> prefixes;
    for (std::size_t i = 0; i < length; ++i) prefixes.push_back(expected += text(i));
    const std::string begin = "begin:";
    EXPECT_EQ(workers.reduce_each(0, length, begin, text, join), expected);
    std::atomic<int> wrong{0};
    for (const schedule how : schedules()) {
      EXPECT_EQ(workers.reduce_each(0, length, begin, text, join, how), expected);
      workers.run([&](member& self) {
        wrong += self.reduce_each(0, length, begin, text, join, how) != expected;
        wrong += self.sync_sum(std::string(1, 'x')) != std::string(self.size(), 'x');
      });
    }
    std::vector<std::string> out(length);
    EXPECT_EQ(workers.scan_each(0, length, begin, text, join,
                                [&](std::size_t i, const std::string& value) { out[i] = value; }),
              expected);
    EXPECT_EQ(out, prefixes);
    EXPECT_EQ(wrong.load(), 0);
  }
}

TEST_P(reductions_of, f_is_called_once_for_each_index_and_twice_in_a_scan) {
  team workers(members());
  std::vector<std::atomic<int>> calls(500);
  const auto value = [&](std::size_t i) { return ++calls[i], 1; };
  const auto add = std::plus<int>();
  int expected = 0;
  const auto check = [&](int whole, int more) {
    EXPECT_EQ(whole, 500);
    expected += more;
    for (const auto& each : calls) ASSERT_EQ(each.load(), expected);
  };
  check(workers.reduce_each(0, 500, 0, value, add), 1);
  for (const schedule how : schedules()) {
    check(workers.reduce_each(0, 500, 0, value, add, how), 1);
  }
  check(workers.scan_each(0, 500, 0, value, add, [](std::size_t, int) {}), 2);
}

TEST_P(reductions_of, REDUCE_3_of_an_empty_or_backward_range_are_init_and_call_nothing) {
  team workers(members());
  std::atomic<int> calls{0};
  const auto value = [&](std::size_t) { return ++calls, 1; };
  const auto op = [&](int a, int) { return ++calls, a; };
  const auto store = [&](std::size_t, int) { ++calls; };
  for (const std::size_t last : {5u, 2u}) {
    EXPECT_EQ(workers.reduce_each(5, last, 42, value, op), 42);
    EXPECT_EQ(workers.scan_each(5, last, 42, value, op, store), 42);
    for (const schedule how : schedules()) {
      EXPECT_EQ(workers.reduce_each(5, last, 42, value, op, how), 42);
      workers.run([&](member& self) {
        EXPECT_EQ(self.reduce_each(5, last, 42, value, op, how), 42);
        EXPECT_TRUE(self.sync_threads());
      });
    }
  }
  EXPECT_EQ(calls.load(), 0);
}

TEST_P(reductions_of, an_operation_that_throws_reaches_the_caller_and_leaves_the_team_usable) {
  team workers(members());
  struct failure {};
  std::atomic<int> until_failure{0};
  const auto op = [&](long a, long b) {
    if (--until_failure == 0) throw failure();
    return a + b;
  };
  const auto value = [](std::size_t) { return 1L; };
  const auto store = [](std::size_t, long) {};
  for (const int calls : {1, 2, 50, 199, 200}) {  // in a leaf, in nodes, and with init
    for (const schedule how : schedules()) {
      until_failure = calls;
      EXPECT_THROW(workers.reduce_each(0, 200, 0L, value, op, how), failure);
      until_failure = calls;
    }
    until_failure = calls;
    EXPECT_THROW(workers.reduce_each(0, 200, 0L, value, op), failure);
    until_failure = calls;
    EXPECT_THROW(workers.scan_each(0, 200, 0L, value, op, store), failure);
    until_failure = 0;
    EXPECT_EQ(workers.reduce_each(0, 200, 0L, value, op), 200);
    workers.run(
        [&](member& me) { EXPECT_EQ(me.size(), members()) << "it is in no region any more"; });
  }
}

TEST_P(reductions_of, REDUCE_2_reductions_of_different_types_and_schedules_may_follow_each_other) {
  team workers(members());
  std::atomic<int> wrong{0};
  const double expected = by_tree<double>(0, 300, 0.5, value_at<double>, std::plus<double>());
  const float expected_float = by_tree<float>(0, 900, 0.5f, value_at<float>, std::plus<float>());
  const auto text = [](std::size_t i) { return std::to_string(i % 10); };
  std::string expected_text;
  for (std::size_t i = 0; i < 150; ++i) expected_text += text(i);
  for (int region = 0; region < 10; ++region) {
    workers.run([&](member& self) {
      for (std::size_t step = 0; step < 10; ++step) {
        lockstep::test::dawdle(self.rank(), step);
        const schedule how = schedules()[step % 7], other = schedules()[step % 5];
        wrong += !same_bits(
            self.reduce_each(0, 300, 0.5, value_at<double>, std::plus<double>(), how), expected);
        wrong += self.reduce_each(0, 150, std::string(), text, std::plus<std::string>(), other) !=
                 expected_text;
        wrong +=
            !same_bits(self.reduce_each(0, 900, 0.5f, value_at<float>, std::plus<float>(), other),
                       expected_float);
      }
    });
  }
  EXPECT_EQ(wrong.load(), 0);
}

/// The deterministic ones also for each policy, with phases in a row.
class reductions_in : public lockstep::test::each_team {};
INSTANTIATE_TEST_SUITE_P(teams, reductions_in, testing::ValuesIn(lockstep::test::all_teams()),
                         lockstep::test::team_name);

TEST_P(reductions_in, TREE_4_many_in_a_row_have_the_same_bits) {
  team workers(members(), policy());
  const double expected = by_tree<double>(0, 2000, 0.5, value_at<double>, std::plus<double>());
  std::atomic<int> wrong{0};
  workers.run([&](member& self) {
    for (int step = 0; step < times(60); ++step) {
      wrong += !same_bits(self.reduce_each(0, 2000, 0.5, value_at<double>, std::plus<double>()),
                          expected);
      wrong += !same_bits(self.reduce_each(0, 2000, 0.5, value_at<double>, std::plus<double>(),
                                           lockstep::dynamic_schedule()),
                          expected);
    }
  });
  EXPECT_EQ(wrong.load(), 0);
}

}  // namespace
