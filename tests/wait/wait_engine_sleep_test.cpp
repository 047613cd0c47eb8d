// SPDX-License-Identifier: MIT
// tests/wait/wait_engine_sleep_test.cpp -- the word changes at the worst moments of sleep()
//
// The condition is asked between the look at the word and the mark. There the test does what other threads would do.
#include "wait/wait_engine.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>

namespace {

using lockstep::deadline;
using lockstep::detail::wait_word;
using lockstep::test::call;
using lockstep::test::scripted_system;

constexpr std::uint32_t sleeping = 1;

/// Calls sleep() on a word of `before`; while the condition is asked, the word becomes `meanwhile`.
class word_waiter_sleep : public testing::Test {
 protected:
  void sleep(std::uint32_t before, std::uint32_t meanwhile, bool is_done) {
    word_.store(before);
    struct condition {
      wait_word& word;
      std::uint32_t meanwhile;
      bool is_done;
      bool operator()(std::uint32_t) const {
        word.store(meanwhile);
        return is_done;
      }
      void describe(lockstep::detail::wait_subject&) const {}
    };
    const condition done{word_, meanwhile, is_done};
    lockstep::detail::word_waiter<condition>(word_, done)
        .sleep(deadline::after(timeout_).nanoseconds());
  }

  const std::chrono::microseconds timeout_{5};
  scripted_system& system_ = scripted_system::reset();
  wait_word word_{0};
};

TEST_F(word_waiter_sleep, marks_the_word_and_sleeps_on_the_marked_one) {
  sleep(4, 4, false);
  EXPECT_EQ(word_.load(), 4 | sleeping);
  ASSERT_EQ(system_.sleeps.size(), 1u);
  EXPECT_EQ(system_.sleeps[0].expected, 4 | sleeping);
  EXPECT_TRUE(system_.sleeps[0].slept);
}

TEST_F(word_waiter_sleep, a_marked_word_is_not_marked_again) {
  sleep(4 | sleeping, 4 | sleeping, false);
  EXPECT_EQ(word_.load(), 4 | sleeping);
  ASSERT_EQ(system_.sleeps.size(), 1u);
  EXPECT_TRUE(system_.sleeps[0].slept);
}

TEST_F(word_waiter_sleep, what_is_done_is_neither_marked_nor_slept_on) {
  sleep(4, 4, true);
  EXPECT_EQ(word_.load(), 4u);
  EXPECT_EQ(system_.count(call::futex_wait), 0u);
}

TEST_F(word_waiter_sleep, WORD_2_a_word_that_changes_before_the_mark_is_looked_at_again) {
  sleep(4, 8, false);
  EXPECT_EQ(word_.load(), 8u) << "the change is not undone, and nobody is said to sleep";
  EXPECT_EQ(system_.count(call::futex_wait), 0u);
}

TEST_F(word_waiter_sleep, WORD_2_a_marked_word_that_changes_before_the_sleep_ends_it) {
  sleep(4 | sleeping, 8, false);
  ASSERT_EQ(system_.sleeps.size(), 1u);
  EXPECT_EQ(system_.sleeps[0].expected, 4 | sleeping);
  EXPECT_FALSE(system_.sleeps[0].slept);
}

}  // namespace
