// SPDX-License-Identifier: MIT
// tests/toolbox/fan_test.cpp -- phases of notifiers that run ahead, and of waiters that lap each other
#include <lockstep/fan.hpp>
#include "wait/published_words.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <vector>

#include "support/policies.hpp"
#include "support/starting_at.hpp"
#include "support/threads.hpp"

namespace {

using lockstep::fan_out;
using lockstep::detail::never_stops;
using lockstep::detail::phase_reached;
using lockstep::detail::published_words;
using lockstep::detail::wait_history;
using lockstep::test::starting_at;

TEST(fan_phases, BOARD_1_a_notifier_may_run_ahead_by_as_many_phases_as_fit_half_the_numbers) {
  starting_at<fan_out> fan(0xFFFFFF00u, std::size_t{1}, lockstep::wait_policy());
  for (int i = 0; i < 70000; ++i) fan.notify();
  for (int i = 0; i < 70000; ++i) ASSERT_TRUE(fan.try_wait(0)) << i;
  EXPECT_FALSE(fan.try_wait(0));
}

TEST(published_words, what_was_written_beside_a_word_before_it_is_read_after_the_wait) {
  struct message {
    long values[4] = {};
  };
  for (const auto& named : lockstep::test::all_policies()) {
    SCOPED_TRACE(named.name);
    published_words<std::uint32_t, message> there(1, named.policy), back(1, named.policy);
    std::atomic<long> wrong{0};
    lockstep::test::run_threads(2, [&](std::size_t rank) {
      wait_history history;
      for (std::uint32_t i = 1; i <= 2000; ++i) {
        if (rank == 0) {
          for (long& value : there.beside(0).values) value = i;
          there[0].publish(i);
          back[0].wait(phase_reached{i}, never_stops(), history);
        } else {
          there[0].wait(phase_reached{i}, never_stops(), history);
          for (const long value : there.beside(0).values) wrong += value != i;
          back[0].publish(i);
        }
      }
    });
    EXPECT_EQ(wrong.load(), 0);
  }
}

TEST(fan_phases, PUBLISH_2_a_sleeper_of_this_phase_is_not_kept_asleep_by_one_of_the_next) {
  // Waiters that lap each other around one notifier: each waiter answers, the notifier goes on when
  // *any* majority has answered, so that fast waiters wait for phase p + 1 while slow ones are
  // about to fall asleep for p. A waiter that overslept would end the test by the ctest timeout.
  constexpr std::size_t waiters = 4;
  constexpr std::uint32_t phases = 3000;
  starting_at<fan_out> fan(0xFFFFFFF0u, waiters, lockstep::wait_policy::block());
  std::atomic<std::uint32_t> answers{0};
  lockstep::test::run_threads(waiters + 1, [&](std::size_t rank) {
    for (std::uint32_t phase = 1; phase <= phases; ++phase) {
      if (rank == waiters) {
        fan.notify();
        while (answers.load() < phase * (waiters / 2)) std::this_thread::yield();
      } else {
        EXPECT_TRUE(fan.wait(rank));
        ++answers;
      }
    }
  });
  EXPECT_EQ(answers.load(), phases * waiters);
}

}  // namespace
