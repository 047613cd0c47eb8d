// SPDX-License-Identifier: MIT
// tests/edges/values_test.cpp -- values of every kind in a team, and none is left (GROUP-3, REDUCE-3, REDUCE-4)
#include <lockstep/team.hpp>

#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <complex>
#include <cstddef>
#include <functional>
#include <memory>
#include <memory_resource>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "support/reference_tree.hpp"

namespace {

using lockstep::member;
using lockstep::region_stopped;
using lockstep::schedule;
using lockstep::sub_team;
using lockstep::team;

std::vector<schedule> schedules() {
  using namespace lockstep;
  return {static_schedule(), static_schedule(1), dynamic_schedule(), guided_schedule()};
}

struct failure {};

/// Counts the living objects. The copy that makes `until_failure` 0 throws.
struct counted {
  static inline std::atomic<int> alive{0};
  static inline std::atomic<int> until_failure{0};

  explicit counted(long v) : value(v) { ++alive; }
  counted(const counted& other) : value(other.value) {
    if (--until_failure == 0) throw failure();
    ++alive;
  }
  counted(counted&& other) noexcept : value(other.value) { ++alive; }
  counted& operator=(const counted& other) {
    value = other.value;
    if (--until_failure == 0) throw failure();
    return *this;
  }
  counted& operator=(counted&& other) noexcept {
    value = other.value;
    return *this;
  }
  ~counted() { --alive; }

  long value;
};

counted add(const counted& a, const counted& b) { return counted(a.value + b.value); }
counted one(std::size_t) { return counted(1); }
counted ones(std::size_t a, std::size_t b) { return counted(static_cast<long>(b - a)); }
void forget(std::size_t, const counted&) {}

/// A construct that hands values over, and its name.
struct use {
  const char* name;
  std::function<long(member&)> in_region;
};
std::vector<use> uses() {
  const schedule dynamic = lockstep::dynamic_schedule();
  const counted zero(0);
  return {
      {"sync_reduce", [](member& me) { return me.sync_reduce(counted(1), add).value; }},
      {"broadcast", [](member& me) { return me.broadcast(me.size() - 1, counted(1)).value; }},
      {"reduce_each", [=](member& me) { return me.reduce_each(0, 90, zero, one, add).value; }},
      {"reduce_range", [=](member& me) { return me.reduce_range(0, 90, zero, ones, add).value; }},
      {"reduce_each dynamic",
       [=](member& me) { return me.reduce_each(0, 90, zero, one, add, dynamic).value; }},
      {"scan_each", [=](member& me) { return me.scan_each(0, 90, zero, one, add, forget).value; }},
      {"in a sub-team",
       [=](member& me) {
         sub_team part = me.split(me.rank() % 2);
         return part->sync_reduce(counted(1), add).value +
                part->reduce_each(0, 90, zero, one, add).value;
       }},
      {"in two phases of each kind",
       [=](member& me) {
         long sum = 0;
         for (int phase = 0; phase < 2; ++phase) {
           sum += me.sync_reduce(counted(1), add).value;
           sum += me.reduce_each(0, 90, zero, one, add, dynamic).value;
         }
         return sum;
       }},
  };
}

class values : public testing::TestWithParam<std::size_t> {
 protected:
  std::size_t members() const { return GetParam(); }
};
INSTANTIATE_TEST_SUITE_P(sizes, values, testing::Values<std::size_t>(1, 2, 3, 9));

TEST_P(values, GROUP_3_none_is_left_when_run_returns) {
  team workers(members());
  for (const use& each : uses()) {
    SCOPED_TRACE(each.name);
    const int before = counted::alive;
    EXPECT_TRUE(workers.run([&](member& me) { each.in_region(me); }));
    EXPECT_EQ(counted::alive.load(), before);
    workers.run([&](member& me) {  // of a nested region too
      workers.run([&](member& lone) { each.in_region(lone); });
      me.sync_threads();
    });
    EXPECT_EQ(counted::alive.load(), before);
    workers.run(1, [&](member& me) { each.in_region(me); });
    EXPECT_EQ(counted::alive.load(), before);
  }
}

TEST_P(values, that_only_move_and_fit_a_cell_are_reduced) {
  struct number {
    explicit number(long v) : value(v) {}
    number(number&&) = default;
    number& operator=(number&&) = default;
    long value;
  };
  team workers(members());
  const auto sum = [](number a, number b) { return number(a.value + b.value); };
  EXPECT_EQ(workers.reduce_each(0, 90, number(7), [](int) { return number(1); }, sum).value, 97);
}

/// Too large for a cell. The move that makes `until_failure` 0 throws.
struct fragile : counted {
  explicit fragile(long v) : counted(v) {}
  fragile(const fragile&) = delete;
  fragile(fragile&& other) : counted(std::move(other)) {
    if (--until_failure == 0) throw failure();
  }
  fragile& operator=(fragile&&) = default;
  long more[4] = {};
};

TEST_P(values, GROUP_3_none_is_left_when_a_move_throws) {
  team workers(members());
  const int before = counted::alive;
  const auto sum = [](fragile a, fragile b) { return fragile(a.value + b.value); };
  const auto one_fragile = [](int) { return fragile(1); };
  long whole = 0;
  for (int moves = 1; whole == 0; ++moves) {
    counted::until_failure = moves;
    try {
      whole = workers.reduce_each(0, 9, fragile(7), one_fragile, sum).value;
    } catch (const failure&) {
    }
    EXPECT_EQ(counted::alive.load(), before) << moves;
  }
  counted::until_failure = 0;
  EXPECT_EQ(whole, 16);
}

/// 64 kB, of which no other element is read.
struct large {
  explicit large(long v) { values[0] = v; }
  large(const large& other) { values[0] = other.values[0]; }
  large& operator=(const large& other) {
    values[0] = other.values[0];
    return *this;
  }
  long values[8192];
};
void reduce_large_values() {
  const auto one_large = [](int) { return large(1); };
  const auto sum = [](const large& a, const large& b) { return large(a.values[0] + b.values[0]); };
  team lone(1), two(2);
  EXPECT_EQ(lone.reduce_each(0, 65536, large(7), one_large, sum).values[0], 65543);
  two.run([&](member& me) {
    const schedule how = lockstep::dynamic_schedule(4096);
    EXPECT_EQ(me.reduce_each(0, 65536, large(7), one_large, sum, how).values[0], 65543);
  });
}

TEST(large_values, of_a_tree_do_not_all_lie_on_the_stack) {
  pthread_attr_t attributes;
  ASSERT_EQ(pthread_attr_init(&attributes), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, 12 * sizeof(large)), 0);
  pthread_t thread;
  const auto reduce = [](void*) -> void* {
    reduce_large_values();
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, reduce, nullptr), 0);
  EXPECT_EQ(pthread_join(thread, nullptr), 0);
  pthread_attr_destroy(&attributes);
}

