// SPDX-License-Identifier: MIT
// tests/team/learned_loops_test.cpp -- loops are right by every plan: alone, on some members, in parts, taken by others
//
// Each loop is run often enough for its place to be known; short iterations are learned to run alone, long ones on all.
#include <lockstep/team.hpp>

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include <lockstep/weighted_schedule.hpp>

#include "support/effort.hpp"
#include "support/wide_team.hpp"

namespace {

using lockstep::schedule;
using lockstep::test::wide_team;

/// Members, and whether they learn.
class learned_loops : public testing::TestWithParam<std::tuple<std::size_t, bool>> {
 protected:
  static std::size_t members() { return std::get<0>(GetParam()); }
  static bool learns() { return std::get<1>(GetParam()); }
};
std::vector<std::size_t> all_members() {
  if (lockstep::test::is_brief()) return {1, 2, 3, 16};
  return {1, 2, 3, 4, 7, 16};
}
INSTANTIATE_TEST_SUITE_P(teams, learned_loops,
                         testing::Combine(testing::ValuesIn(all_members()), testing::Bool()),
                         [](const auto& team) {
                           return std::to_string(std::get<0>(team.param)) +
                                  (std::get<1>(team.param) ? "_learning" : "_not_learning");
                         });

// In brief, sizes between those that are run often are left out.
constexpr int often = 30, seldom = 3;  // a place is known after 4 loops, one in 16 is measured

std::vector<schedule> all_schedules() {
  using namespace lockstep;
  return {static_schedule(),   grain(1),           grain(7),
          grain(1000),         static_schedule(3), dynamic_schedule(),
          dynamic_schedule(9), guided_schedule(),  guided_schedule(5)};
}
/// 0 to 50, and around powers of two; how often a loop of that size is run.
std::vector<std::pair<std::size_t, int>> all_sizes() {
  std::vector<std::pair<std::size_t, int>> sizes;
  for (std::size_t n = 0; n <= 50; ++n) {
    const bool is_often = n % 10 < 2;
    if (is_often || n < 10 || !lockstep::test::is_brief())
      sizes.emplace_back(n, is_often ? often : seldom);
  }
  for (const std::size_t power : {64u, 256u, 1024u, 4096u}) {
    for (const std::size_t n : {power - 1, power, power + 1}) sizes.emplace_back(n, seldom);
  }
  sizes.emplace_back(1000, often);
  return sizes;
}

/// Takes about so long: members that sleep have the time to come.
void work_for(std::chrono::nanoseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) {
  }
}

/// Fails once for a loop, and says which index was not visited `times` times.
void expect_all(const std::vector<int>& visits, int times, const std::string& what) {
  for (std::size_t i = 0; i < visits.size(); ++i) {
    if (visits[i] == times) continue;
    ADD_FAILURE() << what << ": index " << i << " of " << visits.size() << " visited " << visits[i]
                  << " times of " << times;
    return;
  }
}
std::string name_of(schedule how) {
  return "schedule " + std::to_string(static_cast<int>(how.kind())) + "," +
         std::to_string(how.chunk());
}

TEST_P(learned_loops, every_index_is_visited_once) {
  wide_team workers(members(), learns());
  for (const schedule how : all_schedules()) {
    for (const auto& [n, rounds] : all_sizes()) {
      std::vector<int> visits(n);  // plain
      for (int round = 0; round < rounds; ++round) {
        ASSERT_TRUE(workers.for_each(std::size_t{0}, n, [&](std::size_t i) { ++visits[i]; }, how));
      }
      expect_all(visits, rounds, name_of(how));
    }
  }
}

TEST_P(learned_loops, every_index_of_long_iterations_is_visited_once) {
  wide_team workers(members(), learns());
  for (const schedule how : all_schedules()) {
    for (const std::size_t n : {1u, 2u, 3u, 16u, 17u, 33u}) {
      std::vector<int> visits(n);
      for (int round = 0; round < 12; ++round) {
        ASSERT_TRUE(workers.for_each(
            std::size_t{0}, n,
            [&](std::size_t i) {
              ++visits[i];
              work_for(std::chrono::microseconds(round < 9 ? 2 : 20));
            },
            how));
      }
      expect_all(visits, 12, name_of(how));
    }
  }
}

