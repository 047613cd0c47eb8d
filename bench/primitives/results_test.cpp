// SPDX-License-Identifier: MIT
#include "primitives/results.hpp"

#include <gtest/gtest.h>

namespace bench::primitives {
namespace {

/// One sample for a row that took `full_seconds`, had it been run in full, and used twice that CPU time.
measured_row measured(experiment kind, std::size_t threads, std::string_view mechanism,
                      double full_seconds, std::size_t divisor = 1) {
  const row which{kind, threads, mechanism};
  const std::size_t operations = full_operations(which) / divisor;
  const double part =
      full_seconds * static_cast<double>(operations) / static_cast<double>(full_operations(which));
  return {which, operations, {{operations, {part, part * 2}}}};
}

TEST(Results, AHopIsTheTimeByThreadsAndCycles) {
  const auto results = evaluate({measured(experiment::cyclic, 5, "std", 0.5)});
  EXPECT_DOUBLE_EQ(results[0].full_ms.median, 500);
  EXPECT_DOUBLE_EQ(results[0].round_trip.wall_us, 50);
  EXPECT_DOUBLE_EQ(results[0].operation->wall_us, 10);
  EXPECT_DOUBLE_EQ(results[0].operation->cpu_us, 20);
}

TEST(Results, AScaledSampleIsExtrapolatedByTheOperationsThatWereRun) {
  const auto results = evaluate({measured(experiment::cyclic, 100, "std", 640, 64)});
  EXPECT_NEAR(results[0].full_ms.median, 640e3, 1e-6);
  EXPECT_NEAR(results[0].operation->wall_us, 640, 1e-9);
}

TEST(Results, SyncThreadsIsTheDifferenceToTheSameMechanismAndThreads) {
  const auto results = evaluate({measured(experiment::parallel, 4, "std", 0.2),
                                 measured(experiment::parallel, 4, "original", 0.1),
                                 measured(experiment::parallel, 16, "std", 0.05),
                                 measured(experiment::sync, 4, "std", 0.5),
                                 measured(experiment::sync, 64, "std", 0.5)});
  EXPECT_NEAR(results[3].operation->wall_us, 30, 1e-9);
  EXPECT_NEAR(results[3].operation->cpu_us, 60, 1e-9);
  EXPECT_DOUBLE_EQ(results[3].round_trip.wall_us, 50);
  EXPECT_FALSE(results[4].operation) << "there is no round without syncThreads to subtract";
}

TEST(Results, RatiosAreToTheSameExperimentAndThreads) {
  const auto results = evaluate({measured(experiment::parallel, 4, "original", 1),
                                 measured(experiment::parallel, 4, "std", 0.5),
                                 measured(experiment::parallel, 4, "naive", 0.25),
                                 measured(experiment::parallel, 16, "naive", 0.25)});
  EXPECT_DOUBLE_EQ(*results[2].operation_ratios.to_original, 0.25);
  EXPECT_DOUBLE_EQ(*results[2].operation_ratios.to_std, 0.5);
  EXPECT_DOUBLE_EQ(*results[2].round_trip_ratios.to_std, 0.5);
  EXPECT_FALSE(results[3].operation_ratios.to_std);
}

TEST(Results, ADifferenceBelowZeroHasNoRatio) {
  const auto results = evaluate({measured(experiment::parallel, 4, "original", 2),
                                 measured(experiment::parallel, 4, "lockstep-default", 0.1),
                                 measured(experiment::sync, 4, "original", 1),
                                 measured(experiment::sync, 4, "lockstep-default", 0.2)});
  EXPECT_LT(results[2].operation->wall_us, 0);
  EXPECT_FALSE(results[3].operation_ratios.to_original);
  EXPECT_DOUBLE_EQ(*results[3].round_trip_ratios.to_original, 0.2);
}

TEST(Results, ACutSampleIsExtrapolatedByWhatItDid) {
  measured_row cut = measured(experiment::parallel, 4, "std", 1);
  cut.samples.push_back({full_rounds / 4, {1, 1}});
  const auto results = evaluate({cut});
  EXPECT_DOUBLE_EQ(results[0].full_ms.max, 4000);
  EXPECT_EQ(results[0].cut_samples, 1u);
}

TEST(Rows, TheFirstMechanismsAreThoseWeCompareWith) {
  const auto rows = all_rows();
  EXPECT_EQ(name(rows.front()), "cyclic/2/original");
  EXPECT_EQ(full_operations(rows.front()), 20'000u);
  EXPECT_EQ(full_operations({experiment::sync, 64, "std"}), 10'000u);
}

}  // namespace
}  // namespace bench::primitives
