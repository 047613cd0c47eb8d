// SPDX-License-Identifier: MIT
// tests/wait/published_words_test.cpp -- each step of notifier and sleeper, on the scripted system
#include "wait/published_words.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <new>
#include <type_traits>

namespace {

using lockstep::deadline;
using lockstep::wait_policy;
using lockstep::detail::fence_payer;
using lockstep::detail::fence_payer_of;
using lockstep::detail::sleeper_mark;
using lockstep::detail::wait_word;
using lockstep::test::call;
using lockstep::test::scripted_fences;
using lockstep::test::scripted_system;

static_assert(sizeof(sleeper_mark) == sizeof(wait_word) && std::is_standard_layout_v<sleeper_mark>,
              "word_of() below takes the mark for its only member");

static_assert(fence_payer_of(wait_policy()) == fence_payer::sleeper);
static_assert(fence_payer_of(wait_policy::spin()) == fence_payer::sleeper);
static_assert(fence_payer_of(wait_policy::hybrid(std::chrono::microseconds(2))) ==
              fence_payer::sleeper);
static_assert(fence_payer_of(wait_policy::block()) == fence_payer::both);
static_assert(fence_payer_of(wait_policy().when_crowded(true)) == fence_payer::both);

wait_word& word_of(sleeper_mark& mark) { return reinterpret_cast<wait_word&>(mark); }
std::uint32_t value_of(sleeper_mark& mark) { return word_of(mark).load(std::memory_order_relaxed); }
void set(sleeper_mark& mark, std::uint32_t value) {
  word_of(mark).store(value, std::memory_order_relaxed);
}

/// What the sleeper waits for; `looks` counts its looks, `at_look` runs before each.
struct condition : lockstep::detail::waitable {
  bool is_ready = false;
  int looks = 0;
  std::function<void()> at_look;

  bool ready() override {
    ++looks;
    if (at_look) at_look();
    return is_ready;
  }
};

class sleeper_mark_test : public testing::TestWithParam<fence_payer> {
 protected:
  sleeper_mark_test() { scripted_fences::reset(); }

  void notify() { mark_.notify(GetParam()); }
  void sleep(condition& what, std::uint64_t until = lockstep::detail::no_deadline) {
    mark_.sleep(what, until, GetParam());
  }
  void sleep() { sleep(condition_); }

  // The notifier's and the sleeper's fence, whichever kind is theirs.
  std::function<void()>& on_light() {
    return GetParam() == fence_payer::both ? scripted_fences::on_fence : system_.on_fence_light;
  }
  std::function<void()>& on_heavy() {
    return GetParam() == fence_payer::both ? scripted_fences::on_fence : system_.on_fence_heavy;
  }

