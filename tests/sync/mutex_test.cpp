// SPDX-License-Identifier: MIT
// tests/sync/mutex_test.cpp -- what mutex and recursive_mutex have beyond the contract of all locks
#include <lockstep/mutex.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <thread>
#include <type_traits>
#include <vector>

#include <lockstep/detail/platform/this_thread.hpp>
#include "platform/cpus.hpp"
#include "support/asleep.hpp"
#include "support/policies.hpp"
#include "support/threads.hpp"

namespace {

using lockstep::mutex;
using lockstep::test::run_threads;
using lockstep::test::watched_thread;

static_assert(sizeof(mutex) == 8, "packed");
static_assert(!std::is_copy_constructible<mutex>::value, "not copyable");
static_assert(!std::is_move_constructible<mutex>::value, "not movable");

class mutex_with_policy : public testing::TestWithParam<lockstep::test::named_policy> {};
INSTANTIATE_TEST_SUITE_P(policies, mutex_with_policy,
                         testing::ValuesIn(lockstep::test::crowd_safe_policies()),
                         lockstep::test::policy_name);

/// Starts `count` threads that sleep for the lock, which the caller holds, in this order.
class sleepers_in_order {
 public:
  sleepers_in_order(mutex& lock, std::size_t count) : lock_(lock), watched_(count) {
    for (std::size_t i = 0; i < count; ++i) {
      threads_.emplace_back([this, i] {
        watched_[i].enter();
        lock_.lock();
        order.push_back(i);
        lock_.unlock();
      });
      watched_[i].wait_until_asleep();
    }
  }
  ~sleepers_in_order() {
    for (std::thread& each : threads_) each.join();
  }

  std::vector<std::size_t> order;  // plain: written under the lock

 private:
  mutex& lock_;
  std::vector<watched_thread> watched_;
  std::vector<std::thread> threads_;
};

TEST_P(mutex_with_policy, MUTEX4_sleepers_get_the_lock_in_the_order_of_their_arrival) {
  mutex lock(GetParam().policy);
  std::vector<std::size_t> order;
  {
    lock.lock();
    sleepers_in_order all(lock, 6);
    lock.unlock();
    while (true) {
      lock.lock();
      order = all.order;
      lock.unlock();
      if (order.size() == 6) break;
      std::this_thread::yield();
    }
  }
  EXPECT_EQ(order, (std::vector<std::size_t>{0, 1, 2, 3, 4, 5}));
}

TEST_P(mutex_with_policy, MUTEX4_a_sleeper_is_overtaken_a_bounded_number_of_times) {
  // Both on one CPU, where the one that overtakes runs until its time slice ends; anywhere, where the system tells no CPUs.
  const std::vector<unsigned> cpus = lockstep::detail::affinity();
  for (int round = 0; round < 5; ++round) {
    mutex lock(GetParam().policy);
    watched_thread sleeper;
    std::atomic<bool> held{false};
    bool got_it = false;
    std::uint32_t overtaken = 0;
    run_threads(2, [&](std::size_t rank) {
      if (!cpus.empty()) lockstep::detail::pin_this_thread(cpus.front());
      if (rank == 0) {
        while (!held.load(std::memory_order_acquire)) std::this_thread::yield();
        sleeper.enter();
        lock.lock();
        got_it = true;
        lock.unlock();
        return;
      }
      lock.lock();
      held.store(true, std::memory_order_release);
      sleeper.wait_until_asleep();
      while (true) {
        if (got_it) break;
        lock.unlock();
        lock.lock();
        ++overtaken;
      }
      lock.unlock();
    });
    EXPECT_LE(overtaken, mutex::bypass_limit + 2);
  }
}

/// A sleeper that is woken, finds that a faster thread has taken the lock, and sleeps again.
class overtaken_sleeper {
 public:
  explicit overtaken_sleeper(lockstep::wait_policy policy) : lock(policy) {}

