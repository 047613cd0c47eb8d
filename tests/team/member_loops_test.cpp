// SPDX-License-Identifier: MIT
// tests/team/member_loops_test.cpp -- every schedule, collapse, nowait, weighted (LOOPS-1, LOOPS-2, CHUNK-1, CHUNK-2)
#include <lockstep/member.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <vector>

#include <lockstep/team.hpp>
#include <lockstep/weighted_schedule.hpp>

#include "region/loop_board.hpp"
#include "support/team_sizes.hpp"

namespace {

using lockstep::index_range_2;
using lockstep::index_range_3;
using lockstep::member;
using lockstep::nowait;
using lockstep::schedule;
using lockstep::team;
using lockstep::test::dawdle;

class member_loops : public lockstep::test::each_team {
 protected:
  /// Every kind, with chunks that divide the ranges, do not, and are above them.
  std::vector<schedule> schedules() const {
    using namespace lockstep;
    if (is_slow())
      return {static_schedule(), static_schedule(3), dynamic_schedule(7), guided_schedule()};
    return {static_schedule(),   static_schedule(1),  static_schedule(7),   static_schedule(1000),
            dynamic_schedule(1), dynamic_schedule(7), dynamic_schedule(64), dynamic_schedule(1000),
            guided_schedule(1),  guided_schedule(7),  guided_schedule(1000)};
  }
};
INSTANTIATE_TEST_SUITE_P(teams, member_loops, testing::ValuesIn(lockstep::test::all_teams()),
                         lockstep::test::team_name);

constexpr std::size_t offset = 5;

bool all_are(const std::vector<int>& visits, int value) {
  return std::count(visits.begin(), visits.end(), value) ==
         static_cast<std::ptrdiff_t>(visits.size());
}

TEST_P(member_loops, LOOPS_1_for_each_visits_every_index_once_and_all_see_it_after_the_wait) {
  team workers(members(), policy());
  std::atomic<int> wrong{0};
  for (const std::size_t length : {0u, 1u, 2u, 7u, 100u, 301u}) {
    if (is_slow() && length != 100) continue;
    std::vector<int> visits(length, 0);  // plain
    workers.run([&](member& self) {
      int expected = 0;
      for (const schedule how : schedules()) {
        wrong += !self.for_each(
            offset, offset + length, [&](std::size_t i) { ++visits[i - offset]; }, how);
        wrong += !all_are(visits, ++expected);
        self.sync_threads();
      }
    });
  }
  EXPECT_EQ(wrong.load(), 0);
}

/// f(first, last) that counts visits from offset on.
auto visit_parts(std::vector<int>& visits) {
  return [&](std::size_t first, std::size_t last) {
    EXPECT_LT(first, last);
    for (std::size_t i = first; i < last; ++i) ++visits[i - offset];
  };
}

TEST_P(member_loops, LOOPS_1_for_range_gives_each_part_once_and_all_see_it_after_the_wait) {
  team workers(members(), policy());
  constexpr std::size_t length = 200;
  std::vector<int> visits(length, 0);  // plain
  lockstep::weighted_schedule weighted(workers.size());
  std::atomic<int> wrong{0};
  workers.run([&](member& self) {
    int expected = 0;
    for (const schedule how : schedules()) {
      dawdle(self.rank(), static_cast<std::size_t>(expected));
      wrong += !self.for_range(offset, offset + length, visit_parts(visits), how);
      wrong += !all_are(visits, ++expected);
      self.sync_threads();
    }
    for (int round = 0; round < 3; ++round) {
      wrong += !self.for_range(offset, offset + length, visit_parts(visits), weighted);
      wrong += !all_are(visits, ++expected);
      self.sync_threads();
    }
  });
  EXPECT_EQ(wrong.load(), 0);
}

TEST_P(member_loops, for_range_gives_each_part_once_with_every_schedule_without_a_wait) {
  team workers(members(), policy());
  constexpr std::size_t length = 200;
  std::vector<int> visits(length, 0);  // plain
  workers.run([&](member& self) {
    for (const schedule how : schedules()) {
      EXPECT_TRUE(self.for_range(nowait, offset, offset + length, visit_parts(visits), how));
      self.sync_threads();
    }
  });
  EXPECT_TRUE(all_are(visits, static_cast<int>(schedules().size())));
}

TEST_P(member_loops, LOOPS_6_the_default_schedule_gives_each_member_the_same_block_up_to_a_wait) {
  team workers(members(), policy());
  std::vector<std::size_t> owner(100, 99);
  for (int region = 0; region < 3; ++region) {
    workers.run([&](member& self) {
      const auto is_own = [&](std::size_t i) { EXPECT_EQ(owner[i], self.rank()); };
      self.for_each(nowait, 0, owner.size(), [&](std::size_t i) { owner[i] = self.rank(); });
      self.for_each(0, owner.size(), is_own);
      self.for_range(lockstep::nowait, 0, owner.size(), [&](std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i) is_own(i);
      });
      self.for_each(0, owner.size(), is_own);
    });
  }
}

