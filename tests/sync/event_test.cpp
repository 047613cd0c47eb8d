// SPDX-License-Identifier: MIT
// tests/sync/event_test.cpp -- what event has beyond the notify/wait contract
#include <lockstep/event.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <memory>
#include <type_traits>
#include <vector>

#include "support/effort.hpp"
#include "support/policies.hpp"
#include "support/starting_at.hpp"
#include "support/threads.hpp"

namespace {

static_assert(sizeof(lockstep::event) == 16, "packed");
static_assert(!std::is_copy_constructible<lockstep::event>::value, "not copyable");
static_assert(!std::is_move_constructible<lockstep::event>::value, "not movable");

constinit lockstep::event static_event;

class event_with_policy : public testing::TestWithParam<lockstep::test::named_policy> {};
INSTANTIATE_TEST_SUITE_P(policies, event_with_policy,
                         testing::ValuesIn(lockstep::test::all_policies()));

TEST(event, zero_initialised_storage_is_a_working_event) {
  alignas(lockstep::event) unsigned char zeros[sizeof(lockstep::event)] = {};
  EXPECT_EQ(std::memcmp(static_cast<const void*>(&static_event), zeros, sizeof zeros), 0);
  static_event.notify();
  EXPECT_TRUE(static_event.wait());
  EXPECT_FALSE(static_event.try_wait());
}

TEST_P(event_with_policy, EVENT_1_a_notifier_far_ahead_loses_nothing) {
  lockstep::test::starting_at<lockstep::event> ready(0x3FFFFF00u, GetParam().policy);
  for (int i = 0; i < 1000; ++i) ready.notify();
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(ready.try_wait());
  EXPECT_FALSE(ready.try_wait());
}

TEST_P(event_with_policy, a_timeout_that_races_the_notification_neither_loses_nor_doubles_it) {
  lockstep::event ready(GetParam().policy);
  constexpr int rounds = 2000;
  int taken = 0;
  lockstep::test::run_threads(2, [&](std::size_t rank) {
    if (rank == 0) {
      for (int i = 0; i < rounds; ++i) ready.notify();
    } else {
      while (taken < rounds) {
        taken +=
            ready.wait_for(std::chrono::microseconds(taken % 5)) == lockstep::wait_status::ready;
      }
    }
  });
  EXPECT_EQ(taken, rounds);
  EXPECT_FALSE(ready.try_wait());
}

TEST_P(event_with_policy, terminate_while_the_waiter_falls_asleep_always_releases_it) {
  const int rounds = GetParam().policy.is_spin() ? 100 : lockstep::test::effort(2000);
  for (int i = 0; i < rounds; ++i) {
    lockstep::event ready(GetParam().policy);
    lockstep::test::run_threads(2, [&](std::size_t rank) {
      if (rank == 0) {
        ready.terminate();
      } else {
        EXPECT_FALSE(ready.wait());
      }
    });
  }
}

TEST(event, EVENT_2_a_ring_with_more_threads_than_cpus_passes_the_token_in_order) {
  for (const auto& named : lockstep::test::crowd_safe_policies()) {
    SCOPED_TRACE(named.name);
    constexpr std::size_t size = 10;
    constexpr int laps = 200;
    std::vector<std::unique_ptr<lockstep::event>> ring;
    for (std::size_t i = 0; i < size; ++i) {
      ring.push_back(std::make_unique<lockstep::event>(named.policy));
    }
    std::vector<std::size_t> order;  // plain: the token is the right to write
    ring[0]->notify();
    lockstep::test::run_threads(size, [&](std::size_t rank) {
      for (int lap = 0; lap < laps; ++lap) {
        ring[rank]->wait();
        order.push_back(rank);
        ring[(rank + 1) % size]->notify();
      }
    });
    ASSERT_EQ(order.size(), size * laps);
    for (std::size_t i = 0; i < order.size(); ++i) ASSERT_EQ(order[i], i % size);
  }
}

}  // namespace
