// SPDX-License-Identifier: MIT
// tests/wait/queued_word_test.cpp -- how long a thread polls before it queues and sleeps, on the scripted system
#include <lockstep/condition_variable.hpp>
#include <lockstep/mutex.hpp>
#include "platform/system.hpp"
#include "wait/wait_engine.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <latch>
#include <mutex>
#include <thread>

#include "support/scripted_system.hpp"

namespace {

using lockstep::test::call;
using lockstep::test::scripted_system;

constexpr std::uint64_t budget = 2000;
constexpr std::uint64_t longest_pause = 64;

class queue_waits : public testing::Test {
 protected:
  queue_waits() { lockstep::detail::this_thread_history() = lockstep::detail::thread_history(); }
  std::size_t yields() const { return system_.count(call::yield); }
  std::size_t sleeps() const { return system_.count(call::futex_wait); }

  scripted_system& system_ = scripted_system::reset();
};

/// A thread that holds `lock` while this lives, and does nothing else.
class held_elsewhere {
 public:
  explicit held_elsewhere(lockstep::mutex& lock)
      : holder_([this, &lock] {
          const std::lock_guard<lockstep::mutex> guard(lock);
          held_.count_down();
          over_.wait();
        }) {
    held_.wait();
  }
  ~held_elsewhere() {
    over_.count_down();
    holder_.join();
  }

 private:
  std::latch held_{1}, over_{1};
  std::thread holder_;
};

TEST_F(queue_waits, MUTEX4_a_mutex_polls_for_its_budget_and_one_pause_longer) {
  if (lockstep::detail::usable_cpus() < 2) GTEST_SKIP() << "needs two CPUs";
  for (const std::uint64_t pause_cost : {1u, 26u, 45u}) {
    scripted_system::reset().pause_cost = pause_cost;
    lockstep::detail::this_thread_history() = lockstep::detail::thread_history();
    lockstep::mutex lock;
    const held_elsewhere held(lock);
    const std::uint64_t start = system_.now;
    std::uint64_t spun = 0;
    system_.on_yield = [&] {
      if (spun == 0) spun = system_.now - start;
    };
    EXPECT_FALSE(lock.try_lock_for(std::chrono::milliseconds(1)));
    EXPECT_GE(spun, budget);
    EXPECT_LE(spun,
              budget + longest_pause * pause_cost + 4 * system_.clock_cost + system_.yield_cost)
        << pause_cost;
  }
}

TEST_F(queue_waits, MUTEX4_a_mutex_does_not_pause_between_its_yields) {
  lockstep::mutex lock;
  const held_elsewhere held(lock);
  std::uint64_t last = 0, longest = 0;
  system_.on_yield = [&] {
    if (last != 0 && system_.now - last > longest) longest = system_.now - last;
    last = system_.now;
  };
  EXPECT_FALSE(lock.try_lock_for(std::chrono::microseconds(30)));
  EXPECT_GT(yields(), 2u);
  EXPECT_LE(longest, system_.yield_cost + 2 * system_.clock_cost);
}

/// Waits `times` times for a notification that comes in a yield or in a sleep; yields in the last wait.
class condition_waits : public queue_waits {
 protected:
  std::size_t wait_for_sleeps(int times) {
    system_.on_yield = nullptr;
    system_.on_sleep = [&] { changed_.notify_one(); };
    return wait(times);
  }
  std::size_t wait_for_yields(int times) {
    system_.on_yield = [&] { changed_.notify_one(); };
    return wait(times);
  }
  std::size_t wait(int times) {
    for (int i = 0; i < times; ++i) {
      system_.calls.clear();
      std::unique_lock<lockstep::mutex> guard(lock_);
      changed_.wait(guard);
    }
    return yields();
  }

  lockstep::mutex lock_;
  lockstep::condition_variable changed_;
};

TEST_F(condition_waits, learn_that_yields_before_a_sleep_do_not_pay_and_look_again_now_and_then) {
  // Undoes what earlier tests have taught this thread: 4 sleeps in a row and a probe.
  wait_for_sleeps(200);
  std::size_t all = 0, probes = 0;
  for (int i = 0; i < 640; ++i) {
    const std::size_t now = wait_for_sleeps(1);
    EXPECT_EQ(sleeps(), 1u);
    all += now;
    probes += now > 0;
  }
  EXPECT_EQ(probes, 10u);
  EXPECT_LE(all, 10 * lockstep::detail::waitable::single_yield_time / system_.yield_cost);
}

TEST_F(condition_waits, yield_again_when_that_pays) {
  wait_for_sleeps(200);
  // Until the next probe a notification finds it asleep.
  system_.on_sleep = [&] { changed_.notify_one(); };
  wait_for_yields(64);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(wait_for_yields(1), 1u) << i;
    EXPECT_EQ(sleeps(), 0u) << i;
  }
}

TEST_F(condition_waits, teach_locks_and_barriers_nothing) {
  wait_for_sleeps(200);
  const held_elsewhere held(lock_);
  EXPECT_FALSE(lock_.try_lock_for(std::chrono::microseconds(50)));
  EXPECT_GT(yields(), 10u);
}

}  // namespace
