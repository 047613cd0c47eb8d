// SPDX-License-Identifier: MIT
// tests/team/sub_team_test.cpp -- parts of a team that work on their own: split, first, ends, stops
#include <lockstep/sub_team.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <lockstep/team.hpp>

#include "support/team_sizes.hpp"

namespace {

using lockstep::member;
using lockstep::sub_team;
using lockstep::team;
using lockstep::test::dawdle;

static_assert(!std::is_copy_constructible<sub_team>::value, "one handle a member");
static_assert(std::is_nothrow_move_constructible<sub_team>::value, "");

class sub_teams : public lockstep::test::each_team {};
INSTANTIATE_TEST_SUITE_P(teams, sub_teams, testing::ValuesIn(lockstep::test::all_teams()),
                         lockstep::test::team_name);

/// Ranks, size and a phase with values of a sub-team of the members that gave `color`.
int wrong_in_split(member& self, const std::vector<std::size_t>& color_of) {
  const std::size_t color = color_of[self.rank()];
  std::size_t rank = 0, size = 0;
  std::string expected;
  for (std::size_t other = 0; other < self.size(); ++other) {
    if (color_of[other] != color) continue;
    rank += other < self.rank();
    ++size;
    expected += std::to_string(other) + ' ';
  }
  sub_team mine = self.split(color);
  if (color == member::no_color) return static_cast<bool>(mine);
  if (!mine) return 1;
  int wrong = mine->rank() != rank || mine->size() != size;
  wrong += mine->sync_sum(std::to_string(self.rank()) + ' ') != expected;
  wrong += !mine->sync_threads();
  return wrong;
}

TEST(sub_team, split_by_every_colouring_of_four_members_ranks_them_as_in_the_region) {
  team workers(4);
  std::atomic<int> wrong{0};
  const std::array<std::size_t, 5> colors = {0, 1, 7, ~std::size_t{0} - 1, member::no_color};
  workers.run([&](member& self) {
    for (std::size_t code = 0; code < 5 * 5 * 5 * 5; ++code) {
      wrong += wrong_in_split(self, {colors[code % 5], colors[code / 5 % 5], colors[code / 25 % 5],
                                     colors[code / 125]});
    }
  });
  EXPECT_EQ(wrong.load(), 0);
}

TEST_P(sub_teams, split_by_colours_that_mix_the_ranks) {
  team workers(members(), policy());
  std::atomic<int> wrong{0};
  workers.run([&](member& self) {
    for (std::size_t step = 0; step < static_cast<std::size_t>(times(60)); ++step) {
      std::vector<std::size_t> color_of(self.size());
      for (std::size_t rank = 0; rank < self.size(); ++rank) {
        const std::size_t color = (rank * 7 + step) % 5;
        color_of[rank] = color == 4 ? member::no_color : color;
      }
      if (!is_slow()) dawdle(self.rank(), step);
      wrong += wrong_in_split(self, color_of);
    }
  });
  EXPECT_EQ(wrong.load(), 0);
}

TEST_P(sub_teams, first_k_gives_the_first_members_a_sub_team_and_the_others_none) {
  team workers(members(), policy());
  std::atomic<int> wrong{0};
  workers.run([&](member& self) {
    for (std::size_t k = 1; k <= self.size(); k += is_slow() ? 4 : 1) {
      sub_team mine = self.first(k);
      wrong += static_cast<bool>(mine) != (self.rank() < k);
      if (!mine) continue;
      wrong += mine->rank() != self.rank() || mine->size() != k;
      wrong += mine->sync_sum(std::size_t{1}) != k;
    }
  });
  EXPECT_EQ(wrong.load(), 0);
}

TEST_P(sub_teams, first_refuses_0_and_more_members_than_there_are) {
  team workers(members(), policy());
  EXPECT_THROW(workers.run([](member& self) { self.first(0); }), std::invalid_argument);
  EXPECT_THROW(workers.run([](member& self) { self.first(self.size() + 1); }),
               std::invalid_argument);
}

TEST_P(sub_teams, a_sub_team_of_nobody_is_false_and_may_be_assigned_to) {
  team workers(members(), policy());
  workers.run([&](member& self) {
    sub_team mine;
    EXPECT_FALSE(mine);
    mine = self.split(0);
    EXPECT_TRUE(mine);
    sub_team moved(std::move(mine));
    EXPECT_TRUE(moved);
    EXPECT_EQ(moved->sync_count(true), self.size());
    moved = sub_team();
    EXPECT_FALSE(moved);
    self.sync_threads();
  });
}

TEST_P(sub_teams, every_construct_is_among_the_members_of_the_sub_team) {
  team workers(members(), policy());
  std::atomic<int> wrong{0};
  constexpr std::size_t n = 40;
  std::vector<std::vector<int>> visits(2, std::vector<int>(n, 0));  // plain, one for each half
  std::vector<std::vector<std::size_t>> order(2);
  workers.run([&](member& self) {
    const std::size_t color = self.rank() % 2;
    sub_team half = self.split(color);
    std::vector<int>& mine = visits[color];
    const auto visit = [&](std::size_t i) { ++mine[i]; };
    int expected = 0;
    const auto all_are_visited = [&] {
      ++expected;
      for (const int each : mine) wrong += each != expected;
      half->sync_threads();
    };
    half->for_each(0, n, visit);
    all_are_visited();
    half->for_each(0, n, visit, lockstep::dynamic_schedule(3));
    all_are_visited();
    half->for_each(0, n, visit, lockstep::guided_schedule());
    all_are_visited();
    half->for_ordered(0, 8, [&](std::size_t i, lockstep::ordered_turn& turn) {
      turn([&] { order[color].push_back(i); });
    });
    const auto value = [](std::size_t i) { return 0.1 * static_cast<double>(i); };
    const auto add = std::plus<double>();
    const double sum = half->reduce_each(0, n, 0.0, value, add);
    wrong += self.broadcast(0, sum) != sum;  // the same bits for either half
    wrong += half->scan_each(0, n, 0.0, value, add, [](std::size_t, double) {}) == 0.0;
    half->single([&] { ++mine[0]; });
    half->sections([&] { ++mine[1]; }, [&] { ++mine[2]; });
    for (std::size_t i = 0; i < 3; ++i) wrong += mine[i] != expected + 1;
    half->publish(1);
    wrong += !half->await_step(half->size() - 1, 1);
    wrong += half->broadcast(half->size() - 1, self.rank()) % 2 != color;
  });
  EXPECT_EQ(wrong.load(), 0);
  for (std::size_t color = 0; color < (members() > 1 ? 2u : 1u); ++color) {
    EXPECT_EQ(order[color], (std::vector<std::size_t>{0, 1, 2, 3, 4, 5, 6, 7}));
  }
}

TEST_P(sub_teams, halves_go_their_own_way_for_any_number_of_phases) {
  team workers(members(), policy());
  std::atomic<int> wrong{0};
  workers.run([&](member& self) {
    sub_team half = self.split(self.rank() % 2);
    const int phases = self.rank() % 2 == 0 ? times(100) : 1;
    for (int phase = 0; phase < phases; ++phase) {
      wrong += half->sync_sum(std::size_t{1}) != half->size();
    }
    wrong += self.sync_sum(std::size_t{1}) != self.size();  // the region's phases go on between
  });
  EXPECT_EQ(wrong.load(), 0);
}

TEST_P(sub_teams, a_sub_team_of_a_sub_team_down_to_single_members) {
  team workers(members(), policy());
  std::atomic<int> wrong{0};
  const std::function<void(member&)> halve = [&](member& self) {
    wrong += self.sync_sum(std::size_t{1}) != self.size();
    if (self.size() == 1) return;
    sub_team half = self.split(self.rank() < self.size() / 2 ? 0 : 1);
    halve(*half);
    wrong += self.sync_sum(std::size_t{1}) != self.size();
  };
  for (int region = 0; region < times(20); ++region) workers.run(halve);
  EXPECT_EQ(wrong.load(), 0);
}

TEST_P(sub_teams, halving_in_place_lets_the_larger_one_go_and_keeps_the_smaller_one) {
  team workers(members(), policy());
  std::atomic<int> wrong{0};
  for (int region = 0; region < times(20); ++region) {
    workers.run([&](member& self) {
      sub_team part = self.first(self.size());
      while (part->size() > 1) {
        part = part->split(part->rank() < part->size() / 2 ? 0 : 1);
        for (int phase = 0; phase < 3; ++phase) {
          dawdle(self.rank(), part->size());
          wrong += part->sync_sum(std::string(20, 'x')).size() != 20 * part->size();
        }
      }
    });
  }
  EXPECT_EQ(wrong.load(), 0);
}

TEST_P(sub_teams, many_in_a_loop_some_kept_longer_than_others) {
  team workers(members(), policy());
  std::atomic<int> wrong{0};
  workers.run([&](member& self) {
    std::vector<sub_team> kept(3);
    for (std::size_t step = 0; step < static_cast<std::size_t>(times(200)); ++step) {
      sub_team& mine = kept[step % (1 + self.rank() % 3)];
      mine = self.split((self.rank() + step) % 2);
      wrong += mine->sync_and(true) != true;
    }
  });
  EXPECT_EQ(wrong.load(), 0);
}

TEST_P(sub_teams, those_left_behind_by_an_exception_are_let_go) {
  team workers(members(), policy());
  for (int region = 0; region < times(40); ++region) {
    const std::size_t thrower = static_cast<std::size_t>(region) % members();
    EXPECT_THROW(workers.run([&](member& self) {
      sub_team half = self.split(self.rank() % 2), pair = half->split(half->rank() / 2);
      pair->sync_threads();
      if (self.rank() == thrower) throw std::logic_error("with two sub-teams in hand");
      while (half->sync_threads_unless_stopped() && pair->sync_threads_unless_stopped() &&
             self.sync_threads_unless_stopped())
        continue;
    }),
                 std::logic_error);
    EXPECT_TRUE(
        workers.run([&](member& self) { EXPECT_EQ(self.split(0)->sync_count(true), members()); }));
  }
}

TEST_P(sub_teams, one_whose_maker_threw_before_the_others_had_it_is_let_go) {
  if (members() == 1) GTEST_SKIP() << "a sub-team of one is not made";
  team workers(members(), policy());
  for (int region = 0; region < times(40); ++region) {
    EXPECT_THROW(workers.run([&](member& self) {
      if (self.rank() == self.size() - 1) {
        dawdle(self.rank(), static_cast<std::size_t>(region));
        throw std::logic_error("does not come");
      }
      self.split(0);
      ADD_FAILURE() << "one did not come";
    }),
                 std::logic_error);
  }
}

TEST_P(sub_teams, MEMBER_3_request_stop_of_a_sub_team_ends_the_whole_region) {
  team workers(members(), policy());
  EXPECT_FALSE(workers.run([&](member& self) {
    sub_team half = self.split(self.rank() % 2);
    if (self.rank() == 0) half->request_stop();
    while (self.sync_threads_unless_stopped()) continue;
  }));
}

}  // namespace
