// SPDX-License-Identifier: MIT
// tests/sync/auto_reset_event_test.cpp -- every notification lets one of many waiters through
#include <lockstep/event.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <type_traits>

namespace {

using lockstep::auto_reset_event;
using lockstep::wait_status;

static_assert(sizeof(auto_reset_event) == 8, "packed");
static_assert(!std::is_copy_constructible<auto_reset_event>::value, "not copyable");
static_assert(!std::is_move_constructible<auto_reset_event>::value, "not movable");

constinit auto_reset_event static_event;

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

}  // namespace
