// SPDX-License-Identifier: MIT
// tests/wait/wait_engine_word_test.cpp -- the waiter on a word with a sleeping bit, on a scripted system
#include "wait/wait_engine.hpp"

#include <gtest/gtest.h>

#include <chrono>

#include <lockstep/event.hpp>
#include "support/starting_at.hpp"

namespace {

using lockstep::deadline;
using lockstep::wait_policy;
using lockstep::detail::wait_word;
using lockstep::test::call;
using lockstep::test::scripted_system;

constexpr struct {
  bool operator()(std::uint32_t word) const { return (word & ~1u) == 8; }
  void describe(lockstep::detail::wait_subject&) const {}
} is_eight = {};

std::uint32_t value(const wait_word& word) { return word.load(std::memory_order_relaxed); }

TEST(word_waiter, a_word_that_is_right_already_costs_no_system_call) {
  scripted_system& system = scripted_system::reset();
  wait_word word{8};
  EXPECT_TRUE(lockstep::detail::wait_until_word(word, is_eight, &word, wait_policy::block()));
  EXPECT_TRUE(system.calls.empty());
}

TEST(word_waiter, WORD_1_it_sleeps_on_the_word_with_the_bit_that_it_has_announced) {
  scripted_system& system = scripted_system::reset();
  wait_word word{4};
  system.on_sleep = [&] { word.store(8, std::memory_order_relaxed); };
  EXPECT_TRUE(lockstep::detail::wait_until_word(word, is_eight, &word, wait_policy::block()));
  ASSERT_EQ(system.sleeps.size(), 1u);
  EXPECT_EQ(system.sleeps[0].word, &word);
  EXPECT_EQ(system.sleeps[0].expected, 5u);
  EXPECT_TRUE(system.sleeps[0].slept);
}

TEST(word_waiter, WORD_1_a_change_that_clears_the_bit_makes_it_announce_itself_again) {
  scripted_system& system = scripted_system::reset();
  wait_word word{4};
  int times = 0;
  system.on_sleep = [&] {
    EXPECT_EQ(value(word) & 1u, 1u);
    word.store(++times == 3 ? 8 : 4, std::memory_order_relaxed);  // two wakes for nothing
  };
  EXPECT_TRUE(lockstep::detail::wait_until_word(word, is_eight, &word, wait_policy::block()));
  EXPECT_EQ(times, 3);
}

TEST(word_waiter, WORD_2_only_a_change_of_a_word_with_the_bit_wakes) {
  scripted_system& system = scripted_system::reset();
  wait_word word{0};
  lockstep::detail::wake_sleepers(&word, 6);
  EXPECT_TRUE(system.calls.empty());
  lockstep::detail::wake_sleepers(&word, 7);
  EXPECT_EQ(system.count(call::wake_all), 1u);
}

TEST(word_waiter, WORD_3_a_timeout_leaves_the_bit_for_others_who_may_sleep) {
  scripted_system& system = scripted_system::reset();
  wait_word word{4};
  const auto until = deadline::after(std::chrono::milliseconds(5));
  EXPECT_FALSE(lockstep::detail::wait_until_word(word, is_eight, &word, wait_policy::block(),
                                                 until.nanoseconds()));
  EXPECT_EQ(value(word), 5u);
  ASSERT_EQ(system.sleeps.size(), 1u);
  EXPECT_EQ(system.sleeps[0].deadline, until.nanoseconds());
}

TEST(word_waiter, a_change_at_the_very_deadline_is_seen) {
  scripted_system& system = scripted_system::reset();
  wait_word word{4};
  const auto until = deadline::after(std::chrono::milliseconds(5));
  system.on_sleep = [&] {
    system.now = until.nanoseconds();
    word.store(8, std::memory_order_relaxed);
  };
  EXPECT_TRUE(lockstep::detail::wait_until_word(word, is_eight, &word, wait_policy::block(),
                                                until.nanoseconds()));
}

// What threads meet only by luck in the objects' own tests: the script lets the others act while the
// waiter is asleep, and throws `stranded` if it would sleep for ever.

TEST(word_waiter,
     manual_reset_event_MANUAL_1_an_opening_that_was_closed_before_the_next_look_counts) {
  for (const std::uint32_t first : {0u, 0x3FFFFFFFu}) {
    scripted_system& system = scripted_system::reset();
    lockstep::test::starting_at<lockstep::manual_reset_event> gate(first, wait_policy::block());
    system.on_sleep = [&] {
      gate.notify();
      gate.reset();
      system.on_sleep = nullptr;  // last: it ends this function object
    };
    gate.wait();
    EXPECT_FALSE(gate.is_open());
    EXPECT_EQ(system.count(call::wake_all), 1u);
  }
}

TEST(word_waiter, manual_reset_event_MANUAL_2_only_the_notify_that_opens_wakes) {
  scripted_system& system = scripted_system::reset();
  lockstep::manual_reset_event gate(wait_policy::block());
  EXPECT_EQ(gate.wait_for(std::chrono::milliseconds(1)), lockstep::wait_status::timed_out);
  gate.notify();  // for the one that has timed out: WORD-3
  gate.notify();
  EXPECT_EQ(system.count(call::wake_all), 1u);
  gate.reset();
  gate.notify();
  EXPECT_EQ(system.count(call::wake_all), 1u);
}

TEST(word_waiter, auto_reset_event_AUTO_4_one_wake_for_each_notification_that_becomes_pending) {
  scripted_system& system = scripted_system::reset();
  lockstep::auto_reset_event object(wait_policy::block());
  system.on_sleep = [&] {
    object.notify();
    object.notify();  // merged
    EXPECT_EQ(system.count(call::wake_one), 1u);
    EXPECT_TRUE(object.try_wait());  // somebody else is quicker: the sleeper must sleep again
    system.on_sleep = [&] { object.notify(); };
  };
  object.wait();
  EXPECT_EQ(system.count(call::wake_one), 2u);
  EXPECT_EQ(system.sleeps.size(), 2u);
  object.notify();
  EXPECT_EQ(system.count(call::wake_one), 2u);  // AUTO-2: nobody is counted any more
}

}  // namespace
