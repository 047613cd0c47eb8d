// SPDX-License-Identifier: MIT
// tests/platform/this_thread_test.cpp -- what was wished for is what the system then says
#include <lockstep/detail/platform/this_thread.hpp>

#include <errno.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "lockstep/detail/platform/cpus.hpp"
#include "support/threads.hpp"

namespace {

using lockstep::detail::affinity;
using lockstep::detail::move_off_native_cpu;
using lockstep::detail::name_this_thread;
using lockstep::detail::native_current_cpu;
using lockstep::detail::pin_this_thread;
using lockstep::test::run_threads;

TEST(this_thread, a_pinned_thread_runs_on_its_cpu_and_on_no_other) {
  for (const unsigned cpu : affinity()) {
    run_threads(1, [&](unsigned) {
      ASSERT_TRUE(pin_this_thread(cpu));
      EXPECT_EQ(affinity(), std::vector<unsigned>{cpu});
      for (int i = 0; i < 100; ++i) {
        EXPECT_EQ(sched_getcpu(), static_cast<int>(cpu));
        sched_yield();
      }
    });
  }
}

TEST(this_thread, a_pin_binds_the_calling_thread_only) {
  const std::vector<unsigned> before = affinity();
  run_threads(1, [&](unsigned) { EXPECT_TRUE(pin_this_thread(before.front())); });
  EXPECT_EQ(affinity(), before);
}

TEST(this_thread, a_pin_to_a_cpu_that_does_not_exist_changes_nothing) {
  run_threads(1, [&](unsigned) {
    const std::vector<unsigned> before = affinity();
    EXPECT_FALSE(pin_this_thread(static_cast<unsigned>(sysconf(_SC_NPROCESSORS_CONF))));
    EXPECT_FALSE(pin_this_thread(CPU_SETSIZE));
    EXPECT_FALSE(pin_this_thread(std::numeric_limits<unsigned>::max()));
    EXPECT_EQ(affinity(), before);
  });
}

TEST(this_thread, who_leaves_its_cpu_runs_on_another_one_and_has_the_affinity_that_it_had) {
  const std::vector<unsigned> before = affinity();
  run_threads(1, [&](unsigned) {
    for (int i = 0; i < 100; ++i) {
      const int cpu = native_current_cpu();
      ASSERT_GE(cpu, 0);
      errno = 4711;
      EXPECT_EQ(move_off_native_cpu(static_cast<unsigned>(cpu)), before.size() > 1);
      EXPECT_EQ(errno, 4711);
      EXPECT_EQ(affinity(), before);
    }
  });
}

TEST(this_thread, a_machine_is_full_while_more_threads_run_than_it_has_cpus) {
  if (access("/proc/loadavg", R_OK) != 0) GTEST_SKIP() << "the system does not tell";
  std::atomic<bool> is_seen{false};
  const unsigned crowd = 2 * std::thread::hardware_concurrency() + 2;
  run_threads(crowd, [&](unsigned rank) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!is_seen && std::chrono::steady_clock::now() < end) {
      if (rank != 0) continue;
      errno = 4711;
      if (lockstep::detail::is_native_machine_full()) is_seen = true;
      EXPECT_EQ(errno, 4711);
    }
  });
  EXPECT_TRUE(is_seen);
}

TEST(this_thread, who_has_one_cpu_only_or_is_not_on_the_named_one_stays) {
  const std::vector<unsigned> all = affinity();
  run_threads(1, [&](unsigned) {
    ASSERT_TRUE(pin_this_thread(all.front()));
    EXPECT_FALSE(move_off_native_cpu(all.front()));
    EXPECT_FALSE(move_off_native_cpu(all.back() + 1));
    EXPECT_FALSE(move_off_native_cpu(std::numeric_limits<unsigned>::max()));
    EXPECT_EQ(affinity(), std::vector<unsigned>{all.front()});
  });
}

std::string name() {
  char text[64] = {};
  EXPECT_EQ(pthread_getname_np(pthread_self(), text, sizeof text), 0);
  return text;
}

TEST(this_thread, a_name_is_what_the_system_shows_cut_to_15_characters) {
  run_threads(1, [&](unsigned) {
    EXPECT_TRUE(name_this_thread("worker 3"));
    EXPECT_EQ(name(), "worker 3");
    EXPECT_TRUE(name_this_thread("exactly 15 long"));
    EXPECT_EQ(name(), "exactly 15 long");
    EXPECT_TRUE(name_this_thread("one of 16 is cut"));
    EXPECT_EQ(name(), "one of 16 is cu");
    EXPECT_TRUE(name_this_thread(std::string(1000, 'x').c_str()));
    EXPECT_EQ(name(), std::string(15, 'x'));
    EXPECT_TRUE(name_this_thread(""));
    EXPECT_EQ(name(), "");
  });
}

TEST(this_thread, labels_tell_living_threads_apart_and_carry_their_names) {
  const lockstep::detail::thread_label mine = lockstep::detail::label_of_this_thread();
  EXPECT_EQ(mine.number, lockstep::detail::system_thread_number());
  std::thread([&] {
    lockstep::detail::name_this_thread("fifteen letters");
    const lockstep::detail::thread_label other = lockstep::detail::label_of_this_thread();
    EXPECT_NE(other.number, mine.number);
    EXPECT_EQ(
        std::string(other.text),
        "thread " + std::to_string(lockstep::detail::shown_thread_number()) + " 'fifteen letters'");
  }).join();
}

}  // namespace
