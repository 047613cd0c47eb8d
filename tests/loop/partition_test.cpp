// SPDX-License-Identifier: MIT
// tests/loop/partition_test.cpp -- learning from simulated members: no threads, no clock
#include "loop/partition.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <limits>
#include <random>
#include <vector>

#include "support/effort.hpp"

namespace {

using lockstep::index_range;
using lockstep::static_block;
using lockstep::detail::length_of;
using lockstep::detail::member_sample;
using lockstep::detail::partition;
using lockstep::detail::weighted_bounds;

constexpr std::size_t most = std::numeric_limits<std::size_t>::max();

/// LOCKSTEP_TEST_SEED repeats a run.
std::mt19937 seeded_random() {
  const char* const text = std::getenv("LOCKSTEP_TEST_SEED");
  const auto seed = text != nullptr ? static_cast<unsigned>(std::strtoul(text, nullptr, 0))
                                    : std::random_device()();
  std::cout << "LOCKSTEP_TEST_SEED=" << seed << '\n';
  return std::mt19937(seed);
}

struct bounds_of : weighted_bounds {
  explicit bounds_of(const partition& of) : weighted_bounds(of.size()) {
    set([&](std::size_t rank) { return of.weight(rank); });
  }
};

void expect_cover(const weighted_bounds& bounds, std::size_t first, std::size_t last) {
  std::size_t next = first;
  for (std::size_t rank = 0; rank < bounds.size(); ++rank) {
    const index_range block = bounds.block(first, last, rank);
    ASSERT_EQ(block.first, next) << "gap or overlap at rank " << rank;
    ASSERT_LE(block.first, block.last);
    next = block.last;
  }
  ASSERT_EQ(next, std::max(first, last));
}

void expect_static(const weighted_bounds& bounds, std::size_t first, std::size_t last) {
  for (std::size_t rank = 0; rank < bounds.size(); ++rank) {
    ASSERT_EQ(bounds.block(first, last, rank).first,
              static_block(first, last, rank, bounds.size()).first);
    ASSERT_EQ(bounds.block(first, last, rank).last,
              static_block(first, last, rank, bounds.size()).last);
  }
}

TEST(partition, PARTITION_1_any_weights_cover_every_range_without_gap_or_overlap_in_rank_order) {
  std::mt19937 random = seeded_random();
  std::uniform_real_distribution<double> any(0.25, 4);
  for (std::size_t size = 1; size <= 17; ++size) {
    for (int trial = 0; trial < 20; ++trial) {
      std::vector<double> weights(size);
      double sum = 0;
      for (double& weight : weights) sum += weight = any(random);
      weighted_bounds bounds(size);
      bounds.set([&](std::size_t rank) { return weights[rank] * static_cast<double>(size) / sum; });
      for (std::size_t length = 0; length <= 100; ++length) expect_cover(bounds, 5, 5 + length);
      expect_cover(bounds, 10, 10);
      expect_cover(bounds, 0, most);
      expect_cover(bounds, 1, most);
      expect_cover(bounds, most - 1000, most);
      // In proportion, but for rounding to iterations and to 2^-32.
      for (std::size_t rank = 0; rank < size; ++rank) {
        const double got = static_cast<double>(length_of(bounds.block(0, 1000000, rank)));
        EXPECT_NEAR(got, 1e6 * weights[rank] / sum, 1.01);
        const double huge = static_cast<double>(length_of(bounds.block(0, most, rank)));
        EXPECT_NEAR(huge / static_cast<double>(most), weights[rank] / sum, 1e-9);
      }
    }
  }
}

TEST(partition, PARTITION_1_a_backward_range_is_empty_for_everybody) {
  weighted_bounds bounds(3);
  bounds.set([](std::size_t rank) { return rank == 0 ? 1.5 : 0.75; });
  for (std::size_t rank = 0; rank < 3; ++rank) EXPECT_EQ(length_of(bounds.block(9, 2, rank)), 0u);
}

TEST(partition, PARTITION_1_the_first_members_get_what_is_less_than_one_iteration_each) {
  weighted_bounds bounds(4);
  bounds.set([](std::size_t rank) { return rank == 0 ? 0.7 : 1.1; });
  EXPECT_EQ(bounds.block(0, 1, 0).last, 1u);
}

TEST(partition, PARTITION_4_equal_weights_are_static_blocks) {
  for (std::size_t size = 1; size <= 9; ++size) {
    const partition fresh(size);
    for (std::size_t length = 0; length <= 50; ++length) {
      expect_static(bounds_of(fresh), 3, 3 + length);
    }
    expect_static(bounds_of(fresh), 0, most);
  }
}

/// Members with a speed (iterations per nanosecond) and a lateness (nanoseconds) each.
struct simulation {
  std::vector<double> speeds;
  std::vector<double> latenesses;
  double noise = 0;  ///< of the time of a block, relative
  std::size_t length = 100000;
  std::mt19937 random{1};
  std::uint64_t now = 1000000000;

