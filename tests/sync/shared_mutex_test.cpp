// SPDX-License-Identifier: MIT
// tests/sync/shared_mutex_test.cpp -- readers together, writers alone, nobody starves
//
// The exclusive side alone is covered by contract/lock_contract_test.cpp.
#include <lockstep/shared_mutex.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <type_traits>
#include <vector>

#include "support/asleep.hpp"
#include "support/policies.hpp"
#include "support/threads.hpp"

namespace {

using lockstep::shared_mutex;
using lockstep::test::named_policy;
using lockstep::test::run_threads;
using lockstep::test::watched_thread;
using namespace std::chrono_literals;

static_assert(sizeof(shared_mutex) == 8, "packed");
static_assert(!std::is_copy_constructible<shared_mutex>::value, "not copyable");

class shared_with_policy : public testing::TestWithParam<named_policy> {};
INSTANTIATE_TEST_SUITE_P(policies, shared_with_policy,
                         testing::ValuesIn(lockstep::test::all_policies()),
                         lockstep::test::policy_name);
class sleeping_shared : public shared_with_policy {};
INSTANTIATE_TEST_SUITE_P(policies, sleeping_shared,
                         testing::ValuesIn(lockstep::test::crowd_safe_policies()),
                         lockstep::test::policy_name);

TEST_P(shared_with_policy, readers_hold_it_together_and_keep_writers_out) {
  shared_mutex lock(GetParam().policy);
  const std::shared_lock<shared_mutex> mine(lock);
  run_threads(1, [&](std::size_t) {
    EXPECT_TRUE(lock.try_lock_shared());
    lock.unlock_shared();
    lock.lock_shared();
    lock.unlock_shared();
    EXPECT_FALSE(lock.try_lock());
    EXPECT_FALSE(lock.try_lock_for(50us));
    EXPECT_FALSE(lock.try_lock_until(std::chrono::system_clock::now() + 50us));
  });
}

TEST_P(shared_with_policy, a_writer_keeps_readers_out) {
  shared_mutex lock(GetParam().policy);
  const std::unique_lock<shared_mutex> mine(lock);
  run_threads(1, [&](std::size_t) {
    EXPECT_FALSE(lock.try_lock_shared());
    EXPECT_FALSE(lock.try_lock_shared_for(50us));
    EXPECT_FALSE(lock.try_lock_shared_until(std::chrono::steady_clock::now() + 50us));
  });
}

TEST_P(sleeping_shared, SHARED2_a_queued_writer_is_not_overtaken_by_new_readers) {
  shared_mutex lock(GetParam().policy);
  watched_thread writer;
  std::atomic<bool> held{false};
  bool written = false;
  run_threads(2, [&](std::size_t rank) {
    if (rank == 0) {
      lock.lock_shared();
      held.store(true, std::memory_order_release);
      writer.wait_until_asleep();
      EXPECT_FALSE(lock.try_lock_shared());
      lock.unlock_shared();
      lock.lock_shared();
      EXPECT_TRUE(written);
      lock.unlock_shared();
    } else {
      while (!held.load(std::memory_order_acquire)) std::this_thread::yield();
      writer.enter();
      lock.lock();
      written = true;
      lock.unlock();
    }
  });
}

TEST_P(sleeping_shared,
       SHARED2_neighbouring_readers_are_let_in_together_and_before_the_next_writer) {
  shared_mutex lock(GetParam().policy);
  std::vector<watched_thread> watched(4);
  std::vector<std::thread> threads;
  std::atomic<int> readers_inside{0};
  bool written = false;
  lock.lock();
  for (std::size_t i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      watched[i].enter();
      if (i == 3) {
        lock.lock();
        EXPECT_EQ(readers_inside.load(), 3);
        written = true;
        lock.unlock();
        return;
      }
      lock.lock_shared();
      ++readers_inside;
      while (readers_inside.load() < 3) std::this_thread::yield();  // all three at once
      EXPECT_FALSE(written);
      lock.unlock_shared();
    });
    watched[i].wait_until_asleep();
  }
  lock.unlock();
  for (std::thread& each : threads) each.join();
  EXPECT_TRUE(written);
}

TEST_P(sleeping_shared, SHARED3_a_writer_that_gives_up_lets_the_readers_behind_it_in) {
  shared_mutex lock(GetParam().policy);
  watched_thread writer;
  std::atomic<bool> held{false}, read{false};
  run_threads(3, [&](std::size_t rank) {
    if (rank == 0) {
      lock.lock_shared();
      held.store(true, std::memory_order_release);
      while (!read.load(std::memory_order_acquire)) std::this_thread::yield();
      lock.unlock_shared();
    } else if (rank == 1) {
      while (!held.load(std::memory_order_acquire)) std::this_thread::yield();
      writer.enter();
      EXPECT_FALSE(lock.try_lock_for(100ms)) << "a reader holds it until the other reader was in";
    } else {
      writer.wait_until_asleep();
      lock.lock_shared();
      read.store(true, std::memory_order_release);
      lock.unlock_shared();
    }
  });
}

TEST_P(shared_with_policy, neither_side_starves_while_the_other_never_pauses) {
  const bool slow = GetParam().policy.is_spin();
  shared_mutex lock(GetParam().policy);
  const std::size_t most = slow ? 2 : 6;
  std::vector<std::atomic<int>> turns(most);
  std::atomic<bool> stop{false};
  run_threads(most, [&](std::size_t rank) {
    while (!stop.load(std::memory_order_relaxed)) {
      if (rank % 2 == 0) {
        lock.lock();
        lock.unlock();
      } else {
        lock.lock_shared();
        lock.unlock_shared();
      }
      ++turns[rank];
      bool all = true;
      for (const auto& each : turns) all = all && each.load() >= 50;
      if (all) stop.store(true, std::memory_order_relaxed);
    }
  });
  for (const auto& each : turns) EXPECT_GE(each.load(), 50);
}

}  // namespace
