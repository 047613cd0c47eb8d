// SPDX-License-Identifier: MIT
// tests/base/wait_policy_test.cpp -- a policy is a small constant value
#include <lockstep/wait_policy.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <type_traits>

namespace {

using lockstep::wait_policy;
using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::nanoseconds;

static_assert(sizeof(wait_policy) == 4 && alignof(wait_policy) <= 4);
static_assert(std::is_trivially_copyable_v<wait_policy>);
static_assert(std::is_standard_layout_v<wait_policy>);
static_assert(std::is_nothrow_default_constructible_v<wait_policy>);

// Each policy is of one kind.
constexpr int kinds(wait_policy p) {
  return p.is_adaptive() + p.is_spin() + p.is_block() + p.is_hybrid();
}
static_assert(wait_policy().is_adaptive() && kinds(wait_policy()) == 1);
static_assert(wait_policy::spin().is_spin() && kinds(wait_policy::spin()) == 1);
static_assert(wait_policy::block().is_block() && kinds(wait_policy::block()) == 1);
static_assert(wait_policy::hybrid(microseconds(2)).is_hybrid());
static_assert(kinds(wait_policy::hybrid(wait_policy::longest_spin())) == 1);
static_assert(kinds(wait_policy::hybrid(nanoseconds(0))) == 1);

// The default and hybrid obey when_crowded(), the other policies ignore it.
static_assert(!wait_policy().is_crowded());
static_assert(wait_policy().when_crowded(true).is_crowded());
static_assert(kinds(wait_policy().when_crowded(true)) == 1);
static_assert(wait_policy().when_crowded(true) != wait_policy());
static_assert(wait_policy().when_crowded(false) == wait_policy());
static_assert(wait_policy().when_crowded(true).when_crowded(false) == wait_policy());
static_assert(wait_policy::spin().when_crowded(true) == wait_policy::spin());
static_assert(wait_policy::block().when_crowded(true) == wait_policy::block());
constexpr wait_policy crowded_hybrid = wait_policy::hybrid(microseconds(2)).when_crowded(true);
static_assert(crowded_hybrid.is_crowded() && crowded_hybrid.is_hybrid());
static_assert(crowded_hybrid.spin_time() == microseconds(2));
static_assert(crowded_hybrid != wait_policy::hybrid(microseconds(2)));
static_assert(crowded_hybrid.when_crowded(false) == wait_policy::hybrid(microseconds(2)));
static_assert(kinds(crowded_hybrid) == 1);

// The time of hybrid.
static_assert(wait_policy::hybrid(microseconds(2)).spin_time() == nanoseconds(2000));
static_assert(wait_policy::hybrid(nanoseconds(1)).spin_time() == nanoseconds(1));
static_assert(wait_policy::hybrid(nanoseconds(0)).spin_time() == nanoseconds(0));
static_assert(wait_policy().spin_time() == nanoseconds(0));
static_assert(wait_policy().when_crowded(true).spin_time() == nanoseconds(0));
static_assert(wait_policy::spin().spin_time() == nanoseconds(0));
static_assert(wait_policy::block().spin_time() == nanoseconds(0));

TEST(wait_policy, all_zero_bits_are_the_default) {
  alignas(wait_policy) unsigned char zeros[sizeof(wait_policy)] = {};
  wait_policy from_storage = wait_policy::spin();
  std::memcpy(&from_storage, zeros, sizeof zeros);
  EXPECT_EQ(from_storage, wait_policy());
  EXPECT_TRUE(from_storage.is_adaptive());
  EXPECT_FALSE(from_storage.is_crowded());
}

TEST(wait_policy, hybrid_cuts_negative_times_to_none) {
  for (const nanoseconds time : {nanoseconds(-1), nanoseconds(hours(-1)), nanoseconds::min()}) {
    EXPECT_EQ(wait_policy::hybrid(time).spin_time(), nanoseconds(0)) << time.count();
    EXPECT_TRUE(wait_policy::hybrid(time).is_hybrid());
  }
}

TEST(wait_policy, hybrid_cuts_long_times_to_the_longest) {
  const nanoseconds longest = wait_policy::longest_spin();
  EXPECT_EQ(wait_policy::hybrid(longest).spin_time(), longest);
  EXPECT_EQ(wait_policy::hybrid(longest - nanoseconds(1)).spin_time(), longest - nanoseconds(1));
  for (const nanoseconds time :
       {longest + nanoseconds(1), nanoseconds(hours(1)), nanoseconds::max()}) {
    EXPECT_EQ(wait_policy::hybrid(time).spin_time(), longest) << time.count();
    EXPECT_TRUE(wait_policy::hybrid(time).is_hybrid());
  }
}

TEST(wait_policy, hybrid_keeps_every_power_of_two_in_its_range) {
  for (nanoseconds time(1); time <= wait_policy::longest_spin(); time *= 2) {
    EXPECT_EQ(wait_policy::hybrid(time).spin_time(), time);
  }
}

TEST(wait_policy, two_are_equal_only_if_they_are_the_same_wish) {
  const wait_policy policies[] = {wait_policy(),
                                  wait_policy().when_crowded(true),
                                  wait_policy::spin(),
                                  wait_policy::block(),
                                  wait_policy::hybrid(nanoseconds(0)),
                                  wait_policy::hybrid(nanoseconds(1)),
                                  wait_policy::hybrid(wait_policy::longest_spin())};
  for (const wait_policy& a : policies) {
    for (const wait_policy& b : policies) {
      EXPECT_EQ(a == b, &a == &b);
      EXPECT_EQ(a != b, &a != &b);
    }
  }
}

}  // namespace
