// SPDX-License-Identifier: MIT
// tests/team/team_start_test.cpp -- TEAM-4: threads that cannot be started (on fault/faulty_system)
#include <lockstep/team.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

namespace {

using lockstep::detail::system_thread;

TEST(team_start, TEAM_4_a_refused_thread_ends_those_that_were_started_and_says_which_it_was) {
  constexpr int members = 9;
  for (int allowed = 0; allowed < members - 1; ++allowed) {
    system_thread::starts_left = allowed;
    try {
      lockstep::team workers(members);
      ADD_FAILURE() << "the refusal was swallowed";
    } catch (const std::system_error& error) {
      const std::string expected = "thread " + std::to_string(allowed + 1) + " of 8";
      EXPECT_NE(std::string(error.what()).find(expected), std::string::npos) << error.what();
      EXPECT_NE(std::string(error.what()).find("ask for fewer members"), std::string::npos);
      EXPECT_EQ(error.code(), std::errc::resource_unavailable_try_again);
    }
    EXPECT_EQ(system_thread::running, 0) << "every started thread was joined";
  }
}

TEST(team_start, TEAM_4_a_retry_after_a_refusal_works) {
  system_thread::starts_left = 1;
  EXPECT_THROW(lockstep::team workers(4), std::system_error);
  system_thread::starts_left = 3;
  lockstep::team workers(4);
  int calls[4] = {};
  workers.run([&](lockstep::member& self) { ++calls[self.rank()]; });
  for (const int count : calls) EXPECT_EQ(count, 1);
}

/// Expects that a region calls every member once, and that its members can meet.
void expect_usable(lockstep::team& workers) {
  std::vector<int> calls(workers.size());
  EXPECT_TRUE(workers.run([&](lockstep::member& self) {
    EXPECT_TRUE(self.sync_threads());
    ++calls[self.rank()];
  }));
  EXPECT_EQ(calls, std::vector<int>(workers.size(), 1));
}

/// Calls f on a paused team whose threads are refused after some; then the team is usable.
template <class Function>
void expect_refusal_of(Function f) {
  constexpr int members = 5;
  for (int allowed = 0; allowed < members - 1; ++allowed) {
    system_thread::starts_left = members - 1;
    lockstep::team workers(members);
    workers.pause();
    EXPECT_EQ(system_thread::running, 0);
    system_thread::starts_left = allowed;
    for (int again = 0; again < 2; ++again) {
      try {
        f(workers);
        ADD_FAILURE() << "the refusal was swallowed";
      } catch (const std::system_error& error) {
        const std::string expected =
            "thread " + std::to_string(again == 0 ? allowed + 1 : 1) + " of 4";
        EXPECT_NE(std::string(error.what()).find(expected), std::string::npos) << error.what();
      }
      EXPECT_EQ(system_thread::running, 0) << "every started thread was joined";
    }
    system_thread::starts_left = members - 1;
    expect_usable(workers);
    EXPECT_EQ(system_thread::running, members - 1);
  }
  EXPECT_EQ(system_thread::running, 0);
}

TEST(team_start, TEAM_4_a_refusal_when_a_paused_team_is_wanted_comes_out_of_what_wanted_it) {
  {
    SCOPED_TRACE("run");
    expect_refusal_of([](lockstep::team& workers) { workers.run([](lockstep::member&) {}); });
  }
  {
    SCOPED_TRACE("start");
    expect_refusal_of([](lockstep::team& workers) {
      static_cast<void>(workers.start([](lockstep::member&) {}));
    });
  }
  {
    SCOPED_TRACE("resume");
    expect_refusal_of([](lockstep::team& workers) { workers.resume(); });
  }
  {
    SCOPED_TRACE("for_each");
    expect_refusal_of([](lockstep::team& workers) { workers.for_each(0, 9, [](std::size_t) {}); });
  }
}

TEST(team_start, TEAM_4_after_a_refusal_other_callers_get_their_turn_and_nothing_was_started) {
  system_thread::starts_left = 2;
  lockstep::team workers(3);
  workers.pause();
  system_thread::starts_left = 0;
  EXPECT_THROW(static_cast<void>(workers.start([](lockstep::member&) {})), std::system_error);
  bool has_run = false;
  std::thread([&] {  // hangs if the refused call kept its turn
    has_run = workers.run(1, [](lockstep::member& self) { EXPECT_EQ(self.size(), 1u); });
  })
      .join();
  EXPECT_TRUE(has_run) << "one member needs no thread";
}

TEST(team_start, pause_joins_every_thread_and_a_paused_team_starts_none) {
  system_thread::starts_left = 6;
  lockstep::team workers(3);
  expect_usable(workers);
  EXPECT_EQ(system_thread::running, 2);
  workers.pause();
  EXPECT_EQ(system_thread::running, 0);
  workers.pause();
  EXPECT_TRUE(workers.run(1, [](lockstep::member&) {}));
  EXPECT_EQ(system_thread::running, 0);
  workers.resume();
  EXPECT_EQ(system_thread::running, 2);
  workers.resume();
  EXPECT_EQ(system_thread::running, 2);
  EXPECT_EQ(system_thread::starts_left, 2) << "two threads each time";
}

}  // namespace
