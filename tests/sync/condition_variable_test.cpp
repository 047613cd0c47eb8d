// SPDX-License-Identifier: MIT
// tests/sync/condition_variable_test.cpp -- no lost, no doubled and no spurious wake-up
#include <lockstep/condition_variable.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <mutex>
#include <ratio>
#include <stop_token>
#include <thread>
#include <type_traits>
#include <vector>

#include <lockstep/mutex.hpp>
#include "support/asleep.hpp"
#include "support/policies.hpp"
#include "support/threads.hpp"

namespace {

using lockstep::condition_variable;
using lockstep::test::named_policy;
using lockstep::test::run_threads;
using lockstep::test::watched_thread;
using namespace std::chrono_literals;

static_assert(sizeof(condition_variable) == 8, "packed");
static_assert(!std::is_copy_constructible<condition_variable>::value, "not copyable");

constinit condition_variable static_condition;

/// The kinds of locks that a wait treats differently: our mutex, in a unique_lock or by itself, to whose queue waiters
/// move; and all others.
struct own_mutex {
  lockstep::mutex mutex;
  using lock = std::unique_lock<lockstep::mutex>;
  lock make() { return lock(mutex); }
};
struct bare_mutex {
  lockstep::mutex mutex;
  struct lock {
    lockstep::mutex& held;
    explicit lock(lockstep::mutex& of) : held(of) { held.lock(); }
    ~lock() { held.unlock(); }
  };
  lock make() { return lock(mutex); }
};
struct foreign_mutex {
  std::mutex mutex;
  using lock = std::unique_lock<std::mutex>;
  lock make() { return lock(mutex); }
};
struct any_lockable {
  lockstep::recursive_mutex mutex;
  using lock = std::unique_lock<lockstep::recursive_mutex>;
  lock make() { return lock(mutex); }
};

lockstep::mutex& lockable(bare_mutex::lock& lock) { return lock.held; }
template <class Lock>
Lock& lockable(Lock& lock) {
  return lock;
}

template <class Guard>
class condition_contract : public testing::Test {
 protected:
  template <class Body>
  void for_all_policies(Body body) {
    for_policies(lockstep::test::all_policies(), body);
  }
  template <class Body>
  void for_crowd_safe_policies(Body body) {
    for_policies(lockstep::test::crowd_safe_policies(), body);
  }

 private:
  template <class Body>
  void for_policies(const std::vector<named_policy>& policies, Body body) {
    for (const named_policy& named : policies) {
      SCOPED_TRACE(named.name);
      body(named.policy);
      if (this->HasFatalFailure()) return;
    }
  }
};
using guards = testing::Types<own_mutex, bare_mutex, foreign_mutex, any_lockable>;
TYPED_TEST_SUITE(condition_contract, guards);

/// Threads that wait, each once, in the order of their ranks.
template <class Guard>
class waiters_in_order {
 public:
  waiters_in_order(condition_variable& condition, Guard& guard, std::size_t count)
      : watched_(count) {
    for (std::size_t i = 0; i < count; ++i) {
      threads_.emplace_back([&, i] {
        watched_[i].enter();
        auto lock = guard.make();
        condition.wait(lockable(lock));
        order_.push_back(i);
        returned_.store(order_.size(), std::memory_order_release);
      });
      watched_[i].wait_until_asleep();
    }
  }
  ~waiters_in_order() {
    for (std::thread& each : threads_) each.join();
  }
  void wait_until_returned(std::size_t count) const {
    while (returned_.load(std::memory_order_acquire) < count) std::this_thread::yield();
  }
  std::size_t returned() const { return returned_.load(std::memory_order_acquire); }
  /// Whether those that have not returned still sleep.
  bool is_asleep(std::size_t rank) const { return watched_[rank].is_asleep(); }
  void wait_until_asleep(std::size_t rank) const { watched_[rank].wait_until_asleep(); }
  /// Requires: the lock.
  const std::vector<std::size_t>& order() const { return order_; }

