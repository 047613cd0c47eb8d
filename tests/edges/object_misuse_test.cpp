// SPDX-License-Identifier: MIT
// tests/edges/object_misuse_test.cpp -- an object is destroyed while a thread waits on it: the message names it
//
// Two cases are no misuse: a waiter destroys the object as soon as its wait has returned; the program ends while a
// thread that nobody joins waits on an object of static storage.
#include <lockstep/detail/wait/misuse.hpp>
#include <lockstep/lockstep.hpp>
#include <lockstep/toolbox.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>

#include "platform/process.hpp"
#include "support/asleep.hpp"
#include "support/policies.hpp"
#include "support/threads.hpp"

namespace {

using lockstep::detail::name_this_thread;
using lockstep::test::run_threads;
using lockstep::test::watched_thread;

// The diagnosis costs no room, and where it is off not even a destructor.
constexpr bool trivial = !lockstep::detail::misuse::diagnosed;
static_assert(std::is_trivially_destructible_v<lockstep::event> == trivial &&
              sizeof(lockstep::event) == 16);
static_assert(std::is_trivially_destructible_v<lockstep::latch> == trivial &&
              sizeof(lockstep::latch) == 8);
static_assert(std::is_trivially_destructible_v<lockstep::auto_reset_event> == trivial);
static_assert(std::is_trivially_destructible_v<lockstep::manual_reset_event> == trivial);
[[maybe_unused]] constinit lockstep::event constant_event;
[[maybe_unused]] constinit lockstep::latch constant_latch(3);
[[maybe_unused]] constinit lockstep::auto_reset_event constant_auto;
[[maybe_unused]] constinit lockstep::manual_reset_event constant_manual;

class destroying : public testing::Test {
 protected:
  destroying() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
  void SetUp() override {
    if (!lockstep::detail::misuse::diagnosed)
      GTEST_SKIP() << "misuse is not diagnosed in this build";
  }

