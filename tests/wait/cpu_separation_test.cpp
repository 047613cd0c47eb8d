// SPDX-License-Identifier: MIT
// tests/wait/cpu_separation_test.cpp -- SEPARATE-1 and SEPARATE-4, on the scripted system; for boards, and for the
// barrier of a program's own threads. When to move: member_pace_test.cpp
#include "wait/cpu_separation.hpp"
#include <lockstep/ranked_barrier.hpp>
#include "region/region_board.hpp"
#include "region/team_barrier.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "support/scripted_system.hpp"

namespace {

using lockstep::detail::cpu_separation;
using lockstep::test::scripted_system;

constexpr std::uint64_t us = 1000, ms = 1000000;

/// What a wait of member `rank` for `other` finds.
bool waits_apart(cpu_separation& board, std::size_t rank, std::size_t other) {
  return lockstep::detail::whereabouts{&board, rank, other, nullptr}.is_separated();
}

/// Two members of a board that wait for each other in turns.
class cpu_separation_test : public testing::Test {
 protected:
  void SetUp() override { scripted_system::reset(); }

  void wait_in_turns(cpu_separation& board, int cpu_of_caller, int cpu_of_worker,
                     std::size_t worker = 1) {
    scripted_system& system = scripted_system::instance();
    for (int i = 0; i < 2000; ++i) {
      system.now += 3 * us;
      system.cpu = cpu_of_caller;
      board.look_for(0, worker);
      system.cpu = cpu_of_worker;
      is_separated_ = waits_apart(board, worker, 0);
    }
  }
  const std::vector<unsigned>& left() const { return scripted_system::instance().left; }
  bool is_separated_ = false;
};

TEST_F(cpu_separation_test, a_worker_on_the_cpu_of_the_caller_leaves_it) {
  cpu_separation board(2, true);
  wait_in_turns(board, 0, 0);
  ASSERT_FALSE(left().empty());
  EXPECT_EQ(left().front(), 0u);
  EXPECT_LE(left().size(), 3u) << "it does not move again at once";
  EXPECT_FALSE(is_separated_);
}

TEST_F(cpu_separation_test, members_on_cpus_of_their_own_know_it_and_stay) {
  cpu_separation board(2, true);
  wait_in_turns(board, 1, 65535);
  EXPECT_TRUE(left().empty());
  EXPECT_TRUE(is_separated_);
}

TEST_F(cpu_separation_test, who_shares_its_cpu_with_a_third_member_has_none_of_its_own) {
  cpu_separation board(3, true);
  scripted_system& system = scripted_system::instance();
  const auto look = [&](std::size_t rank, int cpu, std::size_t other) {
    system.cpu = cpu;
    return waits_apart(board, rank, other);
  };
  look(0, 7, 1);
  EXPECT_TRUE(look(1, 3, 0));
  look(2, 3, 0);
  EXPECT_FALSE(look(1, 3, 0));
  look(2, 5, 0);
  EXPECT_TRUE(look(1, 3, 0));
}

TEST_F(cpu_separation_test, nobody_leaves_where_the_board_does_not_let_them_SEPARATE_1) {
  cpu_separation board(2, false);
  wait_in_turns(board, 7, 7);
  EXPECT_TRUE(left().empty());
}

/// Waits with 50 ms of work between them, on one CPU, but for each `apart`-th: after how many the worker leaves it; 0: never.
int waits_before_leaving(cpu_separation& board, int most, int apart = 1000) {
  scripted_system& system = scripted_system::instance();
  system.left.clear();
  for (int i = 1; i <= most; ++i) {
    system.now += 50 * ms;
    system.cpu = 7;
    board.look_for(0, 1);
    if (i % apart == 0) system.cpu = 3;
    board.look_for(1, 0);
    if (!system.left.empty()) return i;
  }
  return 0;
}

TEST_F(cpu_separation_test, members_that_work_for_long_part_after_four_waits_SEPARATE_5) {
  cpu_separation board(2, true), fixed(2, false);
  EXPECT_EQ(waits_before_leaving(board, 100, 4), 0) << "three in a row, then a CPU of its own";
  EXPECT_EQ(waits_before_leaving(board, 100), 4);
  EXPECT_EQ(left(), std::vector<unsigned>{7});
  EXPECT_EQ(waits_before_leaving(fixed, 100), 0);
}

TEST_F(cpu_separation_test, where_no_cpu_is_free_they_stay_until_one_is_SEPARATE_5) {
  cpu_separation board(2, true);
  scripted_system::instance().is_full = true;
  EXPECT_EQ(waits_before_leaving(board, 600), 0);
  scripted_system::instance().is_full = false;
  EXPECT_LE(waits_before_leaving(board, 600), 4) << "a move that was not made puts off none";
}

TEST_F(cpu_separation_test, regions_and_waits_that_found_it_on_a_shared_cpu_count_together) {
  cpu_separation board(2, true);
  scripted_system& system = scripted_system::instance();
  system.cpu = 7;
  for (int i = 0; i < 2; ++i) {
    system.now += 50 * ms;
    board.shares_cpu(1);
    board.look_for(0, 1);
    system.cpu = 3;  // where the worker polls; what the caller noted last time is no news
    board.look_for(0, 1);
    system.cpu = 7;
    board.look_for(0, 1);
    EXPECT_TRUE(left().empty());
    system.now += 50 * ms;
    board.look_for(1, 0);
  }
  EXPECT_EQ(left(), std::vector<unsigned>{7});
}

TEST_F(cpu_separation_test, the_thread_of_member_0_never_leaves_SEPARATE_1) {
  cpu_separation board(3, true);
  scripted_system& system = scripted_system::instance();
  for (int i = 0; i < 2000; ++i) {
    system.now += 3 * us;
    system.cpu = 7;
    board.look_for(0, 1);
    if (i % 10 == 0) board.look_for(1, 2);  // member 2 has said nothing
  }
  EXPECT_TRUE(left().empty());
}

TEST_F(cpu_separation_test, where_the_other_one_has_said_nothing_new_nobody_leaves) {
  cpu_separation board(2, true);
  scripted_system& system = scripted_system::instance();
  system.cpu = 7;
  board.look_for(0, 1);
  for (int i = 0; i < 2000; ++i) {
    system.now += 3 * us;
    board.look_for(1, 0);
  }
  EXPECT_TRUE(left().empty());
}

TEST_F(cpu_separation_test, the_other_one_is_here_once_for_each_time_that_it_says_so) {
  cpu_separation board(2, true);
  scripted_system& system = scripted_system::instance();
  system.cpu = 7;
  EXPECT_FALSE(board.look_for(1, 0)) << "it has said nothing";
  EXPECT_FALSE(waits_apart(board, 1, 0));
  board.look_for(0, 1);
  EXPECT_FALSE(board.is_apart(1, 0));
  EXPECT_TRUE(board.look_for(1, 0));
  EXPECT_FALSE(board.look_for(1, 0)) << "it may have left since";
  EXPECT_FALSE(waits_apart(board, 1, 0)) << "nor is that known";
  board.look_for(0, 1);
  system.cpu = 3;
  EXPECT_TRUE(board.is_apart(1, 0));
  EXPECT_TRUE(waits_apart(board, 1, 0));
  EXPECT_FALSE(board.is_apart(1, 0)) << "it has said nothing new";
  EXPECT_TRUE(waits_apart(board, 1, 0));
}

TEST_F(cpu_separation_test, who_has_just_left_the_others_cpu_is_not_there) {
  scripted_system& system = scripted_system::instance();
  system.cpu = 7;
  for (const bool is_full : {true, false}) {
    cpu_separation board(2, true);
    system.is_full = is_full;
    for (int i = 1; i <= 4; ++i) {
      system.now += 50 * ms;
      board.look_for(0, 1);
      EXPECT_EQ(board.look_for(1, 0), i < 4 || is_full);
    }
    EXPECT_EQ(left().empty(), is_full);
  }
}

TEST_F(cpu_separation_test, where_the_system_does_not_tell_the_cpu_nothing_is_known) {
  cpu_separation board(2, true);
  scripted_system::instance().cpu = -1;
  for (int i = 0; i < 4; ++i) {
    scripted_system::instance().now += 50 * ms;
    board.look_for(0, 1);
    EXPECT_FALSE(board.look_for(1, 0));
    EXPECT_FALSE(waits_apart(board, 1, 0));
    EXPECT_FALSE(board.shares_cpu(1));
  }
  EXPECT_TRUE(left().empty());
}

// Each of two members on one CPU waits only for what the other has not done yet. So the caller of regions that end with a
// barrier waits in the barrier, and the worker for its regions.
TEST_F(cpu_separation_test, waits_in_barriers_and_for_regions_count_together) {
  using namespace lockstep::detail;
  scripted_system& system = scripted_system::instance();
  stop_source stop;
  team_barrier barrier(2, lockstep::wait_policy(), stop, 8, true);
  region_board board(rank_tree(2), lockstep::wait_policy(), barrier.separation());
  system.cpu = 7;
  const auto nothing = [](lockstep::member&) {};
  for (std::uint32_t number = 1; number <= 8; ++number) {
    barrier.separation().look_for(0, 1);
    bool is_announced = false;
    system.on_yield = system.on_sleep = [&] {
      if (!is_announced) board.announce(region_head{number, 2}, job::of<lockstep::member>(nothing));
      is_announced = true;
    };
    assignment what;
    ASSERT_TRUE(board.next(1, what));
    board.report(1, what.announced);
  }
  EXPECT_EQ(left(), std::vector<unsigned>{7});
}

TEST_F(cpu_separation_test, waits_for_regions_of_large_teams_poll_for_longer) {
  using namespace lockstep::detail;
  if (usable_cpus() < 2) GTEST_SKIP() << "needs two CPUs";
  for (std::size_t which = 0; which < 4; ++which) {
    const std::size_t members = 8 + which % 2;
    scripted_system& system = scripted_system::reset();
    cpu_separation separation(members, false);
    region_board board(rank_tree(members), lockstep::wait_policy(), separation, 0, which > 1);
    const auto nothing = [](lockstep::member&) {};
    const std::uint64_t begin = system.now;
    std::uint64_t polled = 0;
    system.on_yield = [&] {
      if (polled == 0) {
        board.announce(region_head{1, static_cast<std::uint32_t>(members)},
                       job::of<lockstep::member>(nothing));
        polled = system.now - begin;
      }
    };
    assignment what;
    ASSERT_TRUE(board.next(1, what));
    EXPECT_EQ(polled >= 200000, members > 8) << polled;
  }
  for (const lockstep::wait_policy other :
       {lockstep::wait_policy::block(), lockstep::wait_policy().when_crowded(true)})
    EXPECT_TRUE(wait_engine::for_region(other, 9) == other);
}

// A worker that has woken the caller up often finds its next region there, and does not wait. Its regions of 50 ms are long.
TEST_F(cpu_separation_test, who_has_woken_the_caller_up_looks_for_it_in_teams_that_anticipate) {
  using namespace lockstep::detail;
  for (const bool anticipates : {false, true}) {
    scripted_system& system = scripted_system::reset();
    cpu_separation separation(2, true);
    region_board board(rank_tree(2), lockstep::wait_policy(), separation, 0, anticipates);
    system.is_full = true;  // a CPU is left only after long regions
    system.cpu = 7;
    for (std::uint32_t phase = 2; phase <= 12; phase += 2) {
      system.now += 50 * ms;
      if (phase == 12) separation.look_for(0, 1);
      board.look_for_caller(1, announcement(phase, 2, 0));
    }
    EXPECT_EQ(left().size(), anticipates ? 1u : 0u);
  }
}

/// A barrier whose participants run on these CPUs, and wait for each other in turns: the other one comes when the one that
/// waits yields, or sleeps.
class separated_barrier_test : public testing::Test {
 protected:
  void SetUp() override {
    if (lockstep::detail::usable_cpus() < 2) GTEST_SKIP() << "a crowd has no CPU to go to";
    unsetenv("LOCKSTEP_CPU_SEPARATION");
  }
  void TearDown() override { unsetenv("LOCKSTEP_CPU_SEPARATION"); }

