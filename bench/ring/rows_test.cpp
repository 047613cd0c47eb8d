// SPDX-License-Identifier: MIT
#include "ring/rows.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "ring/ring.hpp"

namespace bench::ring {
namespace {

std::set<std::string> names(std::size_t cpus) {
  std::set<std::string> all;
  for (const row& one : all_rows(cpus)) EXPECT_TRUE(all.insert(name(one)).second) << name(one);
  return all;
}

TEST(Rows, PollingRowsStayOutOfTheLargeRingAndSlackOutOfCrowds) {
  const std::set<std::string> all = names(2);
  EXPECT_TRUE(all.contains("hop/100/free/semaphore") && all.contains("hop/8/free/release"));
  EXPECT_FALSE(all.contains("hop/100/free/release"));
  EXPECT_TRUE(all.contains("slack/2/two-cpus/lockstep-try_wait"));
  EXPECT_FALSE(all.contains("slack/3/free/release"));
}

TEST(Rows, OneCpuHasNoSecondToSpreadTo) {
  for (const std::string& one : names(1)) EXPECT_EQ(one.find("two-cpus"), std::string::npos) << one;
}

TEST(Rows, ALookAtTheClockIsRare) {
  EXPECT_EQ(laps_between_looks(2), 32u);
  EXPECT_EQ(laps_between_looks(3), 22u);
  EXPECT_EQ(laps_between_looks(100), 1u);
}

TEST(Rows, TheRingTimesItsLapsAndCountsAdditionsWhereThatIsAsked) {
  for (const row& one : all_rows(2)) {
    if (one.parts > 2) continue;
    const sample taken = one.run(2);
    EXPECT_GT(taken.time.wall_seconds, 0) << name(one);
    EXPECT_EQ(one.unit == "ns", taken.counted == 0) << name(one);
  }
}

}  // namespace
}  // namespace bench::ring
