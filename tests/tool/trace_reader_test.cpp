// SPDX-License-Identifier: MIT
#include "tool/trace_reader.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace {

using tool::kind;
using tool::read_trace;
using tool::trace;

std::string file_of(const std::string& events) {
  return R"({"traceEvents":[)" + events +
         R"(],"displayTimeUnit":"ns","otherData":{"lockstep":"0.1.0"}})";
}

std::string slice(const std::string& category, const std::string& name, int thread, double ts,
                  double duration, const std::string& arguments = "{}") {
  return R"({"ph":"X","pid":1,"cat":")" + category + R"(","name":")" + name + R"(","tid":)" +
         std::to_string(thread) + R"(,"ts":)" + std::to_string(ts) + R"(,"dur":)" +
         std::to_string(duration) + R"(,"args":)" + arguments + "}";
}

trace read(const std::string& events) { return read_trace(file_of(events), "t.json"); }

/// What the reader says of a file, which it must refuse.
std::string complaint(const std::string& text) {
  try {
    static_cast<void>(read_trace(text, "t.json"));
  } catch (const tool::bad_trace& failure) {
    return failure.what();
  }
  ADD_FAILURE() << "was read: " << text;
  return "";
}

TEST(TraceReader, TimesAreNanosecondsFromTheFirstRecord) {
  const trace of =
      read(slice("part", "b", 0, 1000.002, 0.5) + "," + slice("region", "a", 0, 1000.001, 2.75));
  ASSERT_EQ(of.threads.size(), 1u);
  const auto& slices = of.threads[0].slices;
  ASSERT_EQ(slices.size(), 2u);
  EXPECT_EQ(slices[0].begin, 0);
  EXPECT_EQ(slices[0].length, 2750);
  EXPECT_EQ(slices[1].begin, 1);
  EXPECT_EQ(slices[1].length, 500);
  EXPECT_EQ(of.end, 2750);
}

TEST(TraceReader, TimesAfterMonthsKeepTheirNanoseconds) {
  const trace of = read(slice("part", "a", 0, 7776000000000.125, 0.001) + "," +
                        slice("part", "b", 0, 7776000000000.127, 1));
  EXPECT_EQ(of.threads[0].slices[1].begin, 2);
}

TEST(TraceReader, WhatContainsComesFirstWhateverTheOrderOfTheFile) {
  const trace of = read(slice("wait", "w", 0, 3, 1) + "," + slice("part", "p", 0, 1, 9) + "," +
                        slice("region", "r", 0, 1, 9) + "," + slice("part", "q", 0, 11, 1));
  const auto& slices = of.threads[0].slices;
  ASSERT_EQ(slices.size(), 4u);
  EXPECT_EQ(of.look_of(slices[0]).of, kind::region);
  EXPECT_EQ(slices[0].depth, 0u);
  EXPECT_EQ(of.look_of(slices[1]).of, kind::part);
  EXPECT_EQ(slices[1].depth, 1u);
  EXPECT_EQ(of.look_of(slices[2]).of, kind::wait);
  EXPECT_EQ(slices[2].depth, 2u);
  EXPECT_EQ(slices[3].depth, 0u);
  EXPECT_EQ(of.crossing, 0u);
}

TEST(TraceReader, SlicesThatCrossAreCounted) {
  EXPECT_EQ(read(slice("part", "a", 0, 0, 10) + "," + slice("part", "b", 0, 5, 10)).crossing, 1u);
}

TEST(TraceReader, RecordsThatDifferInNumbersShareALook) {
  const trace of = read(slice("wait", "w", 0, 0, 1, R"({"for":"barrier","phase":4})") + "," +
                        slice("wait", "w", 0, 2, 1, R"({"for":"barrier","phase":5})") + "," +
                        slice("wait", "w", 0, 4, 1, R"({"for":"event","phase":-5})"));
  const auto& slices = of.threads[0].slices;
  EXPECT_EQ(of.looks.size(), 2u);
  EXPECT_EQ(of.look_of(slices[0]).arguments, R"([["for","barrier"],["phase",1]])");
  EXPECT_EQ(of.numbers[slices[0].first_number], 4u);
  EXPECT_EQ(of.numbers[slices[1].first_number], 5u);
  EXPECT_EQ(of.look_of(slices[2]).arguments, R"([["for","event"],["phase","-5"]])");
}

