// SPDX-License-Identifier: MIT
// tests/edges/mixed_flags/mixed_flags_test.cpp -- units with different flags in one program do not disturb each other
//
// Linked in both orders of the units.
#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>

#include "support/asleep.hpp"
#include "unit.hpp"

namespace {

const unit* const units[] = {&plain(), &release(), &no_exceptions()};

TEST(mixed_flags, each_unit_uses_the_library_by_itself) {
  for (const unit* each : units) EXPECT_EQ(each->sum(), 2);
}

TEST(mixed_flags, a_lock_inside_a_type_of_the_users_is_locked_in_one_unit_and_unlocked_in_another) {
  for (const unit* one : units) {
    for (const unit* other : units) {
      account shared;
      one->lock(shared);
      other->unlock(shared);
      one->lock_shared(shared);
      other->unlock_shared(shared);
      other->lock(shared);
      one->unlock(shared);
    }
  }
}

TEST(mixed_flags, a_waiter_of_one_unit_is_notified_by_another) {
  for (const unit* one : units) {
    for (const unit* other : units) {
      account shared;
      lockstep::test::watched_thread waiter;
      std::thread thread([&] {
        waiter.enter();
        one->wait_until_positive(shared);
      });
      waiter.wait_until_asleep();
      other->lock(shared);
      shared.balance = 1;
      other->unlock(shared);
      other->notify(shared);
      thread.join();
    }
  }
}

TEST(mixed_flags, an_exception_in_a_member_reaches_run_in_a_unit_with_exceptions) {
  const auto fail = [] { throw std::runtime_error("from a member"); };
  EXPECT_THROW(plain().run(fail), std::runtime_error);
  EXPECT_THROW(release().run(fail), std::runtime_error);
}

}  // namespace
