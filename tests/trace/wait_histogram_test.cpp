// SPDX-License-Identifier: MIT
// tests/trace/wait_histogram_test.cpp -- the buckets, and quantiles against sorted values
#include "trace/account_table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <vector>

namespace {

using lockstep::detail::wait_buckets;
using lockstep::detail::wait_counts;
using lockstep::detail::wait_histogram;

TEST(wait_histogram, each_value_is_in_the_bucket_that_begins_at_or_before_it) {
  for (unsigned shift = 0; shift < 39; ++shift) {
    for (std::uint64_t value = std::uint64_t{1} << shift, i = 0; i < 3000;
         value += 1 + (value >> 12), ++i) {
      if (value >= std::uint64_t{1} << wait_buckets::octaves) break;
      const std::size_t bucket = wait_buckets::of(value);
      ASSERT_LT(bucket, wait_buckets::count);
      ASSERT_LE(wait_buckets::least_of(bucket), value);
      ASSERT_GT(wait_buckets::least_of(bucket + 1), value);
      const double shown = wait_buckets::value_of(bucket), exact = static_cast<double>(value);
      ASSERT_LE(std::abs(shown - exact), exact * wait_counts::most_error * (1 + 1e-9)) << value;
    }
  }
}

TEST(wait_histogram, values_below_eight_are_exact) {
  for (std::uint64_t value = 0; value < 8; ++value) {
    EXPECT_EQ(wait_buckets::value_of(wait_buckets::of(value)), static_cast<double>(value));
  }
}

TEST(wait_histogram, what_is_too_long_is_in_the_last_bucket) {
  EXPECT_EQ(wait_buckets::of((std::uint64_t{1} << wait_buckets::octaves) - 1),
            wait_buckets::count - 1);
  EXPECT_EQ(wait_buckets::of(std::uint64_t{1} << wait_buckets::octaves), wait_buckets::count - 1);
  EXPECT_EQ(wait_buckets::of(~std::uint64_t{0}), wait_buckets::count - 1);
}

TEST(wait_histogram, quantiles_are_those_of_the_sorted_values_within_the_stated_error) {
  std::mt19937_64 random(20261122);
  std::lognormal_distribution<double> times(6, 2);
  const auto histogram = std::make_unique<wait_histogram>();
  std::vector<double> values;
  for (int i = 0; i < 20000; ++i) {
    const auto value = static_cast<std::uint64_t>(times(random));
    histogram->add(value);
    values.push_back(static_cast<double>(value));
  }
  std::sort(values.begin(), values.end());
  wait_counts counts;
  counts.add(*histogram);
  ASSERT_EQ(counts.total(), values.size());
  for (const double share : {0.0, 0.01, 0.25, 0.5, 0.9, 0.99, 0.999, 1.0}) {
    const double index = std::ceil(share * static_cast<double>(values.size())) - 1;
    const double exact = values[static_cast<std::size_t>(std::max(index, 0.0))];
    EXPECT_NEAR(counts.quantile(share), exact, exact * wait_counts::most_error) << share;
  }
}

TEST(wait_histogram, several_together_are_as_one_that_had_all_values) {
  const auto one = std::make_unique<wait_histogram>(), other = std::make_unique<wait_histogram>();
  for (int i = 0; i < 90; ++i) one->add(100);
  for (int i = 0; i < 10; ++i) other->add(100000);
  wait_counts both;
  both.add(*one);
  both.add(*other);
  EXPECT_EQ(both.total(), 100u);
  EXPECT_NEAR(both.quantile(0.9), 100, 6);
  EXPECT_NEAR(both.quantile(0.91), 100000, 6000);
}

TEST(wait_histogram, of_nothing_every_quantile_is_zero) {
  const wait_counts none;
  EXPECT_EQ(none.quantile(0.5), 0);
}

}  // namespace
