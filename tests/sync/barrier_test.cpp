// SPDX-License-Identifier: MIT
// tests/sync/barrier_test.cpp -- std::barrier's shape: phases of counted arrivals, without ranks
//
// Every thread writes its own *plain* slot before it arrives and reads the others' after its wait: a hole
// in the ordering is a ThreadSanitizer report, an early return a wrong value, a lost wake-up a ctest
// timeout.
#include <lockstep/barrier.hpp>
#include "platform/system.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

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

/// Counts completions in plain data and looks at what the threads wrote.
struct phase_check {
  const std::vector<long>* slots;
  long* completions;
  long* wrong;
  void operator()() const {
    for (const long slot : *slots) *wrong += slot != *completions;
    ++*completions;
  }
};

using parameters = std::tuple<lockstep::test::named_policy, std::size_t, std::uint32_t>;

class barrier_of : public testing::TestWithParam<parameters> {
 protected:
  wait_policy policy() const { return std::get<0>(GetParam()).policy; }
  std::size_t threads() const { return std::get<1>(GetParam()); }
  std::ptrdiff_t expected() const { return static_cast<std::ptrdiff_t>(threads()); }
  std::uint32_t first_phase() const { return std::get<2>(GetParam()); }
  long phases() const {
    // Spinning crowds pass a time slice for every hand-over.
    if (policy().is_spin()) return threads() > lockstep::detail::usable_cpus() ? 2 : 50;
    return threads() > 8 ? 50 : 500;
  }
};

// Phases have 31 bits: the second value wraps after three.
INSTANTIATE_TEST_SUITE_P(counts, barrier_of,
                         testing::Combine(testing::ValuesIn(lockstep::test::all_policies()),
                                          testing::Values<std::size_t>(1, 2, 3, 8, 16),
                                          testing::Values<std::uint32_t>(0u, 0x7FFFFFFDu)));

TEST_P(barrier_of, BARRIER_1_BARRIER_2_all_arrive_then_the_completion_runs_once_then_all_return) {
  std::vector<long> even(threads(), -1), odd(threads(), -1);
  long completions = 0;  // plain: written by completions, read after waits
  const auto complete = [&completions] { ++completions; };
  starting_at<barrier<decltype(complete)>> all(first_phase(), expected(), complete, policy());
  std::atomic<long> wrong{0};
  lockstep::test::run_threads(threads(), [&](std::size_t rank) {
    for (long phase = 0; phase < phases(); ++phase) {
      std::vector<long>& written = phase % 2 == 0 ? even : odd;
      written[rank] = phase;
      if (phase % 3 == 0) {
        all.arrive_and_wait();
      } else {
        all.wait(all.arrive());
      }
      for (const long slot : written) wrong += slot != phase;
      wrong += completions != 2 * phase + 1;
      all.arrive_and_wait();  // nobody reads any more when the next completion writes
    }
  });
  EXPECT_EQ(wrong.load(), 0);
}

TEST_P(barrier_of, BARRIER_2_the_completion_sees_what_came_before_every_arrival) {
  std::vector<long> slots(threads(), -1);
  long completions = 0, wrong = 0;
  starting_at<barrier<phase_check>> all(first_phase(), expected(),
                                        phase_check{&slots, &completions, &wrong}, policy());
  lockstep::test::run_threads(threads(), [&](std::size_t rank) {
    for (long phase = 0; phase < phases(); ++phase) {
      slots[rank] = phase;
      all.arrive_and_wait();
    }
  });
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(completions, phases());
}

TEST_P(barrier_of, BARRIER_1_one_thread_after_the_other_drops_until_none_is_left) {
  if (policy().is_spin() && threads() > 3) GTEST_SKIP() << "time slices";
  starting_at<plain_barrier> all(first_phase(), expected(), lockstep::detail::no_completion(),
                                 policy());
  std::vector<long> slots(threads(), -1);
  std::atomic<long> wrong{0};
  lockstep::test::run_threads(threads(), [&](std::size_t rank) {
    for (std::size_t phase = 0; phase < rank; ++phase) {
      slots[rank] = static_cast<long>(phase);
      all.arrive_and_wait();
      for (std::size_t other = phase + 1; other < threads(); ++other) {
        wrong += slots[other] < static_cast<long>(phase);
      }
      all.arrive_and_wait();  // everybody has read
    }
    slots[rank] = 1000;
    all.arrive_and_drop();
  });
  EXPECT_EQ(wrong.load(), 0);
}

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