TEST_P(values, GROUP_3_none_is_left_when_a_reduction_that_is_a_region_returns) {
  team workers(members());
  const int before = counted::alive;
  for (const schedule how : schedules()) {
    EXPECT_EQ(workers.reduce_each(0, 90, counted(7), one, add, how).value, 97);
    EXPECT_EQ(counted::alive.load(), before);
  }
  EXPECT_EQ(workers.reduce_each(0, 90, counted(7), one, add).value, 97);
  EXPECT_EQ(counted::alive.load(), before);
  EXPECT_EQ(workers.scan_each(0, 90, counted(7), one, add, forget).value, 97);
  EXPECT_EQ(counted::alive.load(), before);
  const auto region = [](member& me) { me.sync_reduce(counted(1), add); };
  EXPECT_TRUE(workers.start(region).join());
  EXPECT_EQ(counted::alive.load(), before);
}

TEST_P(values, none_is_left_of_a_scan_whose_second_loop_threw) {
  team workers(members());
  const int before = counted::alive;
  const auto refuse = [](std::size_t, const counted&) { throw std::runtime_error("no room"); };
  EXPECT_THROW(workers.scan_each(0, 9000, counted(7), one, add, refuse), std::runtime_error);
  EXPECT_EQ(counted::alive.load(), before);
}

