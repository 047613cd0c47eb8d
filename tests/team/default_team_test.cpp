// SPDX-License-Identifier: MIT
// tests/team/default_team_test.cpp -- one team for the process, from its first use to the very end
#include <lockstep/team.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <set>
#include <thread>
#include <vector>

#include "fault/child_process.hpp"

namespace {

using lockstep::default_team;
using lockstep::member;
using lockstep::team;

/// Calls f() in a child process, which then ends by exit(7). Returns its status, or minus the signal.
template <class Function>
int status_of(Function f) {
  return lockstep::test::in_child([&]() -> int {
    f();
    std::exit(7);
  });
}

bool all_come() {
  std::atomic<std::size_t> calls{0};
  default_team().run([&](member& me) {
    me.sync_threads();
    ++calls;
  });
  return calls == default_team().size();
}

TEST(default_team, callers_that_come_first_at_once_get_the_same_one) {
  // In a child process: in this one another test may have used the team first.
  EXPECT_EQ(status_of([] {
              std::vector<const team*> found(8);
              std::vector<std::thread> callers;
              for (const team*& mine : found) {
                callers.emplace_back([&mine] { mine = &default_team(); });
              }
              for (std::thread& each : callers) each.join();
              if (std::set<const team*>(found.begin(), found.end()).size() != 1) std::_Exit(1);
              if (!all_come()) std::_Exit(2);
            }),
            7);
}

TEST(default_team, serves_all_threads_in_turn) {
  std::atomic<std::size_t> calls{0};
  std::vector<std::thread> callers;
  for (int i = 0; i < 4; ++i) {
    callers.emplace_back([&] {
      for (int round = 0; round < 20; ++round) default_team().run([&](member&) { ++calls; });
    });
  }
  for (std::thread& each : callers) each.join();
  EXPECT_EQ(calls, 80 * default_team().size());
}

/// Made before the team, and so destroyed after everything that is made later.
struct user_at_the_end {
  bool is_on = false;
  ~user_at_the_end() {
    if (is_on && !all_come()) std::_Exit(3);
  }
};
user_at_the_end at_the_end;

TEST(default_team, can_be_used_by_the_destructors_of_static_objects) {
  EXPECT_EQ(status_of([] {
              at_the_end.is_on = true;
              if (!all_come()) std::_Exit(4);
            }),
            7);
  EXPECT_EQ(status_of([] { at_the_end.is_on = true; }), 7) << "also for the first time";
}

TEST(default_team, has_its_threads_in_a_child_process_too) {
  ASSERT_TRUE(all_come());
  const team* const here = &default_team();
  EXPECT_EQ(status_of([here] {
              if (&default_team() != here) std::_Exit(5);
              if (!all_come()) std::_Exit(6);
            }),
            7);
  EXPECT_TRUE(all_come());
}

TEST(default_team, the_program_ends_beside_a_thread_that_goes_on_to_use_it) {
  EXPECT_EQ(status_of([] {
              std::atomic<bool> has_begun{false};
              std::thread([&has_begun] {
                while (true) {
                  default_team().run([](member&) {});
                  has_begun = true;
                }
              }).detach();
              while (!has_begun) std::this_thread::yield();
              std::exit(7);  // the flag lives in this frame, which is not left
            }),
            7);
}

TEST(team, takes_functions_of_no_argument) {
  team workers(3);
  std::atomic<int> calls{0};
  EXPECT_TRUE(workers.run([&] { ++calls; }));
  struct counting {
    std::atomic<int>* calls;
    void operator()() { ++*calls; }
  } mutable_one{&calls};
  EXPECT_TRUE(workers.run(mutable_one));
  const int ballast[40] = {1};
  EXPECT_TRUE(workers.run(2, [&calls, ballast] { calls += ballast[0]; }));
  EXPECT_EQ(calls, 8);
  EXPECT_TRUE(workers.start([&calls] { ++calls; }).join());
  EXPECT_TRUE(workers.start(mutable_one).join());
  EXPECT_EQ(calls, 14);
}

}  // namespace
