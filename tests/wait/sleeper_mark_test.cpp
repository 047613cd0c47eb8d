// SPDX-License-Identifier: MIT
// tests/wait/sleeper_mark_test.cpp -- each step of notifier and sleeper, on the scripted system
#include <lockstep/wait/sleeper_mark.hpp>

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstdint>
#include <functional>
#include <new>
#include <type_traits>

namespace {

using lockstep::deadline;
using lockstep::sleeper_mark;
using lockstep::platform::wait_word;
using lockstep::test::call;
using lockstep::test::scripted_system;

static_assert(sizeof(sleeper_mark) == sizeof(wait_word) && std::is_standard_layout_v<sleeper_mark>,
              "word_of() below takes the mark for its only member");

wait_word& word_of(sleeper_mark& mark) { return reinterpret_cast<wait_word&>(mark); }
std::uint32_t value_of(sleeper_mark& mark) { return word_of(mark).load(std::memory_order_relaxed); }
void set(sleeper_mark& mark, std::uint32_t value) {
  word_of(mark).store(value, std::memory_order_relaxed);
}

/// What the sleeper waits for; `looks` counts its looks, `at_look` runs before each.
struct condition {
  bool is_ready = false;
  mutable int looks = 0;
  std::function<void()> at_look;

  bool ready() const {
    ++looks;
    if (at_look) at_look();
    return is_ready;
  }
};

class sleeper_mark_test : public testing::Test {
 protected:
  scripted_system& system_ = scripted_system::reset();
  sleeper_mark mark_;
  condition condition_;
};

TEST_F(sleeper_mark_test, a_notify_with_nobody_asleep_makes_no_system_call) {
  for (int i = 0; i < 1000; ++i) mark_.notify();
  EXPECT_EQ(system_.wakes(), 0u);
  EXPECT_EQ(value_of(mark_), 0u);
}

TEST_F(sleeper_mark_test, a_notify_with_nobody_asleep_stores_nothing) {
  void* const page =
      mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(page, MAP_FAILED);
  sleeper_mark* const mark = new (page) sleeper_mark();
  set(*mark, 6);
  ASSERT_EQ(mprotect(page, 4096, PROT_READ), 0);
  mark->notify();  // a store, even of the same value, is a segmentation fault
  EXPECT_EQ(value_of(*mark), 6u);
  EXPECT_EQ(munmap(page, 4096), 0);
}

TEST_F(sleeper_mark_test, a_notifier_fences_before_it_looks_at_the_mark) {
  system_.on_fence_light = [&] { set(mark_, 1); };  // a sleeper announces itself just before
  mark_.notify();
  EXPECT_EQ(system_.count(call::wake_all), 1u);
}

TEST_F(sleeper_mark_test, a_sleeper_announces_itself_then_fences_then_looks_then_sleeps) {
  system_.on_fence_heavy = [&] {
    EXPECT_EQ(value_of(mark_), 1u) << "not announced before the fence";
    EXPECT_EQ(condition_.looks, 0) << "the look before the fence does not count";
  };
  condition_.at_look = [&] { EXPECT_TRUE(system_.sleeps.empty()) << "slept before the look"; };
  system_.on_sleep = [] {};
  mark_.sleep(condition_, deadline::never());
  EXPECT_EQ(system_.count(call::fence_heavy), 1u);
  EXPECT_EQ(condition_.looks, 1);
  ASSERT_EQ(system_.sleeps.size(), 1u);
  EXPECT_EQ(system_.sleeps[0].word, &word_of(mark_));
  EXPECT_EQ(system_.sleeps[0].deadline, lockstep::platform::no_deadline);
}

TEST_F(sleeper_mark_test, W2_what_is_ready_after_the_announcement_is_not_slept_for) {
  system_.on_fence_heavy = [&] { condition_.is_ready = true; };
  mark_.sleep(condition_, deadline::never());
  EXPECT_TRUE(system_.sleeps.empty());
}

TEST_F(sleeper_mark_test, W2_a_notify_between_the_look_and_the_sleep_prevents_the_sleep) {
  condition_.at_look = [&] { mark_.notify(); };
  mark_.sleep(condition_, deadline::never());
  ASSERT_EQ(system_.sleeps.size(), 1u);
  EXPECT_FALSE(system_.sleeps[0].slept);
}

TEST_F(sleeper_mark_test, M1_nobody_sleeps_on_an_even_mark) {
  system_.on_sleep = [] {};
  for (std::uint32_t first : {0u, 1u, 2u, 3u, 0xFFFFFFFEu, 0xFFFFFFFFu}) {
    set(mark_, first);
    mark_.sleep(condition_, deadline::never());
    EXPECT_EQ(system_.sleeps.back().expected, first | 1u);
    EXPECT_EQ(value_of(mark_), first | 1u);
  }
}

TEST_F(sleeper_mark_test, M2_a_wake_steps_to_the_next_even_value_first_and_then_wakes_all_once) {
  for (std::uint32_t odd : {1u, 3u, 0x7FFFFFFFu, 0xFFFFFFFFu}) {
    system_.calls.clear();
    set(mark_, odd);
    system_.on_wake = [&, odd] { EXPECT_EQ(value_of(mark_), odd + 1u) << "woken before the step"; };
    mark_.notify();
    EXPECT_EQ(value_of(mark_), odd + 1u);
    EXPECT_EQ(system_.count(call::wake_all), 1u);
    mark_.notify();
    EXPECT_EQ(value_of(mark_), odd + 1u);
    EXPECT_EQ(system_.wakes(), 1u) << "one step, one wake";
  }
}

TEST_F(sleeper_mark_test, M2_the_mark_wraps_around_to_nobody_asleep) {
  set(mark_, 0xFFFFFFFFu);
  mark_.notify();
  EXPECT_EQ(value_of(mark_), 0u);
  system_.on_sleep = [&] { mark_.notify(); };
  mark_.sleep(condition_, deadline::never());
  EXPECT_EQ(system_.sleeps.back().expected, 1u);
  EXPECT_EQ(value_of(mark_), 2u);
}

TEST_F(sleeper_mark_test, M2_a_later_sleeper_sleeps_on_another_value) {
  system_.on_sleep = [&] { mark_.notify(); };
  for (int i = 0; i < 3; ++i) mark_.sleep(condition_, deadline::never());
  ASSERT_EQ(system_.sleeps.size(), 3u);
  EXPECT_EQ(system_.sleeps[0].expected, 1u);
  EXPECT_EQ(system_.sleeps[1].expected, 3u);
  EXPECT_EQ(system_.sleeps[2].expected, 5u);
}

TEST_F(sleeper_mark_test, M2_a_sleeper_of_the_next_phase_cannot_put_one_of_this_phase_to_sleep) {
  // The first sleeper has announced itself and looked; then its notifier comes, and a sleeper of the
  // next phase announces itself, before the first one is in the kernel. It must not fall asleep there.
  condition_.at_look = [&] {
    mark_.notify();
    word_of(mark_).fetch_or(1u, std::memory_order_relaxed);
  };
  EXPECT_NO_THROW(mark_.sleep(condition_, deadline::never()));
  ASSERT_EQ(system_.sleeps.size(), 1u);
  EXPECT_FALSE(system_.sleeps[0].slept);
  EXPECT_EQ(value_of(mark_), 3u) << "the next sleeper's announcement stands";
}

TEST_F(sleeper_mark_test, M2_a_second_sleeper_of_one_phase_sleeps_on_the_value_of_the_first) {
  condition second;
  system_.on_sleep = [&] {
    if (system_.sleeps.size() == 1) mark_.sleep(second, deadline::never());
  };
  mark_.sleep(condition_, deadline::never());
  ASSERT_EQ(system_.sleeps.size(), 2u);
  EXPECT_TRUE(system_.sleeps[1].slept);
  EXPECT_EQ(system_.sleeps[0].expected, system_.sleeps[1].expected) << "one wake is for both";
}

TEST_F(sleeper_mark_test, M2_two_notifiers_of_one_announcement_make_one_step) {
  set(mark_, 1);
  bool other_came = false;
  system_.on_fence_light = [&] {
    if (other_came) return;
    other_came = true;
    mark_.notify();  // the other one, in the middle of ours
  };
  mark_.notify();
  EXPECT_EQ(value_of(mark_), 2u);
  EXPECT_EQ(system_.wakes(), 1u);
}

TEST_F(sleeper_mark_test, a_sleep_with_the_fence_ends_no_earlier_than_its_deadline) {
  const deadline until = deadline::after(std::chrono::seconds(5));
  mark_.sleep(condition_, until);
  ASSERT_EQ(system_.sleeps.size(), 1u);
  EXPECT_EQ(system_.sleeps[0].deadline, until.nanoseconds());
}

TEST_F(sleeper_mark_test, A1_without_the_fence_a_sleep_is_bounded_by_a_millisecond) {
  system_.heavy_result = false;
  const std::uint64_t before = system_.now;
  mark_.sleep(condition_, deadline::never());
  mark_.sleep(condition_, deadline::after(std::chrono::seconds(5)));
  ASSERT_EQ(system_.sleeps.size(), 2u);
  for (const auto& sleep : system_.sleeps) {
    EXPECT_GT(sleep.deadline, before);
    EXPECT_LE(sleep.deadline, before + 1000000 * system_.sleeps.size() + 1000);
  }
}

TEST_F(sleeper_mark_test, A1_without_the_fence_an_earlier_deadline_stays_as_it_is) {
  system_.heavy_result = false;
  const deadline until = deadline::after(std::chrono::microseconds(10));
  mark_.sleep(condition_, until);
  ASSERT_EQ(system_.sleeps.size(), 1u);
  EXPECT_EQ(system_.sleeps[0].deadline, until.nanoseconds());
}

}  // namespace
