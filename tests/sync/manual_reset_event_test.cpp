// SPDX-License-Identifier: MIT
// tests/sync/manual_reset_event_test.cpp -- a gate that is open from notify() until reset()
#include <lockstep/event.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <type_traits>

namespace {

using lockstep::manual_reset_event;
using lockstep::wait_status;

static_assert(sizeof(manual_reset_event) == 8, "packed");
static_assert(!std::is_copy_constructible<manual_reset_event>::value, "not copyable");
static_assert(!std::is_move_constructible<manual_reset_event>::value, "not movable");

constinit manual_reset_event static_event;

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

}  // namespace