TEST_P(member_loops, LOOPS_2_members_that_are_done_run_what_is_left_of_a_late_members_hand) {
  team workers(members(), policy());
  std::atomic<std::size_t> done{0};
  const std::size_t length = 3 * workers.size();
  std::vector<int> visits(length, 0);
  workers.run([&](member& self) {
    // Member 0 comes when everything is done.
    if (self.rank() == 0 && self.size() > 1) {
      while (done.load() < length) std::this_thread::yield();
    }
    self.for_each(
        nowait, 0, length,
        [&](std::size_t i) {
          ++visits[i];
          ++done;
        },
        lockstep::dynamic_schedule());
  });
  EXPECT_TRUE(all_are(visits, 1));
}

TEST_P(member_loops, GROUP_1_regions_may_end_anywhere_in_the_ring_of_places) {
  team workers(members(), policy());
  std::vector<int> visits(16, 0);
  int expected = 0;
  for (int region = 0; region < times(60); ++region) {
    workers.run([&](member& self) {
      for (int loop = 0; loop < region % 11; ++loop) {
        self.for_each(
            0, visits.size(), [&](std::size_t i) { ++visits[i]; }, lockstep::dynamic_schedule(2));
      }
    });
    expected += region % 11;
    ASSERT_TRUE(all_are(visits, expected)) << region;
  }
}

/// A member's part in loops over all of `ranges`, whose iterations add 1 to each of the visits. How many times they
/// were not what they should be.
template <class Ranges, class Visit>
int wrong_collapsed_loops(member& self, const std::vector<schedule>& all, const Ranges& ranges,
                          const Visit& visit, const std::vector<int>& visits) {
  int expected = 0, wrong = 0;
  for (const schedule how : all) {
    wrong += !self.for_each(ranges, visit, how);
    wrong += !all_are(visits, ++expected);
    self.sync_threads();
    wrong += !self.for_each(nowait, ranges, visit, how);
    self.sync_threads();
    wrong += !all_are(visits, ++expected);
    self.sync_threads();
  }
  return wrong;
}

TEST_P(member_loops, collapse_of_two_and_of_three_visits_every_pair_or_triple_once) {
  team workers(members(), policy());
  std::vector<int> pairs(9 * 13, 0), triples(3 * 5 * 7, 0);
  std::atomic<int> wrong{0};
  workers.run([&](member& self) {
    const auto pair = [&](std::size_t i, std::size_t j) { ++pairs[(i - 3) * 13 + (j - 7)]; };
    wrong += wrong_collapsed_loops(self, schedules(), index_range_2{{3, 12}, {7, 20}}, pair, pairs);
    const std::vector<int> before = pairs;
    self.for_each(index_range_2{{3, 3}, {0, 5}}, pair);
    self.for_each(index_range_2{{3, 5}, {5, 0}}, pair, lockstep::dynamic_schedule());
    wrong += pairs != before;
    const auto triple = [&](std::size_t i, std::size_t j, std::size_t k) {
      ++triples[((i - 1) * 5 + (j - 2)) * 7 + (k - 3)];
    };
    wrong += wrong_collapsed_loops(self, schedules(), index_range_3{{1, 4}, {2, 7}, {3, 10}},
                                   triple, triples);
  });
  EXPECT_EQ(wrong.load(), 0);
}

TEST_P(member_loops,
       a_weighted_schedule_serves_regions_of_other_sizes_stopped_ones_and_one_liners) {
  team workers(members(), policy());
  lockstep::weighted_schedule how(members());
  std::vector<int> visits(100, 0);
  int expected = 0;
  const auto visit = [&](std::size_t i) { ++visits[i]; };
  for (int region = 0; region < times(30); ++region) {
    workers.run([&](member& self) {
      for (int loop = 0; loop < 5; ++loop) self.for_each(0, visits.size(), visit, how);
    });
    expected += 5;
    workers.run(1 + static_cast<std::size_t>(region) % members(),
                [&](member& self) { self.for_each(0, visits.size(), visit, how); });
    workers.for_each(0, visits.size(), visit, how);
    expected += 2;
    EXPECT_FALSE(workers.run([&](member& self) {
      self.request_stop();
      if (self.for_each_unless_stopped(0, 0, visit, how)) ADD_FAILURE() << "the region is stopped";
    }));
    ASSERT_TRUE(all_are(visits, expected)) << region;
  }
}

}  // namespace
