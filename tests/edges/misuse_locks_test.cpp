// SPDX-License-Identifier: MIT
// tests/edges/misuse_locks_test.cpp -- what debug builds say of locks, and when they say nothing
#include <lockstep/condition_variable.hpp>
#include <lockstep/latch.hpp>
#include <lockstep/mutex.hpp>
#include <lockstep/semaphore.hpp>
#include <lockstep/shared_mutex.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <mutex>
#include <new>
#include <thread>

#include "support/asleep.hpp"

namespace {

using lockstep::test::watched_thread;

class misuse_of_locks : public testing::Test {
 protected:
  misuse_of_locks() { testing::GTEST_FLAG(death_test_style) = "threadsafe"; }
  void SetUp() override {
    if (!lockstep::detail::misuse::diagnosed) GTEST_SKIP() << "needs the diagnosis";
  }
};

TEST_F(misuse_of_locks, a_recursive_mutex_is_called_by_its_name) {
  EXPECT_DEATH(
      {
        alignas(lockstep::recursive_mutex) unsigned char room[sizeof(lockstep::recursive_mutex)];
        auto* const lock = ::new (room) lockstep::recursive_mutex;
        lock->lock();
        lock->~recursive_mutex();
      },
      "lockstep::recursive_mutex at .*destroyed by");
  EXPECT_DEATH(lockstep::recursive_mutex().unlock(), "lockstep::recursive_mutex at .*unlocked");
}

TEST_F(misuse_of_locks, a_reader_that_locks_as_a_writer_is_told_so) {
  EXPECT_DEATH(
      {
        lockstep::shared_mutex lock;
        lock.lock_shared();
        lock.lock();
      },
      "lockstep::shared_mutex at .*while the same thread holds it as a reader");
  EXPECT_DEATH(
      {
        lockstep::shared_mutex lock;
        lock.lock_shared();
        lock.try_lock_for(std::chrono::milliseconds(1));
      },
      "lockstep::shared_mutex at .*while the same thread holds it as a reader");
}

TEST_F(misuse_of_locks, a_reader_that_reads_again_behind_a_writer_is_told_so) {
  EXPECT_DEATH(
      {
        lockstep::shared_mutex lock;
        lock.lock_shared();
        lock.lock_shared();  // nobody in between
        watched_thread writer;
        std::thread([&] {
          writer.enter();
          lock.lock();
        }).detach();
        writer.wait_until_asleep();
        lock.lock_shared();
      },
      "lockstep::shared_mutex at .*while the same thread holds it as a reader");
}

TEST_F(misuse_of_locks, a_wait_with_a_mutex_that_is_not_held_is_told_so) {
  EXPECT_DEATH(
      {
        lockstep::mutex lock;
        lockstep::condition_variable changed;
        changed.wait(lock);
      },
      "lockstep::mutex at .*unlocked by .* while no thread holds it");
}

// --- at the end of the program ---

lockstep::mutex static_mutex;
lockstep::semaphore static_permits(0);
lockstep::condition_variable static_condition;
lockstep::latch static_latch(1);
lockstep::mutex condition_lock;

template <class Wait>
void leave_asleep(Wait wait) {
  static watched_thread watched[8];
  static int count = 0;
  watched_thread& mine = watched[count++];
  std::thread([&mine, wait] {
    mine.enter();
    wait();
  }).detach();
  mine.wait_until_asleep();
}

TEST_F(misuse_of_locks, a_normal_exit_while_detached_threads_sleep_on_static_objects_is_normal) {
  EXPECT_EXIT(
      {
        static_mutex.lock();
        leave_asleep([] { static_mutex.lock(); });
        leave_asleep([] { static_permits.acquire(); });
        leave_asleep([] { static_latch.wait(); });
        leave_asleep([] {
          std::unique_lock<lockstep::mutex> guard(condition_lock);
          static_condition.wait(guard);
        });
        std::exit(7);
      },
      testing::ExitedWithCode(7), "^$");
}

TEST_F(misuse_of_locks, the_same_of_an_object_that_became_static_later) {
  EXPECT_EXIT(
      {
        static_mutex.lock();  // the diagnosis is in use
        static lockstep::semaphore later(0);
        leave_asleep([] { later.acquire(); });
        std::exit(7);
      },
      testing::ExitedWithCode(7), "^$");
}

TEST_F(misuse_of_locks, a_normal_exit_by_a_thread_that_has_used_nothing_is_normal) {
  EXPECT_EXIT(
      {
        leave_asleep([] { static_permits.acquire(); });
        std::exit(7);
      },
      testing::ExitedWithCode(7), "^$");
}

TEST_F(misuse_of_locks, what_is_destroyed_before_the_end_is_still_told) {
  EXPECT_DEATH(
      {
        auto* const permits = new lockstep::semaphore(0);
        leave_asleep([permits] { permits->acquire(); });
        delete permits;
      },
      "lockstep::counting_semaphore at .*destroyed by .* is waiting on it");
}

}  // namespace
