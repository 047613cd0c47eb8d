// SPDX-License-Identifier: MIT
// tests/toolbox/phase_board_test.cpp -- the common part of fan_out, fan_in and fan_in_out
#include <lockstep/detail/toolbox/phase_board.hpp>
#include "wait/published_words.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <vector>

#include "support/policies.hpp"
#include "support/threads.hpp"

namespace {

using lockstep::deadline;
using lockstep::wait_status;
using lockstep::detail::never_stops;
using lockstep::detail::phase_board;
using lockstep::detail::phase_reached;
using lockstep::detail::published_words;
using lockstep::detail::wait_history;

TEST(phase_board, BOARD_1_a_writer_may_run_ahead_by_as_many_phases_as_fit_half_the_numbers) {
  phase_board board(1, 1, lockstep::wait_policy(), 0xFFFFFF00u);
  for (int i = 0; i < 70000; ++i) board.advance(0);
  for (int i = 0; i < 70000; ++i) ASSERT_TRUE(board.try_wait(0)) << i;
  EXPECT_FALSE(board.try_wait(0));
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

TEST(phase_board, PUBLISH_2_a_sleeper_of_this_phase_is_not_kept_asleep_by_one_of_the_next) {
  // Readers that lap each other around one writer: each reader answers on its own line, the writer goes
  // on when *any* majority has answered, so that fast readers wait for phase p + 1 while slow ones are
  // about to fall asleep for p. A reader that overslept would end the test by the ctest timeout.
  constexpr std::size_t readers = 4;
  constexpr std::uint32_t phases = 3000;
  phase_board board(1, readers, lockstep::wait_policy::block(), 0xFFFFFFF0u);
  std::atomic<std::uint32_t> answers{0};
  lockstep::test::run_threads(readers + 1, [&](std::size_t rank) {
    for (std::uint32_t phase = 1; phase <= phases; ++phase) {
      if (rank == readers) {
        board.advance(0);
        while (answers.load() < phase * (readers / 2)) std::this_thread::yield();
      } else {
        EXPECT_EQ(board.wait_until(rank, 0, deadline::never()), wait_status::ready);
        ++answers;
      }
    }
  });
  EXPECT_EQ(answers.load(), phases * readers);
}

}  // namespace
