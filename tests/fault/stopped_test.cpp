// SPDX-License-Identifier: MIT
// tests/fault/stopped_test.cpp -- programs that are stopped and continued, members that freeze
//
// While anything may be stopped at any place, for a time that others take for long, every workload goes on
// to its end and sees nothing wrong.
#include <lockstep/lockstep.hpp>

#include <errno.h>
#include <gtest/gtest.h>
#include <linux/futex.h>
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

/// Freezes single threads by a signal whose handler does not return before the thread is thawed.
class signal_freezer {
 public:
  signal_freezer() {
    struct sigaction action = {};
    action.sa_handler = [](int) { stay_frozen(); };
    sigaction(SIGUSR2, &action, nullptr);
  }

  bool freeze(pid_t task) {
    const unsigned before = frozen_;
    if (syscall(SYS_tgkill, getpid(), task, SIGUSR2) != 0) return false;
    // The thread freezes soon, unless it was about to end. If it freezes later, it stays so until the next thaw().
    for (int looks = 0; looks < 100 && frozen_ == before; ++looks) std::this_thread::yield();
    return true;
  }
  void thaw(pid_t) {
    ++thaws_;
    syscall(SYS_futex, &thaws_, FUTEX_WAKE_PRIVATE, 1 << 30, nullptr, nullptr, 0);
  }
  /// From now on no thread freezes any more, even if its signal comes late.
  void close() {
    closed_ = true;
    thaw(0);
  }
  static unsigned count() { return frozen_; }

 private:
  static void stay_frozen() {
    const int saved = errno;
    const unsigned before = thaws_;
    ++frozen_;
    while (thaws_ == before && !closed_) {
      syscall(SYS_futex, &thaws_, FUTEX_WAIT_PRIVATE, before, nullptr, nullptr, 0);
    }
    errno = saved;
  }

  inline static std::atomic<unsigned> frozen_{0}, thaws_{0};
  inline static std::atomic<bool> closed_{false};
};

/// Freezes single threads from outside of the program, where they run or sleep.
class group_freezer {
 public:
  explicit group_freezer(const lockstep::test::control_group& group) : group_(group) {}

  bool freeze(pid_t task) {
    if (!group_.add(task) || !group_.write("freezer.state", "FROZEN")) return false;
    ++frozen_;
    return true;
  }
  void thaw(pid_t task) {
    group_.write("freezer.state", "THAWED");
    group_.give_back(task);
  }
  void close() {}
  static unsigned count() { return frozen_; }

 private:
  const lockstep::test::control_group& group_;
  inline static unsigned frozen_ = 0;
};

/// Freezes threads of the program, one after the other, at least `enough` times, while the workloads run.
template <class Freezer>
void freeze_members(Freezer& freezer, progress& state, unsigned enough) {
  while (freezer.count() < enough) {
    for (const pid_t task : other_tasks()) {
      if (!freezer.freeze(task)) continue;
      if (seeded_draws::once_in(4)) let_pass();
      freezer.thaw(task);
    }
  }
  freezer.close();
  state.over = true;
}

/// All workloads run in a child in which Freezer(arguments...) freezes threads.
template <class Freezer, class... Arguments>
void expect_only_held_up(unsigned enough, const Arguments&... arguments) {
  shared_with_child<progress> state;
  shared_with_child<unsigned> freezes;
  child_process child([&] {
    Freezer freezer(arguments...);
    std::thread cold([&] { freeze_members(freezer, *state, enough); });
    const int result = run_until_over(*state);
    cold.join();
    *freezes = freezer.count();
    return result;
  });
  EXPECT_EQ(child.wait(), 0);
  EXPECT_GE(*freezes, enough);
  std::printf("%u freezes, %d rounds of all workloads\n", *freezes, state->rounds.load());
}

TEST(frozen_member, of_any_object_holds_up_the_others_only_until_it_is_thawed) {
  expect_only_held_up<signal_freezer>(lockstep::test::effort(8000u));
}

TEST(frozen_member, by_the_system_holds_up_the_others_only_until_it_is_thawed) {
  lockstep::test::control_group group("freezer");
  if (!group.write("freezer.state", "THAWED")) GTEST_SKIP() << "no freezer group can be made here";
  expect_only_held_up<group_freezer>(lockstep::test::effort(4000u), group);
}

}  // namespace