  std::size_t size() const { return speeds.size(); }

  std::vector<member_sample> run(const weighted_bounds& bounds) {
    std::uniform_real_distribution<double> factor(1 - noise, 1 + noise);
    std::vector<member_sample> samples;
    for (std::size_t rank = 0; rank < size(); ++rank) {
      const std::size_t iterations = length_of(bounds.block(7, 7 + length, rank));
      const double time = static_cast<double>(iterations) / speeds[rank] * factor(random);
      const std::uint64_t start = now + static_cast<std::uint64_t>(latenesses[rank]);
      samples.push_back({start, start + static_cast<std::uint64_t>(time), iterations});
    }
    now += 1000000000;
    return samples;
  }

  bool teach(partition& to) {
    const std::vector<member_sample> samples = run(bounds_of(to));
    return to.learn([&](std::size_t rank) { return samples[rank]; });
  }
  void teach(partition& to, int steps) {
    for (int step = 0; step < steps; ++step) teach(to);
  }

  /// How much longer the loop takes than if all ended together.
  double imbalance(const partition& with) {
    const double noise_before = noise;
    noise = 0;
    double last_end = 0, speed = 0, done_late = 0;
    const std::vector<member_sample> samples = run(bounds_of(with));
    for (std::size_t rank = 0; rank < size(); ++rank) {
      const std::uint64_t begin = now - 1000000000;
      last_end = std::max(last_end, static_cast<double>(samples[rank].end - begin));
      speed += speeds[rank];
      done_late += speeds[rank] * latenesses[rank];
    }
    noise = noise_before;
    return last_end * speed / (static_cast<double>(length) + done_late) - 1;
  }
};

/// Sum and limits of PARTITION-2; `before` are the weights one step earlier.
void expect_limits(const partition& weights, const std::vector<double>& before) {
  double sum = 0;
  for (std::size_t rank = 0; rank < weights.size(); ++rank) {
    const double weight = weights.weight(rank);
    ASSERT_GE(weight, 0.25 - 1e-9);
    ASSERT_LE(weight, 4 + 1e-9);
    ASSERT_LE(std::abs(weight - before[rank]), 0.25 + 1e-9);
    sum += weight;
  }
  const double size = static_cast<double>(weights.size());
  ASSERT_NEAR(sum / size, 1, 1e-6);
  for (std::size_t rank = 0; rank < weights.size(); ++rank) {
    const index_range block = bounds_of(weights).block(0, 1000000, rank);
    ASSERT_NEAR(static_cast<double>(length_of(block)) / 1e6, weights.weight(rank) / size, 3e-6);
  }
  expect_cover(bounds_of(weights), 100, 1103);
}
std::vector<double> weights_of(const partition& of) {
  std::vector<double> weights;
  for (std::size_t rank = 0; rank < of.size(); ++rank) weights.push_back(of.weight(rank));
  return weights;
}

TEST(partition, PARTITION_2_weights_stay_in_their_limits_whatever_the_samples) {
  std::mt19937 random = seeded_random();
  std::uniform_int_distribution<int> bits(0, 63);
  const auto any_number = [&] {
    return std::uniform_int_distribution<std::uint64_t>()(random) >> bits(random);
  };
  for (std::size_t size = 1; size <= 17; ++size) {
    partition weights(size);
    bool has_moved = false;
    for (int step = 0; step < lockstep::test::effort(2000); ++step) {
      std::vector<member_sample> samples;
      for (std::size_t rank = 0; rank < size; ++rank) {
        samples.push_back({any_number(), any_number(), static_cast<std::size_t>(any_number())});
        if (random() % 8 == 0) samples.back().iterations = 0;
      }
      const std::vector<double> before = weights_of(weights);
      const bool changed = weights.learn([&](std::size_t rank) { return samples[rank]; });
      ASSERT_EQ(changed, before != weights_of(weights));
      has_moved |= changed;
      expect_limits(weights, before);
    }
    EXPECT_EQ(has_moved, size > 1);
  }
}

TEST(partition, PARTITION_3_no_iterations_and_absurd_times_change_nothing) {
  simulation unequal{{1, 3, 1}, {0, 0, 0}};
  partition weights(3);
  unequal.teach(weights, 30);
  const std::vector<double> before = weights_of(weights);
  ASSERT_GT(before[1], 1.5);
  for (const member_sample absurd :
       {member_sample{0, 0, 0}, member_sample{5, 9, 0}, member_sample{9, 9, 7},
        member_sample{9, 5, 7}, member_sample{std::uint64_t(-1), 0, 7}}) {
    for (int step = 0; step < 10; ++step) {
      EXPECT_FALSE(weights.learn([&](std::size_t) { return absurd; }));
    }
  }
  EXPECT_EQ(weights_of(weights), before);
  // Nor does one member's, while the others go on as before.
  for (int step = 0; step < 10; ++step) {
    std::vector<member_sample> samples = unequal.run(bounds_of(weights));
    samples[1].end = samples[1].start - 1;
    weights.learn([&](std::size_t rank) { return samples[rank]; });
  }
  EXPECT_NEAR(weights.weight(1), before[1], 0.05);
  unequal.speeds = {3, 1, 1};
  unequal.teach(weights, 30);
  EXPECT_GT(weights.weight(0), 1.5) << "learns no more";
}

TEST(partition, PARTITION_3_noise_leaves_equal_members_with_static_blocks) {
  simulation equal{{1, 1, 1, 1}, {0, 0, 0, 0}, 0.04};
  equal.random = seeded_random();
  partition weights(4);
  int changes = 0;
  for (int step = 0; step < 1000; ++step) changes += equal.teach(weights);
  EXPECT_LT(changes, 100);
  for (std::size_t rank = 0; rank < 4; ++rank) EXPECT_NEAR(weights.weight(rank), 1, 0.08);
  equal.noise = 0.005;
  partition fresh(4);
  for (int step = 0; step < 1000; ++step) EXPECT_FALSE(equal.teach(fresh));
  expect_static(bounds_of(fresh), 0, 1001);
}

TEST(partition, finish_times_of_members_with_speeds_one_to_three_become_equal) {
  simulation unequal{{1, 3}, {0, 0}};
  partition weights(2);
  EXPECT_GT(unequal.imbalance(weights), 0.9);
  unequal.teach(weights, 3);
  EXPECT_LT(unequal.imbalance(weights), 0.05);
  EXPECT_NEAR(weights.weight(0), 0.5, 0.02);
  EXPECT_NEAR(weights.weight(1), 1.5, 0.02);
  EXPECT_FALSE(unequal.teach(weights)) << "a balanced loop must be left alone";
}

TEST(partition, a_member_that_starts_late_gets_less) {
  // 100 000 iterations of 1 ns on two members, one of them 30 us late: 65 000 and 35 000.
  simulation late{{1, 1}, {0, 30000}};
  partition weights(2);
  late.teach(weights, 30);
  EXPECT_LT(late.imbalance(weights), 0.04);
  EXPECT_NEAR(weights.weight(0), 1.3, 0.04);
  EXPECT_NEAR(weights.weight(1), 0.7, 0.04);
}

TEST(partition, lateness_counts_the_less_the_longer_the_loop) {
  simulation late{{1, 1}, {0, 30000}};
  late.length = 10000000;
  partition weights(2);
  late.teach(weights, 30);
  expect_static(bounds_of(weights), 0, 1000);
}

TEST(partition, a_member_later_than_the_loop_is_long_gets_about_the_least_share) {
  simulation late{{1, 1}, {0, 1e9}};
  partition weights(2);
  late.teach(weights, 100);
  EXPECT_NEAR(weights.weight(1), 0.25, 1.0 / 32);
  EXPECT_NEAR(weights.weight(0), 1.75, 1.0 / 32);
}

TEST(partition, PARTITION_2_limits_hold_where_one_member_is_far_faster_than_the_others) {
  simulation unequal{{100, 1, 1, 1, 1, 1, 1, 1}, std::vector<double>(8, 0.0)};
  partition weights(8);
  for (int step = 0; step < 60; ++step) {
    const std::vector<double> before = weights_of(weights);
    unequal.teach(weights);
    expect_limits(weights, before);
  }
  EXPECT_NEAR(weights.weight(0), 4, 1e-6);
  for (std::size_t rank = 1; rank < 8; ++rank) EXPECT_NEAR(weights.weight(rank), 4.0 / 7, 0.01);
}

TEST(partition, returns_to_static_blocks_when_the_members_become_equal_again) {
  simulation changing{{1, 3, 2, 2}, {0, 0, 5000, 0}};
  partition weights(4);
  changing.teach(weights, 30);
  EXPECT_LT(changing.imbalance(weights), 0.05);
  EXPECT_GT(weights.weight(1), 1.3);
  changing.speeds = {2, 2, 2, 2};
  changing.latenesses = {0, 0, 0, 0};
  for (int step = 0; step < 40; ++step) {
    const std::vector<double> before = weights_of(weights);
    changing.teach(weights);
    expect_limits(weights, before);
  }
  EXPECT_EQ(weights_of(weights), (std::vector<double>{1, 1, 1, 1}));
  for (std::size_t length = 0; length <= 50; ++length) expect_static(bounds_of(weights), 0, length);
}

TEST(partition, follows_any_members_to_balance_and_stays_there_in_noise_of_ten_percent) {
  std::mt19937 random = seeded_random();
  std::uniform_real_distribution<double> speed(0.6, 1.7), lateness(0, 3000);
  for (std::size_t size = 2; size <= 17; ++size) {
    simulation members;
    for (std::size_t rank = 0; rank < size; ++rank) {
      members.speeds.push_back(speed(random));
      members.latenesses.push_back(rank == 0 ? 0 : lateness(random));
    }
    members.length = 50000 * size;
    partition weights(size);
    members.teach(weights, 60);
    EXPECT_LT(members.imbalance(weights), 0.1) << size << " members";
    members.noise = 0.1;
    members.random.seed(random());
    for (int step = 0; step < 200; ++step) {
      members.teach(weights);
      ASSERT_LT(members.imbalance(weights), 0.3) << size << " members, step " << step;
    }
  }
}

TEST(partition, one_interrupted_loop_costs_little) {
  simulation equal{{1, 1}, {0, 0}};
  partition weights(2);
  equal.teach(weights, 10);
  std::vector<member_sample> samples = equal.run(bounds_of(weights));
  samples[1].end += 10000000;  // 10 ms, in a loop of 50 us
  weights.learn([&](std::size_t rank) { return samples[rank]; });
  EXPECT_LT(equal.imbalance(weights), 0.1);
  equal.teach(weights, 20);
  expect_static(bounds_of(weights), 0, 1000);
  samples = equal.run(bounds_of(weights));
  samples[1].start += 1000000000;  // a second before it began
  samples[1].end += 1000000000;
  weights.learn([&](std::size_t rank) { return samples[rank]; });
  equal.teach(weights, 20);
  expect_static(bounds_of(weights), 0, 1000);
}

TEST(partition, a_member_without_iterations_is_tried_again) {
  simulation few{{1, 1, 0.1}, {0, 0, 0}};
  few.length = 3;
  // Times in units of a thousandth of an iteration, or they would be rounded away.
  for (double& speed : few.speeds) speed /= 1000;
  partition weights(3);
  few.teach(weights, 40);
  few.speeds = {0.001, 0.001, 0.001};
  few.teach(weights, 100);
  for (std::size_t rank = 0; rank < 3; ++rank) {
    EXPECT_EQ(length_of(bounds_of(weights).block(0, 3, rank)), 1u) << "rank " << rank;
  }
}

}  // namespace