TEST_P(values, GROUP_3_none_is_left_of_a_region_that_was_stopped_or_threw) {
  team workers(members());
  for (const use& each : uses()) {
    SCOPED_TRACE(each.name);
    const int before = counted::alive;
    for (const bool by_exception : {false, true}) {
      const auto part = [&](member& me) {
        each.in_region(me);
        if (me.rank() == 0) {
          if (by_exception) throw counted(1);
          me.request_stop();
        }
        each.in_region(me);
        each.in_region(me);
      };
      if (by_exception) {
        EXPECT_THROW(workers.run(part), counted);
      } else {
        EXPECT_FALSE(workers.run(part));
      }
      EXPECT_EQ(counted::alive.load(), before);
    }
  }
}

TEST_P(values, GROUP_3_a_copy_that_throws_reaches_the_caller_and_nothing_is_left) {
  team workers(members());
  for (const use& each : uses()) {
    SCOPED_TRACE(each.name);
    const int before = counted::alive;
    bool threw = true;
    for (int copy = 1; threw && copy < 40; copy += copy < 8 ? 1 : 7) {
      threw = false;
      counted::until_failure = copy;
      try {
        workers.run([&](member& me) { each.in_region(me); });
      } catch (const failure&) {
        threw = true;
      }
      counted::until_failure = 0;
      EXPECT_EQ(counted::alive.load(), before);
    }
    std::atomic<int> met{0};
    EXPECT_TRUE(workers.run([&](member& me) { met += me.sync_sum(1) == int(me.size()); }));
    EXPECT_EQ(met.load(), int(members())) << "the team is usable";
  }
}

TEST_P(values, GROUP_3_what_a_member_throws_is_let_go) {
  team workers(members());
  const auto shared = std::make_shared<int>(1);
  EXPECT_THROW(workers.run([&](member&) { throw shared; }), std::shared_ptr<int>);
  EXPECT_EQ(shared.use_count(), 1);
}

TEST_P(values, GROUP_3_a_shared_pointer_is_let_go) {
  team workers(members());
  const auto shared = std::make_shared<int>(1);
  workers.run([&](member& me) {
    me.broadcast(0, shared);
    me.sync_reduce(shared, [](auto a, auto) { return a; });
  });
  EXPECT_EQ(shared.use_count(), 1);
  workers.reduce_each(
      0, 90, shared, [&](std::size_t) { return shared; }, [](auto a, auto) { return a; });
  EXPECT_EQ(shared.use_count(), 1);
}

TEST_P(values, GROUP_3_a_resource_may_end_after_the_result_that_it_held) {
  team workers(members());
  for (int round = 0; round < 3; ++round) {
    std::pmr::synchronized_pool_resource pool;
    const auto text = [&](std::size_t) { return std::pmr::string(50, 'x', &pool); };
    const auto join = [&](const std::pmr::string& a, const std::pmr::string& b) {
      return std::pmr::string(a, &pool) += b;
    };
    std::pmr::string all = workers.reduce_each(0, 90, std::pmr::string("begin", &pool), text, join);
    EXPECT_EQ(all.size(), 4505u);
    workers.run([&](member& me) { me.sync_reduce(text(0), join); });
  }
}

TEST_P(values, of_every_kind_are_reduced_and_scanned) {
  team workers(members());
  // A type without a default constructor: `counted` above. Here bool, from the references that std::vector<bool>
  // returns:
  std::vector<bool> bits(300, true);
  const auto bit = [&](std::size_t i) { return bits[i]; };
  EXPECT_TRUE(workers.reduce_each(0, 300, true, bit, std::logical_and<>()));
  bits[299] = false;
  EXPECT_FALSE(workers.reduce_each(0, 300, true, bit, std::logical_and<>()));
  // 16 bytes, which fill a cell, and more.
  const auto number = [](std::size_t i) { return std::complex<double>(double(i), 1); };
  const std::complex<double> expected(99 * 100 / 2, 101);
  using complex = std::complex<double>;
  const auto plus = std::plus<complex>();
  EXPECT_EQ(workers.reduce_each(0, 100, complex(0, 1), number, plus), expected);
  using wide = std::complex<long double>;
  EXPECT_EQ(
      workers.reduce_each(
          0, 100, wide(0, 1), [](std::size_t i) { return wide(double(i), 1); }, std::plus<wide>()),
      wide(99 * 100 / 2, 101));
  // A reference from f is not copied, and is not moved from.
  const std::vector<std::string> texts(200, std::string(40, 'x'));
  const auto text = [&](std::size_t i) -> const std::string& { return texts[i]; };
  EXPECT_EQ(workers.reduce_each(0, 200, std::string(), text, std::plus<std::string>()).size(),
            8000u);
  EXPECT_EQ(texts, std::vector<std::string>(200, std::string(40, 'x')));
  // 8 MB.
  const auto large = [](std::size_t) { return std::vector<double>(1 << 20, 1.0); };
  const auto add_all = [](std::vector<double> a, const std::vector<double>& b) {
    for (std::size_t i = 0; i < a.size(); ++i) a[i] += b[i];
    return a;
  };
  const auto all = workers.reduce_each(0, 4, large(0), large, add_all);
  EXPECT_EQ(std::accumulate(all.begin(), all.end(), 0.0), 5.0 * (1 << 20));
}

