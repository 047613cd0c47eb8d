// SPDX-License-Identifier: MIT
#include "counters/results.hpp"

#include <gtest/gtest.h>

#include <set>
#include <stdexcept>

namespace bench::counters {
namespace {

constexpr counting how{2, 1000};

measured_row measured(row which, std::vector<counted> samples) {
  return {which, how.count, std::move(samples)};
}

/// A sample of `us` microseconds.
counted took(double us, std::uint64_t result = 2000) { return {{us * 1e-6, us * 2e-6}, result}; }

TEST(Results, ElapsedIsTheMedianAndTheRatioIsToSerial) {
  const auto results = evaluate(
      {measured({"serial"}, {took(100)}), measured({"padded"}, {took(60), took(10), took(50)})},
      how);
  EXPECT_NEAR(results[1].elapsed_us.median, 50, 1e-9);
  EXPECT_NEAR(results[1].cpu_us, 100, 1e-9);
  EXPECT_NEAR(*results[1].to_serial, 0.5, 1e-9);
  EXPECT_TRUE(results[1].is_exact());
}

TEST(Results, ARacyCounterShowsItsLeastAndMostResult) {
  const auto results =
      evaluate({measured({"racy", true}, {took(1, 1500), took(1, 1100), took(1, 2000)})}, how);
  EXPECT_EQ(results[0].least, 1100u);
  EXPECT_EQ(results[0].most, 2000u);
  EXPECT_FALSE(results[0].is_exact());
  EXPECT_FALSE(results[0].to_serial);
  EXPECT_NE(to_table(results).find("lost up to 45.0 %"), std::string::npos);
}

TEST(Results, AnyOtherCounterThatIsWrongOnceIsAFailure) {
  EXPECT_THROW((void)evaluate({measured({"padded"}, {took(1), took(1, 1999)})}, how),
               std::logic_error);
  EXPECT_THROW((void)evaluate({measured({"padded"}, {took(1), took(1, 2001)})}, how),
               std::logic_error);
}

TEST(Rows, EveryCounterButTheRacyIsExactWithThreeThreads) {
  std::set<std::string> names;
  for (const row& one : all_rows()) {
    SCOPED_TRACE(name(one));
    EXPECT_TRUE(names.insert(name(one)).second);
    const counted done = run(one, {3, 2000});
    EXPECT_LE(done.result, 6000u);
    EXPECT_GE(done.result, one.loses_counts ? 1u : 6000u);
    EXPECT_GT(done.time.wall_seconds, 0);
  }
}

}  // namespace
}  // namespace bench::counters
