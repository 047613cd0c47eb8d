// SPDX-License-Identifier: MIT
// tests/fault/narrow_machine_test.cpp -- one CPU, a fifth of a CPU, and no more threads
//
// Each in a child process, since the program asks once how many CPUs it has.
#include <lockstep/lockstep.hpp>
#include <lockstep/toolbox.hpp>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <system_error>

#include "fault/child_process.hpp"
#include "fault/control_group.hpp"
#include "fault/workloads.hpp"
#include "platform/cpus.hpp"

namespace {

using lockstep::wait_policy;
using lockstep::test::cannot_be_tested;
using lockstep::test::expect_in_child;
using lockstep::test::in_child;

/// Runs all workloads with each policy that gives up the CPU.
void expect_workloads_to_end(std::size_t steps) {
  for (const std::size_t threads : {2u, 5u}) {
    for (const wait_policy policy :
         {wait_policy::block(), wait_policy(), wait_policy::hybrid(std::chrono::microseconds(2))}) {
      EXPECT_EQ(lockstep::test::run_all_workloads({policy, threads, steps, {}}), 0);
    }
  }
}

void keep_one_cpu() {
  ASSERT_TRUE(lockstep::detail::pin_this_thread(lockstep::detail::affinity()[0]));
}

TEST(one_cpu, is_enough_for_every_workload) {
  expect_in_child([] {
    keep_one_cpu();
    EXPECT_EQ(lockstep::detail::usable_cpus(), 1u);
    expect_workloads_to_end(60);
  });
}

TEST(one_cpu, that_is_left_of_several_is_enough_for_every_workload) {
  expect_in_child([] {
    const unsigned before = lockstep::detail::usable_cpus();
    lockstep::team workers(4);
    keep_one_cpu();
    EXPECT_EQ(lockstep::detail::usable_cpus(), before);
    int calls = 0;
    for (int i = 0; i < 100; ++i) {
      workers.run([&](lockstep::member& self) {
        if (self.rank() == 3) ++calls;
      });
    }
    EXPECT_EQ(calls, 100);
    expect_workloads_to_end(60);
  });
}

TEST(one_cpu, lets_spinners_through_though_slowly) {
  expect_in_child([] {
    keep_one_cpu();
    EXPECT_EQ(lockstep::test::run_all_workloads({wait_policy::spin(), 2, 4, {}}), 0);
  });
}

/// A fifth of one CPU, in periods that are short beside the test.
bool limit_to_a_fifth(const lockstep::test::control_group& group) {
  return group.write("cpu.cfs_period_us", "10000") && group.write("cpu.cfs_quota_us", "2000");
}

/// In a group of its own; the CPUs are counted before it is joined, or in it.
void expect_workloads_to_end_in_a_fifth(bool counts_before) {
  const lockstep::test::control_group group("cpu");
  if (!limit_to_a_fifth(group)) GTEST_SKIP() << "no group with a CPU quota can be made here";
  const int status = in_child([&] {
    if (counts_before) lockstep::detail::usable_cpus();
    if (!group.write("cgroup.procs", "0")) return cannot_be_tested;
    if (!counts_before && lockstep::detail::usable_cpus() != 1) return 2;
    expect_workloads_to_end(20);
    return testing::Test::HasFailure() ? 1 : 0;
  });
  if (status == cannot_be_tested) GTEST_SKIP() << "the group may not be joined";
  EXPECT_EQ(status, 0);
  EXPECT_GE(group.read("cpu.stat", "nr_throttled"), 2) << "the quota was never used up";
  std::printf("throttled %ld times\n", group.read("cpu.stat", "nr_throttled"));
}

TEST(fifth_of_a_cpu, is_enough_for_every_workload) { expect_workloads_to_end_in_a_fifth(false); }
TEST(fifth_of_a_cpu, that_comes_later_is_enough_for_every_workload) {
  expect_workloads_to_end_in_a_fifth(true);
}

/// Limits the number of threads of the process's user. False if the system refuses.
bool limit_threads(rlim_t count) {
  rlimit limit = {};
  if (getrlimit(RLIMIT_NPROC, &limit) != 0 || count > limit.rlim_max) return false;
  limit.rlim_cur = count;
  return setrlimit(RLIMIT_NPROC, &limit) == 0;
}

/// True if `start` was refused as by a system that is at its limit.
template <class Start>
bool is_refused(Start start) {
  try {
    start();
  } catch (const std::system_error& error) {
    return error.code() == std::errc::resource_unavailable_try_again;
  }
  return false;
}

/// A team of 6 that is refused its threads from the k-th on, for each k, and is not when the limit is
/// raised; and a thread by itself.
int start_at_the_limit() {
  constexpr std::size_t members = 6;
  for (rlim_t threads = 1; threads < members; ++threads) {
    if (!limit_threads(threads)) return cannot_be_tested;
    if (!is_refused([] { lockstep::team workers(members); })) return 2;
    if (threads == 1 && !is_refused([] { lockstep::joinable_thread thread([] {}); })) return 3;
    if (!limit_threads(64)) return cannot_be_tested;
    int calls = 0;
    lockstep::team workers(members);
    workers.run([&](lockstep::member& self) {
      if (self.rank() == members - 1) ++calls;
    });
    lockstep::joinable_thread([&] { ++calls; }).join();
    if (calls != 2) return 4;
  }
  return 0;
}

TEST(thread_limit, of_the_system_is_reported_at_each_thread_of_a_team_and_a_retry_works) {
  const int status = in_child([] {
    // The limit does not bind root; this user has no other processes.
    if (getuid() != 0 || setuid(54321) != 0) return cannot_be_tested;
    return start_at_the_limit();
  });
  if (status == cannot_be_tested) GTEST_SKIP() << "only root can become a user without processes";
  EXPECT_EQ(status, 0);
}

}  // namespace