TEST(TraceReader, FractionsAreKeptInThousandths) {
  const trace of = read(slice("construct", "c", 0, 0, 1, R"({"waited":1.25})") + "," +
                        slice("construct", "c", 0, 2, 1, R"({"waited":0.5})"));
  EXPECT_EQ(of.looks.size(), 1u);
  EXPECT_EQ(of.looks[0].arguments, R"([["waited",0.001]])");
  EXPECT_EQ(of.numbers, (std::vector<std::uint64_t>{1250, 500}));
}

TEST(TraceReader, ConstructsSayWhereTheyAreAndHowLongTheyWaited) {
  const trace of =
      read(slice("construct", "c", 0, 0, 9, R"({"waited":2.5,"where":"/a/b/solver.cpp:31"})"));
  EXPECT_EQ(of.threads[0].slices[0].waited, 2500);
  EXPECT_EQ(of.looks[0].where, "solver.cpp:31");
  EXPECT_EQ(of.looks[0].label(), "c at solver.cpp:31");
}

TEST(TraceReader, RegionsAndPartsSayTheirTeamAndNumber) {
  const std::string same = R"({"team":"0x10","region":3})";
  const trace of =
      read(slice("region", "r", 0, 0, 9, same) + "," + slice("part", "p", 1, 1, 1, same) + "," +
           slice("part", "p", 1, 3, 1, R"({"team":"0x20","region":4})") + "," +
           slice("part", "p", 1, 5, 1));
  const auto& region = of.threads[0].slices[0];
  const auto& parts = of.threads[1].slices;
  EXPECT_EQ(region.team, parts[0].team);
  EXPECT_EQ(region.region, 3u);
  EXPECT_NE(parts[1].team, region.team);
  EXPECT_EQ(parts[1].region, 4u);
  EXPECT_EQ(parts[2].team, 0u);
}

TEST(TraceReader, ThreadsHaveTheirNamesAndOrder) {
  const trace of =
      read(slice("part", "a", 3, 0, 1) + "," + slice("part", "b", 5, 0, 1) + "," +
           R"({"ph":"M","name":"thread_name","pid":1,"tid":5,"args":{"name":"first"}},)"
           R"({"ph":"M","name":"thread_sort_index","pid":1,"tid":5,"args":{"sort_index":1}},)"
           R"({"ph":"M","name":"thread_name","pid":1,"tid":9,"args":{"name":"without records"}})");
  ASSERT_EQ(of.threads.size(), 2u);
  EXPECT_EQ(of.threads[0].name, "first");
  EXPECT_EQ(of.threads[1].name, "thread 3");
}

TEST(TraceReader, MembersStandByTheirRankBeforeOtherThreads) {
  const auto part = [](int thread, int rank) {
    return slice("part", "p", thread, thread, 1,
                 R"({"team":"0x10","region":1,"rank":)" + std::to_string(rank) + "}");
  };
  const trace of =
      read(slice("wait", "w", 0, 0, 1) + "," + part(1, 2) + "," + part(2, 0) + "," + part(3, 1));
  std::vector<std::int64_t> numbers;
  for (const auto& each : of.threads) numbers.push_back(each.number);
  EXPECT_EQ(numbers, (std::vector<std::int64_t>{2, 3, 1, 0}));
}

