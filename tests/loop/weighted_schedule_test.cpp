// SPDX-License-Identifier: MIT
// tests/loop/weighted_schedule_test.cpp -- the same bounds for all in every loop, and what is learned
#include <lockstep/weighted_schedule.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <lockstep/ranked_barrier.hpp>

#include "loop/partition.hpp"
#include "support/threads.hpp"

namespace {

using lockstep::index_range;
using lockstep::static_block;
using lockstep::weighted_schedule;
using lockstep::detail::length_of;
using lockstep::detail::member_sample;
using lockstep::detail::weighted_blocks;

static_assert(!std::is_copy_constructible<weighted_schedule>::value, "not copyable");

TEST(weighted_schedule, refuses_impossible_numbers_of_members_by_name) {
  for (const std::size_t members : {std::size_t{0}, std::size_t{65537}}) {
    std::string message;
    try {
      weighted_schedule schedule(members);
    } catch (const std::invalid_argument& error) {
      message = error.what();
    }
    EXPECT_EQ(message, "lockstep::weighted_schedule: " + std::to_string(members) +
                           " members given, must be 1 to 65536");
  }
}

/// LOCKSTEP_TEST_SEED repeats a run.
unsigned seed() {
  static const unsigned once = [] {
    const char* const text = std::getenv("LOCKSTEP_TEST_SEED");
    const auto value = text != nullptr ? static_cast<unsigned>(std::strtoul(text, nullptr, 0))
                                       : std::random_device()();
    std::cout << "LOCKSTEP_TEST_SEED=" << value << '\n';
    return value;
  }();
  return once;
}

/// Members that take their parts one after the other, in an order that changes.
class simulated_team {
 public:
  explicit simulated_team(std::vector<double> speeds)
      : speeds_(std::move(speeds)), random_(seed()) {}

  std::size_t size() const { return speeds_.size(); }
  void set_speeds(std::vector<double> speeds) { speeds_ = std::move(speeds); }
  std::uint32_t& loop() { return loop_; }
  /// One member in `of` does not get to its sample; and as often one does not get to the loop at all.
  void stop_one_in(unsigned of) { stopped_ = of; }