TEST_P(learned_loops, every_pair_and_triple_is_visited_once) {
  wide_team workers(members(), learns());
  for (const schedule how : all_schedules()) {
    for (const std::size_t n : {0u, 1u, 2u, 3u, 7u, 8u, 16u, 17u}) {
      std::vector<int> pairs(n * 5), triples(n * 3 * 4);
      for (int round = 0; round < often; ++round) {
        ASSERT_TRUE(workers.for_each(
            lockstep::index_range_2{{0, n}, {0, 5}},
            [&](std::size_t i, std::size_t j) { ++pairs[5 * i + j]; }, how));
        ASSERT_TRUE(workers.for_each(
            lockstep::index_range_3{{0, 3}, {0, n}, {0, 4}},
            [&](std::size_t i, std::size_t j, std::size_t k) { ++triples[(i * n + j) * 4 + k]; },
            how));
      }
      expect_all(pairs, often, "pairs, " + name_of(how));
      expect_all(triples, often, "triples, " + name_of(how));
    }
  }
}

// --- reductions and scans: the bits of the serial tree ---

struct pair_of_doubles {  // fits a cell
  double sum, scale;
  bool operator==(const pair_of_doubles& other) const {
    return std::memcmp(this, &other, sizeof *this) == 0;
  }
};
struct line_of_doubles {  // does not
  std::array<double, 8> at;
  bool operator==(const line_of_doubles& other) const {
    return std::memcmp(&at, &other.at, sizeof at) == 0;
  }
};
struct movable_only {
  std::unique_ptr<std::string> text;
  bool operator==(const movable_only& other) const { return *text == *other.text; }
};
static_assert(sizeof(pair_of_doubles) == 16 && sizeof(line_of_doubles) == 64, "");

double harmonic(std::size_t i) { return 1.0 / (static_cast<double>(i) + 1.5); }

/// How the values of a T come about: value(i), and an operation whose result shows every order.
template <class T>
struct kind;
template <>
struct kind<double> {
  static double value(std::size_t i) { return harmonic(i); }
  static double join(double a, double b) { return a * 0.999 + b; }
};
template <>
struct kind<pair_of_doubles> {
  static pair_of_doubles value(std::size_t i) { return {harmonic(i), 0.5}; }
  static pair_of_doubles join(const pair_of_doubles& a, const pair_of_doubles& b) {
    return {a.sum * 0.9 + b.sum, a.scale * b.scale + harmonic(3)};
  }
};
template <>
struct kind<line_of_doubles> {
  static line_of_doubles value(std::size_t i) {
    line_of_doubles line{};
    for (std::size_t k = 0; k < 8; ++k) line.at[k] = harmonic(i + k);
    return line;
  }
  static line_of_doubles join(const line_of_doubles& a, const line_of_doubles& b) {
    line_of_doubles line{};
    for (std::size_t k = 0; k < 8; ++k) line.at[k] = a.at[k] * 0.99 + b.at[(k + 1) % 8];
    return line;
  }
};
template <>
struct kind<std::string> {
  static std::string value(std::size_t i) { return std::string(1 + i % 3, char('a' + i % 26)); }
  static std::string join(std::string a, const std::string& b) {
    if (a.size() > 300) a.resize(100);  // not associative
    return a + b;
  }
};
template <>
struct kind<movable_only> {
  static movable_only value(std::size_t i) {
    return {std::make_unique<std::string>(kind<std::string>::value(i))};
  }
  static movable_only join(movable_only a, movable_only b) {
    return {std::make_unique<std::string>(kind<std::string>::join(*a.text, *b.text))};
  }
};