  scripted_system& system_ = scripted_system::reset();
  sleeper_mark mark_;
  condition condition_;
};
INSTANTIATE_TEST_SUITE_P(payers, sleeper_mark_test,
                         testing::Values(fence_payer::sleeper, fence_payer::both),
                         [](const auto& the) {
                           return the.param == fence_payer::both ? "both_pay" : "sleeper_pays";
                         });

TEST_P(sleeper_mark_test, a_notify_with_nobody_asleep_makes_no_system_call) {
  for (int i = 0; i < 1000; ++i) notify();
  EXPECT_EQ(system_.wakes(), 0u);
  EXPECT_EQ(value_of(mark_), 0u);
}

TEST_P(sleeper_mark_test, a_notify_with_nobody_asleep_stores_nothing) {
  void* const page =
      mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(page, MAP_FAILED);
  sleeper_mark* const mark = new (page) sleeper_mark();
  set(*mark, 6);
  ASSERT_EQ(mprotect(page, 4096, PROT_READ), 0);
  mark->notify(GetParam());  // a store, even of the same value, is a segmentation fault
  EXPECT_EQ(value_of(*mark), 6u);
  EXPECT_EQ(munmap(page, 4096), 0);
}

TEST_P(sleeper_mark_test, a_notifier_fences_before_it_looks_at_the_mark) {
  on_light() = [&] { set(mark_, 1); };  // a sleeper announces itself just before
  notify();
  EXPECT_EQ(system_.count(call::wake_all), 1u);
}

TEST_P(sleeper_mark_test, a_sleeper_announces_itself_then_fences_then_looks_then_sleeps) {
  on_heavy() = [&] {
    EXPECT_EQ(value_of(mark_), 1u) << "not announced before the fence";
    EXPECT_EQ(condition_.looks, 0) << "the look before the fence does not count";
  };
  condition_.at_look = [&] { EXPECT_TRUE(system_.sleeps.empty()) << "slept before the look"; };
  system_.on_sleep = [] {};
  sleep();
  EXPECT_EQ(condition_.looks, 1);
  ASSERT_EQ(system_.sleeps.size(), 1u);
  EXPECT_EQ(system_.sleeps[0].word, &word_of(mark_));
  EXPECT_EQ(system_.sleeps[0].deadline, lockstep::detail::no_deadline);
}

TEST_P(sleeper_mark_test, WAIT_2_what_is_ready_after_the_announcement_is_not_slept_for) {
  on_heavy() = [&] { condition_.is_ready = true; };
  sleep();
  EXPECT_TRUE(system_.sleeps.empty());
}

TEST_P(sleeper_mark_test, WAIT_2_a_notify_between_the_look_and_the_sleep_prevents_the_sleep) {
  condition_.at_look = [&] { notify(); };
  sleep();
  ASSERT_EQ(system_.sleeps.size(), 1u);
  EXPECT_FALSE(system_.sleeps[0].slept);
}

TEST_P(sleeper_mark_test, PUBLISH_1_nobody_sleeps_on_an_even_mark) {
  system_.on_sleep = [] {};
  for (std::uint32_t first : {0u, 1u, 2u, 3u, 0xFFFFFFFEu, 0xFFFFFFFFu}) {
    set(mark_, first);
    sleep();
    EXPECT_EQ(system_.sleeps.back().expected, first | 1u);
    EXPECT_EQ(value_of(mark_), first | 1u);
  }
}

TEST_P(sleeper_mark_test,
       PUBLISH_2_a_wake_steps_to_the_next_even_value_first_and_then_wakes_all_once) {
  for (std::uint32_t odd : {1u, 3u, 0x7FFFFFFFu, 0xFFFFFFFFu}) {
    system_.calls.clear();
    set(mark_, odd);
    system_.on_wake = [&, odd] { EXPECT_EQ(value_of(mark_), odd + 1u) << "woken before the step"; };
    notify();
    EXPECT_EQ(value_of(mark_), odd + 1u);
    EXPECT_EQ(system_.count(call::wake_all), 1u);
    notify();
    EXPECT_EQ(value_of(mark_), odd + 1u);
    EXPECT_EQ(system_.wakes(), 1u) << "one step, one wake";
  }
}

TEST_P(sleeper_mark_test, PUBLISH_2_the_mark_wraps_around_to_nobody_asleep) {
  set(mark_, 0xFFFFFFFFu);
  notify();
  EXPECT_EQ(value_of(mark_), 0u);
  system_.on_sleep = [&] { notify(); };
  sleep();
  EXPECT_EQ(system_.sleeps.back().expected, 1u);
  EXPECT_EQ(value_of(mark_), 2u);
}

TEST_P(sleeper_mark_test, PUBLISH_2_a_later_sleeper_sleeps_on_another_value) {
  system_.on_sleep = [&] { notify(); };
  for (int i = 0; i < 3; ++i) sleep();
  ASSERT_EQ(system_.sleeps.size(), 3u);
  EXPECT_EQ(system_.sleeps[0].expected, 1u);
  EXPECT_EQ(system_.sleeps[1].expected, 3u);
  EXPECT_EQ(system_.sleeps[2].expected, 5u);
}

TEST_P(sleeper_mark_test,
       PUBLISH_2_a_sleeper_of_the_next_phase_cannot_put_one_of_this_phase_to_sleep) {
  // The first sleeper has announced itself and looked; then its notifier comes, and a sleeper of the
  // next phase announces itself, before the first one is in the kernel. It must not fall asleep there.
  condition_.at_look = [&] {
    notify();
    word_of(mark_).fetch_or(1u, std::memory_order_relaxed);
  };
  EXPECT_NO_THROW(sleep());
  ASSERT_EQ(system_.sleeps.size(), 1u);
  EXPECT_FALSE(system_.sleeps[0].slept);
  EXPECT_EQ(value_of(mark_), 3u) << "the next sleeper's announcement stands";
}

TEST_P(sleeper_mark_test,
       PUBLISH_2_a_second_sleeper_of_one_phase_sleeps_on_the_value_of_the_first) {
  condition second;
  system_.on_sleep = [&] {
    if (system_.sleeps.size() == 1) sleep(second);
  };
  sleep();
  ASSERT_EQ(system_.sleeps.size(), 2u);
  EXPECT_TRUE(system_.sleeps[1].slept);
  EXPECT_EQ(system_.sleeps[0].expected, system_.sleeps[1].expected) << "one wake is for both";
}

TEST_P(sleeper_mark_test, PUBLISH_2_two_notifiers_of_one_announcement_make_one_step) {
  set(mark_, 1);
  bool other_came = false;
  on_light() = [&] {
    if (other_came) return;
    other_came = true;
    notify();  // the other one, in the middle of ours
  };
  notify();
  EXPECT_EQ(value_of(mark_), 2u);
  EXPECT_EQ(system_.wakes(), 1u);
}

TEST_P(sleeper_mark_test, who_wakes_a_sleeper_knows_when_it_did) {
  std::uint64_t& woke_at = lockstep::detail::this_thread_history().woke_at;
  woke_at = 7;
  notify();
  EXPECT_EQ(woke_at, 7u) << "nobody slept";
  set(mark_, 1);
  notify();
  EXPECT_GE(woke_at, 1000000000u);
  woke_at = 0;
}

TEST(awaited_word, has_no_limit_of_yields_where_all_wait_for_the_last) {
  using lockstep::detail::waitable;
  using lockstep::detail::whereabouts;
  lockstep::detail::published_words<std::uint32_t> words(1, wait_policy());
  for (const std::size_t other : {std::size_t{0}, std::size_t{7}, whereabouts::everybody}) {
    const lockstep::detail::awaited_word<std::uint32_t, lockstep::detail::phase_reached,
                                         lockstep::detail::never_stops>
        what(words[0], {1}, {}, {nullptr, 0, other, nullptr});
    EXPECT_EQ(what.yield_limit, other == whereabouts::everybody ? waitable::no_yield_limit
                                                                : waitable::usual_yield_limit);
  }
}

TEST_P(sleeper_mark_test, a_sleep_with_the_fence_ends_no_earlier_than_its_deadline) {
  const deadline until = deadline::after(std::chrono::seconds(5));
  sleep(condition_, until.nanoseconds());
  ASSERT_EQ(system_.sleeps.size(), 1u);
  EXPECT_EQ(system_.sleeps[0].deadline, until.nanoseconds());
}

TEST_P(sleeper_mark_test, each_side_fences_once_in_the_way_of_who_pays) {
  system_.on_sleep = [] {};
  sleep();
  const bool both = GetParam() == fence_payer::both;
  EXPECT_EQ(system_.count(call::fence_heavy), both ? 0u : 1u);
  EXPECT_EQ(scripted_fences::count, both ? 1u : 0u);
  notify();
  EXPECT_EQ(system_.count(call::fence_light), both ? 0u : 1u);
  EXPECT_EQ(system_.count(call::fence_heavy), both ? 0u : 1u);
  EXPECT_EQ(scripted_fences::count, both ? 2u : 0u);
}

TEST_P(sleeper_mark_test, FENCE_1_a_sleep_of_less_than_a_millisecond_makes_no_process_wide_fence) {
  system_.on_sleep = [] {};
  const deadline until = deadline::after(std::chrono::microseconds(900));
  sleep(condition_, until.nanoseconds());
  EXPECT_EQ(system_.count(call::fence_heavy), 0u);
  ASSERT_EQ(system_.sleeps.size(), 1u);
  EXPECT_EQ(system_.sleeps[0].deadline, until.nanoseconds());
}

/// The system has refused its fence, which matters to a sleeper that relies on it.
class sleeper_mark_without_fence : public sleeper_mark_test {
 protected:
  sleeper_mark_without_fence() { system_.heavy_result = false; }
};
INSTANTIATE_TEST_SUITE_P(payers, sleeper_mark_without_fence, testing::Values(fence_payer::sleeper));

TEST_P(sleeper_mark_without_fence, FENCE_1_a_sleep_is_bounded_by_a_millisecond) {
  const std::uint64_t before = system_.now;
  sleep();
  sleep(condition_, deadline::after(std::chrono::seconds(5)).nanoseconds());
  ASSERT_EQ(system_.sleeps.size(), 2u);
  for (const auto& sleep : system_.sleeps) {
    EXPECT_GT(sleep.deadline, before);
    EXPECT_LE(sleep.deadline, before + 1000000 * system_.sleeps.size() + 1000);
  }
}

TEST_P(sleeper_mark_without_fence, FENCE_1_an_earlier_deadline_stays_as_it_is) {
  const deadline until = deadline::after(std::chrono::microseconds(10));
  sleep(condition_, until.nanoseconds());
  ASSERT_EQ(system_.sleeps.size(), 1u);
  EXPECT_EQ(system_.sleeps[0].deadline, until.nanoseconds());
}

}  // namespace
