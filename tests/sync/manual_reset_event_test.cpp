// SPDX-License-Identifier: MIT
// tests/sync/manual_reset_event_test.cpp -- a gate that is open from notify() until reset()
#include <lockstep/event.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>
#include <type_traits>

#include "support/asleep.hpp"
#include "support/effort.hpp"
#include "support/policies.hpp"
#include "support/starting_at.hpp"
#include "support/threads.hpp"

namespace {

using lockstep::manual_reset_event;
using lockstep::wait_status;
using lockstep::test::run_threads;
using lockstep::test::starting_at;

static_assert(sizeof(manual_reset_event) == 8, "packed");
static_assert(!std::is_copy_constructible<manual_reset_event>::value, "not copyable");
static_assert(!std::is_move_constructible<manual_reset_event>::value, "not movable");

constinit manual_reset_event static_event;

class manual_reset_event_with_policy : public testing::TestWithParam<lockstep::test::named_policy> {
};
INSTANTIATE_TEST_SUITE_P(policies, manual_reset_event_with_policy,
                         testing::ValuesIn(lockstep::test::all_policies()),
                         lockstep::test::policy_name);

TEST(manual_reset_event, zero_initialised_storage_is_closed_and_opens_until_reset) {
  unsigned char zeros[sizeof(manual_reset_event)] = {};
  EXPECT_EQ(std::memcmp(static_cast<const void*>(&static_event), zeros, sizeof zeros), 0);
  EXPECT_FALSE(static_event.is_open());
  EXPECT_EQ(static_event.wait_for(std::chrono::nanoseconds(1)), wait_status::timed_out);
  EXPECT_EQ(static_event.wait_until(std::chrono::system_clock::now()), wait_status::timed_out);
  static_event.notify();
  static_event.notify();
  for (int i = 0; i < 3; ++i) {
    static_event.wait();
    EXPECT_TRUE(static_event.try_wait());
    EXPECT_EQ(static_event.wait_for(std::chrono::seconds(0)), wait_status::ready);
  }
  static_event.reset();
  static_event.reset();
  EXPECT_FALSE(static_event.try_wait());
}

TEST(manual_reset_event, MANUAL_1_one_opening_lets_all_sleepers_go_though_a_reset_follows_at_once) {
  // Repeated, since a woken waiter may be so quick that it finds the gate still open;
  // wait_engine_word_test has the same on a scripted system, where it cannot.
  for (const auto& named : lockstep::test::crowd_safe_policies()) {
    SCOPED_TRACE(named.name);
    constexpr std::size_t waiters = 8;
    starting_at<manual_reset_event> gate(0x3FFFFFF8u,
                                         named.policy);  // a later reset wraps the count to zero
    for (int round = 0; round < 30; ++round) {
      lockstep::test::watched_thread watched[waiters];
      int data = 0;  // plain
      run_threads(waiters + 1, [&](std::size_t rank) {
        if (rank < waiters) {
          watched[rank].enter();
          gate.wait();
          EXPECT_EQ(data, 1);
          return;
        }
        for (const auto& each : watched) each.wait_until_asleep();
        data = 1;
        gate.notify();
        gate.reset();
      });
      EXPECT_FALSE(gate.is_open());
    }
  }
}

TEST_P(manual_reset_event_with_policy,
       MANUAL_1_a_reset_at_once_after_notify_strands_nobody_who_waits) {
  // Each thread waits once a round; the notifier opens and closes at once until all have come through.
  // One opening could pass between two looks of a waiter; it must count even so, next to wrap-around,
  // too. The notifier cannot know that the waits have begun, hence the repetition.
  const bool spins = GetParam().policy.is_spin();
  const std::size_t waiters = spins ? 1 : 7;
  starting_at<manual_reset_event> gate(0x3FFFFFF0u, GetParam().policy);
  for (int round = 0; round < (spins ? 50 : 200); ++round) {
    std::atomic<std::size_t> through{0};
    int data = 0;  // plain
    run_threads(waiters + 1, [&](std::size_t rank) {
      if (rank == 0) {
        data = round + 1;
        while (through.load(std::memory_order_relaxed) < waiters) {
          gate.notify();
          gate.reset();
          std::this_thread::yield();
        }
      } else {
        gate.wait();
        EXPECT_EQ(data, round + 1);
        through.fetch_add(1, std::memory_order_relaxed);
      }
    });
    ASSERT_FALSE(gate.is_open());
  }
}

TEST_P(manual_reset_event_with_policy, MANUAL_2_look_after_reset_then_wait_misses_no_notification) {
  // Two notifiers; the taker resets, counts what is there, and waits only if that is not all.
  const int items = GetParam().policy.is_spin() ? 100 : lockstep::test::effort(5000);
  manual_reset_event gate(GetParam().policy);
  std::atomic<int> made{0};
  run_threads(3, [&](std::size_t rank) {
    if (rank != 0) {
      for (int i = 0; i < items; ++i) {
        made.fetch_add(1, std::memory_order_relaxed);
        gate.notify();
      }
      return;
    }
    for (;;) {
      gate.reset();
      if (made.load(std::memory_order_relaxed) == 2 * items) return;
      gate.wait();
    }
  });
}

}  // namespace
