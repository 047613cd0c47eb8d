// SPDX-License-Identifier: MIT
// tests/contract/timed_waits_test.cpp -- every timed wait takes a duration or a time_point of any clock
//
// Each face gives one object a wait that cannot end and, after release(), one that ends at once. All waits
// return a wait_status, but those of locks and the condition variable, which return what the standard's do.
#include <lockstep/barrier.hpp>
#include <lockstep/condition_variable.hpp>
#include <lockstep/event.hpp>
#include <lockstep/eventual.hpp>
#include <lockstep/fan.hpp>
#include <lockstep/future_set.hpp>
#include <lockstep/latch.hpp>
#include <lockstep/mailbox.hpp>
#include <lockstep/mutex.hpp>
#include <lockstep/ranked_barrier.hpp>
#include <lockstep/semaphore.hpp>
#include <lockstep/shared_mutex.hpp>
#include <lockstep/thread.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <ratio>
#include <shared_mutex>
#include <thread>
#include <type_traits>

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

template <class Object>
struct plain_face {
  Object object;
  template <class Time>
  auto wait_for(Time time) {
    return object.wait_for(time);
  }
  template <class Time>
  auto wait_until(Time time) {
    return object.wait_until(time);
  }
};
template <class Event>
struct notified_face : plain_face<Event> {
  void release() { this->object.notify(); }
};
struct event_face : notified_face<lockstep::event> {};
struct auto_reset_face : notified_face<lockstep::auto_reset_event> {};
struct manual_reset_face : notified_face<lockstep::manual_reset_event> {};
struct latch_face : plain_face<lockstep::latch> {
  latch_face() : plain_face{lockstep::latch(1)} {}
  void release() { object.count_down(); }
};
struct eventual_face : plain_face<lockstep::eventual<int>> {
  void release() { object.set_value(1); }
};
struct void_eventual_face : plain_face<lockstep::eventual<void>> {
  void release() { object.set_value(); }
};
struct future_set_face : plain_face<lockstep::future_set<int>> {
  future_set_face() : plain_face{lockstep::future_set<int>(1)} {}
  void release() { object.contribute(1); }
};
/// Waits as rank 0.
template <class Object>
struct ranked_face {
  Object object;
  template <class Time>
  auto wait_for(Time time) {
    return object.wait_for(0, time);
  }
  template <class Time>
  auto wait_until(Time time) {
    return object.wait_until(0, time);
  }
};
struct fan_out_face : ranked_face<lockstep::fan_out> {
  fan_out_face() : ranked_face{lockstep::fan_out(1)} {}
  void release() { object.notify(); }
};
struct fan_in_face : plain_face<lockstep::fan_in> {
  fan_in_face() : plain_face{lockstep::fan_in(1)} {}
  void release() { object.notify(0); }
};
struct fan_in_out_face : ranked_face<lockstep::fan_in_out> {
  fan_in_out_face() : ranked_face{lockstep::fan_in_out(1, 1)} {}
  void release() { object.notify(0); }
};
struct barrier_face : ranked_face<lockstep::ranked_barrier> {
  barrier_face() : ranked_face{lockstep::ranked_barrier(2)} { object.arrive(0); }
  void release() { object.arrive(1); }
};
struct counted_barrier_face {
  lockstep::barrier<> object{2, lockstep::wait_policy::block()};
  lockstep::barrier<>::arrival_token token = object.arrive();
  template <class Time>
  auto wait_for(Time time) {
    return object.wait_for(token, time);
  }
  template <class Time>
  auto wait_until(Time time) {
    return object.wait_until(token, time);
  }
  void release() { static_cast<void>(object.arrive()); }
};
struct mailbox_face {
  lockstep::mailbox object{2};
  template <class Time>
  auto wait_for(Time time) {
    return object.wait_and_run_for(time);
  }
  template <class Time>
  auto wait_until(Time time) {
    return object.wait_and_run_until(time);
  }
  void release() {
    EXPECT_TRUE(object.post([] {}));
  }
};
struct thread_face {
  std::atomic<bool> may_end{false};
  lockstep::joinable_thread object{[this] {
    while (!may_end.load()) std::this_thread::yield();
  }};
  template <class Time>
  auto wait_for(Time time) {
    return object.join_for(time);
  }
  template <class Time>
  auto wait_until(Time time) {
    return object.join_until(time);
  }
  void release() { may_end = true; }
  ~thread_face() { release(); }
};

template <class Face>
class timed_waits : public testing::Test {};
using faces =
    testing::Types<event_face, auto_reset_face, manual_reset_face, latch_face, eventual_face,
                   void_eventual_face, future_set_face, fan_out_face, fan_in_face, fan_in_out_face,
                   barrier_face, counted_barrier_face, mailbox_face, thread_face>;
TYPED_TEST_SUITE(timed_waits, faces);

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
    face.release();
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
