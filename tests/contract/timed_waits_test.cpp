// SPDX-License-Identifier: MIT
// tests/contract/timed_waits_test.cpp -- every timed wait takes a duration or a time_point of any clock
//
// All waits return a wait_status, but those of locks, semaphores and the condition variable, which return what the
// standard's do.
#include <lockstep/lockstep.hpp>
#include <lockstep/toolbox.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <ratio>
#include <shared_mutex>
#include <thread>
#include <type_traits>

#include "support/waited.hpp"

namespace {

using lockstep::wait_status;

/// A clock of the user's, which is neither steady nor counts in nanoseconds, and stands at 1000.
struct own_clock {
  using rep = double;
  using period = std::ratio<1>;
  using duration = std::chrono::duration<double>;
  using time_point = std::chrono::time_point<own_clock>;
  [[maybe_unused]] static constexpr bool is_steady = false;
  static time_point now() noexcept { return time_point(duration(1000)); }
};

template <class Face>
class timed_waits : public testing::Test {};
using lockstep::test::waited;
using classes = lockstep::test::faces<testing::Types, waited<lockstep::eventual<void>>,
                                      waited<lockstep::joinable_thread>>;
TYPED_TEST_SUITE(timed_waits, classes);

TYPED_TEST(timed_waits, that_are_over_time_out_whatever_the_clock) {
  using std::chrono::high_resolution_clock;
  using std::chrono::steady_clock;
  using std::chrono::system_clock;
  TypeParam face;
  static_assert(std::is_same_v<decltype(face.wait_for(std::chrono::hours(1))), wait_status>);
  static_assert(std::is_same_v<decltype(face.wait_until(own_clock::now())), wait_status>);
  EXPECT_EQ(face.wait_for(std::chrono::hours(-1)), wait_status::timed_out);
  EXPECT_EQ(face.wait_for(std::chrono::duration<double>(1e-6)), wait_status::timed_out);
  EXPECT_EQ(face.wait_until(steady_clock::now()), wait_status::timed_out);
  EXPECT_EQ(face.wait_until(steady_clock::time_point::min()), wait_status::timed_out);
  EXPECT_EQ(face.wait_until(system_clock::now()), wait_status::timed_out);
  EXPECT_EQ(face.wait_until(system_clock::time_point::min()), wait_status::timed_out);
  EXPECT_EQ(face.wait_until(high_resolution_clock::now()), wait_status::timed_out);
  EXPECT_EQ(face.wait_until(own_clock::now() + std::chrono::microseconds(1)),
            wait_status::timed_out);
}

TYPED_TEST(timed_waits, that_need_not_wait_are_ready_whatever_the_clock) {
  const auto wait = [](auto time) {
    TypeParam face;
    face.notify();
    return face.wait_until(time);
  };
  EXPECT_EQ(wait(std::chrono::steady_clock::time_point::max()), wait_status::ready);
  EXPECT_EQ(wait(std::chrono::system_clock::time_point::max()), wait_status::ready);
  EXPECT_EQ(wait(own_clock::time_point::max()), wait_status::ready);
  EXPECT_EQ(wait(own_clock::now() + std::chrono::hours(1)), wait_status::ready);
  EXPECT_EQ(wait(lockstep::deadline::never()), wait_status::ready);
}

/// Calls f with a past time_point of each clock.
template <class F>
void for_each_clock(F f) {
  f(std::chrono::steady_clock::now());
  f(std::chrono::system_clock::now());
  f(own_clock::now() + std::chrono::microseconds(1));
  f(std::chrono::steady_clock::time_point::min());
}

TEST(timed_locks, time_out_whatever_the_clock) {
  lockstep::timed_mutex mutex;
  lockstep::recursive_timed_mutex recursive;
  lockstep::shared_timed_mutex shared;
  lockstep::counting_semaphore<3> none(0);
  const std::scoped_lock all(mutex, recursive, shared);
  std::thread([&] {
    for_each_clock([&](auto point) {
      EXPECT_FALSE(mutex.try_lock_until(point));
      EXPECT_FALSE(recursive.try_lock_until(point));
      EXPECT_FALSE(shared.try_lock_until(point));
      EXPECT_FALSE(shared.try_lock_shared_until(point));
      EXPECT_FALSE(none.try_acquire_until(point));
      EXPECT_FALSE(std::unique_lock(mutex, point).owns_lock());
      EXPECT_FALSE(std::shared_lock(shared, point).owns_lock());
    });
  }).join();
}

TEST(timed_locks, condition_variables_time_out_whatever_the_clock) {
  lockstep::mutex mutex;
  lockstep::condition_variable changed;
  std::unique_lock<lockstep::mutex> lock(mutex);
  const auto never = [] { return false; };
  for_each_clock([&](auto point) {
    EXPECT_EQ(changed.wait_until(lock, point), std::cv_status::timeout);
    EXPECT_FALSE(changed.wait_until(lock, point, never));
#if defined(__cpp_lib_jthread)
    EXPECT_FALSE(changed.wait_until(lock, std::stop_token(), point, never));
#endif
  });
}

}  // namespace
