// SPDX-License-Identifier: MIT
// tests/edges/object_misuse_test.cpp -- an object is destroyed while a thread waits on it: the message names it
//
// Two cases are no misuse: a waiter destroys the object as soon as its wait has returned; the program ends while a
// thread that nobody joins waits on an object of static storage.
#include <lockstep/detail/wait/misuse.hpp>
#include <lockstep/lockstep.hpp>
#include <lockstep/toolbox.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
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

  /// bob waits in `wait` when alice destroys the object.
  template <class Object, class Wait, class... Arguments>
  static void is_said(const std::string& name, Wait wait, Arguments... arguments) {
    SCOPED_TRACE(name);
    const auto destroy = [&] {
      auto object = std::make_unique<Object>(arguments...);
      Object* const there = object.get();
      if constexpr (std::is_same_v<Object, lockstep::mutex>) object->lock();
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
    EXPECT_DEATH(destroy(), "lockstep::" + name +
                                " at 0x.*: destroyed by thread [0-9]+ 'alice' while thread [0-9]+ "
                                "'bob' is waiting on it");
  }
};

TEST_F(destroying, any_object_while_somebody_waits_is_said) {
  const auto wait = [](auto& each) { each.wait(); };
  is_said<lockstep::event>("event", wait);
  is_said<lockstep::manual_reset_event>("manual_reset_event", wait);
  is_said<lockstep::auto_reset_event>("auto_reset_event", wait);
  is_said<lockstep::latch>("latch", wait, 1);
  is_said<lockstep::eventual<int>>("eventual", wait);
  is_said<lockstep::future_set<int>>("future_set", wait, 2);
  is_said<lockstep::future_set<void>>("future_set", wait, 2);
  is_said<lockstep::mailbox>("mailbox", [](auto& each) { each.wait_and_run(); }, 4);
  is_said<lockstep::fan_out>("fan_out", [](auto& each) { each.wait(2); }, 3);
  is_said<lockstep::fan_in>("fan_in", wait, 3);
  is_said<lockstep::fan_in_out>("fan_in_out", [](auto& each) { each.wait(1); }, 2, 2);
  is_said<lockstep::ranked_barrier>(
      "ranked_barrier", [](auto& each) { each.arrive_and_wait(0); }, 2);
  is_said<lockstep::ranked_barrier>(
      "ranked_barrier", [](auto& each) { each.arrive_and_wait(19); }, 20);
  is_said<lockstep::barrier<>>("barrier", [](auto& each) { each.arrive_and_wait(); }, 2);
  is_said<lockstep::mutex>("mutex", [](auto& each) { each.try_lock_for(std::chrono::hours(1)); });
  is_said<lockstep::semaphore>("counting_semaphore", [](auto& each) { each.acquire(); }, 0);
  is_said<lockstep::condition_variable>("condition_variable", [](auto& each) {
    lockstep::mutex guard;
    std::unique_lock<lockstep::mutex> lock(guard);
    each.wait(lock);
  });
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
template <class Object, class Notify, class... Arguments>
void waiter_destroys(Notify notify, Arguments... arguments) {
  for (int round = 0; round < 500; ++round) {
    auto object = std::make_unique<Object>(arguments...);
    Object* const there = object.get();
    std::thread notifier([&] { notify(*there); });
    there->wait();
    object.reset();
    notifier.join();
  }
}

TEST(destroyed_by_the_waiter, objects_of_one_word_are_let_alone) {
  const auto notify = [](auto& each) { each.notify(); };
  waiter_destroys<lockstep::event>(notify);
  waiter_destroys<lockstep::latch>([](auto& each) { each.count_down(); }, 1);
  waiter_destroys<lockstep::auto_reset_event>(notify);
  waiter_destroys<lockstep::manual_reset_event>(notify);
  waiter_destroys<lockstep::eventual<int>>([](auto& each) { each.set_value(1); });
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
lockstep::mutex global_mutex, global_guard;
lockstep::semaphore global_permits(0);
lockstep::condition_variable global_condition;

TEST(the_end_of_the_program, finds_threads_waiting_on_static_objects_and_says_nothing) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto end = [] {
    std::thread([] {
      global_mutex.lock();
    }).join();  // the thread that calls exit() has used nothing
    wait_for_ever([] { global_event.wait(); });
    wait_for_ever([] { global_mutex.lock(); });
    wait_for_ever([] { global_permits.acquire(); });
    wait_for_ever([] {
      std::unique_lock<lockstep::mutex> lock(global_guard);
      global_condition.wait(lock);
    });
    static lockstep::event event;  // made after the first wait
    static lockstep::latch latch(1);
    static lockstep::auto_reset_event one;
    static lockstep::manual_reset_event gate;
    static lockstep::eventual<int> value;
    static lockstep::barrier<> split(2);
    static lockstep::ranked_barrier barrier(2);
    static lockstep::fan_in fan(1);
    static lockstep::mailbox mailbox(2);
    static lockstep::semaphore permits(0);
    wait_for_ever([] { permits.acquire(); });
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
  EXPECT_EXIT(end(), testing::ExitedWithCode(7), "^$");
}

}  // namespace
