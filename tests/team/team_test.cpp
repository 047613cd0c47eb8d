// SPDX-License-Identifier: MIT
// tests/team/team_test.cpp -- regions, loops, order, exceptions, and outside callers
#include <lockstep/team.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/team_sizes.hpp"
#include "support/threads.hpp"

namespace {

using lockstep::member;
using lockstep::team;

static_assert(!std::is_copy_constructible<team>::value, "not copyable");

class team_of : public lockstep::test::each_team {};
INSTANTIATE_TEST_SUITE_P(teams, team_of, testing::ValuesIn(lockstep::test::all_teams()),
                         lockstep::test::team_name);

TEST_P(team_of, run_calls_every_rank_once_and_returns_after_the_last) {
  team workers(members(), policy());
  ASSERT_EQ(workers.size(), members());
  std::vector<int> calls(members(), 0);  // plain: run() orders the calls before its return
  for (int region = 1; region <= times(300); ++region) {
    workers.run([&](member& self) {
      EXPECT_EQ(self.size(), members());
      ++calls[self.rank()];
    });
    for (const int count : calls) ASSERT_EQ(count, region);
  }
}

TEST_P(team_of, what_happens_before_run_is_seen_by_every_member) {
  team workers(members(), policy());
  long plain = 0;
  std::atomic<long> wrong{0};
  for (long region = 1; region <= times(300); ++region) {
    plain = region;
    workers.run([&](member&) { wrong += plain != region; });
  }
  EXPECT_EQ(wrong.load(), 0);
}

TEST_P(team_of, sync_threads_lets_every_member_see_what_all_wrote) {
  team workers(members(), policy());
  std::vector<long> slots(members(), 0);
  std::atomic<long> wrong{0};
  workers.run([&](member& self) {
    for (long step = 1; step <= times(200); ++step) {
      slots[self.rank()] = step;
      if (!self.sync_threads()) ++wrong;
      for (const long slot : slots) wrong += slot != step;
      if (!self.sync_threads()) ++wrong;
    }
  });
  EXPECT_EQ(wrong.load(), 0);
}

TEST_P(team_of, TEAM_2_run_inside_a_region_of_the_same_team_runs_inline_as_a_team_of_one) {
  team workers(members(), policy());
  std::atomic<std::size_t> inner_calls{0};
  workers.run([&](member& outer) {
    workers.run([&](member& inner) {
      EXPECT_EQ(inner.rank(), 0u);
      EXPECT_EQ(inner.size(), 1u);
      EXPECT_TRUE(inner.sync_threads());
      inner.for_range(lockstep::nowait, 0, 10,
                      [&](std::size_t first, std::size_t last) { inner_calls += last - first; });
    });
    outer.sync_threads();
  });
  EXPECT_EQ(inner_calls.load(), 10 * members());
}

TEST_P(team_of, TEAM_2_a_region_of_another_team_inside_a_region_runs_on_that_team) {
  if (is_slow()) GTEST_SKIP() << "spinning teams inside each other only measure the scheduler";
  team outer_team(2, policy()), inner_team(members(), policy());
  std::atomic<std::size_t> calls{0};
  outer_team.run([&](member&) {
    inner_team.run([&](member& self) {
      EXPECT_EQ(self.size(), members());
      ++calls;
    });
  });
  EXPECT_EQ(calls.load(), 2 * members());
}

TEST_P(team_of, TEAM_2_a_way_back_through_another_team_does_not_wait_for_itself) {
  if (is_slow()) GTEST_SKIP() << "spinning teams inside each other only measure the scheduler";
  team first(members(), policy()), second(2, policy());
  std::atomic<std::size_t> calls{0};
  first.run([&](member& self) {
    if (self.rank() != 0) return;
    // The second member of `second` is a thread that has never been in a region of `first`.
    second.run([&](member&) {
      first.run([&](member& inner) {
        EXPECT_EQ(inner.size(), 1u);
        ++calls;
      });
    });
  });
  EXPECT_EQ(calls.load(), 2u);
}

TEST_P(team_of, TEAM_1_outside_threads_that_run_regions_together_are_served_one_after_the_other) {
  if (policy().is_spin()) GTEST_SKIP() << "three spinning callers only measure the scheduler";
  team workers(members(), policy());
  long regions_run = 0;  // plain: one region at a time
  int inside = 0;
  constexpr int callers = 3, each = 100;
  lockstep::test::run_threads(callers, [&](std::size_t) {
    for (int i = 0; i < each; ++i) {
      workers.run([&](member& self) {
        if (self.rank() == 0) {
          EXPECT_EQ(++inside, 1);
          ++regions_run;
        }
        self.sync_threads();
        if (self.rank() == 0) --inside;
      });
    }
  });
  EXPECT_EQ(regions_run, callers * each);
}

TEST_P(team_of, TEAM_3_the_exception_of_the_lowest_rank_is_rethrown_and_the_team_stays_usable) {
  team workers(members(), policy());
  for (int region = 0; region < times(20); ++region) {
    try {
      workers.run(
          [&](member& self) { throw std::runtime_error("rank " + std::to_string(self.rank())); });
      ADD_FAILURE() << "no exception";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "rank 0");
    }
    std::atomic<std::size_t> calls{0};
    workers.run([&](member& self) {
      EXPECT_TRUE(self.sync_threads());
      ++calls;
    });
    EXPECT_EQ(calls.load(), members());
  }
}

