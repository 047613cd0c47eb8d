// SPDX-License-Identifier: MIT
#include "objects/results.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace bench::objects {
namespace {

/// Samples of 1000 repeats each that took `us` microseconds a repeat, and twice that CPU time.
measured_row measured(mode kind, std::size_t threads, std::string_view library,
                      std::vector<double> us) {
  measured_row one{{kind, threads, library}, 1000, {}};
  for (const double each : us) one.samples.push_back({{each * 1e-3, each * 2e-3}});
  return one;
}

std::map<std::string, verdict> judged(const std::vector<measured_row>& rows, std::size_t cpus) {
  std::map<std::string, verdict> verdicts;
  for (const verdict& one : judge(evaluate(rows), cpus)) verdicts[one.what] = one;
  return verdicts;
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

TEST(Verdict, UncontendedIsTheDefaultPolicyAgainstStdWithOneThread) {
  const auto verdicts = judged(
      {measured(mode::mutex, 1, "std", {0.010}), measured(mode::mutex, 1, "pthread", {0.020}),
       measured(mode::mutex, 1, "lockstep-default", {0.011}),
       measured(mode::mutex, 1, "lockstep-spin", {0.001})},
      2);
  ASSERT_EQ(verdicts.size(), 1u);
  const verdict& one = verdicts.at("uncontended lock and unlock");
  EXPECT_NEAR(*one.figure, 1.1, 1e-9);
  EXPECT_FALSE(one.met());
}

TEST(Verdict, ContendedIsThroughputAgainstTheFastestOfTheOthersOnAllCpus) {
  const auto verdicts = judged(
      {measured(mode::mutex, 2, "pthread", {0.4}), measured(mode::mutex, 2, "nsync", {0.2}),
       measured(mode::mutex, 4, "std", {0.001}), measured(mode::mutex, 2, "lockstep-spin", {0.01}),
       measured(mode::mutex, 2, "lockstep-default", {0.1})},
      2);
  ASSERT_EQ(verdicts.size(), 1u);
  const verdict& one = verdicts.at("contended mutex, 2 threads on all CPUs");
  EXPECT_DOUBLE_EQ(*one.figure, 2);
  EXPECT_TRUE(one.met());
  EXPECT_NE(one.unit.find("nsync"), std::string::npos);
}

TEST(Verdict, ASingleCpuHasNoContendedMutex) {
  EXPECT_TRUE(judged({measured(mode::mutex, 1, "pthread", {1}),
                      measured(mode::mutex, 1, "lockstep-default", {1})},
                     1)
                  .empty());
}

TEST(Verdict, EveryPolicyButSpinIsJudgedInTheLargeCrowdOnly) {
  const auto verdicts =
      judged({measured(mode::barrier, 64, "pthread", {10}), measured(mode::barrier, 64, "std", {5}),
              measured(mode::barrier, 64, "lockstep-block", {10}),
              measured(mode::barrier, 64, "lockstep-split-hybrid", {10.1}),
              measured(mode::barrier, 64, "lockstep-spin", {1e4}),
              measured(mode::barrier, 8, "pthread", {1}),
              measured(mode::barrier, 8, "lockstep-block", {9})},
             2);
  ASSERT_EQ(verdicts.size(), 2u);
  EXPECT_TRUE(verdicts.at("32 x oversubscribed, barrier/64/lockstep-block").met());
  EXPECT_FALSE(verdicts.at("32 x oversubscribed, barrier/64/lockstep-split-hybrid").met());
}

TEST(Verdict, TheChainIsJudgedForEachNumberOfThreads) {
  const auto verdicts = judged({measured(mode::condition, 2, "pthread", {10}),
                                measured(mode::condition, 2, "lockstep-default", {5}),
                                measured(mode::condition, 8, "pthread", {10}),
                                measured(mode::condition, 8, "lockstep-default", {5.1}),
                                measured(mode::condition, 8, "lockstep-block", {9}),
                                measured(mode::condition, 64, "lockstep-default", {1})},
                               4);
  ASSERT_EQ(verdicts.size(), 2u);
  EXPECT_TRUE(verdicts.at("broadcast chain, 2 threads").met());
  EXPECT_FALSE(verdicts.at("broadcast chain, 8 threads").met());
}

TEST(Rows, ThreadCountsAscendWithoutDoubles) {
  EXPECT_EQ(thread_counts(mode::mutex, 1), (std::vector<std::size_t>{1, 4, 32}));
  EXPECT_EQ(thread_counts(mode::mutex, 2), (std::vector<std::size_t>{1, 2, 8, 64}));
  EXPECT_EQ(thread_counts(mode::barrier, 1), (std::vector<std::size_t>{2, 4, 32}));
  EXPECT_EQ(thread_counts(mode::barrier, 2), (std::vector<std::size_t>{2, 8, 64}));
  EXPECT_EQ(thread_counts(mode::condition, 56), (std::vector<std::size_t>{2, 56, 224, 1792}));
}

TEST(Rows, NamesAreUniqueAndSpinnersStayOutOfTheCrowd) {
  std::set<std::string> names;
  for (const row& one : all_rows(2)) {
    EXPECT_TRUE(names.insert(name(one)).second) << name(one);
    EXPECT_LE(one.threads, one.library.ends_with("-spin") ? 2u : 64u) << name(one);
  }
  EXPECT_TRUE(names.contains("condition/64/lockstep-default"));
  EXPECT_TRUE(names.contains("barrier/64/lockstep-split-block"));
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
