// SPDX-License-Identifier: MIT
// tests/wait/cpu_separation_test.cpp -- SEPARATE-1 to SEPARATE-6, on the scripted system; of boards, and of the barrier of a
// program's own threads
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
using lockstep::detail::separation_pace;
using lockstep::detail::stacked_starts;
using lockstep::test::scripted_system;

constexpr std::uint64_t us = 1000, ms = 1000000;

/// Waits at these distances that all share their CPU; the times at which it parts.
std::vector<std::uint64_t> separations(separation_pace& pace, std::uint64_t begin,
                                       std::uint64_t end, std::uint64_t distance) {
  std::vector<std::uint64_t> times;
  for (std::uint64_t now = begin; now < end; now += distance) {
    if (pace.shared(now)) times.push_back(now);
  }
  return times;
}

TEST(cpu_separation, members_that_switch_all_the_time_part_after_a_millisecond_SEPARATE_2) {
  separation_pace pace;
  const std::vector<std::uint64_t> times = separations(pace, 5000 * ms, 5003 * ms, 3 * us);
  ASSERT_FALSE(times.empty());
  EXPECT_GE(times.front(), 5001 * ms);
  EXPECT_LE(times.front(), 5001 * ms + 3 * us);
}

TEST(cpu_separation, members_that_work_between_their_waits_stay_SEPARATE_2) {
  separation_pace pace;
  EXPECT_TRUE(separations(pace, 5000 * ms, 9000 * ms, 50 * us).empty());
}

TEST(cpu_separation, moves_in_vain_become_rare_and_a_good_one_makes_the_next_early_SEPARATE_3) {
  separation_pace pace;
  const std::vector<std::uint64_t> times = separations(pace, 0, 4000 * ms, 3 * us);
  ASSERT_GE(times.size(), 8u);
  EXPECT_LE(times.size(), 80u);
  for (std::size_t i = 1; i < times.size(); ++i) EXPECT_GE(times[i] - times[i - 1], ms) << i;
  EXPECT_GE(times.back() - times[times.size() - 2], separation_pace::most_rest);
  const std::vector<std::uint64_t> later = separations(pace, 9000 * ms, 9004 * ms, 3 * us);
  ASSERT_GE(later.size(), 2u);
  EXPECT_LE(later[1] - later[0], 3 * ms);
}

/// The regions, of so many that find the worker without a CPU, after which it parts.
std::vector<int> separations(stacked_starts& regions, int count) {
  std::vector<int> numbers;
  for (int i = 1; i <= count; ++i) {
    regions.came(true);
    if (regions.must_separate()) numbers.push_back(i);
  }
  return numbers;
}

TEST(cpu_separation,
     a_worker_that_had_no_cpu_for_four_regions_in_a_row_parts_ever_later_SEPARATE_5) {
  stacked_starts regions;
  EXPECT_FALSE(regions.must_separate());
  EXPECT_EQ(separations(regions, 800), (std::vector<int>{4, 12, 28, 60, 124, 252, 508, 764}));
}

TEST(cpu_separation,
     regions_that_find_the_worker_running_make_the_next_move_early_again_SEPARATE_5) {
  stacked_starts regions;
  separations(regions, 60);
  for (int i = 0; i < 200; ++i) regions.came(false);
  EXPECT_EQ(separations(regions, 10), std::vector<int>{4});
  for (int i = 0; i < 200; ++i) {
    regions.came(i % 4 != 0);
    EXPECT_FALSE(regions.must_separate()) << "three in a row";
  }
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
      board.is_separated(0, worker, system.now);
      system.cpu = cpu_of_worker;
      is_separated_ = board.is_separated(worker, 0, system.now);
    }
  }
  const std::vector<unsigned>& left() const { return scripted_system::instance().left; }
  bool is_separated_ = false;
};

TEST_F(cpu_separation_test, a_worker_on_the_cpu_of_the_caller_leaves_it) {
  cpu_separation board(2, true);
  wait_in_turns(board, 7, 7);
  ASSERT_FALSE(left().empty());
  EXPECT_EQ(left().front(), 7u);
  EXPECT_FALSE(is_separated_);
}

TEST_F(cpu_separation_test, members_on_cpus_of_their_own_know_it_and_stay) {
  cpu_separation board(2, true);
  wait_in_turns(board, 7, 65535);
  EXPECT_TRUE(left().empty());
  EXPECT_TRUE(is_separated_);
}

TEST_F(cpu_separation_test, nobody_leaves_where_the_board_does_not_let_them_SEPARATE_1) {
  cpu_separation board(2, false);
  wait_in_turns(board, 7, 7);
  EXPECT_TRUE(left().empty());
}

