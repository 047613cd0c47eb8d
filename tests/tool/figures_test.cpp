// SPDX-License-Identifier: MIT
#include "tool/figures.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tool/summary_text.hpp"
#include "tool/text.hpp"

namespace {

using tool::figures;
using tool::figures_of;
using tool::kind;
using tool::nanoseconds;
using tool::span;
using tool::trace;

/// A trace of threads whose slices are given from the outside inwards.
class staged {
 public:
  explicit staged(std::size_t threads) {
    of.threads.resize(threads);
    for (std::size_t i = 0; i < threads; ++i) of.threads[i].name = "member " + std::to_string(i);
  }

  void add(std::size_t thread, kind what, nanoseconds begin, nanoseconds end, std::uint32_t depth,
           const std::string& name = "x") {
    tool::slice made;
    made.begin = begin, made.length = end - begin, made.look = look(what, name), made.depth = depth;
    of.threads[thread].slices.push_back(made);
    of.end = std::max(of.end, end);
  }

  /// Says that the slice added last belongs to a team's region.
  void belongs(std::size_t thread, std::uint32_t team, std::uint32_t region) {
    of.threads[thread].slices.back().team = team;
    of.threads[thread].slices.back().region = region;
  }

  std::uint32_t look(kind what, const std::string& name) {
    tool::look made;
    made.name = name, made.of = what, made.arguments = "[]";
    of.looks.push_back(made);
    return static_cast<std::uint32_t>(of.looks.size() - 1);
  }

