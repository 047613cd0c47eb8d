// SPDX-License-Identifier: MIT
// tests/toolbox/future_set_test.cpp -- ready after n contributions from any threads
#include <lockstep/future_set.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "support/message_of.hpp"
#include "support/policies.hpp"

namespace {

using lockstep::future_set;
using lockstep::wait_status;
using lockstep::test::message_of;
using values = lockstep::future_set<long>::values;

static_assert(!std::is_copy_constructible<future_set<int>>::value, "not copyable");
static_assert(!std::is_move_constructible<future_set<void>>::value, "not movable");

std::exception_ptr error_with(const char* text) {
  return std::make_exception_ptr(std::runtime_error(text));
}

TEST(future_set, FUTURES_1_contributions_have_indices_and_one_too_many_fails_by_name) {
  const std::string text =
      "lockstep::future_set: contributed after all 2 contributions were made; call reset() first, "
      "or make it for more";
  future_set<long> set(2);
  EXPECT_EQ(set.contributions(), 2u);
  EXPECT_EQ(set.contribute(10), 0u);
  EXPECT_FALSE(set.is_ready());
  EXPECT_EQ(set.wait_for(std::chrono::nanoseconds(1)), wait_status::timed_out);
  EXPECT_EQ(set.wait_until(std::chrono::system_clock::now()), wait_status::timed_out);
  EXPECT_EQ(set.contribute(20), 1u);
  EXPECT_TRUE(set.try_wait());
  EXPECT_EQ(message_of([&] { set.contribute(30); }), text);
  EXPECT_EQ(message_of([&] { set.contribute_exception(error_with("late")); }), text);
  EXPECT_EQ(set.wait_for(std::chrono::seconds(0)), wait_status::ready);
  EXPECT_EQ(std::vector<long>(set.get().begin(), set.get().end()), (std::vector<long>{10, 20}));
}

TEST(future_set, no_contributions_make_it_ready_at_once_also_after_reset) {
  int calls = 0;
  future_set<long> set(0, [&](const values& all) { calls += all.size() == 0 ? 1 : 100; });
  EXPECT_TRUE(set.is_ready());
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(set.get().begin(), set.get().end());
  EXPECT_THROW(set.contribute(1), std::logic_error);
  set.reset();
  EXPECT_TRUE(set.is_ready());
  EXPECT_EQ(calls, 2);
  future_set<void> none(0, [&] { ++calls; });
  none.get();
  EXPECT_EQ(calls, 3);
}

TEST(future_set,
     FUTURES_4_the_first_exception_is_carried_when_all_have_contributed_and_no_callback_runs) {
  int calls = 0;
  future_set<long> set(3, [&](const values&) { ++calls; });
  EXPECT_THROW(set.contribute_exception(nullptr), std::invalid_argument);
  EXPECT_EQ(set.contribute_exception(error_with("first")), 0u);
  EXPECT_FALSE(set.is_ready());  // FUTURES-3
  set.contribute_exception(error_with("second"));
  set.contribute(5);
  EXPECT_EQ(message_of([&] { set.wait(); }), "first");
  EXPECT_EQ(message_of([&] { set.get(); }), "first");
  EXPECT_EQ(set.wait_for(std::chrono::seconds(0)), wait_status::ready);
  EXPECT_EQ(calls, 0);
  set.reset();
  EXPECT_FALSE(set.is_ready());
  for (long i = 0; i < 3; ++i) EXPECT_EQ(set.contribute(i), static_cast<std::size_t>(i));
  set.wait();
  EXPECT_EQ(calls, 1);
}

struct throws_when_assigned {
  int value = 0;
  throws_when_assigned() = default;
  explicit throws_when_assigned(int of) : value(of) {}
  throws_when_assigned(const throws_when_assigned&) = default;
  throws_when_assigned& operator=(const throws_when_assigned& other) {
    if (other.value < 0) throw std::runtime_error("negative");
    value = other.value;
    return *this;
  }
};

TEST(future_set, FUTURES_4_what_an_assignment_or_the_callback_throws_is_carried_to_the_waiters) {
  future_set<throws_when_assigned> set(2);
  EXPECT_EQ(set.contribute(throws_when_assigned(-1)), 0u);
  set.contribute(throws_when_assigned(1));
  EXPECT_EQ(message_of([&] { set.get(); }), "negative");
  future_set<void> called(1, [] { throw std::runtime_error("callback"); });
  called.contribute();
  EXPECT_EQ(message_of([&] { called.get(); }), "callback");
}

TEST(future_set, a_callback_may_be_only_movable_and_an_empty_one_is_none) {
  int seen = 0;
  {
    future_set<void> set(1, [&seen, own = std::make_unique<int>(4)]() mutable { seen += ++*own; });
    set.contribute();
    set.reset();
    set.contribute();
  }
  EXPECT_EQ(seen, 5 + 6);
  future_set<void> set(1, std::function<void()>());
  set.contribute();
  set.get();
  future_set<long> values_only(1, static_cast<void (*)(const values&)>(nullptr));
  values_only.contribute(3);
  EXPECT_EQ(values_only.get()[0], 3);
}

TEST(future_set, values_that_can_only_be_moved_will_do) {
  future_set<std::unique_ptr<int>> set(1);
  set.contribute(std::make_unique<int>(3));
  EXPECT_EQ(*set.get()[0], 3);
}

}  // namespace
