// SPDX-License-Identifier: MIT
// tests/sync/semaphore_test.cpp -- permits are neither lost nor made, and go round in order
#include <lockstep/semaphore.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <stdexcept>
#include <thread>
#include <type_traits>
#include <vector>

#include "support/asleep.hpp"
#include "support/effort.hpp"
#include "support/policies.hpp"
#include "support/threads.hpp"

namespace {

using lockstep::semaphore;
using lockstep::test::named_policy;
using lockstep::test::run_threads;
using lockstep::test::watched_thread;
using namespace std::chrono_literals;

static_assert(sizeof(semaphore) == 8, "packed");
static_assert(!std::is_copy_constructible<semaphore>::value, "not copyable");
static_assert(lockstep::binary_semaphore::max() == 1, "binary");

constinit lockstep::semaphore static_semaphore(0);

class semaphore_with_policy : public testing::TestWithParam<named_policy> {};
INSTANTIATE_TEST_SUITE_P(policies, semaphore_with_policy,
                         testing::ValuesIn(lockstep::test::all_policies()),
                         lockstep::test::policy_name);
class sleeping_semaphore : public semaphore_with_policy {};
INSTANTIATE_TEST_SUITE_P(policies, sleeping_semaphore,
                         testing::ValuesIn(lockstep::test::crowd_safe_policies()),
                         lockstep::test::policy_name);

TEST(semaphore, zero_initialised_storage_is_a_semaphore_without_permits) {
  const unsigned char zeros[sizeof(semaphore)] = {};
  EXPECT_EQ(std::memcmp(static_cast<void*>(&static_semaphore), zeros, sizeof zeros), 0);
  EXPECT_FALSE(static_semaphore.try_acquire());
}

TEST_P(semaphore_with_policy, SEMAPHORE1_as_many_acquires_return_as_there_are_permits) {
  semaphore permits(3, GetParam().policy);
  for (int i = 0; i < 3; ++i) permits.acquire();
  EXPECT_FALSE(permits.try_acquire());
  EXPECT_FALSE(permits.try_acquire_for(50us));
  EXPECT_FALSE(permits.try_acquire_for(-1s));
  permits.release(2);
  EXPECT_TRUE(permits.try_acquire_for(0s)) << "what is there is taken even when the time is over";
  EXPECT_TRUE(permits.try_acquire_until(std::chrono::system_clock::now() + 1h));
  EXPECT_FALSE(permits.try_acquire());
}

TEST_P(sleeping_semaphore, permits_go_to_sleepers_in_the_order_of_their_arrival) {
  semaphore permits(0, GetParam().policy);
  std::vector<watched_thread> watched(5);
  std::vector<std::thread> threads;
  semaphore served(0);
  std::vector<std::size_t> order;  // plain: one permit at a time
  for (std::size_t i = 0; i < watched.size(); ++i) {
    threads.emplace_back([&, i] {
      watched[i].enter();
      permits.acquire();
      order.push_back(i);
      served.release();
    });
    watched[i].wait_until_asleep();
  }
  for (std::size_t i = 0; i < watched.size(); ++i) {
    permits.release();
    EXPECT_FALSE(permits.try_acquire())
        << "SEMAPHORE-2: try_acquire does not overtake those that wait";
    served.acquire();
  }
  for (std::thread& each : threads) each.join();
  EXPECT_EQ(order, (std::vector<std::size_t>{0, 1, 2, 3, 4}));
}

TEST_P(sleeping_semaphore, SEMAPHORE2_who_tries_all_the_time_never_overtakes_a_sleeper) {
  for (int round = 0; round < lockstep::test::effort(30); ++round) {
    semaphore permits(0, GetParam().policy);
    watched_thread sleeper;
    std::atomic<bool> served{false}, tries{false};
    std::atomic<int> stolen{0};
    run_threads(3, [&](std::size_t rank) {
      if (rank == 0) {
        sleeper.enter();
        permits.acquire();
        served.store(true, std::memory_order_release);
      } else if (rank == 1) {
        while (!tries.load(std::memory_order_acquire)) std::this_thread::yield();
        sleeper.wait_until_asleep();
        permits.release();
      } else {
        tries.store(true, std::memory_order_release);
        while (!served.load(std::memory_order_acquire) && stolen == 0) {
          for (int i = 0; i < 100; ++i) stolen += permits.try_acquire();
        }
        if (stolen != 0) permits.release(stolen);  // or the sleeper would sleep for ever
      }
    });
    ASSERT_EQ(stolen.load(), 0);
  }
}

TEST_P(sleeping_semaphore, a_sleeper_that_times_out_leaves_its_place_to_the_next) {
  semaphore permits(0, GetParam().policy);
  watched_thread second;
  std::atomic<bool> first_left{false};
  run_threads(3, [&](std::size_t rank) {
    if (rank == 0) {
      EXPECT_FALSE(permits.try_acquire_for(20ms));
      first_left.store(true, std::memory_order_release);
    } else if (rank == 1) {
      second.enter();
      permits.acquire();
    } else {
      second.wait_until_asleep();
      while (!first_left.load(std::memory_order_acquire)) std::this_thread::yield();
      permits.release();
    }
  });
}

TEST(semaphore, wrong_numbers_of_permits_are_refused_by_name) {
  try {
    lockstep::counting_semaphore<5> wrong(6);
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(), "lockstep::counting_semaphore: 6 permits given, must be 0 to 5");
  }
  EXPECT_THROW(semaphore(-1), std::invalid_argument);
}

TEST(semaphore, SEMAPHORE1_a_release_past_the_maximum_is_refused_and_gives_none) {
  if (lockstep::detail::misuse::diagnosed)
    GTEST_SKIP() << "ends the program in debug builds: misuse_test";
  lockstep::counting_semaphore<5> permits(4);
  EXPECT_THROW(permits.release(2), std::invalid_argument);
  EXPECT_THROW(permits.release(-1), std::invalid_argument);
  EXPECT_NO_THROW(permits.release(1));
  EXPECT_NO_THROW(permits.release(0));
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(permits.try_acquire());
  EXPECT_FALSE(permits.try_acquire());
}

}  // namespace
