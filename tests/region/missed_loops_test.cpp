// SPDX-License-Identifier: MIT
// tests/region/missed_loops_test.cpp -- what is noted is read, also when the count wraps
#include "region/anticipation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

namespace {

using lockstep::detail::missed_loops;

TEST(missed_loops, the_last_ones_are_heard_once_and_all_are_counted) {
  missed_loops noted;
  EXPECT_EQ(noted.count(), 0u);
  for (std::uint32_t i = 0; i < 3 * missed_loops::capacity; ++i) {
    noted.note(10 * i + 1, 10 * i + 4);
    ASSERT_EQ(noted.count(), i + 1);
    for (std::uint32_t heard = 0; heard <= i + 1; ++heard) {
      std::uint32_t now = heard;
      std::uint64_t next = std::max(heard, i + 1 - std::min(i + 1, missed_loops::capacity + 0));
      noted.for_each_since(now, [&next](std::uint64_t begin, std::uint64_t end) {
        EXPECT_EQ(begin, 10 * next + 1);
        EXPECT_EQ(end, 10 * next + 4);
        ++next;
      });
      ASSERT_EQ(next, i + 1);
      ASSERT_EQ(now, i + 1);
    }
  }
}

}  // namespace
