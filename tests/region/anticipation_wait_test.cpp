// SPDX-License-Identifier: MIT
// tests/region/anticipation_wait_test.cpp -- EXPECT-1 to EXPECT-5 on a clock of the test's own
#include "region/anticipation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "support/scripted_system.hpp"

namespace {

using lockstep::deadline;
using lockstep::wait_policy;
using lockstep::detail::cpu_separation;
using lockstep::detail::member_pace;
using lockstep::detail::missed_loops;
using lockstep::test::call;
using lockstep::test::scripted_system;

constexpr std::uint64_t us = 1000, ms = 1000000;

/// Ready from a point of the clock on; the thread that makes it ready wakes the sleeper.
struct region : lockstep::detail::waitable {
  std::uint64_t at;
  std::uint64_t late;                      ///< how much later than wanted sleeps end
  std::vector<std::uint64_t> sleeps = {};  ///< deadlines
  bool is_apart = false;                   ///< no member has the CPU of the thread that waits

  explicit region(std::uint64_t from, std::uint64_t its_late = 0) : at(from), late(its_late) {}
  bool ready() override { return scripted_system::instance().now >= at; }
  void sleep(std::uint64_t until) override {
    sleeps.push_back(until);
    std::uint64_t& now = scripted_system::instance().now;
    now = std::max(now, std::min(at, until)) + late;
  }
  bool is_separated() noexcept override { return is_apart; }
};

class anticipating_wait_test : public testing::Test {
 protected:
  void SetUp() override { scripted_system::reset(); }