template <class T, class Team>
T reduced(Team& by, std::size_t n, schedule how) {
  return by.reduce_each(
      std::size_t{0}, n, kind<T>::value(77), [](std::size_t i) { return kind<T>::value(i); },
      [](T a, T b) { return kind<T>::join(std::move(a), std::move(b)); }, how);
}
template <class T>
std::vector<std::size_t> lengths() {
  if (lockstep::test::is_brief()) {
    return {1, 3, 9, 17, 100, 129, std::is_same<T, double>::value ? 8193u : 1025u};
  }
  return {1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 33, 50, 100, 127, 128, 129, 1000, 1025, 8191, 8193};
}
/// How often: the first loops at a place are planned in other ways than later ones.
int rounds_of(std::size_t n) {
  if (lockstep::test::is_brief()) return n < 130 ? 6 : 3;
  return n < 130 ? 20 : 6;
}

template <class T>
void check_reductions(wide_team& workers) {
  wide_team alone(1, false);
  for (const std::size_t n : lengths<T>()) {
    const T expected = reduced<T>(alone, n, lockstep::static_schedule());
    for (const schedule how : {lockstep::static_schedule(), lockstep::grain(1), lockstep::grain(9),
                               lockstep::dynamic_schedule(3)}) {
      for (int round = 0; round < rounds_of(n); ++round) {
        ASSERT_TRUE(reduced<T>(workers, n, how) == expected)
            << n << ", " << name_of(how) << ", round " << round;
      }
    }
  }
}
TEST_P(learned_loops, reductions_have_the_bits_of_one_member) {
  wide_team workers(members(), learns());
  check_reductions<double>(workers);
  check_reductions<pair_of_doubles>(workers);
  check_reductions<line_of_doubles>(workers);
  check_reductions<std::string>(workers);
  check_reductions<movable_only>(workers);
}

template <class T, class Team>
std::vector<T> scanned(Team& by, std::size_t n) {
  std::vector<T> out(n + 1);
  out[n] = by.scan_each(
      std::size_t{0}, n, kind<T>::value(77), [](std::size_t i) { return kind<T>::value(i); },
      [](T a, T b) { return kind<T>::join(std::move(a), std::move(b)); },
      [&](std::size_t i, const T& value) { out[i] = value; });
  return out;
}
template <class T>
void check_scans(wide_team& workers) {
  wide_team alone(1, false);
  for (const std::size_t n : lengths<T>()) {
    const std::vector<T> expected = scanned<T>(alone, n);
    for (int round = 0; round < rounds_of(n); ++round) {
      ASSERT_TRUE(scanned<T>(workers, n) == expected) << n << ", round " << round;
    }
  }
}
TEST_P(learned_loops, scans_have_the_bits_of_one_member) {
  wide_team workers(members(), learns());
  check_scans<double>(workers);
  check_scans<pair_of_doubles>(workers);
  check_scans<line_of_doubles>(workers);
  check_scans<std::string>(workers);
}

// --- loops that end early ---

struct failure {
  std::size_t at;
};

TEST_P(learned_loops, an_exception_in_any_part_is_that_of_the_loop_and_no_part_is_run_twice) {
  wide_team workers(members(), learns());
  constexpr std::size_t n = 200;
  for (const schedule how : all_schedules()) {
    for (std::size_t thrower = 0; thrower < n; thrower += 13) {
      std::vector<int> visits(n);
      std::size_t caught = n;
      try {
        workers.for_each(
            std::size_t{0}, n,
            [&](std::size_t i) {
              ++visits[i];
              if (i == thrower) throw failure{i};
            },
            how);
      } catch (const failure& it) {
        caught = it.at;
      }
      EXPECT_EQ(caught, thrower);
      EXPECT_EQ(visits[thrower], 1);
      for (std::size_t i = 0; i < n; ++i) ASSERT_LE(visits[i], 1) << i << ", " << name_of(how);
    }
    std::vector<int> visits(n);
    ASSERT_TRUE(workers.for_each(std::size_t{0}, n, [&](std::size_t i) { ++visits[i]; }, how));
    expect_all(visits, 1, "after exceptions");
  }
}

