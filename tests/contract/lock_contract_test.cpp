// SPDX-License-Identifier: MIT
// tests/contract/lock_contract_test.cpp -- what every lock promises, under every policy
//
// One typed suite over mutex, recursive_mutex and both sides of shared_mutex. The counters are plain data:
// a hole in the exclusion is a wrong sum here and a report under ThreadSanitizer, a lost wake-up a ctest
// timeout.
#include <lockstep/mutex.hpp>
#include <lockstep/shared_mutex.hpp>
#include "platform/system.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <mutex>
#include <shared_mutex>

#include "support/asleep.hpp"
#include "support/effort.hpp"
#include "support/policies.hpp"
#include "support/threads.hpp"

namespace {

using lockstep::test::named_policy;
using lockstep::test::run_threads;
using namespace std::chrono_literals;

constinit lockstep::mutex static_mutex;
constinit lockstep::recursive_mutex static_recursive_mutex;
constinit lockstep::shared_mutex static_shared_mutex;

template <class Lock>
class lock_contract : public testing::Test {
 protected:
  template <class Body>
  void for_all_policies(Body body) {
    for (const named_policy& named : lockstep::test::all_policies()) {
      SCOPED_TRACE(named.name);
      body(named.policy);
      if (this->HasFatalFailure()) return;
    }
  }
  /// Pure spinners in a crowd hand over once a time slice.
  static int rounds(lockstep::wait_policy policy, unsigned threads, int plenty) {
    return policy.is_spin() && threads > lockstep::detail::usable_cpus()
               ? plenty / 100 + 2
               : lockstep::test::effort(plenty);
  }
};

/// Whether the lock stays open to others, however often it is locked. A lock that went on counting how often waiters
/// are overtaken, with no waiter there, would close after a while.
template <class Lock>
bool stays_free(Lock& lock) {
  for (int i = 0; i < 10000; ++i) {
    if (!lock.try_lock()) return false;
    lock.unlock();
  }
  return true;
}

using locks = testing::Types<lockstep::mutex, lockstep::recursive_mutex, lockstep::shared_mutex>;
TYPED_TEST_SUITE(lock_contract, locks);

TYPED_TEST(lock_contract, MUTEX1_no_two_blocking_trying_and_timed_takers_are_inside) {
  this->for_all_policies([&](lockstep::wait_policy policy) {
    for (const unsigned threads : {1u, 2u, 6u, 16u}) {
      const int rounds = this->rounds(policy, threads, 1000);
      TypeParam lock(policy);
      long sum = 0;
      std::atomic<long> taken{0};
      run_threads(threads, [&](std::size_t rank) {
        for (int i = 0; i < rounds; ++i) {
          if (rank % 3 == 1 && !lock.try_lock()) continue;
          if (rank % 3 == 2 && !lock.try_lock_for(std::chrono::microseconds(i % 7))) continue;
          if (rank % 3 == 0) lock.lock();
          ++sum;
          lock.unlock();
          ++taken;
        }
      });
      EXPECT_EQ(sum, taken.load());
      EXPECT_GE(sum, long{(threads + 2) / 3} * rounds) << "those who block get it every time";
      EXPECT_TRUE(stays_free(lock)) << "nothing is left behind by those who gave up";
    }
  });
}

TYPED_TEST(lock_contract, a_held_lock_is_not_to_be_had_and_a_timed_try_ends) {
  this->for_all_policies([&](lockstep::wait_policy policy) {
    TypeParam lock(policy);
    lock.lock();
    run_threads(1, [&](std::size_t) {
      EXPECT_FALSE(lock.try_lock());
      for (const auto time : {-1us, 0us, 1us, 100us, 3000us}) {
        EXPECT_FALSE(lock.try_lock_for(time));
      }
      EXPECT_FALSE(lock.try_lock_until(std::chrono::steady_clock::now() + 100us));
      EXPECT_FALSE(lock.try_lock_until(std::chrono::system_clock::now() + 100us));
    });
    lock.unlock();
    run_threads(1, [&](std::size_t) {
      EXPECT_TRUE(lock.try_lock_for(0s)) << "a free lock is taken even when the time is over";
      lock.unlock();
      EXPECT_TRUE(lock.try_lock_for(std::chrono::hours(24 * 365 * 500))) << "overflows to never";
      lock.unlock();
    });
  });
}

/// Runs `first` under the lock, then `second` by a thread that has gone to sleep for the lock meanwhile.
template <class Lock, class First, class Second>
void sleep_for_it(Lock& lock, First first, Second second) {
  lockstep::test::watched_thread sleeper;
  std::atomic<bool> held{false};
  run_threads(2, [&](std::size_t rank) {
    if (rank == 0) {
      lock.lock();
      held.store(true, std::memory_order_release);
      sleeper.wait_until_asleep();
      first();
    } else {
      while (!held.load(std::memory_order_acquire)) std::this_thread::yield();
      sleeper.enter();
      second();
    }
  });
}

TYPED_TEST(lock_contract, MUTEX2_an_unlock_wakes_one_who_sleeps) {
  for (const named_policy& named : lockstep::test::crowd_safe_policies()) {
    SCOPED_TRACE(named.name);
    TypeParam lock(named.policy);
    bool done = false;
    sleep_for_it(
        lock,
        [&] {
          done = true;
          lock.unlock();
        },
        [&] {
          lock.lock();
          EXPECT_TRUE(done);
          lock.unlock();
        });
  }
}

TYPED_TEST(lock_contract, MUTEX3_a_sleeper_that_gives_up_leaves_a_working_lock) {
  for (const named_policy& named : lockstep::test::crowd_safe_policies()) {
    SCOPED_TRACE(named.name);
    TypeParam lock(named.policy);
    std::atomic<bool> gave_up{false};
    sleep_for_it(
        lock,
        [&] {
          while (!gave_up.load(std::memory_order_acquire)) std::this_thread::yield();
          lock.unlock();
          EXPECT_TRUE(stays_free(lock)) << "nobody is waited for any more";
        },
        [&] {
          EXPECT_FALSE(lock.try_lock_for(20ms));
          gave_up.store(true, std::memory_order_release);
        });
  }
}

TYPED_TEST(lock_contract,
           MUTEX3_waiters_that_give_up_while_they_are_being_woken_leave_a_working_lock) {
  for (const named_policy& named : lockstep::test::crowd_safe_policies()) {
    SCOPED_TRACE(named.name);
    TypeParam lock(named.policy);
    long sum = 0;
    std::atomic<long> taken{0};
    run_threads(6, [&](std::size_t rank) {
      for (int i = 0; i < 200; ++i) {
        const auto time = std::chrono::microseconds((i * 37 + static_cast<int>(rank) * 11) % 200);
        if (!lock.try_lock_for(time)) continue;
        // About as long as a wake-up takes.
        const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(i % 60);
        while (std::chrono::steady_clock::now() < end) continue;
        ++sum;
        lock.unlock();
        ++taken;
      }
    });
    EXPECT_EQ(sum, taken.load());
    EXPECT_TRUE(stays_free(lock));
  }
}

TYPED_TEST(lock_contract, works_with_the_lock_objects_of_the_standard_library) {
  TypeParam first, second;
  {
    const std::scoped_lock both(first, second);
    run_threads(1, [&](std::size_t) { EXPECT_FALSE(first.try_lock() || second.try_lock()); });
  }
  std::unique_lock<TypeParam> lock(first, std::defer_lock);
  EXPECT_TRUE(lock.try_lock_for(1s));
  EXPECT_TRUE(lock.owns_lock());
}

TEST(static_locks, zero_initialised_storage_is_a_free_lock) {
  alignas(8) const unsigned char zeros[64] = {};
  EXPECT_EQ(std::memcmp(static_cast<void*>(&static_mutex), zeros, sizeof static_mutex), 0);
  EXPECT_EQ(std::memcmp(static_cast<void*>(&static_shared_mutex), zeros, 8), 0);
  EXPECT_EQ(std::memcmp(static_cast<void*>(&static_recursive_mutex), zeros,
                        sizeof static_recursive_mutex),
            0);
  EXPECT_TRUE(static_mutex.try_lock());
  static_mutex.unlock();
}

}  // namespace