  /// The sleeper takes the lock with `take` and keeps it until let_go(). Returns false if it was faster;
  /// else the caller holds the lock, and the sleeper sleeps again or has given up.
  template <class Take, class Prepare>
  bool succeeds(Take take, Prepare when_it_sleeps) {
    lock.lock();
    thread_ = std::thread([this, take] {
      sleeper_.enter();
      got_it_ = take(lock);
      while (got_it_ && !let_go_.load(std::memory_order_acquire)) std::this_thread::yield();
      if (got_it_) lock.unlock();
      done_.store(true, std::memory_order_release);
    });
    sleeper_.wait_until_asleep();
    when_it_sleeps();
    lock.unlock();
    if (!lock.try_lock()) return false;
    while (!sleeper_.is_asleep() && !done()) std::this_thread::yield();
    return true;
  }
  bool done() const { return done_.load(std::memory_order_acquire); }
  /// Whether the sleeper got the lock. The caller must not hold it any more.
  bool let_go() {
    let_go_.store(true, std::memory_order_release);
    thread_.join();
    return got_it_;
  }

  mutex lock;

 private:
  watched_thread sleeper_;
  std::atomic<bool> let_go_{false}, done_{false};
  bool got_it_ = false;
  std::thread thread_;
};

TEST_P(mutex_with_policy, MUTEX4_the_lock_is_reserved_for_a_sleeper_that_was_woken_in_vain) {
  // Tried until the caller was faster, which it nearly always is.
  for (bool conclusive = false; !conclusive;) {
    overtaken_sleeper sleeper(GetParam().policy);
    std::optional<sleepers_in_order> behind;
    conclusive = sleeper.succeeds(
        [&](mutex& lock) {
          lock.lock();
          EXPECT_TRUE(behind->order.empty()) << "it was there before them";
          return true;
        },
        [&] { behind.emplace(sleeper.lock, 2); });
    if (conclusive) {
      sleeper.lock.unlock();
      for (int i = 0; i < 1000; ++i) EXPECT_FALSE(sleeper.lock.try_lock());
    }
    EXPECT_TRUE(sleeper.let_go());
  }
}

TEST_P(mutex_with_policy, MUTEX4_a_reservation_ends_when_its_owner_gives_up) {
  for (bool conclusive = false; !conclusive;) {
    overtaken_sleeper sleeper(GetParam().policy);
    conclusive = sleeper.succeeds(
        [](mutex& lock) { return lock.try_lock_for(std::chrono::milliseconds(50)); }, [] {});
    while (conclusive && !sleeper.done()) std::this_thread::yield();
    if (conclusive) sleeper.lock.unlock();
    EXPECT_NE(sleeper.let_go(), conclusive);
    EXPECT_TRUE(sleeper.lock.try_lock());
    sleeper.lock.unlock();
  }
}

TEST_P(mutex_with_policy, MUTEX4_holds_for_many_who_queue_up_at_once) {
  mutex lock(GetParam().policy);
  std::atomic<std::size_t> queued{0};
  std::vector<long> taken(8);
  lock.lock();
  std::vector<std::thread> threads;
  std::atomic<bool> stop{false};
  for (std::size_t rank = 0; rank < taken.size(); ++rank) {
    threads.emplace_back([&, rank] {
      ++queued;
      while (!stop.load(std::memory_order_relaxed)) {
        lock.lock();
        ++taken[rank];
        lock.unlock();
      }
    });
  }
  while (queued < taken.size()) std::this_thread::yield();
  lock.unlock();
  // Until the last of them has had it 20 times: with a thread that starves this does not end.
  for (bool all = false; !all;) {
    lock.lock();
    all = true;
    for (const long each : taken) all = all && each >= 20;
    lock.unlock();
    std::this_thread::yield();
  }
  stop.store(true, std::memory_order_relaxed);
  for (std::thread& each : threads) each.join();
}

TEST(recursive_mutex, is_free_only_after_as_many_unlocks_as_locks) {
  lockstep::recursive_mutex lock;
  lock.lock();
  EXPECT_TRUE(lock.try_lock());
  EXPECT_TRUE(lock.try_lock_for(std::chrono::seconds(1)));
  const auto can_be_had = [&] {
    bool had = false;
    run_threads(1, [&](std::size_t) {
      had = lock.try_lock();
      if (had) lock.unlock();
    });
    return had;
  };
  EXPECT_FALSE(can_be_had());
  lock.unlock();
  EXPECT_FALSE(can_be_had());
  lock.unlock();
  EXPECT_FALSE(can_be_had());
  lock.unlock();
  EXPECT_TRUE(can_be_had());
}

}  // namespace