  trace of;
};

std::vector<std::pair<nanoseconds, nanoseconds>> pairs(const std::vector<span>& spans) {
  std::vector<std::pair<nanoseconds, nanoseconds>> found;
  for (const span& one : spans) found.emplace_back(one.begin, one.end);
  return found;
}

using spans = std::vector<std::pair<nanoseconds, nanoseconds>>;

TEST(Activity, TheInnermostSliceDecides) {
  staged made(1);
  made.add(0, kind::region, 0, 100, 0);
  made.add(0, kind::part, 10, 80, 1);
  made.add(0, kind::construct, 20, 50, 2);
  made.add(0, kind::wait, 25, 50, 3);
  made.add(0, kind::node, 30, 40, 4);  // helps while it waits
  made.add(0, kind::wait, 80, 100, 1);
  const tool::activity found = activity_of(made.of, made.of.threads[0]);
  EXPECT_EQ(pairs(found.computing), (spans{{10, 25}, {30, 40}, {50, 80}}));
  EXPECT_EQ(pairs(found.waiting), (spans{{25, 30}, {40, 50}, {80, 100}}));
}

TEST(Activity, ARegionComputesInItsPartsOnlyAlsoInsideOfANamedOne) {
  staged made(1);
  made.add(0, kind::user, 0, 100, 0);
  made.add(0, kind::region, 10, 90, 1);
  made.add(0, kind::part, 30, 80, 2);
  EXPECT_EQ(pairs(activity_of(made.of, made.of.threads[0]).computing),
            (spans{{0, 10}, {30, 80}, {90, 100}}));
}

TEST(Activity, ARegionWithoutPartsComputes) {
  staged made(1);
  made.add(0, kind::region, 0, 10, 0);
  made.add(0, kind::region, 20, 30, 0);
  made.add(0, kind::part, 22, 30, 1);
  EXPECT_EQ(pairs(activity_of(made.of, made.of.threads[0]).computing), (spans{{0, 10}, {22, 30}}));
}

TEST(Activity, WhoCallsRegionsIsSerialOutsideOfThemAndThereAllTheTime) {
  staged made(2);
  made.add(0, kind::region, 10, 30, 0);
  made.add(0, kind::part, 15, 30, 1);
  made.add(0, kind::construct, 50, 60, 0);
  made.add(1, kind::part, 16, 20, 0);
  made.add(1, kind::part, 40, 50, 0);
  made.of.end = 100;
  const tool::activity caller = activity_of(made.of, made.of.threads[0]);
  EXPECT_EQ(pairs(caller.serial), (spans{{0, 10}, {30, 50}, {60, 100}}));
  EXPECT_EQ(pairs({caller.there}), (spans{{0, 100}}));
  const tool::activity worker = activity_of(made.of, made.of.threads[1]);
  EXPECT_EQ(pairs(worker.serial), spans());
  EXPECT_EQ(pairs({worker.there}), (spans{{16, 50}}));
  made.of.threads[0].whole_from = 5;
  EXPECT_EQ(activity_of(made.of, made.of.threads[0]).serial[0].begin, 5)
      << "before, nothing is known";
}

TEST(Activity, AConstructEndsInTheWaitThatItSays) {
  staged made(1);
  made.add(0, kind::part, 0, 100, 0);
  made.add(0, kind::construct, 20, 50, 1);
  made.of.threads[0].slices.back().waited = 25;
  made.add(0, kind::node, 30, 40, 2);  // helps while it waits
  const tool::activity found = activity_of(made.of, made.of.threads[0]);
  EXPECT_EQ(pairs(found.computing), (spans{{0, 25}, {30, 40}, {50, 100}}));
  EXPECT_EQ(pairs(found.waiting), (spans{{25, 30}, {40, 50}}));
}

TEST(Activity, SlicesThatCrossCountToTheEndOfTheOuterOne) {
  staged made(1);
  made.add(0, kind::part, 0, 10, 0);
  made.add(0, kind::wait, 5, 15, 1);
  const tool::activity found = activity_of(made.of, made.of.threads[0]);
  EXPECT_EQ(pairs(found.computing), (spans{{0, 5}}));
  EXPECT_EQ(pairs(found.waiting), (spans{{5, 10}}));
}

TEST(Activity, TimeWithinAWindowIsCutAtItsEdges) {
  const std::vector<span> some = {{0, 10}, {20, 30}, {40, 50}};
  EXPECT_EQ(total_within(some, {5, 45}), 5 + 10 + 5);
  EXPECT_EQ(total_within(some, {10, 20}), 0);
  EXPECT_EQ(total_within(some, {22, 24}), 2);
}

TEST(Figures, TimeOfTwoCountsWhereSpansOverlap) {
  EXPECT_EQ(tool::time_of_two({{0, 10}, {10, 20}}), 0);
  EXPECT_EQ(tool::time_of_two({{0, 10}, {5, 20}, {6, 7}}), 5);
  EXPECT_EQ(tool::time_of_two({}), 0);
  EXPECT_EQ(tool::time_of_two({{0, 10}, {5, 20}, {30, 40}, {30, 50}}), 5 + 10);
}

TEST(Figures, SkewParallelShareAndLossOfARegionAreThoseOfItsMembers) {
  staged made(3);
  made.add(0, kind::region, 0, 100, 0, "loop");
  made.add(0, kind::part, 10, 60, 1);
  made.add(0, kind::wait, 60, 100, 1, "join");
  made.add(1, kind::part, 30, 100, 0);
  made.add(2, kind::user, 0, 100, 0);  // has no part in it
  const figures found = figures_of(made.of);
  ASSERT_EQ(found.regions.size(), 1u);
  const tool::region_figures& loop = found.regions[0];
  EXPECT_EQ(loop.name, "loop");
  EXPECT_EQ(loop.count, 1u);
  EXPECT_EQ(loop.members, 2u);
  EXPECT_EQ(loop.median, 100);
  EXPECT_EQ(loop.median_skew, 20);
  EXPECT_DOUBLE_EQ(loop.parallel_share, 0.3);  // from 30 to 60
  EXPECT_EQ(loop.lost, 2 * 100 - 50 - 70);
  EXPECT_DOUBLE_EQ(loop.lost_share, 80.0 / 200);
}

TEST(Figures, PartsOfOtherTeamsAreNotMembers) {
  staged made(3);
  made.add(0, kind::region, 0, 100, 0, "loop");
  made.belongs(0, 1, 7);
  made.add(0, kind::part, 0, 100, 1);
  made.belongs(0, 1, 7);
  made.add(1, kind::part, 10, 20, 0);
  made.belongs(1, 2, 7);  // another team
  made.add(1, kind::part, 30, 100, 0);
  made.belongs(1, 1, 7);
  made.add(2, kind::part, 50, 60, 0);
  made.belongs(2, 1, 8);  // another region
  const tool::region_run run = figures_of(made.of).runs.at(0);
  EXPECT_EQ(run.members, 2u);
  EXPECT_EQ(run.skew(), 30);
}

TEST(Figures, ARegionInsideOfAnotherHasTheFiguresOfItsOwnTime) {
  staged made(2);
  made.add(0, kind::region, 0, 100, 0, "outer");
  made.belongs(0, 1, 7);
  made.add(0, kind::part, 0, 100, 1);
  made.belongs(0, 1, 7);
  made.add(0, kind::region, 20, 60, 2, "inner");
  made.belongs(0, 2, 1);
  made.add(0, kind::part, 20, 50, 3);
  made.belongs(0, 2, 1);
  made.add(1, kind::part, 10, 90, 0);
  made.belongs(1, 1, 7);
  made.add(1, kind::part, 30, 60, 1);
  made.belongs(1, 2, 1);
  made.add(1, kind::part, 62, 64, 1);  // of a later region of that number
  made.belongs(1, 2, 1);
  const figures found = figures_of(made.of);
  ASSERT_EQ(found.runs.size(), 2u);
  EXPECT_EQ(found.runs[0].members, 2u);
  EXPECT_EQ(found.runs[0].skew(), 10);
  EXPECT_EQ(found.runs[0].lost,
            10 + 10 + 10);  // two of late and early ends, one at the end of the inner region
  EXPECT_EQ(found.runs[0].parallel, 40 + 30);
  EXPECT_EQ(found.runs[1].members, 2u);
  EXPECT_EQ(found.runs[1].skew(), 10);
  EXPECT_EQ(found.runs[1].lost, 10);
  EXPECT_EQ(found.runs[1].parallel, 30);
}

TEST(Figures, ALoopThatRanInlineHasOneMemberAndLosesNothing) {
  staged made(1);
  made.add(0, kind::region, 0, 100, 0);
  const tool::region_run run = figures_of(made.of).runs.at(0);
  EXPECT_EQ(run.members, 1u);
  EXPECT_EQ(run.skew(), 0);
  EXPECT_EQ(run.lost, 0);
  EXPECT_EQ(run.parallel, 0);
}

TEST(Figures, RunsOfOneNameAndPlaceAreOneRowAndTheWorstIsKnown) {
  staged made(1);
  for (const nanoseconds length : {30, 10, 20}) {
    const nanoseconds begin = made.of.end + 5;
    made.add(0, kind::region, begin, begin + length, 0, "a");
  }
  made.add(0, kind::region, 500, 501, 0, "b");
  const figures found = figures_of(made.of);
  ASSERT_EQ(found.regions.size(), 3u);
  EXPECT_TRUE(found.regions[0].is_serial);
  EXPECT_EQ(found.regions[0].total, 501 - 60 - 1);
  EXPECT_EQ(found.regions[1].name, "a");
  EXPECT_EQ(found.regions[1].count, 3u);
  EXPECT_EQ(found.regions[1].median, 20);
  EXPECT_EQ(found.regions[1].worst, 30);
  EXPECT_EQ(found.regions[1].worst_time.begin, found.runs[0].time.begin);
  EXPECT_EQ(found.regions[1].total, 60);
}

TEST(Figures, AreOfTheTimeOfWhichThereAreAllRecords) {
  staged made(1);
  for (nanoseconds i = 0; i < 10; ++i) made.add(0, kind::region, 100 * i, 100 * i + 40, 0, "r");
  made.of.common = {220, 910};
  const figures found = figures_of(made.of);
  ASSERT_EQ(found.regions.size(), 2u);
  EXPECT_TRUE(found.regions[0].is_serial);
  EXPECT_EQ(found.regions[0].count, 7u);
  EXPECT_EQ(found.regions[0].total, 7 * 60);
  EXPECT_EQ(found.regions[0].worst, 60);
  EXPECT_EQ(found.regions[1].count, 8u) << "with those at the borders";
  EXPECT_EQ(found.regions[1].total, 20 + 6 * 40 + 10);
  EXPECT_EQ(found.threads[0].computed, 20 + 6 * 40 + 10);
}

TEST(Figures, ConstructsAreTheTimeThatMembersWaitedByPlace) {
  staged made(1);
  for (const nanoseconds waited : {4, 6, 0}) {
    made.add(0, kind::construct, made.of.end, made.of.end + 10, 0, "sync_threads");
    made.of.threads[0].slices.back().waited = waited;
    made.of.looks.back().where = waited == 0 ? "b.cpp:2" : "a.cpp:1";
  }
  const figures found = figures_of(made.of);
  ASSERT_EQ(found.constructs.size(), 2u);
  EXPECT_EQ(found.constructs[0].name, "sync_threads at a.cpp:1");
  EXPECT_EQ(found.constructs[0].count, 2u);
  EXPECT_EQ(found.constructs[0].total, 10);
  EXPECT_EQ(found.constructs[0].median, 4);
  EXPECT_EQ(found.constructs[1].total, 0);
}

TEST(Figures, WaitsAndMarksAreCountedByName) {
  staged made(2);
  made.add(0, kind::wait, 0, 5, 0, "barrier");
  made.add(1, kind::wait, 0, 9, 0, "barrier");
  made.add(1, kind::node, 10, 13, 0, "update");
  made.add(1, kind::user, 20, 21, 0, "output");
  const std::uint32_t look = made.look(kind::other, "loop inline");
  made.of.threads[0].marks = {{1, look, 0}, {2, look, 0}};
  const figures found = figures_of(made.of);
  ASSERT_EQ(found.waits.size(), 1u);
  EXPECT_EQ(found.waits[0].count, 2u);
  EXPECT_EQ(found.waits[0].total, 14);
  EXPECT_EQ(found.waits[0].worst, 9);
  ASSERT_EQ(found.nodes.size(), 2u);
  EXPECT_EQ(found.nodes[0].name, "update");
  EXPECT_EQ(found.nodes[0].median, 3);
  ASSERT_EQ(found.marks.size(), 1u);
  EXPECT_EQ(found.marks[0].count, 2u);
  EXPECT_EQ(found.threads[1].longest_wait, 9);
}

TEST(SummaryText, HasALineForEachThreadRegionWaitAndMark) {
  staged made(2);
  made.add(0, kind::region, 0, 100'000, 0, "solver.cpp:30");
  made.add(0, kind::part, 0, 60'000, 1);
  made.add(0, kind::wait, 60'000, 100'000, 1, "join");
  made.add(1, kind::part, 0, 100'000, 0);
  made.of.threads[1].marks = {{1, made.look(kind::other, "woken"), 0}};
  made.of.dropped = 3;
  const std::string text = summary_text(made.of, figures_of(made.of));
  EXPECT_NE(text.find("| member 1"), std::string::npos) << text;
  EXPECT_NE(text.find("| solver.cpp:30 |     1 |       2 | 100 us |"), std::string::npos) << text;
  EXPECT_NE(text.find("|     60 % | 40.0 us |  20 % |"), std::string::npos) << text;
  EXPECT_NE(text.find("| join"), std::string::npos) << text;
  EXPECT_NE(text.find("| woken |     1 |"), std::string::npos) << text;
  EXPECT_NE(text.find("3 records lost, the oldest"), std::string::npos) << text;
}

TEST(Text, TimesHaveThreeDigitsAndAUnit) {
  EXPECT_EQ(tool::time_text(0), "0 ns");
  EXPECT_EQ(tool::time_text(999), "999 ns");
  EXPECT_EQ(tool::time_text(1'234), "1.23 us");
  EXPECT_EQ(tool::time_text(99'949), "99.9 us");
  EXPECT_EQ(tool::time_text(99'960), "100 us");
  EXPECT_EQ(tool::time_text(12'340'000), "12.3 ms");
  EXPECT_EQ(tool::time_text(3'000'000'000), "3.00 s");
}

}  // namespace
