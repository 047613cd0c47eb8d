// SPDX-License-Identifier: MIT
// tests/platform/binding_test.cpp -- a thread runs where it was bound to
#include "platform/cpus.hpp"

#include <errno.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <limits>
#include <thread>
#include <vector>

#include "platform/system.hpp"
#include "support/threads.hpp"

#if defined(__linux__)
#include <unistd.h>
#endif

namespace {

using lockstep::detail::affinity;
using lockstep::detail::current_cpu;
using lockstep::detail::move_off_cpu;
using lockstep::detail::pin_this_thread;
using lockstep::test::run_threads;

class binding : public testing::Test {
 protected:
  void SetUp() override {
    if (!lockstep::detail::native_system::binds_threads) {
      EXPECT_TRUE(affinity().empty());
      EXPECT_FALSE(pin_this_thread(0));
      EXPECT_FALSE(move_off_cpu(0));
      GTEST_SKIP() << "this system does not let programs bind threads";
    }
    ASSERT_FALSE(affinity().empty());
  }

  static unsigned cpu_that_is_not_there() {
#if defined(__linux__)
    return static_cast<unsigned>(sysconf(_SC_NPROCESSORS_CONF));
#else
    return affinity().back() + 1;
#endif
  }
};

TEST_F(binding, a_pinned_thread_runs_on_its_cpu_and_on_no_other) {
  for (const unsigned cpu : affinity()) {
    run_threads(1, [&](unsigned) {
      ASSERT_TRUE(pin_this_thread(cpu));
      EXPECT_EQ(affinity(), std::vector<unsigned>{cpu});
      for (int i = 0; i < 100; ++i) {
        EXPECT_EQ(current_cpu(), static_cast<int>(cpu));
        std::this_thread::yield();
      }
    });
  }
}

TEST_F(binding, a_pin_binds_the_calling_thread_only) {
  const std::vector<unsigned> before = affinity();
  run_threads(1, [&](unsigned) { EXPECT_TRUE(pin_this_thread(before.front())); });
  EXPECT_EQ(affinity(), before);
}

TEST_F(binding, a_pin_to_a_cpu_that_does_not_exist_changes_nothing) {
  run_threads(1, [&](unsigned) {
    const std::vector<unsigned> before = affinity();
    EXPECT_FALSE(pin_this_thread(cpu_that_is_not_there()));
    EXPECT_FALSE(pin_this_thread(1024));
    EXPECT_FALSE(pin_this_thread(std::numeric_limits<unsigned>::max()));
    EXPECT_EQ(affinity(), before);
  });
}

TEST_F(binding, who_leaves_its_cpu_runs_on_another_one_and_has_the_affinity_that_it_had) {
  const std::vector<unsigned> before = affinity();
  run_threads(1, [&](unsigned) {
    for (int i = 0; i < 100; ++i) {
      const int cpu = current_cpu();
      ASSERT_GE(cpu, 0);
      errno = 4711;
      EXPECT_EQ(move_off_cpu(static_cast<unsigned>(cpu)), before.size() > 1);
      EXPECT_EQ(errno, 4711);
      EXPECT_EQ(affinity(), before);
    }
  });
}

#if defined(__linux__)

TEST(machine, is_full_while_more_threads_run_than_it_has_cpus) {
  if (!std::ifstream("/proc/loadavg")) GTEST_SKIP() << "the system does not tell";
  std::atomic<bool> is_seen{false};
  const unsigned crowd = 2 * std::thread::hardware_concurrency() + 2;
  run_threads(crowd, [&](unsigned rank) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!is_seen && std::chrono::steady_clock::now() < end) {
      if (rank != 0) continue;
      errno = 4711;
      if (lockstep::detail::load_of_machine() == lockstep::detail::machine_load::full)
        is_seen = true;
      EXPECT_EQ(errno, 4711);
    }
  });
  EXPECT_TRUE(is_seen);
}

#endif

TEST_F(binding, who_has_one_cpu_only_or_is_not_on_the_named_one_stays) {
  const std::vector<unsigned> all = affinity();
  run_threads(1, [&](unsigned) {
    ASSERT_TRUE(pin_this_thread(all.front()));
    EXPECT_FALSE(move_off_cpu(all.front()));
    EXPECT_FALSE(move_off_cpu(all.back() + 1));
    EXPECT_FALSE(move_off_cpu(std::numeric_limits<unsigned>::max()));
    EXPECT_EQ(affinity(), std::vector<unsigned>{all.front()});
  });
}

}  // namespace
