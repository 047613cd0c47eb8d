// SPDX-License-Identifier: MIT
// tests/toolbox/thread_test.cpp -- a thread whose join waits by policy and may time out
//
// On fault/faulty_system.hpp, so that THREAD-2 can be tested: starts_left is how many threads start.
#include <lockstep/thread.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <type_traits>
#include <utility>

#include "support/asleep.hpp"
#include "support/policies.hpp"

namespace {

using lockstep::joinable_thread;
using lockstep::wait_policy;
using lockstep::wait_status;

static_assert(!std::is_copy_constructible<joinable_thread>::value, "not copyable");
static_assert(std::is_nothrow_move_constructible<joinable_thread>::value, "movable");
static_assert(std::is_nothrow_move_assignable<joinable_thread>::value, "movable");
static_assert(!std::is_constructible<joinable_thread, wait_policy>::value,
              "a policy is no function");

class joinable_thread_with_policy : public testing::TestWithParam<lockstep::test::named_policy> {
 protected:
  void SetUp() override { lockstep::detail::system_thread::starts_left = 1000000; }
  void TearDown() override { EXPECT_EQ(lockstep::detail::system_thread::running, 0); }
  wait_policy policy() const { return GetParam().policy; }
};
INSTANTIATE_TEST_SUITE_P(policies, joinable_thread_with_policy,
                         testing::ValuesIn(lockstep::test::all_policies()),
                         lockstep::test::policy_name);

struct counter {
  int value = 0;
  void add(int n) { value += n; }
};

TEST_P(joinable_thread_with_policy, THREAD_1_thread_locals_are_destroyed_before_join_returns) {
  struct at_exit {
    int* where = nullptr;
    ~at_exit() {
      if (where != nullptr) *where = 1;
    }
  };
  int destroyed = 0;  // plain
  joinable_thread worker(policy(), [&destroyed] {
    static thread_local at_exit last;
    last.where = &destroyed;
  });
  EXPECT_EQ(worker.join_for(std::chrono::hours(1)), wait_status::ready);
  EXPECT_EQ(destroyed, 1);
}

TEST_P(joinable_thread_with_policy, a_join_that_timed_out_can_be_taken_up_again) {
  std::atomic<bool> go{false};
  joinable_thread waiting(policy(), [&go] {
    while (!go.load()) std::this_thread::yield();
  });
  EXPECT_EQ(waiting.join_for(std::chrono::microseconds(50)), wait_status::timed_out);
  EXPECT_EQ(waiting.join_for(std::chrono::nanoseconds(-1)), wait_status::timed_out);
  EXPECT_EQ(waiting.join_until(std::chrono::steady_clock::now()), wait_status::timed_out);
  EXPECT_EQ(waiting.join_until(std::chrono::system_clock::now()), wait_status::timed_out);
  EXPECT_TRUE(waiting.joinable());
  go = true;
  waiting.join();
  EXPECT_FALSE(waiting.joinable());
}

TEST_P(joinable_thread_with_policy, the_destructor_and_the_assignment_join) {
  int written = 0;  // plain
  {
    joinable_thread writer(policy(), [&written] { written = 1; });
  }
  EXPECT_EQ(written, 1);
  joinable_thread first(policy(), [&written] { written = 2; });
  first = joinable_thread();
  EXPECT_EQ(written, 2);
  EXPECT_FALSE(first.joinable());
}

TEST_P(joinable_thread_with_policy, it_moves_and_swaps_while_the_thread_runs) {
  int written = 0;
  std::atomic<bool> go{false};
  joinable_thread first(policy(), [&] {
    while (!go.load()) std::this_thread::yield();
    written = 1;
  });
  const joinable_thread::id id = first.get_id();
  joinable_thread second(std::move(first));
  EXPECT_EQ(second.get_id(), id);
  joinable_thread third;
  swap(second, third);
  EXPECT_FALSE(second.joinable());
  go = true;
  third.join();
  EXPECT_EQ(written, 1);
}

TEST(joinable_thread, THREAD_1_a_joiner_that_sleeps_is_woken) {
  lockstep::detail::system_thread::starts_left = 1;
  lockstep::test::watched_thread joiner;
  joiner.enter();
  joinable_thread worker(wait_policy::block(), [&joiner] { joiner.wait_until_asleep(); });
  EXPECT_EQ(worker.join_for(std::chrono::hours(1)), wait_status::ready);
}

TEST(joinable_thread, function_and_arguments_are_copied_and_called_as_std_thread_does) {
  lockstep::detail::system_thread::starts_left = 100;
  counter sum;
  joinable_thread(&counter::add, &sum, 2).join();
  joinable_thread(&counter::add, std::ref(sum), 3).join();
  EXPECT_EQ(sum.value, 5);
  int seen = 0;
  joinable_thread([&seen](std::unique_ptr<int> owned) { seen = *owned; }, std::make_unique<int>(7))
      .join();
  EXPECT_EQ(seen, 7);
  struct only_as_rvalue {
    int* where;
    void operator()(int& n) && { *where = n; }
  };
  int given = 9;
  joinable_thread(only_as_rvalue{&seen}, std::ref(given)).join();
  EXPECT_EQ(seen, 9);
}

TEST(joinable_thread, THREAD_2_a_thread_that_cannot_be_started_leaves_nothing_behind) {
  using lockstep::detail::system_thread;
  const auto token = std::make_shared<int>(0);
  system_thread::starts_left = 0;
  EXPECT_THROW(joinable_thread([token] { ++*token; }), std::system_error);
  EXPECT_EQ(token.use_count(), 1) << "copies are gone; LeakSanitizer looks for the rest";
  EXPECT_EQ(system_thread::running, 0);
  system_thread::starts_left = 1;
  joinable_thread([token] { ++*token; }).join();
  EXPECT_EQ(*token, 1);
}

TEST(joinable_thread, THREAD_3_joining_nothing_or_oneself_is_refused_by_name) {
  lockstep::detail::system_thread::starts_left = 1;
  joinable_thread none;
  EXPECT_EQ(none.get_id(), joinable_thread::id());
  try {
    none.join();
    ADD_FAILURE();
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code(), std::errc::invalid_argument);
    EXPECT_NE(std::string(error.what()).find("lockstep::joinable_thread"), std::string::npos);
  }
  EXPECT_THROW(none.join_for(std::chrono::seconds(0)), std::system_error);
  std::atomic<bool> go{false};
  std::error_code code;
  joinable_thread self;
  self = joinable_thread([&] {
    while (!go.load()) std::this_thread::yield();
    try {
      self.join();
    } catch (const std::system_error& error) {
      code = error.code();
    }
  });
  go = true;
  while (self.join_for(std::chrono::hours(1)) != wait_status::ready) continue;
  EXPECT_EQ(code, std::errc::resource_deadlock_would_occur);
}

TEST(joinable_thread_death, an_exception_that_leaves_the_function_ends_the_program) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  lockstep::detail::system_thread::starts_left = 1;
  EXPECT_DEATH(joinable_thread([] { throw std::runtime_error("lost"); }).join(), "");
}

}  // namespace
