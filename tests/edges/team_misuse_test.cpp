// SPDX-License-Identifier: MIT
// tests/edges/team_misuse_test.cpp -- what is wrong with a team's life is said, not a hang or use after free
#if !defined(LOCKSTEP_DIAGNOSE_MISUSE)
#define LOCKSTEP_DIAGNOSE_MISUSE 1
#endif
#include <lockstep/lockstep.hpp>

#include <gtest/gtest.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>
#include "platform/this_thread.hpp"
#include "region/turns.hpp"

namespace {

using lockstep::member;
using lockstep::started_region;
using lockstep::sub_team;
using lockstep::team;
using lockstep::detail::caller_queue;
using lockstep::detail::caller_turn;

static_assert(lockstep::detail::diagnoses_misuse, "what is tested here");

/// Each in a process of its own, which begins anew.
class team_misuse : public testing::Test {
 protected:
  team_misuse() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

/// What is written to stderr while it lives, line by line.
class stderr_reader {
 public:
  stderr_reader() {
    int ends[2];
    if (pipe(ends) != 0) throw std::runtime_error("no pipe");
    std::fflush(stderr);
    before_ = dup(2);
    dup2(ends[1], 2);
    close(ends[1]);
    from_ = ends[0];
  }
  ~stderr_reader() {
    dup2(before_, 2);
    close(before_);
    close(from_);
  }
  stderr_reader(const stderr_reader&) = delete;
  stderr_reader& operator=(const stderr_reader&) = delete;

  /// Blocks until there is one.
  std::string next_line() {
    std::string line;
    for (char c; read(from_, &c, 1) == 1 && c != '\n';) line += c;
    return line;
  }

 private:
  int before_, from_;
};

TEST(caller_queue_edges, TURN_3_who_waits_for_long_says_so_once_and_gets_its_turn) {
  for (const lockstep::wait_policy policy :
       {lockstep::wait_policy::block(), lockstep::wait_policy(), lockstep::wait_policy::spin()}) {
    caller_queue queue(policy, caller_queue::label(&queue, "lockstep::team", "solver"),
                       std::chrono::milliseconds(5));
    std::atomic<int> turns{0};
    std::vector<std::thread> others;
    {
      stderr_reader said;
      queue.take_turn();
      others.emplace_back([&] {
        const caller_turn mine(queue);
        ++turns;
      });
      const std::string line = said.next_line();
      EXPECT_EQ(turns, 0);
      for (const char* part :
           {"lockstep::team 'solver' at ", "has waited 0.005 s for its turn", "may be harmless",
            "lockstep::this_region()", "lockstep::inside_region"}) {
        EXPECT_NE(line.find(part), std::string::npos) << part << " is not in: " << line;
      }
      const std::string holder =
          "which thread " + std::to_string(lockstep::detail::shown_thread_number()) + " has";
      EXPECT_NE(line.find(holder), std::string::npos) << holder << " is not in: " << line;
      others.emplace_back([&] {  // is silent
        const caller_turn mine(queue);
        ++turns;
      });
      std::this_thread::sleep_for(std::chrono::milliseconds(20));  // time to be wrong
      queue.end_turn();
      for (std::thread& each : others) each.join();
      std::fputs("the end\n", stderr);
      EXPECT_EQ(said.next_line(), "the end");
    }
    EXPECT_EQ(turns, 2);
  }
}

TEST(caller_queue_edges, TURN_3_who_need_not_wait_or_not_for_long_is_silent) {
  caller_queue queue(lockstep::wait_policy(), caller_queue::label(nullptr, "a queue", ""),
                     std::chrono::hours(1));
  stderr_reader said;
  for (int i = 0; i < 100; ++i) const caller_turn mine(queue);
  queue.take_turn();
  std::thread other([&] { const caller_turn mine(queue); });
  queue.end_turn();
  other.join();
  std::fputs("the end\n", stderr);
  EXPECT_EQ(said.next_line(), "the end");
}

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
  const auto keep_one = [](team& workers, std::vector<sub_team>& kept) {
    workers.run([&](member& me) { kept[me.rank()] = me.split(0); });
  };
  EXPECT_DEATH(
      {
        team workers(2);
        std::vector<sub_team> kept(2);
        keep_one(workers, kept);
        static_cast<void>(kept[0]->rank());
      },
      used);
  EXPECT_DEATH(
      {
        team workers(2);
        std::vector<sub_team> kept(2);
        keep_one(workers, kept);
        workers.run([&](member& me) { kept[me.rank()]->sync_threads(); });  // another region
      },
      used);
  EXPECT_DEATH(
      {
        team workers(2);
        std::vector<sub_team> kept(2);
        keep_one(workers, kept);
        kept.clear();
      },
      let_go);
  EXPECT_DEATH(
      {
        team workers(2);
        std::vector<sub_team> kept(2);
        keep_one(workers, kept);
        kept[1] = sub_team();
      },
      let_go);
  EXPECT_DEATH(
      {
        team workers(2);
        std::vector<sub_team> kept(2);
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
  for (const std::size_t rank : {0u, 1u}) {
    EXPECT_DEATH(
        {
          team workers(2);
          workers.run([&](member& me) {
            if (me.rank() == rank) pthread_exit(nullptr);
            me.sync_threads();
          });
        },
        message);
    EXPECT_DEATH(
        {
          team workers(2);
          workers.run([&](member& me) {
            if (me.rank() == rank) {
              pthread_cancel(pthread_self());
              pthread_testcancel();
            }
            me.sync_threads();
          });
        },
        message);
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