  /// bob waits in `wait` when alice destroys what `make` has made.
  template <class Make, class Wait>
  static void is_said(const std::string& kind, Make make, Wait wait) {
    SCOPED_TRACE(kind);
    const auto destroy = [&] {
      auto object = make();
      auto* const there = object.get();
      watched_thread bob;
      run_threads(2, [&](std::size_t rank) {
        name_this_thread(rank == 0 ? "bob" : "alice");
        if (rank == 0) {
          bob.enter();
          wait(*there);
        } else {
          bob.wait_until_asleep();
          object.reset();
        }
      });
    };
    EXPECT_DEATH(destroy(),
                 kind +
                     " at 0x.*: destroyed by thread [0-9]+ 'alice' while thread [0-9]+ 'bob' "
                     "is waiting on it");
  }
};

TEST_F(destroying, objects_of_one_word_while_somebody_waits_is_said) {
  is_said(
      "lockstep::event", [] { return std::make_unique<lockstep::event>(); },
      [](lockstep::event& each) { each.wait(); });
  is_said(
      "lockstep::manual_reset_event",
      [] { return std::make_unique<lockstep::manual_reset_event>(); },
      [](lockstep::manual_reset_event& each) { each.wait(); });
  is_said(
      "lockstep::auto_reset_event", [] { return std::make_unique<lockstep::auto_reset_event>(); },
      [](lockstep::auto_reset_event& each) { each.wait(); });
  is_said(
      "lockstep::latch", [] { return std::make_unique<lockstep::latch>(1); },
      [](lockstep::latch& each) { each.wait(); });
  is_said(
      "lockstep::eventual", [] { return std::make_unique<lockstep::eventual<int>>(); },
      [](lockstep::eventual<int>& each) { each.wait(); });
}

TEST_F(destroying, the_fans_while_somebody_waits_is_said) {
  is_said(
      "lockstep::fan_out", [] { return std::make_unique<lockstep::fan_out>(3); },
      [](lockstep::fan_out& each) { each.wait(2); });
  is_said(
      "lockstep::fan_in", [] { return std::make_unique<lockstep::fan_in>(3); },
      [](lockstep::fan_in& each) { each.wait(); });
  is_said(
      "lockstep::fan_in_out", [] { return std::make_unique<lockstep::fan_in_out>(2, 2); },
      [](lockstep::fan_in_out& each) { each.wait(1); });
}

TEST_F(destroying, the_barriers_while_somebody_waits_is_said) {
  is_said(
      "lockstep::ranked_barrier", [] { return std::make_unique<lockstep::ranked_barrier>(2); },
      [](lockstep::ranked_barrier& each) { each.arrive_and_wait(0); });
  is_said(
      "lockstep::ranked_barrier", [] { return std::make_unique<lockstep::ranked_barrier>(20); },
      [](lockstep::ranked_barrier& each) { each.arrive_and_wait(19); });
  is_said(
      "lockstep::barrier", [] { return std::make_unique<lockstep::barrier<>>(2); },
      [](lockstep::barrier<>& each) { each.arrive_and_wait(); });
}

TEST_F(destroying, mailboxes_and_sets_of_futures_while_somebody_waits_is_said) {
  is_said(
      "lockstep::mailbox", [] { return std::make_unique<lockstep::mailbox>(4); },
      [](lockstep::mailbox& each) { each.wait_and_run(); });
  is_said(
      "lockstep::future_set", [] { return std::make_unique<lockstep::future_set<int>>(2); },
      [](lockstep::future_set<int>& each) { each.wait(); });
  is_said(
      "lockstep::future_set", [] { return std::make_unique<lockstep::future_set<void>>(2); },
      [](lockstep::future_set<void>& each) { each.wait(); });
}

TEST_F(destroying, says_the_address_of_the_object_itself) {
  alignas(64) static unsigned char place[sizeof(lockstep::ranked_barrier)];
  lockstep::ranked_barrier* const barrier = new (place) lockstep::ranked_barrier(2);
  // The destructor would not report it: it lets static storage be, see below.
  EXPECT_EQ(static_cast<void*>(barrier), static_cast<void*>(place));
  barrier->~ranked_barrier();
}

TEST_F(destroying, who_polls_is_said_too) {
  const auto destroy = [] {
    auto object = std::make_unique<lockstep::fan_out>(1, lockstep::wait_policy::spin());
    lockstep::fan_out* const there = object.get();
    std::thread([there] {
      name_this_thread("bob");
      there->wait(0);
    }).detach();
    while (!lockstep::detail::misuse::is_noted(there, lockstep::detail::misuse::role::waiter)) {
      std::this_thread::yield();
    }
    object.reset();
  };
  EXPECT_DEATH(destroy(), "lockstep::fan_out .*while thread [0-9]+ 'bob' is waiting on it");
}

// A waiter may destroy as soon as its wait has returned; its notifier may still be in its call.
template <class Object, class Make, class Wait, class Notify>
void waiter_destroys(Make make, Wait wait, Notify notify) {
  for (int round = 0; round < 500; ++round) {
    std::unique_ptr<Object> object = make();
    Object* const there = object.get();
    std::thread notifier([&] { notify(*there); });
    wait(*there);
    object.reset();
    notifier.join();
  }
}

TEST(destroyed_by_the_waiter, objects_of_one_word_are_let_alone) {
  waiter_destroys<lockstep::event>([] { return std::make_unique<lockstep::event>(); },
                                   [](auto& each) { each.wait(); },
                                   [](auto& each) { each.notify(); });
  waiter_destroys<lockstep::latch>([] { return std::make_unique<lockstep::latch>(1); },
                                   [](auto& each) { each.wait(); },
                                   [](auto& each) { each.count_down(); });
  waiter_destroys<lockstep::auto_reset_event>(
      [] { return std::make_unique<lockstep::auto_reset_event>(); },
      [](auto& each) { each.wait(); }, [](auto& each) { each.notify(); });
  waiter_destroys<lockstep::manual_reset_event>(
      [] { return std::make_unique<lockstep::manual_reset_event>(); },
      [](auto& each) { each.wait(); }, [](auto& each) { each.notify(); });
  waiter_destroys<lockstep::eventual<int>>(
      [] { return std::make_unique<lockstep::eventual<int>>(); }, [](auto& each) { each.wait(); },
      [](auto& each) { each.set_value(1); });
}

TEST(destroyed_after_all_calls, boards_are_let_alone) {
  for (int round = 0; round < 200; ++round) {
    auto barrier = std::make_unique<lockstep::ranked_barrier>(3);
    auto fan = std::make_unique<lockstep::fan_in>(2);
    run_threads(3, [&](std::size_t rank) {
      barrier->arrive_and_wait(rank);
      if (rank < 2) {
        fan->notify(rank);
      } else {
        fan->wait();
      }
    });
  }
}

TEST(destroyed_after_a_time_out, is_let_alone) {
  for (const auto& each : lockstep::test::all_policies()) {
    lockstep::event event(each.policy);
    EXPECT_EQ(event.wait_for(std::chrono::microseconds(50)), lockstep::wait_status::timed_out);
    lockstep::fan_out fan(1, each.policy);
    EXPECT_EQ(fan.wait_for(0, std::chrono::microseconds(50)), lockstep::wait_status::timed_out);
  }
}

/// Starts a thread that nobody joins and returns when it is asleep in `wait`.
void wait_for_ever(const std::function<void()>& wait) {
  const auto thread = std::make_shared<watched_thread>();
  std::thread([wait, thread] {
    thread->enter();
    wait();
  }).detach();
  thread->wait_until_asleep();
}

lockstep::event global_event;

TEST(the_end_of_the_program, finds_threads_waiting_on_static_objects_and_says_nothing) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto end = [] {
    wait_for_ever([] { global_event.wait(); });
    static lockstep::event event;  // made after the first wait
    static lockstep::latch latch(1);
    static lockstep::auto_reset_event one;
    static lockstep::manual_reset_event gate;
    static lockstep::eventual<int> value;
    static lockstep::barrier<> split(2);
    static lockstep::ranked_barrier barrier(2);
    static lockstep::fan_in fan(1);
    static lockstep::mailbox mailbox(2);
    wait_for_ever([] { event.wait(); });
    wait_for_ever([] { latch.wait(); });
    wait_for_ever([] { one.wait(); });
    wait_for_ever([] { gate.wait(); });
    wait_for_ever([] { value.wait(); });
    wait_for_ever([] { split.arrive_and_wait(); });
    wait_for_ever([] { barrier.arrive_and_wait(0); });
    wait_for_ever([] { fan.wait(); });
    wait_for_ever([] { mailbox.wait_and_run(); });
    std::exit(7);
  };
  EXPECT_EXIT(end(), testing::ExitedWithCode(7), "");
}

}  // namespace
