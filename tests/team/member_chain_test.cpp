// SPDX-License-Identifier: MIT
// tests/team/member_chain_test.cpp -- in a chain: for_ordered, publish and wait_for (CHUNK-3, STEP-1, STEP-2)
#include <lockstep/member.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <numeric>
#include <vector>

#include <lockstep/team.hpp>

#include "support/team_sizes.hpp"

namespace {

using lockstep::member;
using lockstep::ordered_turn;
using lockstep::schedule;
using lockstep::team;
using lockstep::test::dawdle;

class member_chain : public lockstep::test::each_team {
 protected:
  std::vector<schedule> schedules() const {
    using namespace lockstep;
    if (is_slow()) return {static_schedule(), dynamic_schedule(3)};
    return {static_schedule(),   static_schedule(1), static_schedule(4), dynamic_schedule(1),
            dynamic_schedule(4), guided_schedule(1), guided_schedule(4)};
  }
  std::size_t length() const { return is_slow() ? 6 : 60; }
};
INSTANTIATE_TEST_SUITE_P(teams, member_chain, testing::ValuesIn(lockstep::test::all_teams()),
                         lockstep::test::team_name);

TEST_P(member_chain, CHUNK_3_turns_come_in_the_order_of_the_iterations_with_every_schedule) {
  team workers(members(), policy());
  constexpr std::size_t offset = 7;
  std::atomic<int> wrong{0};
  for (const schedule how : schedules()) {
    std::vector<std::size_t> order;  // plain: one turn at a time
    std::vector<int> visits(length(), 0);
    workers.run([&](member& self) {
      wrong += !self.for_ordered(
          offset, offset + length(),
          [&](std::size_t i, ordered_turn& turn) {
            if (!is_slow()) dawdle(self.rank(), i);
            ++visits[i - offset];
            wrong += !turn([&] { order.push_back(i); });
          },
          how);
      wrong += order.size() != length();  // all have been waited for
    });
    std::vector<std::size_t> expected(length());
    std::iota(expected.begin(), expected.end(), offset);
    EXPECT_EQ(order, expected);
    EXPECT_EQ(std::count(visits.begin(), visits.end(), 1), static_cast<std::ptrdiff_t>(length()));
  }
  EXPECT_EQ(wrong.load(), 0);
}

TEST_P(member_chain, CHUNK_3_iterations_that_do_not_take_their_turn_pass_it) {
  team workers(members(), policy());
  for (const schedule how : schedules()) {
    std::vector<std::size_t> order, expected;
    for (std::size_t i = 0; i < length(); i += 3) expected.push_back(i);
    workers.run([&](member& self) {
      self.for_ordered(
          0, length(),
          [&](std::size_t i, ordered_turn& turn) {
            if (!is_slow()) dawdle(self.rank(), i);
            if (i % 3 == 0) turn([&] { order.push_back(i); });
          },
          how);
    });
    EXPECT_EQ(order, expected);
  }
}

TEST_P(member_chain, CHUNK_3_none_of_the_iterations_takes_its_turn) {
  team workers(members(), policy());
  std::atomic<std::size_t> visits{0};
  workers.run([&](member& self) {
    for (int loop = 0; loop < (is_slow() ? 2 : 20); ++loop) {
      EXPECT_TRUE(self.for_ordered(0, 10, [&](std::size_t, ordered_turn&) { ++visits; }));
    }
  });
  EXPECT_EQ(visits.load(), is_slow() ? 20u : 200u);
}

TEST_P(member_chain, CHUNK_3_an_iteration_that_catches_what_its_turn_has_thrown_passes_it) {
  team workers(members(), policy());
  std::vector<int> order;
  workers.run([&](member& self) {
    self.for_ordered(0, 20, [&](int i, ordered_turn& turn) {
      try {
        turn([&] {
          order.push_back(i);
          if (i % 3 == 1) throw i;
        });
      } catch (int) {
      }
    });
  });
  ASSERT_EQ(order.size(), 20u);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
}

TEST_P(member_chain, CHUNK_3_many_ordered_loops_in_a_row_mixed_with_loops_that_share_tickets) {
  team workers(members(), policy());
  const std::vector<schedule> all = schedules();
  const auto loops = static_cast<std::size_t>(times(30));
  std::vector<std::size_t> order;
  std::vector<int> visits(8, 0);
  workers.run([&](member& self) {
    for (std::size_t loop = 0; loop < loops; ++loop) {
      self.for_each(
          lockstep::nowait, 0, visits.size(), [&](std::size_t i) { dawdle(i, loop); },
          lockstep::dynamic_schedule());
      self.for_ordered(
          0, 8, [&](std::size_t i, ordered_turn& turn) { turn([&] { order.push_back(i); }); },
          all[loop % all.size()]);
    }
  });
  ASSERT_EQ(order.size(), 8 * loops);
  for (std::size_t k = 0; k < order.size(); ++k) ASSERT_EQ(order[k], k % 8);
}

TEST_P(member_chain, an_ordered_loop_over_nothing_ends) {
  team workers(members(), policy());
  workers.run([&](member& self) {
    EXPECT_TRUE(self.for_ordered(3, 3, [](std::size_t, ordered_turn&) { FAIL(); }));
    EXPECT_TRUE(self.for_ordered(
        3, 1, [](std::size_t, ordered_turn&) { FAIL(); }, lockstep::dynamic_schedule()));
  });
}

TEST_P(member_chain, STEP_1_neighbours_exchange_halos_without_a_barrier) {
  team workers(members(), policy());
  const auto steps = static_cast<std::size_t>(times(60));
  std::vector<std::vector<std::size_t>> value(2, std::vector<std::size_t>(members(), 1));
  std::atomic<int> wrong{0};
  workers.run([&](member& self) {
    const std::size_t me = self.rank(), size = self.size();
    for (std::size_t step = 1; step <= steps; ++step) {
      const std::size_t left = (me + size - 1) % size, right = (me + 1) % size;
      wrong += !self.await_step(left, step - 1);
      wrong += !self.await_step(right, step - 1);
      // All values of step s are s + 1: another value shows a wait that ended too early.
      const std::vector<std::size_t>& old = value[(step - 1) % 2];
      wrong += old[left] != step || old[right] != step;
      value[step % 2][me] = old[me] + 1;
      self.publish(step);
    }
  });
  EXPECT_EQ(wrong.load(), 0);
}

TEST_P(member_chain, STEP_2_steps_begin_at_0_in_every_region_also_after_a_stopped_one) {
  if (members() == 1) GTEST_SKIP() << "nobody to wait for";
  team workers(members(), policy());
  long plain = 0;
  std::atomic<int> wrong{0};
  const std::size_t last = members() - 1;
  for (long region = 1; region <= times(100); ++region) {
    workers.run([&](member& self) {
      if (self.rank() == last) {
        dawdle(self.rank(), static_cast<std::size_t>(region));
        plain = region;
        self.publish(5);
      } else if (self.rank() == 0) {
        wrong += !self.await_step(last, 5);
        wrong += plain != region;  // an old step 5 would let it pass too early
      }
    });
    if (region % 2 == 0) continue;
    EXPECT_FALSE(workers.run([&](member& self) {
      self.publish(5);
      if (self.rank() == last) self.request_stop();
    }));
  }
  EXPECT_EQ(wrong.load(), 0);
}

TEST_P(member_chain, a_wait_for_a_step_that_was_passed_returns) {
  team workers(members(), policy());
  workers.run([&](member& self) {
    self.publish(10);
    self.publish(20);
    for (std::size_t rank = 0; rank < self.size(); rank += is_slow() ? 4 : 1) {
      EXPECT_TRUE(self.await_step(rank, 0));
      EXPECT_TRUE(self.await_step(rank, 10));
      EXPECT_TRUE(self.await_step(rank, 15));
    }
  });
}

}  // namespace
