// SPDX-License-Identifier: MIT
// tests/team/team_start_test.cpp -- T4: threads that cannot be started (on support/failing_thread_system)
#include <lockstep/team/team.hpp>

#include <gtest/gtest.h>

#include <string>
#include <system_error>

namespace {

using lockstep::platform::thread;

TEST(team_start, T4_a_refused_thread_ends_those_that_were_started_and_says_which_it_was) {
  constexpr int members = 9;
  for (int allowed = 0; allowed < members - 1; ++allowed) {
    thread::starts_left = allowed;
    try {
      lockstep::team workers(members);
      ADD_FAILURE() << "the refusal was swallowed";
    } catch (const std::system_error& error) {
      const std::string expected = "thread " + std::to_string(allowed + 1) + " of 8";
      EXPECT_NE(std::string(error.what()).find(expected), std::string::npos) << error.what();
      EXPECT_NE(std::string(error.what()).find("ask for fewer members"), std::string::npos);
      EXPECT_EQ(error.code(), std::errc::resource_unavailable_try_again);
    }
    EXPECT_EQ(thread::running, 0) << "every started thread was joined";
  }
}

TEST(team_start, T4_a_retry_after_a_refusal_works) {
  thread::starts_left = 1;
  EXPECT_THROW(lockstep::team workers(4), std::system_error);
  thread::starts_left = 3;
  lockstep::team workers(4);
  int calls[4] = {};
  workers.run([&](lockstep::member& self) { ++calls[self.rank()]; });
  for (const int count : calls) EXPECT_EQ(count, 1);
}

}  // namespace