  /// Runs a loop and expects that blocks cover it, asked for at any time of the loop.
  void run(weighted_blocks& schedule, std::size_t length) {
    std::vector<std::size_t> order(size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::shuffle(order.begin(), order.end(), random_);
    blocks_.assign(size(), index_range{0, 0});
    now_ += 1000000;
    for (const std::size_t rank : order) {
      blocks_[rank] = schedule.block(loop_, 5, 5 + length, rank, size());
      if (is_stopped()) continue;
      if (rank == 0) schedule.update(loop_, size());
      if (is_stopped()) continue;
      const std::size_t mine = length_of(blocks_[rank]);
      schedule.note(
          loop_, rank, size(),
          {now_, now_ + static_cast<std::uint64_t>(static_cast<double>(mine) / speeds_[rank]),
           mine});
    }
    expect_cover(length);
    ++loop_;
  }
  void run(weighted_blocks& schedule, std::size_t length, int loops) {
    while (loops-- > 0) run(schedule, length);
  }

  const std::vector<index_range>& blocks() const { return blocks_; }
  bool is_static(std::size_t length) const {
    bool all = true;
    for (std::size_t rank = 0; rank < size(); ++rank) {
      const index_range block = static_block(5, 5 + length, rank, size());
      all &= block.first == blocks_[rank].first && block.last == blocks_[rank].last;
    }
    return all;
  }

 private:
  bool is_stopped() { return stopped_ != 0 && random_() % stopped_ == 0; }

  void expect_cover(std::size_t length) const {
    std::size_t next = 5;
    for (const index_range block : blocks_) {
      ASSERT_EQ(block.first, next) << "gap or overlap in loop " << loop_;
      ASSERT_LE(block.first, block.last);
      next = block.last;
    }
    ASSERT_EQ(next, 5 + length);
  }

  std::vector<double> speeds_;
  std::vector<index_range> blocks_;
  std::mt19937 random_;
  std::uint64_t now_ = 0;
  std::uint32_t loop_ = 0;
  unsigned stopped_ = 0;
};

TEST(weighted_schedule, begins_with_static_blocks_and_balances_members_of_different_speed) {
  weighted_blocks schedule(2);
  simulated_team team({1, 3});
  team.run(schedule, 1000);
  EXPECT_TRUE(team.is_static(1000));
  team.run(schedule, 1000, 10);
  EXPECT_NEAR(static_cast<double>(length_of(team.blocks()[0])), 250, 10);
  EXPECT_NEAR(schedule.weight(0), 0.5, 0.02);
}

TEST(weighted_schedule, follows_members_whose_speed_changes_after_a_long_balance) {
  weighted_blocks schedule(3);
  simulated_team team({1, 3, 2});
  team.run(schedule, 6000, 500);
  EXPECT_NEAR(static_cast<double>(length_of(team.blocks()[1])), 3000, 100);
  team.set_speeds({3, 1, 2});
  team.run(schedule, 6000, 100);
  EXPECT_NEAR(static_cast<double>(length_of(team.blocks()[0])), 3000, 100);
  team.set_speeds({2, 2, 2});
  team.run(schedule, 6000, 150);
  EXPECT_TRUE(team.is_static(6000));
}

TEST(weighted_schedule, WEIGHTED_1_covers_loops_of_any_length_while_bounds_move) {
  for (std::size_t size = 2; size <= 9; ++size) {
    weighted_blocks schedule(size);
    std::vector<double> speeds;
    for (std::size_t rank = 0; rank < size; ++rank) speeds.push_back(1.0 / double(1 + rank % 4));
    simulated_team team(speeds);
    for (std::size_t length = 0; length <= 100; ++length) team.run(schedule, length);
    for (int i = 0; i < 300; ++i) {
      std::rotate(speeds.begin(), speeds.begin() + 1, speeds.end());
      team.set_speeds(speeds);
      team.run(schedule, 1000 + std::size_t(i));
    }
    EXPECT_FALSE(team.is_static(1299));
  }
}

TEST(weighted_schedule, WEIGHTED_1_and_2_stopped_loops_leave_all_members_with_the_same_bounds) {
  weighted_blocks schedule(4);
  simulated_team team({1, 2, 3, 4});
  team.stop_one_in(4);
  team.run(schedule, 1000, 3000);
  team.stop_one_in(30);
  team.run(schedule, 1000, 3000);
  team.stop_one_in(0);
  team.run(schedule, 1000, 60);
  for (std::size_t rank = 0; rank < 4; ++rank) {
    EXPECT_NEAR(static_cast<double>(length_of(team.blocks()[rank])), 100.0 * double(rank + 1), 30);
  }
}

TEST(weighted_schedule, WEIGHTED_2_a_loop_that_one_member_never_finishes_teaches_nothing) {
  weighted_blocks schedule(2);
  for (std::uint32_t loop = 0; loop < 200; ++loop) {
    for (std::size_t rank = 0; rank < 2; ++rank) {
      const index_range block = schedule.block(loop, 0, 100, rank, 2);
      EXPECT_EQ(length_of(block), 50u);
      if (rank == 0) schedule.update(loop, 2);
      // What rank 1 leaves behind, of loops that are past, would make it three times slower.
      if (rank == 0) schedule.note(loop, rank, 2, {0, 10, 50});
      if (rank == 1) schedule.note(loop - 5, rank, 2, {0, 30, 50});
    }
  }
  EXPECT_EQ(schedule.weight(0), 1);
}

TEST(weighted_schedule, WEIGHTED_4_loop_numbers_may_wrap) {
  weighted_blocks schedule(2);
  simulated_team team({1, 3});
  team.loop() = 0xFFFFFFF0u;
  team.run(schedule, 1000, 16);
  ASSERT_EQ(team.loop(), 0u);
  for (int i = 0; i < 40; ++i) {
    team.run(schedule, 1000);
    EXPECT_NEAR(static_cast<double>(length_of(team.blocks()[0])), 250, 20);
  }
}

TEST(weighted_schedule, WEIGHTED_4_loop_numbers_may_have_gaps) {
  weighted_blocks schedule(2);
  simulated_team team({1, 3});
  for (std::uint32_t i = 0; i < 60; ++i) {
    team.run(schedule, 1000);
    team.loop() += (i * i) % 100000;
    if (i < 10) continue;
    EXPECT_NEAR(static_cast<double>(length_of(team.blocks()[0])), 250, 20) << i;
  }
}

TEST(weighted_schedule, WEIGHTED_4_numbers_may_begin_anew) {
  for (std::uint32_t again = 0; again < 4; ++again) {
    for (int loops = 100; loops < 140; ++loops) {
      weighted_blocks schedule(2);
      simulated_team team({1, 3});
      team.run(schedule, 1000, loops);
      team.loop() = again;
      for (int i = 0; i < 40; ++i) {
        team.run(schedule, 1000);
        EXPECT_NEAR(static_cast<double>(length_of(team.blocks()[0])), 250, 20) << i;
      }
    }
  }
}

TEST(weighted_schedule, WEIGHTED_3_switched_off_is_static_and_keeps_what_was_learned) {
  weighted_blocks schedule(2);
  simulated_team team({1, 3});
  team.run(schedule, 1000, 20);
  EXPECT_FALSE(team.is_static(1000));
  schedule.switch_to(false);
  EXPECT_FALSE(schedule.is_on());
  team.set_speeds({3, 1});
  for (int i = 0; i < 40; ++i) {
    team.run(schedule, 1000);
    ASSERT_TRUE(team.is_static(1000));
  }
  schedule.switch_to(true);
  team.set_speeds({1, 3});
  team.run(schedule, 1000);
  EXPECT_NEAR(static_cast<double>(length_of(team.blocks()[0])), 250, 20);
}

TEST(weighted_schedule,
     WEIGHTED_3_another_number_of_members_gets_static_blocks_and_teaches_nothing) {
  weighted_blocks schedule(2);
  simulated_team three({1, 3, 9}), one({1});
  three.run(schedule, 1000, 40);
  EXPECT_TRUE(three.is_static(1000));
  one.run(schedule, 1000, 40);
  EXPECT_TRUE(one.is_static(1000));
  EXPECT_EQ(schedule.weight(0), 1);
  weighted_blocks for_one(1);
  one.run(for_one, 1000, 40);
  EXPECT_TRUE(one.is_static(1000));
}

TEST(weighted_schedule, WEIGHTED_1_and_5_threads_cover_every_loop_while_rank_0_learns) {
  // Plain data all the way: bounds or samples that are read and written at once are a report of
  // ThreadSanitizer, blocks that do not fit together a wrong count.
  constexpr std::size_t length = 257;
  for (const std::size_t size : {2u, 3u, 5u}) {
    weighted_schedule schedule(size);
    lockstep::ranked_barrier common(size);
    std::vector<unsigned> done(length, 0);
    const unsigned loops = size == 2 ? 4000 : 1000;
    const volatile unsigned zero = 0;  // read anew each time: work that takes time
    lockstep::test::run_threads(size, [&](std::size_t rank) {
      for (unsigned loop = 0; loop < loops; ++loop) {
        // Each member is the slow one in turn.
        const unsigned work = loop / 100 % size == rank ? 20 : 1;
        schedule.run_block(loop, {0, length}, rank, size, [&](std::size_t first, std::size_t last) {
          for (std::size_t i = first; i < last; ++i) {
            for (unsigned turn = 0; turn < work; ++turn) done[i] += zero;
            ++done[i];
          }
        });
        common.arrive_and_wait(rank);
      }
    });
    for (std::size_t i = 0; i < length; ++i) ASSERT_EQ(done[i], loops) << "iteration " << i;
  }
}

TEST(weighted_schedule, tells_what_it_has_learned_and_whether_it_is_on) {
  weighted_schedule schedule(2);
  EXPECT_TRUE(schedule.is_on());
  EXPECT_EQ(schedule.weight(0), 1);
  schedule.switch_off();
  EXPECT_FALSE(schedule.is_on());
  schedule.switch_on();
  EXPECT_TRUE(schedule.is_on());
  EXPECT_EQ(schedule.weight(1), 1);
}

TEST(weighted_schedule, run_block_does_not_call_for_an_empty_block) {
  weighted_schedule schedule(2);
  schedule.run_block(0, {3, 3}, 0, 2, [](std::size_t, std::size_t) { FAIL(); });
  schedule.run_block(0, {3, 4}, 1, 2, [](std::size_t, std::size_t) { FAIL(); });
  int calls = 0;
  schedule.run_block(0, {3, 4}, 0, 2, [&](std::size_t first, std::size_t last) {
    EXPECT_EQ(first, 3u);
    EXPECT_EQ(last, 4u);
    ++calls;
  });
  EXPECT_EQ(calls, 1);
}

}  // namespace
