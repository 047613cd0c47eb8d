// SPDX-License-Identifier: MIT
// tests/edges/team_misuse_test.cpp -- a misused team gets a message, not a hang or a use after free
#if !defined(LOCKSTEP_DIAGNOSE_MISUSE)
#define LOCKSTEP_DIAGNOSE_MISUSE 1
#endif
#include <lockstep/lockstep.hpp>

#include <gtest/gtest.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <stdexcept>
#include <thread>
#include <vector>

namespace {

using lockstep::member;
using lockstep::started_region;
using lockstep::sub_team;
using lockstep::team;

static_assert(lockstep::detail::diagnoses_misuse, "what is tested here");

/// Each test runs in a process of its own, which starts the program anew.
class team_misuse : public testing::Test {
 protected:
  team_misuse() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(team_misuse, START_3_a_handle_that_goes_where_it_cannot_be_joined_ends_the_program) {
  EXPECT_DEATH(
      {
        team workers(2);
        auto open = std::make_unique<started_region>(workers.start([](member&) {}));
        std::thread([&] { open.reset(); }).join();
      },
      "started by another thread, which has to join it; its handle was let go");
  EXPECT_DEATH(
      {
        team first(2);
        team second(2);
        started_region a = first.start([](member&) {});
        const started_region b = second.start([](member&) {});
        a = started_region();
      },
      "has started or entered another region since; join those first; its handle was let go");
  EXPECT_DEATH(
      {
        team workers(2);
        team others(2);
        started_region open = workers.start([](member&) {});
        others.run(1, [&](member&) { open = started_region(); });
      },
      "join those first; its handle was let go");
}

TEST_F(team_misuse, a_handle_that_outlives_its_team_is_found_at_the_end_of_the_team) {
  EXPECT_DEATH(
      {
        started_region open;
        team workers(2);
        open = workers.start([](member&) {});
      },
      "lockstep::team: .*inside its own region; leave the region first");
}

TEST_F(team_misuse, an_external_team_that_ends_inside_its_own_region_says_so) {
  EXPECT_DEATH(
      {
        auto lent = std::make_unique<lockstep::external_team>(1);
        lent->run([&](member&) { lent.reset(); });
      },
      "lockstep::external_team: .*inside its own region; leave the region first");
}

TEST_F(team_misuse, a_token_that_is_used_after_its_region_says_so) {
  const auto late = [](team& workers, bool in_a_later_region) {
    lockstep::region_token kept;
    workers.run([&](member& me) {
      if (me.rank() == 0) kept = lockstep::this_region();
    });
    if (!in_a_later_region) const lockstep::inside_region wrong(kept);
    workers.run([&](member& me) {
      if (me.rank() == 1) const lockstep::inside_region wrong(kept);
    });
  };
  team workers(2);
  EXPECT_DEATH(late(workers, false), "lockstep::inside_region: the region of this token is over");
  EXPECT_DEATH(late(workers, true), "lockstep::inside_region: the region of this token is over");
}

TEST_F(team_misuse, a_sub_team_that_is_used_or_let_go_after_its_region_says_so) {
  const char* const used = "lockstep::sub_team at .*: used after its region";
  const char* const let_go = "lockstep::sub_team at .*: let go after its region";
  using sub_teams = std::vector<sub_team>;
  const auto after_a_region = [](auto late) {
    team workers(2);
    sub_teams kept(2);
    workers.run([&](member& me) { kept[me.rank()] = me.split(0); });
    late(workers, kept);
  };
  EXPECT_DEATH(after_a_region([](team&, sub_teams& kept) { kept[0]->rank(); }), used);
  EXPECT_DEATH(after_a_region([](team& workers, sub_teams& kept) {
                 workers.run([&](member& me) { kept[me.rank()]->sync_threads(); });
               }),
               used);
  EXPECT_DEATH(after_a_region([](team&, sub_teams& kept) { kept.clear(); }), let_go);
  EXPECT_DEATH(after_a_region([](team&, sub_teams& kept) { kept[1] = sub_team(); }), let_go);
  EXPECT_DEATH(
      {
        team workers(2);
        sub_teams kept(2);
        workers.run([&](member& me) {
          kept[me.rank()] = me.first(2);
          if (me.rank() == 1) throw std::runtime_error("stopped: the group is destroyed");
          me.sync_threads();
        });
      },
      let_go);
}

TEST(sub_team_edges, a_sub_team_that_is_used_as_it_may_be_is_not_complained_about) {
  team workers(4);
  for (int region = 0; region < 20; ++region) {
    EXPECT_TRUE(workers.run([&](member& me) {
      team own(1);
      sub_team half = me.split(me.rank() / 2);
      sub_team moved = std::move(half);
      EXPECT_TRUE(moved->sync_threads());
      own.run([&](member&) { EXPECT_EQ(moved->size(), 2u); });  // inside another region
      sub_team made_inside;
      own.run([&](member&) { made_inside = me.split(0); });  // used after that region
      EXPECT_TRUE(made_inside->sync_threads());
      sub_team quarter = moved->split(moved->rank());
      EXPECT_TRUE(quarter->sync_threads());
      const lockstep::region_token here = lockstep::this_region();
      std::thread([&, here] {  // on behalf of the member, which waits
        const lockstep::inside_region guest(here);
        EXPECT_EQ(quarter->size(), 1u);
      })
          .join();
    }));
    EXPECT_THROW(workers.run([&](member& me) {
      sub_team half = me.split(me.rank() % 2);
      if (me.rank() == 3) throw std::runtime_error("stopped");
      half->sync_threads();
    }),
                 std::runtime_error);
  }
}

TEST_F(team_misuse, a_member_whose_thread_ends_inside_a_region_says_so) {
  const char* const message = "was cancelled, or called pthread_exit\\(\\), inside a region";
  const auto exits = [] { pthread_exit(nullptr); };
  const auto is_cancelled = [] {
    pthread_cancel(pthread_self());
    pthread_testcancel();
  };
  const auto end_in_region = [](std::size_t rank, auto end) {
    team workers(2);
    workers.run([&](member& me) {
      if (me.rank() == rank) end();
      me.sync_threads();
    });
  };
  for (const std::size_t rank : {0u, 1u}) {
    EXPECT_DEATH(end_in_region(rank, exits), message);
    EXPECT_DEATH(end_in_region(rank, is_cancelled), message);
  }
}

TEST_F(team_misuse, a_caller_that_is_cancelled_between_regions_harms_nobody) {
  team workers(3);
  std::atomic<bool> has_run{false};
  std::thread other([&] {
    workers.run([](member& me) { me.sync_threads(); });
    has_run = true;
    for (;;) pause();  // where it is cancelled
  });
  while (!has_run) std::this_thread::yield();
  pthread_cancel(other.native_handle());
  other.join();
  EXPECT_TRUE(workers.run([](member& me) { me.sync_threads(); }));
}

TEST_F(team_misuse, an_exception_from_a_hook_ends_the_program) {
  EXPECT_DEATH(
      {
        team workers(lockstep::team_options().members(2).on_start(
            [](std::size_t) { throw std::runtime_error("from the hook"); }));
        workers.run([](member&) {});
      },
      "from the hook");
}

}  // namespace
