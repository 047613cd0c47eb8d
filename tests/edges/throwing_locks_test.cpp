// SPDX-License-Identifier: MIT
// tests/edges/throwing_locks_test.cpp -- condition_variable with locks that throw, or that are not held
#include <lockstep/condition_variable.hpp>
#include <lockstep/mutex.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <vector>

#include "support/asleep.hpp"

namespace {

using lockstep::condition_variable;
using lockstep::wait_policy;
using lockstep::test::watched_thread;

struct refused : std::runtime_error {
  refused() : std::runtime_error("refused") {}
};

/// A BasicLockable that throws when it is told to; all of them share one mutex.
struct handle {
  std::mutex& inner;
  std::function<void()> before_lock = [] {};
  std::function<void()> before_unlock = [] {};

  explicit handle(std::mutex& of) : inner(of) {}
  void lock() {
    before_lock();
    inner.lock();
  }
  void unlock() {
    const std::function<void()> mood = before_unlock;  // the call may change it
    mood();
    inner.unlock();
  }
};

class throwing_locks : public testing::TestWithParam<wait_policy> {};
INSTANTIATE_TEST_SUITE_P(policies, throwing_locks,
                         testing::Values(wait_policy::block(), wait_policy()));

TEST_P(throwing_locks, CONDITION6_whoever_cannot_lock_again_wakes_the_next_all_the_same) {
  constexpr std::size_t count = 6;
  std::mutex mutex;
  condition_variable changed(GetParam());
  std::deque<watched_thread> watched(count);
  std::vector<std::thread> threads;
  std::atomic<int> threw{0}, returned{0};
  for (std::size_t i = 0; i < count; ++i) {
    threads.emplace_back([&, i] {
      handle lock(mutex);
      lock.lock();
      if (i % 2 == 0) lock.before_lock = [] { throw refused(); };
      watched[i].enter();
      try {
        changed.wait(lock);
        ++returned;
        lock.unlock();
      } catch (const refused&) {
        ++threw;
      }
    });
    watched[i].wait_until_asleep();
  }
  changed.notify_all();
  for (std::thread& each : threads) each.join();
  EXPECT_EQ(threw, 3);
  EXPECT_EQ(returned, 3);
}

TEST_P(throwing_locks, CONDITION6_a_time_out_that_cannot_lock_again_throws_and_leaves_the_queue) {
  std::mutex mutex;
  handle lock(mutex);
  condition_variable changed(GetParam());
  lock.lock();
  lock.before_lock = [] { throw refused(); };
  EXPECT_THROW(changed.wait_for(lock, std::chrono::microseconds(10)), refused);
  changed.notify_all();  // finds nobody
}

TEST_P(throwing_locks, CONDITION6_who_is_notified_while_it_cannot_unlock_passes_the_chain_on) {
  // The first sleeps, the second is notified inside of its unlock(), before that throws; the third sleeps.
  // The second keeps the lock until it has caught the exception, so the first cannot pass anything on.
  for (const bool is_first : {true, false}) {
    std::mutex mutex;
    condition_variable changed(GetParam());
    std::deque<watched_thread> watched(2);
    std::vector<std::thread> threads;
    const auto wait_in_thread = [&](std::size_t i) {
      threads.emplace_back([&, i] {
        std::unique_lock<std::mutex> lock(mutex);
        watched[i].enter();
        changed.wait(lock);
      });
      watched[i].wait_until_asleep();
    };
    if (!is_first) wait_in_thread(0);
    handle lock(mutex);
    lock.lock();
    lock.before_unlock = [&] {
      lock.before_unlock = [] {};
      changed.notify_all();
      throw refused();
    };
    EXPECT_THROW(changed.wait(lock), refused);
    lock.unlock();
    for (std::thread& each : threads) each.join();
    threads.clear();
    wait_in_thread(1);
    changed.notify_one();
    threads[0].join();
  }
}

TEST_P(throwing_locks, CONDITION6_one_in_the_middle_of_a_chain_that_cannot_unlock_leaves_it_whole) {
  std::mutex mutex;
  condition_variable changed(GetParam());
  std::deque<watched_thread> watched(2);
  std::vector<std::thread> threads;
  const auto start = [&](std::size_t i) {
    threads.emplace_back([&, i] {
      handle lock(mutex);
      if (i == 0) lock.lock();
      watched[i].enter();
      changed.wait(lock);
      lock.unlock();
    });
  };
  start(0);
  watched[0].wait_until_asleep();
  handle lock(mutex);
  lock.lock();
  lock.before_unlock = [&] {
    lock.before_unlock = [] {};
    // This thread waits behind the main thread in the queue. It does not take the lock: it unlocks the one that the main
    // thread holds.
    threads.emplace_back([&] {
      struct shared_unlock {
        std::mutex& inner;
        void lock() { inner.lock(); }
        void unlock() {}
      } behind{mutex};
      watched[1].enter();
      changed.wait(behind);
      mutex.unlock();
    });
    watched[1].wait_until_asleep();
    changed.notify_all();
    throw refused();
  };
  EXPECT_THROW(changed.wait(lock), refused);
  lock.unlock();
  for (std::thread& each : threads) each.join();
}

template <class Mutex>
void an_unheld_unique_lock_throws_and_leaves_nothing_behind(wait_policy policy) {
  condition_variable changed(policy);
  Mutex mutex;
  for (int i = 0; i < 3; ++i) {
    std::unique_lock<Mutex> unheld(mutex, std::defer_lock);
    std::unique_lock<Mutex> of_nothing;
    for (std::unique_lock<Mutex>* lock : {&unheld, &of_nothing}) {
      try {
        if (i == 0) changed.wait(*lock);
        if (i == 1) changed.wait_for(*lock, std::chrono::hours(1));
        if (i == 2) changed.wait(*lock, [] { return false; });
        ADD_FAILURE() << "no exception";
      } catch (const std::system_error& error) {
        EXPECT_EQ(error.code(), std::errc::operation_not_permitted);
      }
    }
  }
  watched_thread watched;
  std::thread waiter([&] {
    std::unique_lock<Mutex> lock(mutex);
    watched.enter();
    changed.wait(lock);
  });
  watched.wait_until_asleep();
  changed.notify_one();  // there is nobody before the one that waits
  waiter.join();
}

TEST_P(throwing_locks, a_unique_lock_that_is_not_held_throws_and_leaves_nothing_behind) {
  an_unheld_unique_lock_throws_and_leaves_nothing_behind<std::mutex>(GetParam());
  an_unheld_unique_lock_throws_and_leaves_nothing_behind<lockstep::mutex>(GetParam());
}

}  // namespace
