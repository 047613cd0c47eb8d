// SPDX-License-Identifier: MIT
// tests/contract/timed_waits_test.cpp -- every timed wait takes a duration or a time_point of any clock
//
// Each face gives one object a wait that cannot end and, after release(), one that ends at once. All waits
// return a wait_status.
#include <lockstep/event.hpp>
#include <lockstep/eventual.hpp>
#include <lockstep/future_set.hpp>
#include <lockstep/latch.hpp>
#include <lockstep/mailbox.hpp>
#include <lockstep/split_barrier.hpp>
#include <lockstep/thread.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
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
  static constexpr bool is_steady = false;
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
struct split_barrier_face {
  lockstep::split_barrier<> object{2, lockstep::wait_policy::block()};
  lockstep::split_barrier<>::arrival_token token = object.arrive();
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
using faces = testing::Types<event_face, auto_reset_face, manual_reset_face, latch_face,
                             eventual_face, void_eventual_face, future_set_face, split_barrier_face,
                             mailbox_face, thread_face>;
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

}  // namespace
