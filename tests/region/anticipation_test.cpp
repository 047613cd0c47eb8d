// SPDX-License-Identifier: MIT
// tests/region/anticipation_test.cpp -- GAP-1 to GAP-4, on gaps of all kinds, without a thread
#include "region/anticipation.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <random>

namespace {

using lockstep::detail::anticipation;
using lockstep::detail::wait_step;

constexpr std::uint64_t us = 1000, ms = 1000000;

/// What waits of a worker that follows its steps cost, and how many it was awake at the end of.
struct outcome {
  unsigned waits = 0, awake = 0;
  std::uint64_t gaps = 0, polled = 0;

  double share_awake() const { return static_cast<double>(awake) / waits; }
  double share_polled() const { return static_cast<double>(polled) / static_cast<double>(gaps); }
};

/// Whether it polls after `gap`, and how long it has polled until then.
struct one_wait {
  bool is_awake;
  std::uint64_t polled;
};
one_wait wait_for(const anticipation& known, std::uint64_t gap) {
  std::uint64_t elapsed = 0, polled = 0;
  while (known.is_on()) {
    const wait_step step = known.next_step(elapsed, polled);
    if (step.what == wait_step::kind::rest) break;
    EXPECT_GT(step.until, elapsed) << "each step takes time";
    const std::uint64_t end = gap < step.until ? gap : step.until;
    if (step.what == wait_step::kind::poll) polled += end - elapsed;
    if (gap < step.until) return {step.what == wait_step::kind::poll, polled};
    elapsed = step.until;
  }
  return {false, polled};
}

outcome follow(anticipation& known, unsigned waits,
               const std::function<std::uint64_t()>& next_gap) {
  outcome sum;
  for (; sum.waits < waits; ++sum.waits) {
    const std::uint64_t gap = next_gap();
    const one_wait one = wait_for(known, gap);
    EXPECT_LE(one.polled, anticipation::longest_poll(gap)) << "GAP-2, gap " << gap;
    sum.awake += one.is_awake ? 1 : 0;
    sum.polled += one.polled;
    sum.gaps += gap;
    known.came_after(gap);
  }
  return sum;
}

std::function<std::uint64_t()> between(std::uint64_t least, std::uint64_t most) {
  return [=, engine = std::mt19937_64(20261122)]() mutable {
    return least + engine() % (most - least + 1);
  };
}

TEST(anticipation, without_experience_it_is_off) {
  anticipation known;
  EXPECT_FALSE(known.is_on());
  EXPECT_EQ(known.next_step(0, 0).what, wait_step::kind::rest);
  for (unsigned i = 0; i < anticipation::fewest; ++i) known.came_after(ms);
  EXPECT_TRUE(known.is_on());
}

TEST(anticipation, regular_gaps_are_met_awake_and_mostly_slept_through_GAP_1) {
  for (const std::uint64_t gap : {5 * us, 50 * us, 200 * us, ms, 3 * ms, 16 * ms, 100 * ms}) {
    anticipation known;
    follow(known, 8, [=] { return gap; });
    const outcome after = follow(known, 100, [=] { return gap; });
    EXPECT_EQ(after.awake, after.waits) << gap;
    if (gap >= ms) {
      EXPECT_LT(after.share_polled(), 0.1) << gap;
    }
  }
}

TEST(anticipation, gaps_that_vary_by_a_tenth_are_met_awake_GAP_1) {
  for (const std::uint64_t gap : {50 * us, 200 * us, ms, 3 * ms, 10 * ms}) {
    anticipation known;
    const auto next = between(gap - gap / 10, gap + gap / 10);
    follow(known, 16, next);
    const outcome after = follow(known, 1000, next);
    EXPECT_GT(after.share_awake(), 0.9) << gap;
    if (gap >= ms) {
      EXPECT_LT(after.share_polled(), 0.3) << gap;
    }
  }
}

TEST(anticipation, two_gaps_in_turns_have_a_window_each_GAP_1) {
  anticipation known;
  bool is_long = false;
  const auto next = [&] {
    is_long = !is_long;
    return is_long ? 5 * ms : 300 * us;
  };
  follow(known, 8, next);
  const outcome after = follow(known, 100, next);
  EXPECT_EQ(after.awake, after.waits);
  EXPECT_LT(after.share_polled(), 0.3);
}

TEST(anticipation, short_gaps_do_not_hide_the_long_ones_between_them) {
  anticipation known;
  unsigned turn = 0;
  const auto next = [&] { return ++turn % 50 == 0 ? 3 * ms : 300; };
  follow(known, 500, next);
  turn = 0;
  unsigned awake = 0;
  for (unsigned i = 0; i < 500; ++i) {
    const std::uint64_t gap = next();
    if (gap > ms && wait_for(known, gap).is_awake) ++awake;
    known.came_after(gap);
  }
  EXPECT_EQ(awake, 10u);
}

TEST(anticipation, a_hiccup_now_and_then_spoils_no_other_wait_GAP_1) {
  for (const std::uint64_t late : {150 * us, 400 * us, 700 * us}) {
    anticipation known;
    const auto next = [late, n = 0]() mutable {
      const int i = n++ % 20;  // the caller keeps its beat: a late region comes before an early one
      return i == 10 ? ms + late : i == 11 ? ms - late : ms + std::uint64_t(i % 3) * 10 * us;
    };
    follow(known, 40, next);
    const outcome after = follow(known, 1000, next);
    EXPECT_GE(after.awake, 890) << late;
    EXPECT_LT(after.share_polled(), 0.3) << late;
  }
}

TEST(anticipation, random_gaps_turn_it_off_or_cost_a_quarter_GAP_2_GAP_3) {
  for (const std::uint64_t most : {ms, 10 * ms, 100 * ms}) {
    anticipation known;
    const auto next = between(10 * us, most);
    follow(known, 32, next);
    const outcome after = follow(known, 2000, next);
    EXPECT_LT(after.share_polled(), 0.3) << most;
  }
}

TEST(anticipation, bursts_at_random_times_cost_a_bounded_poll_GAP_2) {
  anticipation known;
  unsigned turn = 0;
  auto pause = between(ms, 200 * ms);
  const auto next = [&] { return ++turn % 10 == 0 ? pause() : 20 * us; };
  const outcome all = follow(known, 2000, next);
  EXPECT_LT(all.share_polled(), 0.1);
}

TEST(anticipation, gaps_that_cannot_be_told_turn_it_off_and_regular_ones_on_again_GAP_3) {
  anticipation known;
  std::uint64_t gap = 200 * us;
  for (int i = 0; i < 12; ++i) known.came_after(gap += gap / 2);  // each beyond all windows
  EXPECT_FALSE(known.is_on());
  for (int i = 0; i < 40; ++i) known.came_after(2 * ms);
  EXPECT_TRUE(known.is_on());
}

TEST(anticipation, a_lost_time_slice_turns_it_off_for_some_waits_GAP_3) {
  anticipation known;
  for (int i = 0; i < 20; ++i) known.came_after(ms);
  known.note_disturbance();
  EXPECT_FALSE(known.is_on());
  known.came_after(ms);
  EXPECT_FALSE(known.is_on());
  for (int i = 0; i < 10; ++i) known.came_after(ms);
  EXPECT_TRUE(known.is_on());
}

TEST(anticipation, after_the_last_region_it_polls_for_4_ms_at_most_GAP_2) {
  for (const std::uint64_t most : {100 * us, ms, 16 * ms, 500 * ms}) {
    anticipation known;
    follow(known, 200, between(most / 2, most));
    EXPECT_LE(wait_for(known, 3600000 * ms).polled, 4 * ms) << most;
  }
}

TEST(anticipation, the_lead_follows_how_late_wake_ups_are_GAP_4) {
  anticipation known;
  for (int i = 0; i < 40; ++i) known.woke_late_by(200 * us);
  EXPECT_GT(known.lead(), 190 * us);
  for (int i = 0; i < 400; ++i) known.woke_late_by(5 * us);
  EXPECT_EQ(known.lead(), anticipation::least_lead);
  known.woke_late_by(3600000 * ms);  // a clock that jumped
  EXPECT_LE(known.lead(), anticipation::most_lead);
}

TEST(anticipation, gaps_of_any_length_are_taken) {
  anticipation known;
  for (const std::uint64_t gap : {std::uint64_t{0}, ~std::uint64_t{0}, 5000 * ms, 1 * us}) {
    for (unsigned i = 0; i < anticipation::memory; ++i) {
      known.came_after(gap);
      wait_for(known, gap);
    }
  }
  EXPECT_EQ(known.next_step(0, 0).what, wait_step::kind::rest)
      << "nobody waits for what takes so long";
}

}  // namespace
