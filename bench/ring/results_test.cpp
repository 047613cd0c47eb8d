// SPDX-License-Identifier: MIT
#include "ring/results.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace bench::ring {
namespace {

constexpr std::size_t laps = 1000;

/// Samples with these nanoseconds a hop, and twice that CPU time.
measured_row measured(std::size_t threads, std::string_view mechanism, std::vector<double> hop_ns,
                      placement where = placement::dealt) {
  measured_row one{{quantity::hop, threads, where, mechanism, mechanism == "release"}, laps, {}};
  for (const double each : hop_ns) {
    const double seconds = each * 1e-9 * static_cast<double>(laps * threads);
    one.samples.push_back({laps, {seconds, seconds * 2}, {}, 0});
  }
  return one;
}

TEST(Results, AHopIsTheTimeByLapsAndThreads) {
  const auto results = evaluate({measured(5, "semaphore", {30, 10, 20})}, 2);
  EXPECT_NEAR(results[0].value.median, 20, 1e-9);
  EXPECT_NEAR(results[0].value.max, 30, 1e-9);
  EXPECT_NEAR(results[0].cpu_ns, 40, 1e-9);
  EXPECT_TRUE(results[0].is_crowded);
}

TEST(Results, ACutSampleCountsByTheLapsItDid) {
  auto row = measured(2, "release", {10});
  row.samples[0].operations = laps / 10;
  const auto results = evaluate({row}, 2);
  EXPECT_NEAR(results[0].value.median, 100, 1e-9);
  EXPECT_EQ(results[0].cut_samples, 1u);
}

TEST(Results, SlackIsInAdditionsAndHasNoRatio) {
  measured_row row{{quantity::slack, 2, placement::dealt, "release", true}, laps, {}};
  for (const double additions : {40.0, 20.0, 30.0})
    row.samples.push_back({laps, {1, 1}, {}, additions});
  const auto results = evaluate({row}, 2);
  EXPECT_DOUBLE_EQ(results[0].value.median, 30);
  EXPECT_FALSE(results[0].to_best);
}

TEST(Results, ThePercentileIsOverAllStretchesAndNeedsAHundred) {
  auto row = measured(2, "release", {1, 1});
  for (ring_sample& sample : row.samples) sample.stretches_ns.assign(49, 1);
  EXPECT_FALSE(evaluate({row}, 2)[0].p99);
  for (ring_sample& sample : row.samples) sample.stretches_ns.assign(100, 5);
  row.samples[1].stretches_ns.assign(100, 9);
  EXPECT_DOUBLE_EQ(*evaluate({row}, 2)[0].p99, 9);
}

TEST(Results, TheBestPeerHasTheSameThreadsAndPlacement) {
  const auto results = evaluate(
      {measured(2, "condition", {400}), measured(2, "release", {50}), measured(2, "lockstep", {60}),
       measured(3, "release", {10}), measured(2, "release", {1}, placement::spread)},
      2);
  EXPECT_NEAR(*results[2].to_best, 1.2, 1e-9);
  EXPECT_NEAR(*results[0].to_best, 8, 1e-9);
}

TEST(Rows, PollingRowsStayOutOfTheLargeRingAndSlackOutOfCrowds) {
  std::set<std::string> names;
  for (const row& one : all_rows(2)) {
    EXPECT_TRUE(names.insert(name(one)).second) << name(one);
    EXPECT_LE(one.threads, one.kind == quantity::slack ? 2u : one.polls ? 8u : 100u) << name(one);
  }
  EXPECT_TRUE(names.contains("hop/100/free/semaphore"));
  EXPECT_TRUE(names.contains("slack/2/two-cpus/lockstep-try_wait"));
}

TEST(Rows, OneCpuHasNoSecondToSpreadTo) {
  for (const row& one : all_rows(1)) EXPECT_NE(one.where, placement::spread) << name(one);
}

TEST(Rows, AStretchHasEnoughHops) {
  EXPECT_EQ(stretch_laps(2), 32u);
  EXPECT_EQ(stretch_laps(3), 22u);
  EXPECT_EQ(stretch_laps(100), 1u);
}

TEST(Rows, TheRingTimesItsLapsAndStretches) {
  for (const row& one : all_rows(2)) {
    if (one.threads > 2) continue;
    SCOPED_TRACE(name(one));
    const std::size_t few = one.polls && is_crowded(one, 2) ? 2 : 100;
    const ring_sample sample = run(one, few);
    EXPECT_GT(sample.time.wall_seconds, 0);
    if (sample.operations < few) continue;  // cut: on a machine that has no time for us
    EXPECT_EQ(sample.stretches_ns.size(), few / stretch_laps(one.threads));
    EXPECT_EQ(one.kind == quantity::hop, sample.additions == 0);
  }
}

}  // namespace
}  // namespace bench::ring