  /// Waits as a worker waits at its board.
  template <class Waitable>
  void wait_for_region(Waitable& what) {
    if (what.ready() || lockstep::detail::wait_engine::poll(what)) return;
    lockstep::detail::wait_for_region(what, wait_policy(), all_, 1, noted_, heard_, 0);
  }
  /// A wait for what comes after `gap`.
  region wait_for(std::uint64_t gap, std::uint64_t late = 0) {
    begin_ = scripted_system::instance().now;
    region what(begin_ + gap, late);
    wait_for_region(what);
    EXPECT_TRUE(what.ready());
    end_ = scripted_system::instance().now;
    return what;
  }
  std::uint64_t begin_ = 0, end_ = 0;
  cpu_separation all_{2, false};
  member_pace& pace_ = all_.pace_of(1);
  missed_loops noted_;
  std::uint32_t heard_ = 0;
};

TEST_F(anticipating_wait_test, before_it_knows_gaps_it_sleeps_until_it_is_woken) {
  const region what = wait_for(5 * ms);
  ASSERT_FALSE(what.sleeps.empty());
  EXPECT_EQ(what.sleeps.back(), lockstep::detail::no_deadline);
}

TEST_F(anticipating_wait_test,
       it_sleeps_once_until_shortly_before_the_next_is_due_and_is_awake_then) {
  for (int i = 0; i < 6; ++i) wait_for(5 * ms);
  const region what = wait_for(5 * ms);
  ASSERT_EQ(what.sleeps.size(), 1u);
  const std::uint64_t slept_until = what.sleeps[0] - begin_;
  EXPECT_GT(slept_until, 4800 * us);
  EXPECT_LT(slept_until, 5000 * us);
  EXPECT_LT(end_ - what.at, 3 * us) << "seen at once";
}

TEST_F(anticipating_wait_test, who_is_notified_in_that_sleep_goes_at_once_EXPECT_1) {
  for (int i = 0; i < 6; ++i) wait_for(5 * ms);
  const region what = wait_for(2 * ms);
  ASSERT_EQ(what.sleeps.size(), 1u);
  EXPECT_LT(end_ - what.at, 3 * us);
}

TEST_F(anticipating_wait_test, what_does_not_come_is_slept_for_after_a_bounded_poll_EXPECT_2) {
  for (int i = 0; i < 6; ++i) wait_for(5 * ms);
  const region what = wait_for(60000 * ms);
  ASSERT_EQ(what.sleeps.size(), 2u);
  EXPECT_EQ(what.sleeps[1], lockstep::detail::no_deadline);
}

TEST_F(anticipating_wait_test, polls_give_the_cpu_away_EXPECT_2) {
  for (int i = 0; i < 6; ++i) wait_for(40 * us);
  const std::size_t before = scripted_system::instance().count(call::yield);
  const region what = wait_for(40 * us);
  EXPECT_TRUE(what.sleeps.empty());
  EXPECT_GE(scripted_system::instance().count(call::yield) - before, 8u);
}

TEST_F(anticipating_wait_test, polls_keep_a_cpu_that_no_other_member_has_EXPECT_2) {
  for (int i = 0; i < 6; ++i) wait_for(40 * us);
  const std::size_t before = scripted_system::instance().count(call::yield);
  region what(scripted_system::instance().now + 40 * us);
  what.is_apart = true;
  wait_for_region(what);
  EXPECT_EQ(scripted_system::instance().count(call::yield), before);
}

TEST_F(anticipating_wait_test, who_sees_the_caller_on_its_cpu_yields_before_it_polls_EXPECT_5) {
  scripted_system& system = scripted_system::instance();
  for (int i = 0; i < 6; ++i) wait_for(40 * us);
  const auto first_yield_with_caller_on = [&](int cpu) {
    std::uint64_t at = 0;
    system.cpu = cpu;
    all_.look_for(0, 1);
    system.cpu = 7;
    system.on_yield = [&] { at = at != 0 ? at : system.now; };
    wait_for(40 * us);
    return at - begin_;
  };
  EXPECT_GT(first_yield_with_caller_on(3), 3 * us);
  EXPECT_LT(first_yield_with_caller_on(7), 1500u);
  EXPECT_GT(first_yield_with_caller_on(3), 3 * us);
}

TEST_F(anticipating_wait_test,
       who_comes_back_from_that_yield_late_has_lost_no_time_slice_EXPECT_5) {
  scripted_system& system = scripted_system::instance();
  system.cpu = 7;
  for (int i = 0; i < 6; ++i) {
    all_.look_for(0, 1);
    system.yield_cost = 50 * us;  // the caller has the CPU meanwhile
    wait_for(40 * us);
    EXPECT_FALSE(pace_.take_had_no_cpu());
  }
}

TEST_F(anticipating_wait_test, who_polled_without_a_cpu_when_it_came_says_so) {
  for (int i = 0; i < 6; ++i) wait_for(40 * us);
  EXPECT_FALSE(pace_.take_had_no_cpu());
  scripted_system::instance().yield_cost = 50 * us;
  wait_for(40 * us);
  EXPECT_TRUE(pace_.take_had_no_cpu());
  scripted_system::instance().yield_cost = 1 * us;
  wait_for(40 * us);
  EXPECT_FALSE(pace_.take_had_no_cpu());
  wait_for(0);
  EXPECT_FALSE(pace_.take_had_no_cpu());
}

/// How many of twenty regions that find a worker without its CPU pass before it leaves that CPU. Each time the caller notes
/// its own; -1: it notes none.
int regions_before_leaving(int of_caller) {
  scripted_system::reset();
  scripted_system& system = scripted_system::instance();
  cpu_separation all(2, true);
  missed_loops noted;
  std::uint32_t heard = 0;
  for (int i = -6; i < 20; ++i) {
    if (of_caller >= 0) {
      system.cpu = of_caller;
      all.look_for(0, 1);
      for (int n = 0; n < 4; ++n) all.pace_of(1).separation.ran(1 * ms);  // it would leave at once
    }
    system.cpu = 7;
    system.yield_cost = i < 0 ? 1 * us : 50 * us;
    region what(system.now + 40 * us);
    lockstep::detail::wait_for_region(what, wait_policy(), all, 1, noted, heard, 0);
    if (!system.left.empty()) return i;
  }
  return 20;
}

TEST(anticipating_wait, who_had_no_cpu_leaves_it_unless_the_caller_is_seen_elsewhere_SEPARATE_5) {
  EXPECT_EQ(regions_before_leaving(-1), 4);
  EXPECT_EQ(regions_before_leaving(3), 20);
}

TEST_F(anticipating_wait_test, who_loses_its_time_slice_to_its_caller_goes_on_EXPECT_2) {
  for (int i = 0; i < 6; ++i) wait_for(40 * us);
  scripted_system::instance().yield_cost = 3 * ms;
  wait_for(40 * us);
  EXPECT_TRUE(pace_.expects());
}

TEST_F(anticipating_wait_test, who_loses_it_to_a_stranger_polls_no_more_for_a_while_EXPECT_2) {
  for (int i = 0; i < 6; ++i) wait_for(40 * us);
  scripted_system::instance().is_full = true;
  scripted_system::instance().yield_cost = 3 * ms;
  const region what = wait_for(10 * ms);
  EXPECT_EQ(what.sleeps.size(), 1u);
  const std::size_t before = scripted_system::instance().count(call::yield);
  wait_for(100 * ms);
  EXPECT_LE(scripted_system::instance().count(call::yield) - before, 2u);
}

TEST_F(anticipating_wait_test, late_wake_ups_make_it_wake_up_earlier_GAP_4) {
  for (int i = 0; i < 6; ++i) wait_for(5 * ms);
  const std::uint64_t first = wait_for(5 * ms).sleeps.at(0) - begin_;
  for (int i = 0; i < 30; ++i) wait_for(5 * ms, 200 * us);
  const std::uint64_t then = wait_for(5 * ms, 200 * us).sleeps.at(0) - begin_;
  EXPECT_LT(then + 50 * us, first);
}

// --- EXPECT-4: loops that were slept through ---

/// A caller runs `count` loops of 20 us, one every millisecond. The thread misses them. Its wait ends when the next
/// loop begins, or when the caller wakes the sleeper after `wakes_after` loops.
struct missed_and_then : lockstep::detail::waitable {
  missed_loops& noted;
  std::uint64_t first;   ///< when the first one begins
  unsigned count;        ///< of loops that nobody is called for
  unsigned wakes_after;  ///< so many; 0: never
  std::vector<std::uint64_t> sleeps = {};
  unsigned done = 0;
  bool was_woken = false;

