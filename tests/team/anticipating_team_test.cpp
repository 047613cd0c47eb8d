// SPDX-License-Identifier: MIT
// tests/team/anticipating_team_test.cpp -- teams whose regions come after gaps of all kinds, and whose members leave a
// shared CPU
#include <lockstep/build_info.hpp>
#include <lockstep/team.hpp>
#include <lockstep/topology.hpp>

#include <gtest/gtest.h>

#if defined(__linux__)
#include <sys/prctl.h>
#endif

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <thread>
#include <vector>

namespace {

using lockstep::team;
using lockstep::team_options;
using std::chrono::microseconds;

/// So few that the team is not crowded, if the machine has two CPUs.
std::size_t few_members() { return lockstep::usable_cpus() < 3 ? 2 : 3; }

void expect_all_come(team& of, int regions, const std::function<microseconds()>& next_gap) {
  std::vector<int> parts(of.size());
  for (int i = 1; i <= regions; ++i) {
    const auto end = std::chrono::steady_clock::now() + next_gap();
    if (i % 2 == 0) std::this_thread::sleep_until(end);  // else the caller works
    while (std::chrono::steady_clock::now() < end) continue;
    of.run([&](lockstep::member& me) { ++parts[me.rank()]; });
    for (const int each : parts) ASSERT_EQ(each, i);
  }
}

TEST(anticipating_team, every_member_comes_to_every_region_whatever_the_gaps) {
  for (const bool yes : {true, false}) {
    team of(team_options().members(few_members()).anticipate(yes));
    std::mt19937 engine(7);
    expect_all_come(of, 300, [] { return microseconds(300); });
    expect_all_come(of, 200, [&] { return microseconds(900 + engine() % 200); });
    expect_all_come(of, 300, [&] { return microseconds(engine() % 1000); });
    expect_all_come(of, 300, [n = 0]() mutable { return microseconds(++n % 2 == 0 ? 600 : 0); });
    expect_all_come(of, 300, [n = 0]() mutable { return microseconds(++n % 20 == 0 ? 3000 : 1); });
  }
}

TEST(anticipating_team, paused_teams_and_ended_ones_do_not_wait_for_the_next_region) {
  for (int i = 0; i < 20; ++i) {
    team of(team_options().members(few_members()));
    expect_all_come(of, 8, [] { return microseconds(500); });
    of.pause();
    expect_all_come(of, 2, [] { return microseconds(0); });
  }
}

TEST(anticipating_team, members_come_to_loops_that_are_shorter_than_a_wake_up_STEER_3) {
  if (lockstep::usable_cpus() < 2) GTEST_SKIP() << "a crowd expects nothing";
  team of(team_options().members(2));
  std::vector<std::thread::id> ran(64);
  int joined = 0;
  const auto work_for = [](microseconds time) {
    const auto end = std::chrono::steady_clock::now() + time;
    while (std::chrono::steady_clock::now() < end) continue;
  };
  // The place is known as a loop of 32 us, shorter than a wake-up. The worker comes to one only because it also learns
  // of the loops that it has missed.
  while (joined < 10) {
    work_for(microseconds(1000));
    of.for_each(std::size_t{0}, ran.size(), [&](std::size_t i) {
      work_for(std::chrono::microseconds(i % 2));
      ran[i] = std::this_thread::get_id();
    });
    joined += ran.front() != ran.back();
  }
}

#if defined(__linux__)
TEST(anticipating_team, functions_of_the_user_run_with_the_timer_slack_that_the_thread_had) {
  team of(team_options().members(few_members()).on_start([](std::size_t) {
    prctl(PR_SET_TIMERSLACK, 77000, 0, 0, 0);
  }));
  std::vector<int> slack(of.size());
  for (int i = 0; i < 50; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    of.run([&](lockstep::member& me) { slack[me.rank()] = prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0); });
    for (std::size_t rank = 1; rank < slack.size(); ++rank) ASSERT_EQ(slack[rank], 77000);
  }
}
#endif

TEST(separating_team,
     barriers_and_regions_without_end_leave_the_affinity_of_every_member_as_it_was) {
  const std::vector<unsigned> before = lockstep::detail::affinity();
  team of(team_options().members(few_members()));
  for (int round = 0; round < 20; ++round) {
    for (int i = 0; i < 500; ++i) of.run([](lockstep::member&) {});
    of.run([](lockstep::member& me) {
      for (int i = 0; i < 500; ++i) me.sync_threads();
    });
    of.run([&](lockstep::member&) { EXPECT_EQ(lockstep::detail::affinity(), before); });
  }
}

}  // namespace
