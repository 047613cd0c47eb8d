// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <atomic>
#include <system_error>

#include "support/crew.hpp"
#include "support/machine.hpp"
#include "support/statistics.hpp"
#include "support/text_table.hpp"

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

TEST(Machine, IsDescribedOnOneLine) {
  const auto machine = describe_machine();
  EXPECT_GT(machine.at("usable_cpus"), 0);
  EXPECT_EQ(on_one_line(machine).find('\n'), std::string::npos);
}

}  // namespace
}  // namespace bench
