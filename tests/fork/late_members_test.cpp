// SPDX-License-Identifier: MIT
// tests/fork/late_members_test.cpp -- fork() in a share that was taken from a late member
#include <lockstep/lockstep.hpp>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

namespace {

/// What the child finds wrong, as a number; 0: nothing.
int use_in_child(lockstep::team& all, std::size_t members, int loops) {
  std::vector<int> visits(members), came(members);
  for (int loop = 0; loop < loops; ++loop) {
    if (!all.for_each(std::size_t{0}, members, [&](std::size_t i) { ++visits[i]; })) return 3;
  }
  if (visits != std::vector<int>(members, loops)) return 4;
  if (!all.run([&](lockstep::member& me) { ++came[me.rank()]; })) return 5;
  return came == std::vector<int>(members, 1) ? 0 : 6;
}

TEST(late_members, a_fork_in_a_taken_share_ends_the_loop_in_the_child_and_leaves_the_team_usable) {
  for (const std::size_t members : {2u, 3u, 9u, 20u}) {
    for (int loops_before = 0; loops_before < 3; ++loops_before) {
      const auto gate = std::make_shared<std::atomic<bool>>(false);
      lockstep::team all(lockstep::team_options().members(members).on_start(
          [gate](std::size_t) { gate->wait(false); }));
      for (int loop = 0; loop < loops_before; ++loop) {
        all.for_each(std::size_t{0}, members, [](std::size_t) {});
      }
      pid_t child = -1;
      std::vector<int> visits(members), at_fork;
      const auto visit = [&](std::size_t i) {
        ++visits[i];
        if (i != 1) return;
        at_fork = visits;
        child = fork();  // by the caller, while the member waits at the gate
      };
      // A grain, so that the loop has shares, whatever was learned of this place with other teams.
      const bool complete = all.for_each(std::size_t{0}, members, visit, lockstep::grain(1));
      if (child == 0) {
        *gate = true;  // of the child's own threads
        _exit(complete ? 1 : visits != at_fork ? 2 : use_in_child(all, members, 20));
      }
      ASSERT_GT(child, 0);
      EXPECT_TRUE(complete);
      EXPECT_EQ(visits, std::vector<int>(members, 1));
      int status = 0;
      ASSERT_EQ(waitpid(child, &status, 0), child);
      EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0)
          << "status " << status << " with " << members << " members after " << loops_before;
      *gate = true;
      gate->notify_all();
    }
  }
}

/// A loop whose shares have several parts, some of which others run at the time of the fork.
TEST(late_members, a_fork_in_a_part_ends_the_loop_in_the_child_and_leaves_the_team_usable) {
  constexpr std::size_t n = 128;
  for (const std::size_t members : {2u, 3u, 9u}) {
    for (const std::size_t forker : {0u, 1u, 20u, 63u}) {
      lockstep::team all(members);
      const auto caller = std::this_thread::get_id();
      for (const lockstep::schedule how :
           {lockstep::grain(1), lockstep::grain(100), lockstep::dynamic_schedule()}) {
        pid_t child = -1;
        std::vector<int> visits(n);
        const bool complete = all.for_each(
            std::size_t{0}, n,
            [&](std::size_t i) {
              ++visits[i];
              if (std::this_thread::get_id() != caller) return;
              if (child == -1 && i >= forker) child = fork();
            },
            how);
        if (child == 0) {
          // Iterations of others may have been cut off; none was run twice.
          bool is_right = !complete;
          for (const int visited : visits) is_right = is_right && visited <= 1;
          _exit(is_right ? use_in_child(all, members, 20) : 1);
        }
        EXPECT_TRUE(complete);
        EXPECT_EQ(visits, std::vector<int>(n, 1));
        if (child == -1) continue;  // the caller came to none of them
        int status = 0;
        ASSERT_EQ(waitpid(child, &status, 0), child);
        EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0)
            << "status " << status << " with " << members << " members, from " << forker;
      }
    }
  }
}

/// A loop that was learned to run on the caller alone, or on all.
TEST(late_members, a_fork_in_a_learned_loop_ends_it_in_the_child_and_leaves_the_team_usable) {
  for (const std::size_t members : {2u, 3u}) {
    for (const int spins : {0, 20000}) {
      lockstep::team all(members);
      const auto caller = std::this_thread::get_id();
      std::vector<int> visits(20);
      pid_t child = -1;
      bool forks = false;
      const auto visit = [&](std::size_t i) {
        ++visits[i];
        for (std::atomic<int> k{0}; k < spins;) ++k;
        if (forks && std::this_thread::get_id() == caller && child == -1) child = fork();
      };
      for (int loop = 0; loop < 40; ++loop) {
        EXPECT_TRUE(all.for_each(std::size_t{0}, visits.size(), visit));
      }
      forks = true;
      const bool complete = all.for_each(std::size_t{0}, visits.size(), visit);
      if (child == 0) _exit(complete ? 1 : use_in_child(all, members, 20));
      EXPECT_TRUE(complete);
      EXPECT_EQ(visits, std::vector<int>(visits.size(), 41));
      if (child == -1) continue;
      int status = 0;
      ASSERT_EQ(waitpid(child, &status, 0), child);
      EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "status " << status;
    }
  }
}

}  // namespace