TEST_P(learned_loops, of_exceptions_in_many_parts_one_is_thrown_and_none_is_left_behind) {
  wide_team workers(members(), learns());
  const auto fail = [](std::size_t i) {
    if (i < 128) throw failure{i};
    return 0;
  };
  for (int round = 0; round < often; ++round) {
    EXPECT_THROW(workers.for_each(
                     std::size_t{0}, std::size_t{128}, [](std::size_t i) { throw failure{i}; },
                     lockstep::grain(1)),
                 failure);
    EXPECT_THROW(workers.reduce_each(std::size_t{0}, std::size_t{128}, 0, fail, std::plus<int>(),
                                     lockstep::grain(1)),
                 failure);
    EXPECT_THROW(workers.scan_each(std::size_t{0}, std::size_t{128}, 0, fail, std::plus<int>(),
                                   [](std::size_t, int) {}),
                 failure);
    EXPECT_TRUE(workers.for_each(std::size_t{0}, std::size_t{128}, [](std::size_t) {}));
  }
}

TEST_P(learned_loops, an_operation_that_throws_when_the_values_are_combined_is_heard_of) {
  wide_team workers(members(), learns());
  const auto one = [](std::size_t) { return std::vector<int>(1, 1); };
  for (int round = 0; round < often; ++round) {
    const std::size_t most = round % 2 == 0 ? 128 : 40 + static_cast<std::size_t>(round);
    const auto join = [most](std::vector<int> a, const std::vector<int>& b) {
      if (a.size() + b.size() > most) throw failure{a.size()};
      a.insert(a.end(), b.begin(), b.end());
      return a;
    };
    const auto reduce = [&](std::size_t n) {
      return workers
          .reduce_each(std::size_t{0}, n, std::vector<int>(), one, join, lockstep::grain(1))
          .size();
    };
    EXPECT_EQ(reduce(most), most);
    EXPECT_THROW(reduce(129), failure);
  }
}

TEST_P(learned_loops, a_value_that_was_not_made_before_an_exception_is_not_destroyed) {
  wide_team workers(members(), learns());
  const auto alive = std::make_shared<int>(0);
  using counted = std::vector<std::shared_ptr<int>>;
  for (int round = 0; round < often; ++round) {
    const std::size_t thrower = static_cast<std::size_t>(round) * 7 % 128;
    EXPECT_THROW(workers.reduce_each(
                     std::size_t{0}, std::size_t{128}, counted(),
                     [&](std::size_t i) {
                       if (i == thrower) throw failure{i};
                       return counted(1, alive);
                     },
                     [](counted a, const counted& b) {
                       a.insert(a.end(), b.begin(), b.end());
                       return a;
                     },
                     lockstep::grain(1)),
                 failure);
    EXPECT_EQ(alive.use_count(), 1) << "nor one left behind";
  }
}

TEST_P(learned_loops, a_request_to_stop_in_the_middle_leaves_out_what_was_not_begun) {
  wide_team workers(members(), learns());
  constexpr std::size_t n = 320;
  for (const schedule how : all_schedules()) {
    for (const std::size_t stopper : {0u, 1u, 100u, 160u, 319u}) {
      std::vector<int> visits(n);
      EXPECT_FALSE(workers.for_each(
          std::size_t{0}, n,
          [&](std::size_t i) {
            ++visits[i];
            if (i == stopper) workers.request_stop();
          },
          how));
      EXPECT_EQ(visits[stopper], 1);
      for (std::size_t i = 0; i < n; ++i) ASSERT_LE(visits[i], 1) << i << ", " << name_of(how);
      ASSERT_TRUE(workers.for_each(std::size_t{0}, n, [](std::size_t) {}, how));
    }
  }
  const auto stop = [&](std::size_t i) { return i == 64 ? (workers.request_stop(), 1) : 1; };
  for (int round = 0; round < often; ++round) {
    EXPECT_THROW(
        workers.reduce_each(std::size_t{0}, n, 0, stop, std::plus<int>(), lockstep::grain(1)),
        lockstep::region_stopped);
    EXPECT_THROW(
        workers.scan_each(std::size_t{0}, n, 0, stop, std::plus<int>(), [](std::size_t, int) {}),
        lockstep::region_stopped);
  }
}

// --- loops in loops ---

}  // namespace