TEST_P(team_of, TEAM_3_members_that_wait_for_one_that_has_thrown_are_released) {
  if (members() == 1) GTEST_SKIP() << "nobody waits";
  team workers(members(), policy());
  for (int region = 0; region < times(20); ++region) {
    std::atomic<std::size_t> released{0};
    const std::size_t thrower = members() - 1;
    EXPECT_THROW(workers.run([&](member& self) {
      if (self.rank() == thrower) throw std::logic_error("one member");
      released += !self.sync_threads_unless_stopped();
    }),
                 std::logic_error);
    EXPECT_EQ(released.load(), members() - 1);
  }
}

TEST(team, has_one_member_per_usable_cpu_by_default) {
  team workers;
  EXPECT_EQ(workers.size(), lockstep::usable_cpus());
}

TEST(team, that_never_ran_ends_cleanly) {
  for (int i = 0; i < 50; ++i) team workers(5);
}

TEST(team, of_64_gets_through_under_every_policy_that_leaves_the_cpu) {
  for (const auto& named : lockstep::test::crowd_safe_policies()) {
    SCOPED_TRACE(named.name);
    team workers(64, named.policy);
    std::atomic<long> calls{0};
    for (int region = 0; region < 20; ++region) {
      workers.run([&](member& self) {
        ++calls;
        self.sync_threads();
      });
    }
    EXPECT_EQ(calls.load(), 20 * 64);
  }
}

#if defined(__linux__)  // the clock of another thread
TEST(team, idle_members_sleep_in_the_kernel) {
  // The workers' CPU time stands still once they sleep: the clock of each thread is compared with
  // itself, no time limit is asserted. It ends when two looks in a row, with many yields of this thread
  // in between, found no progress; members that burned CPU for ever would end in the ctest timeout.
  team workers(4);
  std::vector<clockid_t> clocks(4);
  workers.run([&](member& self) { pthread_getcpuclockid(pthread_self(), &clocks[self.rank()]); });
  const auto used = [&] {
    long long total = 0;
    for (std::size_t rank = 1; rank < clocks.size(); ++rank) {
      timespec time = {};
      clock_gettime(clocks[rank], &time);
      total += time.tv_sec * 1000000000LL + time.tv_nsec;
    }
    return total;
  };
  long long before = -1;
  while (used() != before) {
    before = used();
    const timespec pause = {0, 20000000};
    nanosleep(&pause, nullptr);
  }
  EXPECT_GT(before, 0);
}
#endif

}  // namespace
