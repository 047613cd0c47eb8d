// SPDX-License-Identifier: MIT
// tests/fault/stopped_test.cpp -- programs that are stopped and continued, members that freeze
//
// While anything may be stopped at any place, for a time that others take for long, every workload goes on
// to its end and sees nothing wrong.
#include <lockstep/lockstep.hpp>

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "fault/child_process.hpp"
#include "fault/control_group.hpp"
#include "fault/workloads.hpp"
#include "stress/disturbance.hpp"
#include "support/effort.hpp"
#include "support/seeded_draws.hpp"

namespace {

using lockstep::wait_policy;
using lockstep::test::child_process;
using lockstep::test::seeded_draws;
using lockstep::test::shared_with_child;

struct progress {
  std::atomic<bool> over{false};
  std::atomic<int> rounds{0};
};

/// Runs all workloads again and again until it is over, and at least once.
int run_until_over(progress& state) {
  long wrong = 0;
  do {
    for (const wait_policy policy : {wait_policy::block(), wait_policy()}) {
      for (const std::size_t threads : {2u, 4u}) {
        wrong += lockstep::test::run_all_workloads({policy, threads, 20, {}});
      }
    }
    ++state.rounds;
  } while (!state.over);
  return wrong == 0 ? 0 : 1;
}

/// The length of the fault, not a way to wait for something. Sometimes more than a time slice.
void let_pass() {
  const std::uint64_t at_most = seeded_draws::once_in(10) ? 8000 : 300;
  std::this_thread::sleep_for(std::chrono::microseconds(seeded_draws::next() % at_most));
}

TEST(stopped_program, goes_on_where_it_was_each_time) {
  shared_with_child<progress> state;
  child_process child([&] { return run_until_over(*state); });
  const int enough = lockstep::test::effort(2000);
  int stops = 0;
  for (; stops < enough && child.stop(); ++stops) {
    if (stops % 8 == 0) let_pass();
    child.send(SIGCONT);
    if (stops % 4 == 0) let_pass();
  }
  state->over = true;
  EXPECT_EQ(child.wait(), 0);
  EXPECT_EQ(stops, enough);
  std::printf("%d stops, %d rounds of all workloads\n", stops, state->rounds.load());
}

pid_t this_task() { return static_cast<pid_t>(syscall(SYS_gettid)); }

/// All threads of the program but the caller.
std::vector<pid_t> other_tasks() {
  std::vector<pid_t> tasks;
  for (const auto& each : std::filesystem::directory_iterator("/proc/self/task")) {
    const pid_t task = std::stoi(each.path().filename().string());
    if (task != this_task()) tasks.push_back(task);
  }
  return tasks;
}

/// Freezes threads of the program from outside, one after the other, where they run or sleep, while the workloads run.
/// Returns how many it froze, at least `enough`.
int freeze_members(const lockstep::test::control_group& group, progress& state, int enough) {
  int frozen = 0;
  while (frozen < enough) {
    for (const pid_t task : other_tasks()) {
      if (!group.add(task) || !group.write("freezer.state", "FROZEN")) continue;
      ++frozen;
      if (seeded_draws::once_in(4)) let_pass();
      group.write("freezer.state", "THAWED");
      group.give_back(task);
    }
  }
  state.over = true;
  return frozen;
}

TEST(frozen_member, of_any_object_holds_up_the_others_only_until_it_is_thawed) {
  child_process child([] {
    const auto freezer = lockstep::stress::start_disturbance("freezer", seeded_draws::next());
    int result = 0;
    for (int left = lockstep::test::effort(40); left > 0; --left) {
      progress once;
      once.over = true;
      result |= run_until_over(once);
    }
    return result;
  });
  EXPECT_EQ(child.wait(), 0);
}

TEST(frozen_member, by_the_system_holds_up_the_others_only_until_it_is_thawed) {
  lockstep::test::control_group group("freezer");
  if (!group.write("freezer.state", "THAWED")) GTEST_SKIP() << "no freezer group can be made here";
  shared_with_child<int> freezes;
  child_process child([&] {
    progress state;
    std::thread cold(
        [&] { *freezes = freeze_members(group, state, lockstep::test::effort(4000)); });
    const int result = run_until_over(state);
    cold.join();
    return result;
  });
  EXPECT_EQ(child.wait(), 0);
  std::printf("%d freezes\n", *freezes);
}

}  // namespace
