// SPDX-License-Identifier: MIT
// tests/edges/late_members_fork_test.cpp -- fork() in a share that was taken from a late member
#include <lockstep/lockstep.hpp>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <vector>

namespace {

/// What the child finds wrong, as a number; 0: nothing.
int use_in_child(lockstep::team& all, std::size_t members, int loops) {
  std::vector<int> visits(members), came(members);
  for (int loop = 0; loop < loops; ++loop) {
    if (!all.parallel_for(std::size_t{0}, members, [&](std::size_t i) { ++visits[i]; })) return 3;
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
        all.parallel_for(std::size_t{0}, members, [](std::size_t) {});
      }
      pid_t child = -1;
      std::vector<int> visits(members), at_fork;
      const bool complete = all.parallel_for(std::size_t{0}, members, [&](std::size_t i) {
        ++visits[i];
        if (i != 1) return;
        at_fork = visits;
        child = fork();  // in the caller's hands: the member is at the gate
      });
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

}  // namespace
