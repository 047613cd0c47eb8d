// SPDX-License-Identifier: MIT
// tests/team/member_once_test.cpp -- what one member does for all: single, masked, critical, sections
#include <lockstep/member.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <stdexcept>
#include <vector>

#include <lockstep/team.hpp>

#include "region/loop_board.hpp"
#include "support/team_sizes.hpp"
#include "support/threads.hpp"

namespace {

using lockstep::member;
using lockstep::nowait;
using lockstep::team;
using lockstep::detail::loop_board;
using lockstep::test::dawdle;

class member_once : public lockstep::test::each_team {};
INSTANTIATE_TEST_SUITE_P(teams, member_once, testing::ValuesIn(lockstep::test::all_teams()),
                         lockstep::test::team_name);

TEST_P(member_once, single_is_done_once_and_before_anybody_goes_on) {
  team workers(members(), policy());
  int done = 0;  // plain
  std::atomic<int> wrong{0};
  workers.run([&](member& self) {
    for (int step = 1; step <= times(200); ++step) {
      dawdle(self.rank(), static_cast<std::size_t>(step));
      wrong += !self.single([&] { ++done; });
      wrong += done != step;
      self.sync_threads();
    }
  });
  EXPECT_EQ(wrong.load(), 0);
  EXPECT_EQ(done, times(200));
}

TEST_P(member_once, single_nowait_is_done_once_by_whoever_comes_and_nobody_waits) {
  team workers(members(), policy());
  const auto rounds = static_cast<std::size_t>(is_slow() ? 20 : times(40) * 5);
  std::vector<int> done(rounds, 0);  // plain: one member each
  workers.run([&](member& self) {
    for (std::size_t round = 0; round < rounds; ++round) {
      if (!is_slow()) dawdle(self.rank(), round);
      EXPECT_TRUE(self.single(nowait, [&] { ++done[round]; }));
    }
  });
  EXPECT_EQ(std::count(done.begin(), done.end(), 1), static_cast<std::ptrdiff_t>(rounds));
}

TEST_P(member_once,
       CHUNK_1_a_member_goes_through_as_many_constructs_as_there_are_places_by_itself) {
  // The others wait for rank 0. So rank 0 would wait for ever if a construct with nowait waited.
  team workers(members(), policy());
  std::atomic<int> finished{0};
  std::atomic<int> done{0};
  workers.run([&](member& self) {
    if (self.rank() != 0) self.await_step(0, 1);
    for (std::uint32_t i = 0; i < loop_board::usual_slots; ++i) {
      self.single(nowait, [&] { done += self.rank() == 0; });
    }
    ++finished;
    if (self.rank() == 0) self.publish(1);
  });
  EXPECT_EQ(finished.load(), static_cast<int>(members()));
  EXPECT_EQ(done.load(), static_cast<int>(loop_board::usual_slots));
}

TEST_P(member_once, master_is_done_by_rank_0_and_nobody_waits) {
  team workers(members(), policy());
  int done = 0;  // plain
  std::atomic<int> others{0};
  workers.run([&](member& self) {
    if (self.rank() == 0) self.await_step(self.size() - 1, self.size() > 1 ? 1 : 0);
    self.masked([&] { ++done; });
    if (self.rank() != 0) ++others;
    self.publish(1);  // rank 0 waits for the last one, which must not wait for rank 0
  });
  EXPECT_EQ(done, 1);
  EXPECT_EQ(others.load(), static_cast<int>(members()) - 1);
}

struct first_name;
struct second_name;

TEST_P(member_once, critical_parts_of_one_name_are_done_one_at_a_time) {
  team workers(members(), policy());
  long unnamed = 0, named = 0;  // plain
  const long each = times(200);
  workers.run([&](member& self) {
    const auto add_slowly = [&](long& to, long i) {
      const long before = to;
      if (!is_slow()) dawdle(self.rank(), static_cast<std::size_t>(i));
      to = before + 1;
    };
    for (long i = 0; i < each; ++i) {
      self.critical([&] { add_slowly(unnamed, i); });
      self.critical<first_name>([&] { add_slowly(named, i); });
    }
  });
  EXPECT_EQ(unnamed, each * static_cast<long>(members()));
  EXPECT_EQ(named, each * static_cast<long>(members()));
}

TEST_P(member_once, critical_parts_of_different_names_may_be_nested) {
  team workers(members(), policy());
  long inner = 0;  // plain
  const long each = times(100);
  workers.run([&](member& self) {
    for (long i = 0; i < each; ++i) {
      self.critical<first_name>([&] { self.critical<second_name>([&] { ++inner; }); });
    }
  });
  EXPECT_EQ(inner, each * static_cast<long>(members()));
}

TEST_P(member_once, a_name_is_one_for_all_teams_of_the_program) {
  if (is_slow()) GTEST_SKIP() << "spinning teams beside each other only measure the scheduler";
  long counted = 0;  // plain
  const long each = times(100);
  lockstep::test::run_threads(2, [&](std::size_t) {
    team workers(members(), policy());
    workers.run([&](member& self) {
      for (long i = 0; i < each; ++i) self.critical<first_name>([&] { ++counted; });
    });
  });
  EXPECT_EQ(counted, 2 * each * static_cast<long>(members()));
}

TEST_P(member_once, critical_is_free_again_after_an_exception) {
  team workers(members(), policy());
  EXPECT_THROW(workers.run([&](member& self) {
    self.critical([&] { throw std::runtime_error("inside"); });
  }),
               std::runtime_error);
  int counted = 0;
  workers.run([&](member& self) { self.critical([&] { ++counted; }); });
  EXPECT_EQ(counted, static_cast<int>(members()));
}

TEST_P(member_once, sections_are_done_once_each_and_seen_by_all_after_the_wait) {
  team workers(members(), policy());
  std::atomic<int> wrong{0};
  int a = 0, b = 0, c = 0, only = 0;  // plain
  workers.run([&](member& self) {
    for (int step = 1; step <= times(100); ++step) {
      dawdle(self.rank(), static_cast<std::size_t>(step));
      wrong += !self.sections([&] { ++a; }, [&] { ++b; }, [&] { ++c; });
      wrong += a != step || b != step || c != step;
      wrong += !self.sections([&] { ++only; });
      wrong += only != step;
      self.sync_threads();
    }
  });
  EXPECT_EQ(wrong.load(), 0);
}

TEST_P(member_once, sections_nowait_back_to_back_are_done_once_each) {
  team workers(members(), policy());
  const auto rounds = static_cast<std::size_t>(is_slow() ? 12 : times(100));
  std::vector<int> done(3 * rounds, 0);  // plain
  workers.run([&](member& self) {
    for (std::size_t round = 0; round < rounds; ++round) {
      self.sections(
          nowait, [&, round] { ++done[3 * round]; },
          [&, round] { dawdle(self.rank(), round), ++done[3 * round + 1]; },
          [&, round] { ++done[3 * round + 2]; });
    }
  });
  EXPECT_EQ(std::count(done.begin(), done.end(), 1), static_cast<std::ptrdiff_t>(done.size()));
}

TEST_P(member_once, sections_may_be_more_than_members_and_named_functions) {
  team workers(members(), policy());
  std::vector<int> done(20, 0);
  const auto f = [&](std::size_t k) { return [&done, k] { ++done[k]; }; };
  auto first = f(0);
  const auto second = f(1);
  workers.run([&](member& self) {
    self.sections(first, second, f(2), f(3), f(4), f(5), f(6), f(7), f(8), f(9), f(10), f(11),
                  f(12), f(13), f(14), f(15), f(16), f(17), f(18), f(19));
  });
  for (const int each : done) EXPECT_EQ(each, 1);
}

}  // namespace