  missed_and_then(missed_loops& of, std::uint64_t begin, unsigned how_many, unsigned so_many)
      : noted(of), first(begin), count(how_many), wakes_after(so_many) {}
  std::uint64_t begin(unsigned i) const { return first + i * ms; }
  void go_on(std::uint64_t now) {
    for (; done < count && begin(done) + 20 * us <= now; ++done) {
      noted.note(begin(done), begin(done) + 20 * us);
    }
  }
  bool ready() override {
    const std::uint64_t now = scripted_system::instance().now;
    go_on(now);
    return was_woken || now >= begin(count);
  }
  void sleep(std::uint64_t until) override {
    sleeps.push_back(until);
    std::uint64_t& now = scripted_system::instance().now;
    const std::uint64_t woken = wakes_after != 0 ? begin(wakes_after - 1) + 20 * us : begin(count);
    now = std::max(now, std::min(woken, until));
    if (wakes_after != 0 && now >= woken) was_woken = true;
  }
};

TEST_F(anticipating_wait_test, who_slept_through_loops_expects_the_next_one_EXPECT_4) {
  missed_and_then slept(noted_, scripted_system::instance().now + ms, 100, 6);
  wait_for_region(slept);
  ASSERT_TRUE(slept.was_woken);
  ASSERT_EQ(slept.done, 6u);
  // Nothing was done with it: the wait goes on, and the next one is due a millisecond after the begin of the last.
  const std::uint64_t next = slept.begin(slept.done);
  region what(next);
  wait_for_region(what);
  ASSERT_EQ(what.sleeps.size(), 1u) << "until shortly before it is due";
  EXPECT_LT(what.sleeps[0], next);
  EXPECT_GT(what.sleeps[0] + 300 * us, next);
  EXPECT_LT(scripted_system::instance().now - next, 3 * us) << "seen at once";
}

TEST_F(anticipating_wait_test, who_was_late_for_one_expects_the_one_after_it_EXPECT_4) {
  for (int i = 0; i < 8; ++i) wait_for(ms);
  missed_and_then slept(noted_, scripted_system::instance().now + 300 * us, 5, 0);
  wait_for_region(slept);
  EXPECT_EQ(slept.done, 5u);
  ASSERT_GE(slept.sleeps.size(), 5u) << "one before each";
  for (const std::uint64_t until : slept.sleeps) EXPECT_NE(until, lockstep::detail::no_deadline);
  EXPECT_LT(scripted_system::instance().now - slept.begin(5), 3 * us);
}

}  // namespace