/// A range whose leaves have 2^30 iterations, and more.
constexpr std::size_t huge = std::size_t{1} << 40;

TEST_P(values, REDUCE_4_a_stop_ends_a_reduction_of_a_huge_range_soon) {
  team workers(members());
  std::atomic<bool> went_on{false};
  const auto in_region = [&](auto call) {
    EXPECT_FALSE(workers.run([&](member& me) {
      const auto value = [&](std::size_t i) {
        if (i % 100000 == 5000) me.request_stop();
        return 1.0;
      };
      call(me, value);
      went_on = true;  // no value has been returned
    }));
  };
  const auto plus = std::plus<double>();
  const auto store = [](std::size_t, double) {};
  for (const schedule how : {lockstep::static_schedule(), lockstep::dynamic_schedule(huge / 8)}) {
    in_region([&](member& me, auto value) { me.reduce_each(0, huge, 0.0, value, plus, how); });
  }
  in_region([&](member& me, auto value) { me.scan_each(0, huge, 0.0, value, plus, store); });
  EXPECT_FALSE(went_on);
}

TEST_P(values, REDUCE_4_a_stop_ends_a_reduction_that_is_a_region_soon_and_gives_no_result) {
  team workers(members());
  const auto value = [&](std::size_t i) {
    if (i % 100000 == 5000) workers.request_stop();
    return 1.0;
  };
  const auto plus = std::plus<double>();
  const auto store = [](std::size_t, double) {};
  EXPECT_THROW(workers.reduce_each(0, huge, 0.0, value, plus), region_stopped);
  const schedule how = lockstep::dynamic_schedule(huge / 8);
  EXPECT_THROW(workers.reduce_each(0, huge, 0.0, value, plus, how), region_stopped);
  EXPECT_THROW(workers.scan_each(0, huge, 0.0, value, plus, store), region_stopped);
  EXPECT_EQ(workers.reduce_each(0, 10, 0.0, [](std::size_t) { return 1.0; }, plus), 10);
}

TEST_P(values, REDUCE_4_an_exception_ends_a_reduction_of_a_huge_range_soon) {
  team workers(members());
  const auto value = [](std::size_t i) {
    if (i == 5000) throw failure();
    return 1.0;
  };
  const auto plus = std::plus<double>();
  EXPECT_THROW(workers.reduce_each(0, huge, 0.0, value, plus), failure);
}

TEST_P(values, REDUCE_4_looks_for_a_stop_change_no_bits) {
  team workers(members());
  const auto value = [](std::size_t i) { return 1.0 / (1.0 + static_cast<double>(i)); };
  const auto plus = std::plus<double>();
  const std::size_t length = 5000000;  // leaves of 4883
  namespace tree = lockstep::detail::reduction_tree;
  const auto leaf = [&](std::size_t k) {
    const lockstep::index_range part = lockstep::test::leaf_range(0, length, k);
    double sum = value(part.first);
    for (std::size_t i = part.first + 1; i < part.last; ++i) sum += value(i);
    return sum;
  };
  const double expected =
      0.5 + lockstep::test::reduce_node<double>(0, tree::leaves_of(length), leaf, plus);
  EXPECT_EQ(workers.reduce_each(0, length, 0.5, value, plus), expected);
}

}  // namespace