TEST(TraceReader, ArrowsJoinTheEndsOfTheSameId) {
  const trace of =
      read(slice("part", "a", 1, 0, 9) + "," + slice("part", "b", 0, 0, 9) + "," +
           R"({"ph":"f","bp":"e","id":8,"pid":1,"tid":0,"ts":4,"name":"x","cat":"flow"},)"
           R"({"ph":"s","id":8,"pid":1,"tid":1,"ts":3,"name":"x","cat":"flow"},)"
           R"({"ph":"s","id":9,"pid":1,"tid":1,"ts":3,"name":"x","cat":"flow"},)"
           R"({"ph":"s","id":"0x7","pid":1,"tid":0,"ts":1,"name":"x","cat":"flow"},)"
           R"({"ph":"f","id":"0x7","pid":1,"tid":1,"ts":2,"name":"x","cat":"flow"})");
  ASSERT_EQ(of.arrows.size(), 2u);
  EXPECT_EQ(of.arrows[0].from, 0u);
  EXPECT_EQ(of.arrows[0].to, 1u);
  EXPECT_EQ(of.arrows[1].left, 3000);
  EXPECT_EQ(of.arrows[1].came, 4000);
  EXPECT_EQ(of.arrows[1].from, 1u);
}

TEST(TraceReader, MarksAndCountersAreRead) {
  const trace of = read(
      slice("part", "a", 0, 0, 9) + "," +
      R"({"ph":"i","s":"t","cat":"decision","name":"loop inline","pid":1,"tid":0,"ts":2,"args":{"why":"short"}},)"
      R"({"ph":"C","name":"residual","pid":1,"tid":0,"ts":5,"args":{"value":0.5}},)"
      R"({"ph":"C","name":"residual","pid":1,"tid":0,"ts":4,"args":{"value":2}})");
  ASSERT_EQ(of.threads[0].marks.size(), 1u);
  EXPECT_EQ(of.threads[0].marks[0].when, 2000);
  EXPECT_EQ(of.look_of(of.threads[0].marks[0]).name, "loop inline");
  ASSERT_EQ(of.counters.size(), 1u);
  EXPECT_EQ(of.counters[0].values[0].amount, 2);
  EXPECT_EQ(of.counters[0].values[1].amount, 0.5);
}

TEST(TraceReader, WhatTheRecorderLostIsKnown) {
  const trace of = read_trace(R"({"otherData":{"lockstep":"0.1.0","dropped":12},"traceEvents":[)" +
                                  slice("part", "a", 0, 0, 9) + R"(,{"ph":"b","name":"x"}]})",
                              "t.json");
  EXPECT_EQ(of.dropped, 12u);
  EXPECT_EQ(of.version, "0.1.0");
  EXPECT_EQ(of.ignored, 1u);
}

TEST(TraceReader, BadFilesAreRefusedWithCauseAndRemedy) {
  struct bad_file {
    std::string text, cause, remedy;
  };
  const std::string good = file_of(slice("part", "a", 0, 0, 9));
  const bad_file files[] = {
      {"", "t.json: is empty.", "Run it again"},
      {" \n", "is empty", "Run it again"},
      {"\x7f"
       "ELF",
       "is not JSON.", "LOCKSTEP_TRACE="},
      {good.substr(0, good.size() - 30), "ends in the middle, after", "Record it again"},
      {R"({"traceEvents":[)", "ends in the middle", "Record it again"},
      {"{\"traceEvents\":[\n}]", "line 2, byte", "Record the trace again"},
      {R"({"machine":{"cpus":2},"rows":[1]})", "has no \"traceEvents\"", "LOCKSTEP_TRACE="},
      {"[1,2]", "has no \"traceEvents\"", "LOCKSTEP_TRACE="},
      {R"({"traceEvents":7})", "has no \"traceEvents\"", "LOCKSTEP_TRACE="},
      {file_of(""), "has 0 events, and no slice", "while the trace is on"},
      {file_of(R"({"ph":"M","name":"thread_name","pid":1,"tid":0,"args":{"name":"a"}})"),
       "has 1 event, and no slice", "while the trace is on"},
      {file_of(slice("part", "a", 0, 0, 1) + "," + slice("part", "b", 0, 5, -3)),
       "event 2 ('b') has the negative duration -3 us.", "Record the trace again"},
      {file_of(R"({"ph":"X","name":"c","pid":1,"tid":0,"ts":1})"),
       "event 1 ('c') has no number \"dur\".", "Record the trace again"},
      {file_of(R"({"ph":"X","name":"c","pid":1,"tid":0,"ts":"1","dur":1})"),
       "has no number \"ts\".", "Record the trace again"},
      {file_of(R"({"ph":"X","name":"c","pid":1,"tid":0,"ts":1e300,"dur":1})"),
       "has a \"ts\" out of range.", "Record the trace again"},
  };
  for (const bad_file& each : files) {
    const std::string said = complaint(each.text);
    EXPECT_NE(said.find(each.cause), std::string::npos) << said;
    EXPECT_NE(said.find(each.remedy), std::string::npos) << said;
    EXPECT_EQ(said.find('\n'), std::string::npos) << said;
  }
}

