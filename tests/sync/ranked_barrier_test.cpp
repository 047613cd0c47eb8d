// SPDX-License-Identifier: MIT
// tests/sync/ranked_barrier_test.cpp -- all wait for all, whichever way the barrier goes about it
//
// Every thread writes its own *plain* slot between barriers and reads the others': a hole in the ordering
// is a ThreadSanitizer report, an early return a wrong value, a lost wake-up a ctest timeout.
#include <lockstep/ranked_barrier.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <ostream>
#include <stdexcept>
#include <tuple>
#include <type_traits>
#include <vector>

#include "support/effort.hpp"
#include "support/policies.hpp"
#include "support/ranked_barriers.hpp"
#include "support/threads.hpp"

namespace {

using lockstep::wait_status;
using lockstep::test::barrier_starting_at;

static_assert(!std::is_copy_constructible<lockstep::ranked_barrier>::value, "not copyable");

/// Participants, and whether their arrivals are counted along a tree however few they are.
struct way {
  std::size_t participants;
  bool by_tree;
};

void PrintTo(const way& of, std::ostream* out) {
  *out << of.participants << (of.by_tree ? " by tree" : "");
}

using parameters = std::tuple<lockstep::test::named_policy, way, std::uint32_t>;

class ranked_barrier_of : public testing::TestWithParam<parameters> {
 protected:
  lockstep::wait_policy policy() const { return std::get<0>(GetParam()).policy; }
  std::size_t participants() const { return std::get<1>(GetParam()).participants; }
  std::uint32_t first_phase() const { return std::get<2>(GetParam()); }
  std::size_t most_flags() const {
    return std::get<1>(GetParam()).by_tree ? 1 : lockstep::detail::most_flags_for(policy());
  }
  int phases() const {
    // Spinning crowds pass a time slice for every hand-over.
    if (policy().is_spin()) return participants() > lockstep::detail::usable_cpus() ? 2 : 50;
    return lockstep::test::effort(participants() > 8 ? 100 : 500);
  }
};

std::vector<std::uint32_t> first_phases() {
  if (lockstep::test::is_brief()) return {0xFFFFFFFDu, 0x7FFFFFFDu};
  return {0u, 0xFFFFFFFDu, 0x7FFFFFFDu};
}

// 3, 8 and 9 are on the two sides of most_flags_for().
INSTANTIATE_TEST_SUITE_P(counts, ranked_barrier_of,
                         testing::Combine(testing::ValuesIn(lockstep::test::all_policies()),
                                          testing::Values(way{1, false}, way{2, false},
                                                          way{3, false}, way{8, false},
                                                          way{9, false}, way{24, false}),
                                          testing::ValuesIn(first_phases())));
// 4 is one node, 5 two levels, 17 three.
INSTANTIATE_TEST_SUITE_P(counts_by_tree, ranked_barrier_of,
                         testing::Combine(testing::ValuesIn(lockstep::test::all_policies()),
                                          testing::Values(way{1, true}, way{2, true}, way{4, true},
                                                          way{5, true}, way{17, true}),
                                          testing::ValuesIn(first_phases())));

static_assert(lockstep::detail::most_flags_for(lockstep::wait_policy()) == 8 &&
                  lockstep::detail::most_flags_for(lockstep::wait_policy::block()) == 4,
              "the counts above must lie on both sides of each");

TEST_P(ranked_barrier_of,
       RANKED_1_nobody_returns_before_all_have_arrived_and_sees_what_they_wrote) {
  barrier_starting_at all(first_phase(), participants(), policy(), most_flags());
  EXPECT_EQ(all.participants(), participants());
  std::vector<long> slots(participants(), -1);
  std::atomic<long> wrong{0};
  lockstep::test::run_threads(participants(), [&](std::size_t rank) {
    for (long phase = 0; phase < phases(); ++phase) {
      slots[rank] = phase;
      if (!all.arrive_and_wait(rank)) ++wrong;
      for (const long slot : slots) wrong += slot != phase;
      if (!all.arrive_and_wait(rank)) ++wrong;
    }
  });
  EXPECT_EQ(wrong.load(), 0);
}

TEST_P(ranked_barrier_of, the_two_halves_allow_work_in_between_and_order_the_same) {
  barrier_starting_at all(first_phase(), participants(), policy(), most_flags());
  std::vector<long> even(participants(), -1), odd(participants(), -1);
  std::atomic<long> wrong{0};
  lockstep::test::run_threads(participants(), [&](std::size_t rank) {
    for (long phase = 0; phase < phases(); ++phase) {
      std::vector<long>& written = phase % 2 == 0 ? even : odd;
      written[rank] = phase;
      if (phase % 3 == 0) {
        if (!all.arrive_and_wait(rank)) ++wrong;
      } else {
        all.arrive(rank);
        if (!all.wait(rank)) ++wrong;
      }
      for (const long slot : written) wrong += slot != phase;
    }
  });
  EXPECT_EQ(wrong.load(), 0);
}

TEST_P(ranked_barrier_of, terminate_releases_everybody) {
  barrier_starting_at all(first_phase(), participants() + 1, policy(), most_flags());
  std::atomic<std::size_t> released{0};
  lockstep::test::run_threads(participants() + 1, [&](std::size_t rank) {
    if (rank == participants()) {
      all.terminate();
    } else {
      released += !all.arrive_and_wait(rank);
    }
  });
  EXPECT_EQ(released.load(), participants());
  EXPECT_TRUE(all.terminated());
  EXPECT_FALSE(all.try_wait(0));
  EXPECT_FALSE(all.arrive_and_wait(0));
  EXPECT_EQ(all.wait_for(0, std::chrono::hours(1)), wait_status::terminated);
}

TEST_P(ranked_barrier_of, a_timed_out_wait_can_be_taken_up_again) {
  if (participants() == 1) GTEST_SKIP() << "one participant never waits";
  barrier_starting_at all(first_phase(), participants(), policy(), most_flags());
  for (int phase = 0; phase < 3; ++phase) {
    for (std::size_t rank = 0; rank + 1 < participants(); ++rank) {
      all.arrive(rank);
      EXPECT_FALSE(all.try_wait(rank));
      EXPECT_EQ(all.wait_for(rank, std::chrono::microseconds(20)), wait_status::timed_out);
      EXPECT_EQ(all.wait_until(rank, std::chrono::steady_clock::now()), wait_status::timed_out);
    }
    all.arrive(participants() - 1);
    EXPECT_TRUE(all.try_wait(0));
    for (std::size_t rank = 1; rank < participants(); ++rank) {
      EXPECT_EQ(all.wait_for(rank, std::chrono::nanoseconds(0)), wait_status::ready);
    }
  }
}

TEST(ranked_barrier, a_crowd_of_64_gets_through_under_every_policy_that_leaves_the_cpu) {
  for (const auto& named : lockstep::test::crowd_safe_policies()) {
    SCOPED_TRACE(named.name);
    lockstep::ranked_barrier all(64, named.policy);
    std::atomic<int> arrived{0};
    std::atomic<long> wrong{0};
    lockstep::test::run_threads(64, [&](std::size_t rank) {
      for (int phase = 1; phase <= 30; ++phase) {
        ++arrived;
        all.arrive_and_wait(rank);
        wrong += arrived.load() < phase * 64;
        all.arrive_and_wait(rank);
      }
    });
    EXPECT_EQ(wrong.load(), 0);
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
