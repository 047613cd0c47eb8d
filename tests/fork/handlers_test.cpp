// SPDX-License-Identifier: MIT
// tests/fork/handlers_test.cpp -- ATFORK-1: handlers of pthread_atfork() that use teams and locks
//
// bindings/c/tests/fork_test.c and tests/openmp/programs/fork.c are the same for C and OpenMP.
#include <lockstep/lockstep.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <mutex>

#define FORK_USE use
#include "support/fork_handlers.h"

namespace {

/// All members meet, and sleep for a lock.
int region_on(lockstep::team& team) {
  lockstep::mutex lock(lockstep::wait_policy::block());
  std::size_t members = 0;
  const bool is_complete = team.run([&](lockstep::member& me) {
    for (int i = 0; i < 10; ++i) {
      const std::lock_guard<lockstep::mutex> held(lock);
      ++members;
    }
    me.sync_threads();
  });
  return is_complete && members == team.size() * 10 ? 0 : 1;
}

int use_team(fork_use what) {
  static std::unique_ptr<lockstep::team> team;
  switch (what) {
    case fork_region: return region_on(*team);
    case fork_pause: team->pause(); return region_on(*team);
    case fork_own_team: {
      lockstep::team own(2);
      return region_on(own);
    }
    case fork_anew:
      team.reset();
      team = std::make_unique<lockstep::team>(3);
      return 0;
    default: return 0;
  }
}

TEST(fork_handlers, ATFORK_1_may_use_the_library) { EXPECT_EQ(fork_handlers("/proc/self/exe"), 0); }

}  // namespace

static int use(fork_use what) { return use_team(what); }

int main(int count, char** arguments) {
  if (getenv("LOCKSTEP_TEST_FORK_CASE") != nullptr) return fork_handlers(arguments[0]);
  testing::InitGoogleTest(&count, arguments);
  return RUN_ALL_TESTS();
}
