// SPDX-License-Identifier: MIT
// tests/fault/handler_test.cpp -- notifying from a signal handler, in the middle of a wait
//
// The notifications that take no lock and allocate nothing may be given in a signal handler, also by the
// thread that waits on the same object at that moment. Not those that let a queue's threads go (semaphore,
// the mutexes, condition_variable): the handler may have interrupted the holder of the queue's lock. And
// not where the futex is the portable one, which takes a mutex.
#include <lockstep/detail/platform/clock.hpp>
#include <lockstep/lockstep.hpp>
#include <lockstep/toolbox.hpp>

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "fault/child_process.hpp"
#include "support/effort.hpp"
#include "support/policies.hpp"
#include "support/waited.hpp"

namespace {

using lockstep::wait_policy;

/// SIGUSR1's handler calls `what` on `object` while this lives.
class handler {
 public:
  handler(void (*what)(void*), void* object) {
    what_ = what;
    object_ = object;
    struct sigaction action = {};
    action.sa_handler = [](int) { what_(object_); };
    sigaction(SIGUSR1, &action, &before_);
  }
  ~handler() { sigaction(SIGUSR1, &before_, nullptr); }
  handler(const handler&) = delete;
  handler& operator=(const handler&) = delete;

 private:
  inline static void (*what_)(void*);
  inline static void* object_;
  struct sigaction before_ = {};
};

template <class Face>
void notify(void* what) {
  static_cast<Face*>(what)->notify();
}

const int rounds = lockstep::test::is_brief() ? 50 : 1000;

/// Interrupts the thread once for each round that has ended.
void send(pthread_t target, const std::atomic<int>& ended) {
  for (int sent = 0; sent < rounds; ++sent) {
    while (ended < sent) std::this_thread::yield();
    // Now before the wait, now in its middle.
    for (int i = sent % 64; i > 0; --i) lockstep::detail::native::polling_pause();
    pthread_kill(target, SIGUSR1);
  }
  while (ended < rounds) std::this_thread::yield();
}

/// Each policy in a child of its own.
template <class Body>
void expect_in_child(Body body) {
  for (const auto& named : lockstep::test::crowd_safe_policies()) {
    SCOPED_TRACE(named.name);
    lockstep::test::expect_in_child([&] { body(named.policy); });
  }
}

template <class Face>
class notified_in_a_handler : public testing::Test {};
using classes = lockstep::test::faces<testing::Types>;
TYPED_TEST_SUITE(notified_in_a_handler, classes);

TYPED_TEST(notified_in_a_handler, by_the_waiter_itself_it_lets_the_waiter_go) {
  expect_in_child([](lockstep::wait_policy policy) {
    TypeParam what(policy);
    const handler installed(notify<TypeParam>, &what);
    std::atomic<int> ended{0};
    std::thread waiter([&] {
      for (int round = 0; round < rounds; ++round) {
        what.wait();
        ++ended;
      }
    });
    send(waiter.native_handle(), ended);
    waiter.join();
    EXPECT_EQ(ended, rounds);
  });
}

TYPED_TEST(notified_in_a_handler, by_a_thread_in_a_queue_it_lets_another_thread_go) {
  expect_in_child([](lockstep::wait_policy policy) {
    TypeParam what(policy);
    const handler installed(notify<TypeParam>, &what);
    std::atomic<int> ended{0};
    // This thread is always on its way into a queue or out of it, and often holds the queue's lock.
    std::thread interrupted([&] {
      lockstep::semaphore none(0, wait_policy::block());
      for (unsigned i = 0; ended < rounds; ++i) {
        none.try_acquire_for(std::chrono::microseconds(i % 64 == 0 ? 20 : 0));
      }
    });
    std::thread waiter([&] {
      for (int round = 0; round < rounds; ++round) {
        what.wait();
        ++ended;
      }
    });
    send(interrupted.native_handle(), ended);
    waiter.join();
    interrupted.join();
    EXPECT_EQ(ended, rounds);
  });
}

}  // namespace
