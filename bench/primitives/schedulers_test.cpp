// SPDX-License-Identifier: MIT
// Every mechanism must do the work it is timed for; a hang ends in the ctest time-out.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "primitives/rows.hpp"

namespace bench::primitives {
namespace {

/// Few threads where it matters that spinners take a time slice for every operation.
std::vector<experiment> small_experiments() {
  std::vector<experiment> all = all_experiments();
  std::erase_if(all, [](const experiment& one) { return one.threads > 5; });
  return all;
}

class EveryRow : public testing::TestWithParam<experiment> {
 protected:
  static std::unique_ptr<scheduler> started() { return GetParam().maker(GetParam().threads); }
};

TEST_P(EveryRow, ThreadsDoExactlyTheOperationsAskedFor) {
  const std::unique_ptr<scheduler> subject = started();
  std::size_t total = 0;
  for (const std::size_t operations : {1u, 0u, 2u, 3u, 11u}) {
    subject->run(operations);
    total += operations;
  }
  EXPECT_TRUE(subject->finish(total));
}

TEST_P(EveryRow, AnOperationTooFewOrTooManyIsFoundOut) {
  const std::unique_ptr<scheduler> subject = started();
  subject->run(2);
  EXPECT_FALSE(subject->finish(GetParam().threads % 2 == 0 ? 1 : 3));
}

TEST_P(EveryRow, ThreadsEndWithoutHavingRun) {
  EXPECT_TRUE(started()->finish(0));
  EXPECT_NO_THROW(started().reset()) << "the destructor alone must do";
}

std::string test_name(const testing::TestParamInfo<experiment>& tested) {
  std::string text =
      fmt::format("{}_{}_{}", tested.param.name, tested.param.threads, tested.param.mechanism);
  std::replace(text.begin(), text.end(), '-', '_');
  return text;
}

INSTANTIATE_TEST_SUITE_P(, EveryRow, testing::ValuesIn(small_experiments()), test_name);

}  // namespace
}  // namespace bench::primitives