  static std::vector<unsigned> left_by_two(int cpu_of_first, int cpu_of_second,
                                           lockstep::wait_policy policy = {}) {
    scripted_system& system = scripted_system::reset();
    lockstep::ranked_barrier all(2, policy);
    const int cpus[] = {cpu_of_first, cpu_of_second};
    for (std::size_t turn = 0; turn < 4000; ++turn) {
      const std::size_t waiting = turn % 2, late = 1 - waiting;
      bool has_come = false;
      const auto come = [&] {
        if (!has_come) all.arrive(late);
        has_come = true;
      };
      system.on_yield = system.on_sleep = come;
      system.cpu = cpus[waiting];
      EXPECT_TRUE(all.arrive_and_wait(waiting));
      EXPECT_TRUE(has_come);
      EXPECT_TRUE(all.wait(late));
    }
    return system.left;
  }
};

TEST_F(separated_barrier_test, threads_of_a_barrier_that_share_a_cpu_part_SEPARATE_2) {
  const std::vector<unsigned> left = left_by_two(7, 7);
  ASSERT_FALSE(left.empty());
  EXPECT_EQ(left.front(), 7u);
}

TEST_F(separated_barrier_test, threads_of_a_barrier_on_cpus_of_their_own_stay) {
  EXPECT_TRUE(left_by_two(7, 8).empty());
}

TEST_F(separated_barrier_test, the_variable_keeps_threads_of_a_barrier_where_they_are_SEPARATE_1) {
  for (const char* no : {"0", " false ", "FALSE", "False\t"}) {
    setenv("LOCKSTEP_CPU_SEPARATION", no, 1);
    EXPECT_TRUE(left_by_two(7, 7).empty()) << no;
  }
  for (const char* yes : {"1", "true", "", "00", "falsehood", "0 1"}) {
    setenv("LOCKSTEP_CPU_SEPARATION", yes, 1);
    EXPECT_FALSE(left_by_two(7, 7).empty()) << yes;
  }
}

TEST_F(separated_barrier_test, with_another_policy_threads_of_a_barrier_stay_SEPARATE_1) {
  EXPECT_TRUE(left_by_two(7, 7, lockstep::wait_policy::block()).empty());
  EXPECT_TRUE(
      left_by_two(7, 7, lockstep::wait_policy::hybrid(std::chrono::microseconds(1))).empty());
}

}  // namespace
