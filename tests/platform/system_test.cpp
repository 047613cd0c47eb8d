// SPDX-License-Identifier: MIT
// tests/platform/system_test.cpp -- the functions of the seam do what the native ones do
#include "platform/system.hpp"
#include <lockstep/thread.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <thread>
#include <type_traits>

#include "platform/process.hpp"
#include "support/asleep.hpp"

namespace {

namespace detail = lockstep::detail;

static_assert(std::is_same_v<detail::system_thread, std::thread>);

/// One thread sleeps on a word; `wake` lets it return.
void expect_a_sleeper_to_be_woken_by(void (*wake)(const detail::wait_word*)) {
  detail::wait_word word{0};
  lockstep::test::watched_thread watched;
  detail::system_thread sleeper([&] {
    watched.enter();
    while (word.load(std::memory_order_acquire) == 0) {
      detail::futex::wait(word, 0, detail::no_deadline);
    }
  });
  watched.wait_until_asleep();
  word.store(1, std::memory_order_release);
  wake(&word);
  sleeper.join();
}

TEST(system, FUTEX_2_both_wakes_let_a_sleeper_return) {
  expect_a_sleeper_to_be_woken_by(detail::futex::wake_one);
  expect_a_sleeper_to_be_woken_by(detail::futex::wake_all);
}

TEST(system, a_plain_thread_calls_its_function_and_is_joined) {
  int calls = 0;
  const auto count = [](void* of) -> void* {
    ++*static_cast<int*>(of);
    return nullptr;
  };
  detail::plain_thread thread;
  ASSERT_EQ(thread.start(count, &calls), 0);
  thread.join();
  EXPECT_EQ(calls, 1);
}

TEST(system, FUTEX_4_deadlines_are_times_of_its_own_clock) {
  const detail::wait_word word{0};
  const std::uint64_t deadline = detail::monotonic_nanoseconds() + 10000000;
  int returns = 0;
  for (; detail::monotonic_nanoseconds() < deadline; ++returns) {
    detail::futex::wait(word, 0, deadline);
  }
  EXPECT_LT(returns, 100);
}

TEST(system, its_clock_is_the_steady_one) {
  const std::uint64_t before = detail::native::monotonic_nanoseconds();
  const std::uint64_t now = detail::monotonic_nanoseconds();
  EXPECT_LE(before, now);
  EXPECT_LE(now, detail::native::monotonic_nanoseconds());
}

TEST(system, FENCE_1_the_heavy_side_of_the_fence_is_granted) {
  detail::fence_light();
  EXPECT_TRUE(detail::fence_heavy());
}

}  // namespace
