// SPDX-License-Identifier: MIT
// tests/sync/auto_reset_event_test.cpp -- every notification lets one of many waiters through
#include <lockstep/event.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>
#include <type_traits>

#include "support/effort.hpp"
#include "support/policies.hpp"
#include "support/threads.hpp"

namespace {

using lockstep::auto_reset_event;
using lockstep::wait_status;
using lockstep::test::run_threads;

static_assert(sizeof(auto_reset_event) == 8, "packed");
static_assert(!std::is_copy_constructible<auto_reset_event>::value, "not copyable");
static_assert(!std::is_move_constructible<auto_reset_event>::value, "not movable");

constinit auto_reset_event static_event;

class auto_reset_event_with_policy : public testing::TestWithParam<lockstep::test::named_policy> {};
INSTANTIATE_TEST_SUITE_P(policies, auto_reset_event_with_policy,
                         testing::ValuesIn(lockstep::test::all_policies()),
                         lockstep::test::policy_name);

bool is_all_zero(const auto_reset_event& object) {
  const unsigned char zeros[sizeof(auto_reset_event)] = {};
  return std::memcmp(static_cast<const void*>(&object), zeros, sizeof zeros) == 0;
}

TEST(auto_reset_event, zero_initialised_storage_keeps_one_notification_at_most) {
  EXPECT_TRUE(is_all_zero(static_event));
  EXPECT_FALSE(static_event.try_wait());
  static_event.notify();
  static_event.notify();
  static_event.wait();
  EXPECT_FALSE(static_event.try_wait());
  static_event.notify();
  EXPECT_EQ(static_event.wait_for(std::chrono::seconds(0)), wait_status::ready);
  EXPECT_EQ(static_event.wait_until(std::chrono::system_clock::now()), wait_status::timed_out);
}

TEST(auto_reset_event, AUTO_2_waits_that_time_out_asleep_leave_no_trace) {
  auto_reset_event object(lockstep::wait_policy::block());
  auto_reset_event fresh(lockstep::wait_policy::block());
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(object.wait_for(std::chrono::milliseconds(1)), wait_status::timed_out);
  }
  EXPECT_EQ(std::memcmp(static_cast<const void*>(&object), static_cast<const void*>(&fresh),
                        sizeof object),
            0);
}

TEST_P(auto_reset_event_with_policy,
       AUTO_1_AUTO_4_as_a_lock_it_lets_one_in_at_a_time_and_timeouts_strand_nobody) {
  // The notification is the right to write; a lost wake-up is a hang, a doubled one a wrong sum. Half of the threads give up
  // and come again all the time: a wake that such a thread swallowed without a look would leave the notification pending and
  // the others asleep.
  const bool spins = GetParam().policy.is_spin();
  const std::size_t threads = spins ? 3 : 8;
  auto_reset_event turn(GetParam().policy);
  const int rounds = spins ? 30 : lockstep::test::effort(500);
  long sum = 0;  // plain
  turn.notify();
  run_threads(threads, [&](std::size_t rank) {
    for (int i = 0; i < rounds; ++i) {
      if (rank % 2 == 0) {
        turn.wait();
      } else {
        while (turn.wait_for(std::chrono::microseconds(i % 60)) != wait_status::ready) {
        }
      }
      ++sum;
      turn.notify();
    }
  });
  EXPECT_EQ(sum, static_cast<long>(threads) * rounds);
  EXPECT_TRUE(turn.try_wait());
  EXPECT_FALSE(turn.try_wait());
}

TEST_P(auto_reset_event_with_policy, AUTO_4_every_sleeper_is_let_go_by_a_notification_of_its_own) {
  // Many notifiers, many waiters: notifiers repeat until all are through, waiters wait once each.
  const std::size_t waiters = GetParam().policy.is_spin() ? 1 : 12;
  for (int round = 0; round < 50; ++round) {
    auto_reset_event object(GetParam().policy);
    std::atomic<std::size_t> through{0};
    int data = 0;  // plain
    data = round + 1;
    run_threads(waiters + 2, [&](std::size_t rank) {
      if (rank < 2) {
        while (through.load(std::memory_order_relaxed) < waiters) {
          object.notify();
          std::this_thread::yield();
        }
      } else {
        object.wait();
        EXPECT_EQ(data, round + 1);
        through.fetch_add(1, std::memory_order_relaxed);
      }
    });
  }
}

TEST_P(auto_reset_event_with_policy, AUTO_1_a_merged_notifier_is_seen_too) {
  const int rounds = GetParam().policy.is_spin() ? 100 : lockstep::test::effort(2000);
  for (int round = 0; round < rounds; ++round) {
    auto_reset_event object(GetParam().policy);
    std::atomic<int> made{0};
    run_threads(3, [&](std::size_t rank) {
      if (rank != 0) {
        made.fetch_add(1, std::memory_order_relaxed);
        object.notify();
        return;
      }
      // Two notifications, merged or not: a thread that has taken one sees all that was before it.
      while (made.load(std::memory_order_relaxed) < 2) object.wait();
    });
  }
}

}  // namespace
