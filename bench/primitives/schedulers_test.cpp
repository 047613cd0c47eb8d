// SPDX-License-Identifier: MIT
// Every mechanism must do the work it is timed for; a hang ends in the ctest time-out.
#include <gtest/gtest.h>

#include <algorithm>

#include "primitives/rows.hpp"

namespace bench::primitives {
namespace {

/// Few threads where it matters that spinners take a time slice for every operation.
std::vector<row> small_rows() {
  std::vector<row> rows = all_rows();
  std::erase_if(rows, [](const row& one) { return one.threads > 5; });
  return rows;
}

class EveryRow : public testing::TestWithParam<row> {};

TEST_P(EveryRow, ThreadsDoExactlyTheOperationsAskedFor) {
  const std::unique_ptr<scheduler> subject = make_scheduler(GetParam());
  std::size_t total = 0;
  for (const std::size_t operations : {1u, 0u, 2u, 3u, 11u}) {
    subject->run(operations);
    total += operations;
  }
  EXPECT_TRUE(subject->finish(total));
}

TEST_P(EveryRow, AnOperationTooFewOrTooManyIsFoundOut) {
  const std::unique_ptr<scheduler> subject = make_scheduler(GetParam());
  subject->run(2);
  EXPECT_FALSE(subject->finish(GetParam().threads % 2 == 0 ? 1 : 3));
}

TEST_P(EveryRow, ThreadsEndWithoutHavingRun) {
  EXPECT_TRUE(make_scheduler(GetParam())->finish(0));
  EXPECT_NO_THROW(make_scheduler(GetParam()).reset()) << "the destructor alone must do";
}

std::string test_name(const testing::TestParamInfo<row>& tested) {
  std::string text = name(tested.param);
  std::replace_if(text.begin(), text.end(), [](char c) { return c == '/' || c == '-'; }, '_');
  return text;
}

INSTANTIATE_TEST_SUITE_P(, EveryRow, testing::ValuesIn(small_rows()), test_name);

}  // namespace
}  // namespace bench::primitives
