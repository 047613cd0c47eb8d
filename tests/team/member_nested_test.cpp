// SPDX-License-Identifier: MIT
// tests/team/member_nested_test.cpp -- regions inside regions of the same team, where every construct works alone
#include <lockstep/member.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <functional>
#include <vector>

#include <lockstep/team.hpp>

#include "support/every_construct.hpp"
#include "support/team_sizes.hpp"

namespace {

using lockstep::member;
using lockstep::team;
using lockstep::test::use_everything;

class member_nested : public lockstep::test::each_team {};
INSTANTIATE_TEST_SUITE_P(teams, member_nested, testing::ValuesIn(lockstep::test::all_teams()),
                         lockstep::test::team_name);

TEST_P(member_nested, TEAM_2_every_construct_works_alone_in_a_region_inside_a_region) {
  team workers(members(), policy());
  std::atomic<int> wrong{0};
  std::vector<int> visits(50 * members(), 0);
  EXPECT_TRUE(workers.run([&](member& outer) {
    std::vector<int> own(50, 0);
    wrong += !workers.run([&](member& self) {
      wrong += self.size() != 1;
      wrong += use_everything(self, own);
    });
    workers.for_each(0, 50, [&](std::size_t i) { ++visits[50 * outer.rank() + i]; });
    wrong += workers.reduce_each(0, 100, 1, [](std::size_t) { return 1; }, std::plus<int>()) != 101;
    wrong += !outer.sync_threads();
  }));
  EXPECT_EQ(wrong.load(), 0);
  for (const int each : visits) ASSERT_EQ(each, 1);
}

TEST_P(member_nested, TEAM_2_a_stop_of_an_inner_region_ends_that_one_only) {
  team workers(members(), policy());
  std::atomic<int> wrong{0};
  EXPECT_TRUE(workers.run([&](member& outer) {
    wrong += workers.run([&](member& inner) {
      inner.request_stop();
      wrong += inner.sync_threads_unless_stopped();
      inner.sync_sum(1);
      ++wrong;  // MEMBER-3: it throws
    });
    wrong += outer.stop_requested();
    wrong += !outer.sync_threads();
  }));
  EXPECT_EQ(wrong.load(), 0);
}

}  // namespace
