// SPDX-License-Identifier: MIT
#include "objects/results.hpp"

#include <gtest/gtest.h>

#include <set>

namespace bench::objects {
namespace {

/// Samples of 1000 repeats each that took `us` microseconds a repeat, and twice that CPU time.
measured_row measured(mode kind, std::size_t threads, std::string_view library,
                      std::vector<double> us) {
  measured_row one{{kind, threads, library}, 1000, {}};
  for (const double each : us) one.samples.push_back({1000, {each * 1e-3, each * 2e-3}});
  return one;
}

TEST(Results, UnitTimeIsThatOfARunByTheRepeatsOfAThread) {
  const auto results = evaluate({measured(mode::barrier, 8, "std", {3, 1, 2})});
  EXPECT_DOUBLE_EQ(results[0].unit_us.median, 2);
  EXPECT_DOUBLE_EQ(results[0].unit_us.max, 3);
  EXPECT_DOUBLE_EQ(results[0].cpu_us, 4);
  EXPECT_EQ(document_line(results[0]), "Unit execution time: 2.000000 [us]");
}

TEST(Results, RatiosAreToPthreadWithTheSameModeAndThreads) {
  const auto results =
      evaluate({measured(mode::mutex, 2, "pthread", {4}), measured(mode::mutex, 2, "std", {2}),
                measured(mode::mutex, 8, "std", {2}), measured(mode::barrier, 2, "std", {2})});
  EXPECT_DOUBLE_EQ(*results[0].to_posix, 1);
  EXPECT_DOUBLE_EQ(*results[1].to_posix, 0.5);
  EXPECT_FALSE(results[2].to_posix);
  EXPECT_FALSE(results[3].to_posix);
}

TEST(Rows, ThreadCountsAscendWithoutDoubles) {
  EXPECT_EQ(thread_counts(mode::mutex, 1), (std::vector<std::size_t>{1, 4, 32}));
  EXPECT_EQ(thread_counts(mode::mutex, 2), (std::vector<std::size_t>{1, 2, 8, 64}));
  EXPECT_EQ(thread_counts(mode::barrier, 1), (std::vector<std::size_t>{2, 4, 32}));
  EXPECT_EQ(thread_counts(mode::barrier, 2), (std::vector<std::size_t>{2, 8, 64}));
  EXPECT_EQ(thread_counts(mode::condition, 56), (std::vector<std::size_t>{2, 56, 224, 1792}));
}

TEST(Rows, NamesAreUniqueAndCrowdsAreThere) {
  std::set<std::string> names;
  for (const row& one : all_rows(2)) {
    EXPECT_TRUE(names.insert(name(one)).second) << name(one);
  }
  EXPECT_TRUE(names.contains("condition/64/lockstep-default"));
  EXPECT_TRUE(names.contains("barrier/64/lockstep-split-default"));
  EXPECT_FALSE(names.contains("mutex/2/lockstep-split-default"));
}

class SmallRows : public testing::TestWithParam<row> {};

TEST_P(SmallRows, TheProgramEndsAndTakesTime) { EXPECT_GT(run(GetParam(), 10).wall_seconds, 0); }

std::vector<row> small_rows() {
  std::vector<row> rows = all_rows(2);
  std::erase_if(rows, [](const row& one) { return one.threads > 8; });
  return rows;
}

std::string test_name(const testing::TestParamInfo<row>& tested) {
  std::string text = name(tested.param);
  for (char& c : text) c = c == '/' || c == '-' ? '_' : c;
  return text;
}

INSTANTIATE_TEST_SUITE_P(, SmallRows, testing::ValuesIn(small_rows()), test_name);

}  // namespace
}  // namespace bench::objects
