// SPDX-License-Identifier: MIT
// tests/sync/barrier_test.cpp -- std::barrier's shape: phases of counted arrivals, without ranks
// That all arrive before any returns, and the completion runs once in between, is of contract.barrier, the explorer and
// stress.
#include <lockstep/barrier.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "support/asleep.hpp"
#include "support/policies.hpp"
#include "support/starting_at.hpp"
#include "support/threads.hpp"

namespace {

using lockstep::barrier;
using lockstep::wait_policy;
using lockstep::wait_status;
using lockstep::test::starting_at;
using plain_barrier = barrier<>;

static_assert(!std::is_copy_constructible<plain_barrier>::value, "not copyable");
static_assert(!std::is_move_constructible<plain_barrier>::value, "not movable");
static_assert(!std::is_copy_constructible<plain_barrier::arrival_token>::value, "one wait a token");
static_assert(std::is_nothrow_move_constructible<plain_barrier::arrival_token>::value, "movable");
static_assert(plain_barrier::max() >= 65536, "enough for a large machine");

using parameters = std::tuple<lockstep::test::named_policy, std::size_t, std::uint32_t>;

class barrier_of : public testing::TestWithParam<parameters> {
 protected:
  wait_policy policy() const { return std::get<0>(GetParam()).policy; }
  std::size_t threads() const { return std::get<1>(GetParam()); }
  std::ptrdiff_t expected() const { return static_cast<std::ptrdiff_t>(threads()); }
  std::uint32_t first_phase() const { return std::get<2>(GetParam()); }
};

// Phases have 31 bits: the second value wraps after three.
INSTANTIATE_TEST_SUITE_P(counts, barrier_of,
                         testing::Combine(testing::ValuesIn(lockstep::test::all_policies()),
                                          testing::Values<std::size_t>(1, 2, 3, 8, 16),
                                          testing::Values<std::uint32_t>(0u, 0x7FFFFFFDu)));

TEST_P(barrier_of, BARRIER_3_a_timed_out_token_may_be_waited_for_again_however_far_others_are) {
  starting_at<plain_barrier> all(first_phase(), expected() + 1, lockstep::detail::no_completion(),
                                 policy());
  auto first = all.arrive(expected());
  EXPECT_FALSE(all.try_wait(first));
  EXPECT_EQ(all.wait_for(first, std::chrono::microseconds(30)), wait_status::timed_out);
  EXPECT_EQ(all.wait_for(first, std::chrono::nanoseconds(-1)), wait_status::timed_out);
  EXPECT_EQ(all.wait_until(first, std::chrono::steady_clock::now()), wait_status::timed_out);
  all.arrive();
  for (int phase = 0; phase < 5; ++phase) {
    EXPECT_TRUE(all.try_wait(first));
    EXPECT_EQ(all.wait_for(first, std::chrono::nanoseconds(0)), wait_status::ready);
    auto next = all.arrive(expected());
    EXPECT_FALSE(all.try_wait(next));
    EXPECT_EQ(all.wait_for(next, std::chrono::microseconds(1)), wait_status::timed_out);
    all.arrive();
    EXPECT_TRUE(all.try_wait(next));
  }
  all.wait(std::move(first));
}

TEST(barrier, BARRIER_3_a_sleeper_that_is_overtaken_by_phases_returns) {
  plain_barrier two(2, {}, wait_policy::block());
  lockstep::test::watched_thread watched;
  lockstep::test::run_threads(2, [&](std::size_t rank) {
    if (rank == 0) {
      auto token = two.arrive();
      watched.enter();
      two.wait(std::move(token));
    } else {
      watched.wait_until_asleep();
      two.arrive();
      for (int phase = 0; phase < 100; ++phase) two.arrive(2);
    }
  });
}

TEST(barrier, an_absurd_count_is_refused_by_name) {
  // On systems of 32 bits that is the smallest number.
  const auto just_above_the_largest =
      static_cast<std::ptrdiff_t>(static_cast<std::size_t>(plain_barrier::max()) + 1);
  for (const std::ptrdiff_t count : {std::ptrdiff_t{-1}, just_above_the_largest}) {
    try {
      plain_barrier refused(count);
      ADD_FAILURE() << count;
    } catch (const std::invalid_argument& error) {
      EXPECT_NE(std::string(error.what()).find("lockstep::barrier"), std::string::npos);
      EXPECT_NE(std::string(error.what()).find(std::to_string(count)), std::string::npos);
    }
  }
  plain_barrier nobody(0);
}

TEST(barrier_death, more_arrivals_than_expected_are_diagnosed) {
  if (!lockstep::detail::misuse::diagnosed) GTEST_SKIP() << "no diagnosis in this build";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  plain_barrier two(2);
  EXPECT_DEATH(two.arrive(3), "lockstep::barrier.*3 arrivals by .* while the phase expects 2");
  EXPECT_DEATH(two.arrive(0), "0 arrivals");
  EXPECT_DEATH(two.arrive(-1), "-1 arrivals");
  plain_barrier dropped(1);
  dropped.arrive_and_drop();
  EXPECT_DEATH(dropped.arrive(), "while the phase expects 0");
}

TEST(barrier_death, BARRIER_2_a_completion_that_throws_ends_the_program) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto refuse = [] { throw std::runtime_error("no completion"); };
  barrier<decltype(refuse)> one(1, refuse);
  EXPECT_DEATH(one.arrive(), "");
}

}  // namespace