TEST_F(cpu_separation_test, a_worker_leaves_when_it_is_told_and_may_SEPARATE_1_SEPARATE_5) {
  scripted_system::instance().cpu = 7;
  cpu_separation fixed(2, false), board(2, true);
  fixed.move_away(1);
  board.move_away(0);
  EXPECT_TRUE(left().empty());
  board.move_away(1);
  EXPECT_EQ(left(), std::vector<unsigned>{7});
}

TEST_F(cpu_separation_test, a_worker_leaves_for_a_free_cpu_only_SEPARATE_5) {
  scripted_system& system = scripted_system::instance();
  system.cpu = 7;
  cpu_separation board(2, true);
  system.is_full = true;
  board.move_to_free_cpu(1);
  EXPECT_TRUE(left().empty());
  system.is_full = false;
  board.move_to_free_cpu(1);
  EXPECT_EQ(left(), std::vector<unsigned>{7});
}

/// Waits with 50 ms of work between them, on one CPU: after how many the worker leaves it; 0: never.
int waits_before_leaving(cpu_separation& board, int most) {
  scripted_system& system = scripted_system::instance();
  system.cpu = 7;
  system.left.clear();
  for (int i = 1; i <= most; ++i) {
    system.now += 50 * ms;
    board.is_separated(0, 1, system.now);
    board.is_separated(1, 0, system.now);
    if (!system.left.empty()) return i;
  }
  return 0;
}

TEST_F(cpu_separation_test, members_that_work_for_long_part_after_four_waits_SEPARATE_6) {
  cpu_separation board(2, true);
  EXPECT_EQ(waits_before_leaving(board, 100), 4);
  EXPECT_EQ(left(), std::vector<unsigned>{7});
  EXPECT_EQ(waits_before_leaving(board, 100), 8) << "the first move was in vain";
}

TEST_F(cpu_separation_test, where_no_cpu_is_free_they_stay_and_look_ever_more_rarely_SEPARATE_6) {
  cpu_separation board(2, true);
  scripted_system::instance().is_full = true;
  EXPECT_EQ(waits_before_leaving(board, 600), 0);
  scripted_system::instance().is_full = false;
  const int waits = waits_before_leaving(board, 600);
  EXPECT_GT(waits, 100);
  EXPECT_LE(waits, 256);
}

TEST_F(cpu_separation_test, the_thread_of_member_0_never_leaves_SEPARATE_1) {
  cpu_separation board(3, true);
  scripted_system& system = scripted_system::instance();
  for (int i = 0; i < 2000; ++i) {
    system.now += 3 * us;
    system.cpu = 7;
    board.is_separated(0, 1, system.now);
    if (i % 10 == 0) board.is_separated(1, 2, system.now);  // which has said nothing
  }
  EXPECT_TRUE(left().empty());
}

TEST_F(cpu_separation_test, where_the_other_one_has_said_nothing_new_nobody_leaves) {
  cpu_separation board(2, true);
  scripted_system& system = scripted_system::instance();
  system.cpu = 7;
  board.is_separated(0, 1, system.now);
  for (int i = 0; i < 2000; ++i) board.is_separated(1, 0, system.now += 3 * us);
  EXPECT_TRUE(left().empty());
}

TEST_F(cpu_separation_test, where_the_system_does_not_tell_the_cpu_nothing_is_known) {
  cpu_separation board(2, true);
  wait_in_turns(board, -1, -1);
  EXPECT_TRUE(left().empty());
  EXPECT_FALSE(is_separated_);
}

// Each of two members on one CPU waits only for what the other has not done yet. So the caller of regions that end with a
// barrier waits in the barrier, and the worker for its regions.
TEST_F(cpu_separation_test, waits_in_barriers_and_for_regions_count_together) {
  using namespace lockstep::detail;
  scripted_system& system = scripted_system::instance();
  stop_source stop;
  team_barrier barrier(2, lockstep::wait_policy(), stop, 8, true);
  region_board board(rank_tree(2), lockstep::wait_policy(), 0, false, region_board::usual_most_age,
                     &barrier.separation());
  system.cpu = 7;
  const auto nothing = [](lockstep::member&) {};
  for (std::uint32_t number = 1; number <= 8; ++number) {
    barrier.separation().is_separated(0, 1, system.now);
    bool is_announced = false;
    system.on_yield = system.on_sleep = [&] {
      if (!is_announced) board.announce(region_head{number, 2, 0}, job_of(nothing));
      is_announced = true;
    };
    assignment what;
    ASSERT_TRUE(board.next(1, what));
    board.report(1, what.announced);
  }
  EXPECT_EQ(left(), std::vector<unsigned>{7});
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
