// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <atomic>
#include <system_error>

#include "support/calibration.hpp"
#include "support/crew.hpp"
#include "support/machine.hpp"
#include "support/placement.hpp"
#include "support/program.hpp"
#include "support/rows.hpp"
#include "support/statistics.hpp"
#include "support/text_table.hpp"
#include "support/turns.hpp"

namespace bench {
namespace {

TEST(Summary, OfAnOddAndAnEvenNumberOfSamples) {
  const summary odd = summarize({5, 1, 3});
  EXPECT_DOUBLE_EQ(odd.median, 3);
  EXPECT_DOUBLE_EQ(odd.min, 1);
  EXPECT_DOUBLE_EQ(odd.max, 5);
  EXPECT_DOUBLE_EQ(odd.mean, 3);
  EXPECT_DOUBLE_EQ(odd.stddev, 2);
  EXPECT_DOUBLE_EQ(summarize({4, 1, 2, 9}).median, 3);
}

TEST(Summary, OfOneSampleHasNoDeviation) {
  const summary one = summarize({7});
  EXPECT_DOUBLE_EQ(one.median, 7);
  EXPECT_DOUBLE_EQ(one.stddev, 0);
}

TEST(Turns, EveryRowOnceARoundThereAndBackAgain) {
  std::vector<std::size_t> rows;
  take_turns(3, 2, [&](std::size_t row, std::size_t) { rows.push_back(row); });
  EXPECT_EQ(rows, (std::vector<std::size_t>{0, 1, 2, 2, 1, 0}));
}

TEST(Calibration, FillsTheSampleWithAtLeastOneOperationAndAtMostTheLimit) {
  constexpr sample_length length{1, 0.01, 1000};
  EXPECT_EQ(operations_that_fill(length, 4, 0.02), 200u);
  EXPECT_EQ(operations_that_fill(length, 4, 400), 1u);
  EXPECT_EQ(operations_that_fill(length, 4, 1e-9), 1000u);
  EXPECT_EQ(operations_that_fill(length, 4, 0), 1000u);
}

TEST(Calibration, GrowsTheTrialUntilItIsLongEnoughOrTheLimitIsReached) {
  std::vector<std::size_t> tried;
  const auto run = [&](double seconds_each) {
    return [&tried, seconds_each](std::size_t operations) {
      tried.push_back(operations);
      return seconds_each * static_cast<double>(operations);
    };
  };
  EXPECT_EQ(calibrate({1, 0.01, 1000}, run(0.001)), 1000u);
  EXPECT_EQ(tried, (std::vector<std::size_t>{1, 4, 16, 16}));
  tried.clear();
  EXPECT_EQ(calibrate({1, 0.01, 10}, run(1e-6)), 10u);
  EXPECT_EQ(tried, (std::vector<std::size_t>{1, 4, 10}));
}

TEST(Calibration, ASingleSlowRunDoesNotEndTheTrial) {
  int runs = 0;
  const auto run = [&](std::size_t operations) {
    return ++runs == 1 ? 5.0 : 0.001 * static_cast<double>(operations);
  };
  EXPECT_EQ(calibrate({1, 0.01, 1000}, run), 1000u);
}

TEST(Filter, KeepsTheRowsThatMatchAndRefusesToKeepNone) {
  const auto name = [](const std::string& row) { return row; };
  std::vector<std::string> rows{"mutex/2/std", "barrier/2/std"};
  keep_matching(rows, "^mutex", name);
  EXPECT_EQ(rows, std::vector<std::string>{"mutex/2/std"});
  EXPECT_THROW(keep_matching(rows, "^barrier", name), argument_error);
  EXPECT_THROW(keep_matching(rows, "(", name), argument_error);
}

/// Samples of 1000 operations with these nanoseconds a part, and twice that CPU time.
measured_row measured(const std::string& group, const std::string& contender,
                      const std::vector<double>& nanoseconds, std::size_t parts = 1) {
  measured_row one{{group, contender, 1000, parts, {}}, 1000, {}};
  for (const double each : nanoseconds) {
    const double seconds = each * 1e-9 * 1000 * static_cast<double>(parts);
    one.samples.push_back({1000, {seconds, seconds * 2}});
  }
  return one;
}

TEST(Rows, TimeIsThatOfAPartOfAnOperation) {
  const auto results = evaluate({measured("hop/5", "std", {30, 10, 20}, 5)});
  EXPECT_NEAR(results[0].value.median, 20, 1e-9);
  EXPECT_NEAR(results[0].value.max, 30, 1e-9);
  EXPECT_NEAR(results[0].cpu_ns, 40, 1e-9);
}

TEST(Rows, ACutSampleCountsByTheOperationsThatItDid) {
  measured_row row = measured("hop/2", "std", {10});
  row.samples[0].operations = 100;
  const auto results = evaluate({row});
  EXPECT_NEAR(results[0].value.median, 100, 1e-9);
  EXPECT_EQ(results[0].cut_samples, 1u);
}

TEST(Rows, WhatIsCountedHasNoRatio) {
  measured_row row = measured("slack/2", "std", {1, 1, 1});
  row.which.unit = "additions";
  for (std::size_t i = 0; i < 3; ++i) row.samples[i].counted = 10.0 * static_cast<double>(i);
  const auto results = evaluate({row});
  EXPECT_DOUBLE_EQ(results[0].value.median, 10);
  EXPECT_FALSE(results[0].to_best);
}

TEST(Rows, TheFastestOfTheSameGroupThatIsNotOursIsComparedWith) {
  const auto results =
      evaluate({measured("hop/2", "std", {400}), measured("hop/2", "posix", {50}),
                measured("hop/2", "lockstep-default", {10}), measured("hop/3", "std", {1}),
                measured("hop/4", "lockstep", {1})});
  EXPECT_NEAR(*results[0].to_best, 8, 1e-9);
  EXPECT_NEAR(*results[2].to_best, 0.2, 1e-9);
  EXPECT_FALSE(results[4].to_best);
}

TEST(FourDigits, AreSignificantAndWithoutExponent) {
  EXPECT_EQ(four_digits(0), "0");
  EXPECT_EQ(four_digits(1.23456), "1.235");
  EXPECT_EQ(four_digits(-12.3456), "-12.35");
  EXPECT_EQ(four_digits(123456), "123456");
  EXPECT_EQ(four_digits(0.000123456), "0.000123");
}

TEST(TextTable, IsMarkdownWithAlignedColumns) {
  text_table table({{"Name", text_table::align::left}, {"Time", text_table::align::right}});
  table.add({"a", "12345"});
  EXPECT_EQ(table.to_string(),
            "| Name | Time  |\n"
            "|:-----|------:|\n"
            "| a    | 12345 |\n");
}

TEST(Crew, EveryRankRunsItsBodyOnce) {
  std::atomic<unsigned> ranks{0};
  crew workers(3, [&](std::size_t rank) { ranks += 1u << rank; });
  workers.join();
  EXPECT_EQ(ranks, 7u);
}

TEST(Crew, AThreadThatCannotBeMadeEndsTheOthers) {
  struct body {
    std::shared_ptr<std::atomic<int>> copies_left;
    std::atomic<int>* begun;
    body(std::atomic<int>* begun_by, int copies)
        : copies_left(std::make_shared<std::atomic<int>>(copies)), begun(begun_by) {}
    body(const body& other) : copies_left(other.copies_left), begun(other.begun) {
      if (--*copies_left < 0)
        throw std::system_error(std::make_error_code(std::errc::no_such_process));
    }
    void operator()(std::size_t) const { ++*begun; }
  };
  std::atomic<int> begun{0};
  EXPECT_THROW(crew(50, body(&begun, 20)), std::system_error);
  EXPECT_EQ(begun, 0);
}

TEST(Placement, BindsDealsOutAndLetsGo) {
  const std::vector<unsigned> all = bench::affinity();
  std::vector<std::vector<unsigned>> seen(4);
  for (const placement where :
       {placement::free, placement::dealt, placement::spread, placement::one_cpu}) {
    crew one(1, [&](std::size_t) {
      place(where, 1);
      seen[static_cast<std::size_t>(where)] = bench::affinity();
    });
  }
  EXPECT_EQ(seen[0], all);
  EXPECT_EQ(seen[1], all);
  EXPECT_EQ(seen[2], std::vector<unsigned>{all[1 % all.size()]});
  EXPECT_EQ(seen[3], std::vector<unsigned>{all[0]});
}

TEST(Machine, IsDescribedOnOneLine) {
  const auto machine = describe_machine();
  EXPECT_GT(machine.at("usable_cpus"), 0);
  EXPECT_EQ(on_one_line(machine).find('\n'), std::string::npos);
}

}  // namespace
}  // namespace bench
