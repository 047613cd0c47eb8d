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
#include <string>
#include <thread>
#include <type_traits>

#include "platform/process.hpp"
#include "support/asleep.hpp"
#include "support/policies.hpp"
#include "support/threads.hpp"
#include "support/waited.hpp"

namespace {

using lockstep::detail::name_this_thread;
using lockstep::test::run_threads;
using lockstep::test::waited;
using lockstep::test::watched_thread;
using all_faces = lockstep::test::faces<lockstep::test::face_list, waited<lockstep::semaphore>,
                                        waited<lockstep::condition_variable>>;

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

  /// bob waits when alice destroys the object, which `make` makes.
  template <class Make>
  static void is_said(const std::string& name, Make make) {
    SCOPED_TRACE(name);
    const auto destroy = [&] {
      auto object = make();
      auto* const there = object.get();
      watched_thread bob;
      run_threads(2, [&](std::size_t rank) {
        name_this_thread(rank == 0 ? "bob" : "alice");
        if (rank == 0) {
          bob.enter();
          there->wait();
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

struct barrier_by_tree {
  lockstep::ranked_barrier object{20};
  void wait() { object.arrive_and_wait(19); }
};
struct held_mutex {
  lockstep::mutex object;
  held_mutex() { object.lock(); }
  void wait() { object.try_lock_for(std::chrono::hours(1)); }
};

TEST_F(destroying, any_object_while_somebody_waits_is_said) {
  all_faces::for_each_type([](auto type) {
    using face = typename decltype(type)::type;
    is_said(face::name, [] { return std::make_unique<face>(); });
  });
  is_said("ranked_barrier", [] { return std::make_unique<barrier_by_tree>(); });
  is_said("mutex", [] { return std::make_unique<held_mutex>(); });
  is_said("future_set", [] { return std::make_unique<lockstep::future_set<void>>(1u); });
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
lockstep::mutex global_mutex;

TEST(the_end_of_the_program, finds_threads_waiting_on_static_objects_and_says_nothing) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto end = [] {
    std::thread([] {
      global_mutex.lock();
    }).join();  // the thread that calls exit() has used nothing
    wait_for_ever([] { global_mutex.lock(); });
    wait_for_ever([] { global_event.wait(); });
    all_faces::for_each_type([](auto type) {
      static typename decltype(type)::type object;  // made after the first wait
      wait_for_ever([] { object.wait(); });
    });
    std::exit(7);
  };
  EXPECT_EXIT(end(), testing::ExitedWithCode(7), "^$");
}

}  // namespace
