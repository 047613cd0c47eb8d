// SPDX-License-Identifier: MIT
// tests/region/missed_loops_test.cpp -- what is noted is read, also when the count wraps
#include "region/anticipation.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace {

using lockstep::detail::missed_loops;

TEST(missed_loops, the_last_ones_are_kept_and_all_are_counted) {
  missed_loops noted;
  EXPECT_EQ(noted.count(), 0u);
  for (std::uint64_t i = 0; i < 3 * missed_loops::capacity; ++i) {
    noted.note({10 * i + 1, 10 * i + 4});
    ASSERT_EQ(noted.count(), i + 1);
    for (std::uint64_t k = i < missed_loops::capacity ? 0 : i + 1 - missed_loops::capacity; k <= i;
         ++k) {
      const missed_loops::span at = noted.at(static_cast<std::uint32_t>(k));
      ASSERT_EQ(at.begin, 10 * k + 1);
      ASSERT_EQ(at.end, 10 * k + 4);
    }
  }
}

}  // namespace
