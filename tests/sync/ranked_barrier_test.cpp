// SPDX-License-Identifier: MIT
// tests/sync/ranked_barrier_test.cpp -- what ranked_barrier has beyond the contract of barriers
#include <lockstep/ranked_barrier.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <type_traits>

#include "support/policies.hpp"
#include "support/ranked_barriers.hpp"
#include "support/threads.hpp"

namespace {

using lockstep::wait_status;
using lockstep::test::barrier_starting_at;

static_assert(!std::is_copy_constructible<lockstep::ranked_barrier>::value, "not copyable");

class ranked_barrier_of : public testing::TestWithParam<lockstep::test::named_policy> {};
INSTANTIATE_TEST_SUITE_P(policies, ranked_barrier_of,
                         testing::ValuesIn(lockstep::test::all_policies()),
                         lockstep::test::policy_name);

static_assert(lockstep::detail::most_flags_for(lockstep::wait_policy()) == 8 &&
                  lockstep::detail::most_flags_for(lockstep::wait_policy::block()) == 4,
              "the counts of tests lie on both sides of each");

TEST_P(ranked_barrier_of, terminate_releases_everybody) {
  // On both sides of the most that go by flags; by the tree 4 are one node, 5 two levels, 17 three.
  for (const std::size_t waiters : {1u, 2u, 3u, 4u, 7u, 8u, 16u}) {
    for (const std::size_t most_flags :
         {lockstep::detail::most_flags_for(GetParam().policy), std::size_t{1}}) {
      barrier_starting_at all(0xFFFFFFFDu, waiters + 1, GetParam().policy, most_flags);
      std::atomic<std::size_t> released{0};
      lockstep::test::run_threads(waiters + 1, [&](std::size_t rank) {
        if (rank == waiters) {
          all.terminate();
        } else {
          released += !all.arrive_and_wait(rank);
        }
      });
      EXPECT_EQ(released.load(), waiters);
      EXPECT_TRUE(all.terminated());
      EXPECT_FALSE(all.try_wait(0));
      EXPECT_FALSE(all.arrive_and_wait(0));
      EXPECT_EQ(all.wait_for(0, std::chrono::hours(1)), wait_status::terminated);
    }
  }
}

template <class Barrier>
void refuses_bad_counts_and_ranks() {
  EXPECT_THROW(Barrier(0), std::invalid_argument);
  EXPECT_THROW(Barrier(65537), std::invalid_argument);
  Barrier three(3);
  EXPECT_THROW(three.arrive(3), std::out_of_range);
  EXPECT_THROW(three.arrive_and_wait(3), std::out_of_range);
  EXPECT_THROW(three.wait(3), std::out_of_range);
  EXPECT_THROW(three.try_wait(3), std::out_of_range);
}

TEST(ranked_barrier, bad_counts_and_ranks_are_refused) {
  refuses_bad_counts_and_ranks<lockstep::ranked_barrier>();
  refuses_bad_counts_and_ranks<lockstep::test::barrier_by_tree>();
}

}  // namespace