 private:
  std::vector<watched_thread> watched_;
  std::vector<std::size_t> order_;  // plain: written under the lock
  std::atomic<std::size_t> returned_{0};
  std::vector<std::thread> threads_;
};

TYPED_TEST(condition_contract, CONDITION2_each_notify_one_lets_exactly_the_longest_waiter_go) {
  this->for_crowd_safe_policies([&](lockstep::wait_policy policy) {
    condition_variable condition(policy);
    TypeParam guard;
    waiters_in_order<TypeParam> waiters(condition, guard, 4);
    for (std::size_t i = 0; i < 4; ++i) {
      condition.notify_one();
      waiters.wait_until_returned(i + 1);
      for (std::size_t rank = i + 1; rank < 4; ++rank) waiters.wait_until_asleep(rank);
      EXPECT_EQ(waiters.returned(), i + 1);
      const auto lock = guard.make();
      ASSERT_EQ(waiters.order().back(), i);
    }
  });
}

TYPED_TEST(condition_contract, notify_all_under_the_lock_lets_all_go_one_after_the_other) {
  this->for_crowd_safe_policies([&](lockstep::wait_policy policy) {
    condition_variable condition(policy);
    TypeParam guard;
    waiters_in_order<TypeParam> waiters(condition, guard, 12);
    {
      const auto lock = guard.make();
      condition.notify_all();
      EXPECT_EQ(waiters.returned(), 0u);
    }
    waiters.wait_until_returned(12);
    const auto lock = guard.make();
    for (std::size_t i = 0; i < 12; ++i) EXPECT_EQ(waiters.order()[i], i);
  });
}

TYPED_TEST(condition_contract, while_the_notifier_holds_the_lock_nobody_is_woken_in_vain) {
  if (std::is_same<TypeParam, foreign_mutex>::value || std::is_same<TypeParam, any_lockable>::value)
    GTEST_SKIP() << "the first of them is: it has to take the lock itself";
  this->for_crowd_safe_policies([&](lockstep::wait_policy policy) {
    condition_variable condition(policy);
    TypeParam guard;
    waiters_in_order<TypeParam> waiters(condition, guard, 3);
    const auto lock = guard.make();
    condition.notify_all();
    for (std::size_t rank = 0; rank < 3; ++rank) EXPECT_TRUE(waiters.is_asleep(rank));
  });
}

TYPED_TEST(condition_contract, without_a_notification_no_wait_returns_before_its_deadline) {
  this->for_all_policies([&](lockstep::wait_policy policy) {
    condition_variable condition(policy);
    TypeParam guard;
    auto lock = guard.make();
    for (const auto time : {-1us, 0us, 1us, 100us, 3000us}) {
      const auto end = std::chrono::steady_clock::now() + time;
      EXPECT_EQ(condition.wait_for(lockable(lock), time), std::cv_status::timeout);
      EXPECT_GE(std::chrono::steady_clock::now(), end);
      EXPECT_EQ(condition.wait_until(lockable(lock), std::chrono::steady_clock::now() + time),
                std::cv_status::timeout);
    }
    int asked = 0;
    EXPECT_FALSE(condition.wait_for(lockable(lock), 50us, [&] { return ++asked < 0; }));
    EXPECT_EQ(asked, 2) << "before the wait and at its end";
    EXPECT_TRUE(condition.wait_for(lockable(lock), -1s, [] { return true; }));
    condition.notify_all();
    condition.notify_one();
    EXPECT_EQ(condition.wait_for(lockable(lock), 50us), std::cv_status::timeout)
        << "CONDITION-4: earlier notifications do not count";
  });
}

TYPED_TEST(condition_contract, CONDITION7_a_stop_request_lets_a_sleeping_waiter_go) {
  this->for_crowd_safe_policies([&](lockstep::wait_policy policy) {
    condition_variable condition(policy);
    TypeParam guard;
    watched_thread watched;
    bool inside = false;
    std::jthread waiter([&](std::stop_token token) {
      watched.enter();
      auto lock = guard.make();
      inside = true;
      EXPECT_FALSE(condition.wait(lockable(lock), token, [] { return false; }));
      inside = false;  // with the lock
    });
    watched.wait_until_asleep();
    {
      const auto lock = guard.make();
      EXPECT_TRUE(inside);
      EXPECT_TRUE(waiter.request_stop());
      EXPECT_TRUE(inside);
    }
    waiter.join();
    EXPECT_FALSE(inside);
    condition.notify_all();
  });
}

TYPED_TEST(condition_contract, CONDITION7_a_request_that_came_before_is_seen_without_a_wait) {
  this->for_all_policies([&](lockstep::wait_policy policy) {
    condition_variable condition(policy);
    TypeParam guard;
    std::stop_source source;
    source.request_stop();
    auto lock = guard.make();
    EXPECT_FALSE(condition.wait(lockable(lock), source.get_token(), [] { return false; }));
    EXPECT_TRUE(condition.wait(lockable(lock), source.get_token(), [] { return true; }));
    EXPECT_FALSE(condition.wait_for(lockable(lock), source.get_token(), 1h, [] { return false; }));
    int asked = 0;
    EXPECT_FALSE(condition.wait_until(lockable(lock), source.get_token(),
                                      std::chrono::system_clock::now() + 1h,
                                      [&] { return ++asked < 0; }));
    EXPECT_EQ(asked, 1);
  });
}

TYPED_TEST(condition_contract, CONDITION7_the_waiter_may_request_the_stop_itself) {
  this->for_all_policies([&](lockstep::wait_policy policy) {
    condition_variable condition(policy);
    TypeParam guard;
    std::stop_source source;
    auto lock = guard.make();
    // In its predicate, between the look at the token and the wait.
    EXPECT_FALSE(condition.wait(lockable(lock), source.get_token(), [&] {
      source.request_stop();
      return false;
    }));
    // In a callback of the same token, which request_stop() runs.
    std::stop_source other;
    bool returned = false;
    const std::stop_callback waits(other.get_token(), [&] {
      returned = !condition.wait(lockable(lock), other.get_token(), [] { return false; });
    });
    other.request_stop();
    EXPECT_TRUE(returned);
  });
}

TYPED_TEST(condition_contract, a_wait_with_a_token_ends_at_its_deadline_or_for_its_predicate) {
  this->for_all_policies([&](lockstep::wait_policy policy) {
    condition_variable condition(policy);
    TypeParam guard;
    const std::stop_source source;
    const std::stop_token token = source.get_token(), of_nobody;
    auto lock = guard.make();
    const auto never = [] { return false; };
    const auto start = std::chrono::steady_clock::now();
    EXPECT_FALSE(condition.wait_for(lockable(lock), token, 100us, never));
    EXPECT_GE(std::chrono::steady_clock::now(), start + 100us);
    EXPECT_FALSE(condition.wait_for(lockable(lock), of_nobody, 1us, never));
    EXPECT_FALSE(condition.wait_until(lockable(lock), token, start, never));
    EXPECT_FALSE(
        condition.wait_until(lockable(lock), token, lockstep::deadline::after(1us), never));
    EXPECT_TRUE(condition.wait_for(lockable(lock), token, -1s, [] { return true; }));
  });
}

TEST(condition_variable, zero_initialised_storage_is_a_condition_nobody_waits_for) {
  const unsigned char zeros[sizeof(condition_variable)] = {};
  EXPECT_EQ(std::memcmp(static_cast<void*>(&static_condition), zeros, sizeof zeros), 0);
  static_condition.notify_all();
}

TEST(condition_variable, waiters_with_and_without_a_unique_lock_on_one_mutex_are_both_let_go) {
  condition_variable condition;
  lockstep::mutex mutex;
  int waiting = 0, gone = 0;
  run_threads(5, [&](std::size_t rank) {
    if (rank == 4) {
      for (bool all = false; !all; std::this_thread::yield()) {
        const std::lock_guard<lockstep::mutex> lock(mutex);
        all = waiting == 4;
        if (all) condition.notify_all();
      }
      return;
    }
    if (rank % 2 == 0) {
      std::unique_lock<lockstep::mutex> lock(mutex);
      ++waiting;
      condition.wait(lock);
      ++gone;
    } else {
      // A lock that hides the mutex.
      struct hidden {
        lockstep::mutex& inner;
        void lock() { inner.lock(); }
        void unlock() { inner.unlock(); }
      } lock{mutex};
      lock.lock();
      ++waiting;
      condition.wait(lock);
      ++gone;
      lock.unlock();
    }
  });
  EXPECT_EQ(gone, 4);
}

}  // namespace