TEST(TraceReader, EveryCutOfAFileIsRefused) {
  const std::string good = file_of(slice("wait", "w", 0, 0, 9, R"({"for":"barrier","phase":4})"));
  for (std::size_t length = 0; length < good.size(); ++length) complaint(good.substr(0, length));
}

TEST(TraceReader, OrdersBeyondAnIntegerAreTheLargestAndTheLeast) {
  for (const char* const order :
       {"9223372036854775808", "1e300", "-1e300", "18446744073709551615"}) {
    const trace read = read_trace(
        std::string(
            R"({"traceEvents":[{"ph":"M","name":"thread_sort_index","tid":1,"args":{"sort_index":)") +
            order +
            R"(}},{"ph":"X","name":"a","tid":1,"ts":0,"dur":1},{"ph":"X","name":"a","tid":2,"ts":0,"dur":1}]})",
        "t");
    EXPECT_EQ(read.threads[0].number, order[0] == '-' ? 1 : 2) << order;
  }
}

TEST(TraceReader, ForeignValuesDoNoHarm) {
  const trace of = read(
      R"({"ph":"X","name":"a","cat":"part","pid":"x","tid":"y","ts":1,"dur":1,"args":{"deep":{"ts":7,"list":[{"ph":"X"}]},"n":null,"on":true}},)"
      R"({"ph":"XX","name":7,"args":3},{"args":{"name":1}},7,[{"ph":"X"}],null)");
  ASSERT_EQ(of.slices(), 1u);
  EXPECT_EQ(of.looks[0].arguments, R"([["on","true"]])");
}

/// Of some MB, with a line for each event.
std::string large_text() {
  std::string events;
  for (int i = 0; i < 30000; ++i) {
    events += (i == 0 ? "" : ",\n") + slice("part", "p" + std::to_string(i % 7), i % 3, i, 0.5,
                                            R"({"n":)" + std::to_string(i) + "}");
  }
  return file_of(events);
}

TEST(TraceReader, ADamageIsToldByItsLine) {
  std::string text = large_text();
  const auto line = 1 + std::count(text.begin(), text.begin() + (std::ptrdiff_t{2} << 20), '\n');
  text[text.find(":", std::size_t{2} << 20)] = ';';
  const std::string said = complaint(text);
  EXPECT_NE(said.find("line " + std::to_string(line) + ","), std::string::npos) << said;
}

TEST(TraceReader, ATraceThatNeedsMoreMemoryThanItMayTakeIsRefused) {
  const std::string text = large_text();
  try {
    static_cast<void>(read_trace(text, "t.json", std::uint64_t{1} << 20));
    ADD_FAILURE() << "was read";
  } catch (const tool::bad_trace& failure) {
    const std::string said = failure.what();
    EXPECT_NE(said.find("t.json: is too large: "), std::string::npos) << said;
    EXPECT_NE(said.find("takes 1 MB of memory"), std::string::npos) << said;
  }
  EXPECT_EQ(read_trace(text, "t.json", std::uint64_t{16} << 20).slices(), 30000u);
}

}  // namespace
