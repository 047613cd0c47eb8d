// SPDX-License-Identifier: MIT
// tests/loop/weighted_schedule_test.cpp -- the same bounds for all in every loop, and what is learned
#include <lockstep/weighted_schedule.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include <lockstep/team.hpp>

#include "loop/partition.hpp"
#include "support/effort.hpp"
#include "support/message_of.hpp"

namespace {

using lockstep::index_range;
using lockstep::static_block;
using lockstep::weighted_schedule;
using lockstep::detail::length_of;
using lockstep::detail::weighted_blocks;

static_assert(!std::is_copy_constructible<weighted_schedule>::value, "not copyable");

TEST(weighted_schedule, refuses_impossible_numbers_of_members_by_name) {
  for (const std::size_t members : {std::size_t{0}, std::size_t{65537}}) {
    EXPECT_EQ(lockstep::test::message_of([&] { weighted_schedule schedule(members); }),
              "lockstep::weighted_schedule: " + std::to_string(members) +
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
  /// Runs a loop and expects that blocks cover it, asked for at any time of the loop.
  void run(weighted_blocks& schedule, std::size_t length) {
    std::vector<std::size_t> order(size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::shuffle(order.begin(), order.end(), random_);
    blocks_.assign(size(), index_range{0, 0});
    now_ += 1000000;
    for (const std::size_t rank : order) {
      blocks_[rank] = schedule.block(length, rank, size());
      const std::size_t mine = length_of(blocks_[rank]);
      schedule.note(
          rank, size(),
          {now_, now_ + static_cast<std::uint64_t>(static_cast<double>(mine) / speeds_[rank]),
           mine});
    }
    schedule.learn(size());
    expect_cover(length);
  }
  void run(weighted_blocks& schedule, std::size_t length, int loops) {
    while (loops-- > 0) run(schedule, length);
  }

  const std::vector<index_range>& blocks() const { return blocks_; }
  bool is_static(std::size_t length) const {
    bool all = true;
    for (std::size_t rank = 0; rank < size(); ++rank) {
      const index_range block = static_block(0, length, rank, size());
      all &= block.first == blocks_[rank].first && block.last == blocks_[rank].last;
    }
    return all;
  }

 private:
  void expect_cover(std::size_t length) const {
    std::size_t next = 0;
    for (const index_range block : blocks_) {
      ASSERT_EQ(block.first, next) << "gap or overlap";
      ASSERT_LE(block.first, block.last);
      next = block.last;
    }
    ASSERT_EQ(next, length);
  }

  std::vector<double> speeds_;
  std::vector<index_range> blocks_;
  std::mt19937 random_;
  std::uint64_t now_ = 0;
};

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

TEST(weighted_schedule, WEIGHTED_2_a_loop_that_was_stopped_teaches_nothing) {
  // Member 1 seems to be slow: it waits. Then each loop is stopped, and so is never learned from.
  for (const bool in_region : {false, true}) {
    lockstep::team two(2);
    weighted_schedule how(2);
    for (int loop = 0; loop < 40; ++loop) {
      std::atomic<bool> goes_on{false};
      const auto each = [&](std::size_t i) {
        if (i < 50) goes_on = true;
        while (!goes_on) std::this_thread::yield();
        if (i == 99) two.request_stop();
      };
      if (in_region) {
        EXPECT_FALSE(two.run([&](lockstep::member& me) { me.for_each(0, 100, each, how); }));
      } else {
        EXPECT_FALSE(two.for_each(0, 100, each, how));
      }
    }
    EXPECT_EQ(how.weight(0), 1);
  }
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

TEST(weighted_schedule, WEIGHTED_1_members_cover_every_loop_while_one_learns) {
  // Plain data all the way: bounds or samples that are read and written at once are a report of
  // ThreadSanitizer, blocks that do not fit together a wrong count.
  constexpr std::size_t length = 257;
  for (const std::size_t size : {2u, 3u, 5u, 9u}) {
    lockstep::team all(size);
    weighted_schedule how(size);
    std::vector<unsigned> done(length, 0);
    const unsigned loops = lockstep::test::effort(size == 2 ? 4000u : 1000u);
    const volatile unsigned zero = 0;  // read anew each time: work that takes time
    all.run([&](lockstep::member& me) {
      for (unsigned loop = 0; loop < loops; ++loop) {
        // Each member is the slow one in turn.
        const unsigned work = loop / 100 % size == me.rank() ? 20 : 1;
        const auto block = [&](std::size_t first, std::size_t last) {
          for (std::size_t i = first; i < last; ++i) {
            for (unsigned turn = 0; turn < work; ++turn) done[i] += zero;
            ++done[i];
          }
        };
        me.for_range(0, length, block, how);
      }
    });
    for (unsigned loop = 0; loop < loops; ++loop) {
      all.for_each(0, length, [&](std::size_t i) { ++done[i]; }, how);
    }
    for (std::size_t i = 0; i < length; ++i) ASSERT_EQ(done[i], 2 * loops) << "iteration " << i;
  }
}

TEST(weighted_schedule, members_and_teams_learn) {
  // Member 0 is slow: it sleeps in its block.
  for (const std::size_t size : {2u, 9u}) {
    for (const bool in_region : {false, true}) {
      lockstep::team all(size);
      weighted_schedule how(size);
      EXPECT_EQ(how.weight(0), 1);
      for (int loop = 0; loop < 40 && how.weight(0) >= 1; ++loop) {
        const auto block = [&](std::size_t first, std::size_t) {
          if (first == 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
        };
        if (in_region) {
          all.run([&](lockstep::member& me) { me.for_range(0, 1000, block, how); });
        } else {
          all.for_range(0, 1000, block, how);
        }
      }
      EXPECT_LT(how.weight(0), 1);
    }
  }
}

}  // namespace
