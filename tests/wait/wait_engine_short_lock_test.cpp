// SPDX-License-Identifier: MIT
// tests/wait/wait_engine_short_lock_test.cpp -- exclusion, and nobody left asleep
#include "wait/wait_engine.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>

#include "support/asleep.hpp"
#include "support/threads.hpp"

namespace {

using lockstep::detail::short_lock;
using lockstep::test::run_threads;

constinit short_lock static_lock;

TEST(short_lock, SHORT2_no_two_threads_are_inside_and_each_sees_what_the_last_one_did) {
  for (const std::size_t threads : {2u, 3u, 16u}) {
    short_lock lock;
    long sum = 0;  // plain
    run_threads(threads, [&](std::size_t) {
      for (int i = 0; i < 5000; ++i) {
        lock.lock();
        ++sum;
        lock.unlock();
      }
    });
    EXPECT_EQ(sum, static_cast<long>(threads) * 5000);
  }
}

TEST(short_lock, SHORT1_one_after_the_other_all_who_sleep_get_it) {
  constexpr std::size_t sleepers = 6;
  std::array<lockstep::test::watched_thread, sleepers> watched;
  std::atomic<bool> held{false};
  int inside = 0;
  run_threads(sleepers + 1, [&](std::size_t rank) {
    if (rank == sleepers) {
      static_lock.lock();
      held.store(true, std::memory_order_release);
      for (const auto& each : watched) each.wait_until_asleep();
      static_lock.unlock();
      return;
    }
    while (!held.load(std::memory_order_acquire)) std::this_thread::yield();
    watched[rank].enter();
    static_lock.lock();
    ++inside;
    static_lock.unlock();
  });
  EXPECT_EQ(inside, 6);
}

}  // namespace
