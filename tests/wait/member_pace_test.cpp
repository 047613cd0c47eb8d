// SPDX-License-Identifier: MIT
// tests/wait/member_pace_test.cpp -- GAP-1 to GAP-5 on gaps of all kinds, SEPARATE-2 to SEPARATE-6, ROUND-1 and ROUND-2,
// without a thread
#include "wait/member_pace.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <random>
#include <vector>

namespace {

using lockstep::detail::backoff_trust;
using lockstep::detail::machine_load;
using lockstep::detail::member_pace;
using lockstep::detail::round_pace;
using lockstep::detail::separation_pace;
using step = member_pace::step;

constexpr std::uint64_t us = 1000, ms = 1000000;

/// The waits of a worker that follows the steps: how many, how many ended while it polled, the time of all gaps and of
/// all polls.
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
one_wait wait_for(const member_pace& known, std::uint64_t gap) {
  std::uint64_t elapsed = 0, polled = 0;
  while (known.expects()) {
    const step next = known.step_after(elapsed, polled);
    if (next.what == step::kind::rest) break;
    EXPECT_GT(next.until, elapsed) << "each step takes time";
    const std::uint64_t end = gap < next.until ? gap : next.until;
    if (next.what == step::kind::poll) polled += end - elapsed;
    if (gap < next.until) return {next.what == step::kind::poll, polled};
    elapsed = next.until;
  }
  return {false, polled};
}

outcome follow(member_pace& known, unsigned waits, const std::function<std::uint64_t()>& next_gap) {
  outcome sum;
  for (; sum.waits < waits; ++sum.waits) {
    const std::uint64_t gap = next_gap();
    const one_wait one = wait_for(known, gap);
    EXPECT_LE(one.polled, member_pace::longest_poll(gap)) << "GAP-2, gap " << gap;
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

TEST(member_pace, without_experience_it_is_off) {
  member_pace known;
  EXPECT_FALSE(known.expects());
  EXPECT_EQ(known.step_after(0, 0).what, step::kind::rest);
  for (unsigned i = 0; i < member_pace::fewest; ++i) known.came_after(ms);
  EXPECT_TRUE(known.expects());
}

TEST(member_pace, regular_gaps_are_met_awake_and_mostly_slept_through_GAP_1) {
  for (const std::uint64_t gap :
       {5 * us, 50 * us, 200 * us, ms, 3 * ms, 16 * ms, 100 * ms, 200 * ms, 900 * ms}) {
    member_pace known;
    follow(known, 8, [=] { return gap; });
    const outcome after = follow(known, 100, [=] { return gap; });
    EXPECT_EQ(after.awake, after.waits) << gap;
    if (gap >= ms) {
      EXPECT_LT(after.share_polled(), gap >= 16 * ms ? 0.02 : 0.1) << gap;
    }
  }
}

TEST(member_pace, gaps_that_vary_by_a_tenth_are_met_awake_GAP_1) {
  for (const std::uint64_t gap : {50 * us, 200 * us, ms, 3 * ms, 10 * ms}) {
    member_pace known;
    const auto next = between(gap - gap / 10, gap + gap / 10);
    follow(known, 16, next);
    const outcome after = follow(known, 1000, next);
    EXPECT_GT(after.share_awake(), 0.9) << gap;
    if (gap >= ms) {
      EXPECT_LT(after.share_polled(), 0.3) << gap;
    }
  }
}

TEST(member_pace, two_gaps_in_turns_have_a_window_each_GAP_1) {
  member_pace known;
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

TEST(member_pace, short_gaps_do_not_hide_the_long_ones_between_them) {
  member_pace known;
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

TEST(member_pace, a_hiccup_now_and_then_spoils_no_other_wait_GAP_1) {
  for (const std::uint64_t late : {150 * us, 400 * us, 700 * us}) {
    member_pace known;
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

TEST(member_pace, random_gaps_turn_it_off_or_cost_a_quarter_GAP_2_GAP_3) {
  for (const std::uint64_t most : {ms, 10 * ms, 100 * ms}) {
    member_pace known;
    const auto next = between(10 * us, most);
    follow(known, 32, next);
    const outcome after = follow(known, 2000, next);
    EXPECT_LT(after.share_polled(), 0.3) << most;
  }
}

TEST(member_pace, bursts_at_random_times_cost_a_bounded_poll_GAP_2) {
  member_pace known;
  unsigned turn = 0;
  auto pause = between(ms, 200 * ms);
  const auto next = [&] { return ++turn % 10 == 0 ? pause() : 20 * us; };
  const outcome all = follow(known, 2000, next);
  EXPECT_LT(all.share_polled(), 0.1);
}

TEST(member_pace, gaps_that_cannot_be_told_turn_it_off_and_regular_ones_on_again_GAP_3) {
  member_pace known;
  std::uint64_t gap = 200 * us;
  for (int i = 0; i < 12; ++i) known.came_after(gap += gap / 2);  // each beyond all windows
  EXPECT_FALSE(known.expects());
  for (int i = 0; i < 40; ++i) known.came_after(2 * ms);
  EXPECT_TRUE(known.expects());
}

TEST(member_pace, a_time_slice_lost_to_a_stranger_turns_it_off_for_some_waits_GAP_3) {
  member_pace known;
  for (int i = 0; i < 20; ++i) known.came_after(ms);
  EXPECT_FALSE(known.looked_after(1 * ms));
  EXPECT_TRUE(known.expects());
  EXPECT_TRUE(known.looked_after(3 * ms));
  known.lost_slice(machine_load::full);
  EXPECT_FALSE(known.expects());
  for (int i = 0; i < 60; ++i) known.came_after(ms);
  EXPECT_FALSE(known.expects());
  known.came_after(ms);
  EXPECT_TRUE(known.expects());
}

TEST(member_pace, after_the_last_region_it_polls_for_4_ms_at_most_GAP_2) {
  for (const std::uint64_t most : {100 * us, ms, 16 * ms, 500 * ms}) {
    member_pace known;
    follow(known, 200, between(most / 2, most));
    EXPECT_LE(wait_for(known, 3600000 * ms).polled, 4 * ms) << most;
  }
}

/// A wait from `now` for what comes after `gap`; sleeps end so much too late. Returns when it is over.
std::uint64_t wait_through(member_pace& known, std::uint64_t now, std::uint64_t gap,
                           std::uint64_t late) {
  const std::uint64_t comes = now + gap;
  known.wait_begins(now, 0);
  while (known.expects() && now < comes) {
    const step next = known.next_step(now);
    if (next.what == step::kind::rest) break;
    now = next.what == step::kind::poll ? std::min(comes, next.until) : next.until + late;
  }
  now = std::max(now, comes);
  known.wait_ends(now, true);
  return now;
}

TEST(member_pace, the_lead_follows_how_late_wake_ups_are_GAP_4) {
  member_pace known;
  std::uint64_t now = 5000 * ms;
  for (int i = 0; i < 60; ++i) now = wait_through(known, now, 5 * ms, 200 * us);
  EXPECT_GT(known.lead(), 180 * us);
  for (int i = 0; i < 800; ++i) now = wait_through(known, now, 5 * ms, 5 * us);
  EXPECT_EQ(known.lead(), member_pace::least_lead);
  wait_through(known, now, 5 * ms, 3600000 * ms);  // a clock that jumped
  EXPECT_LE(known.lead(), member_pace::most_lead);
  EXPECT_GT(known.lead(), member_pace::least_lead);
}

TEST(member_pace, who_polls_through_its_gaps_learns_a_shorter_lead_GAP_4) {
  member_pace known;
  std::uint64_t now = 5000 * ms;
  for (int i = 0; i < 1000; ++i) now = wait_through(known, now, 60 * us, 0);
  EXPECT_LT(known.lead(), member_pace::least_lead + 64);
}

TEST(member_pace, what_came_while_it_overslept_counts_as_a_gap_no_longer_than_expected_GAP_4) {
  member_pace known;
  for (unsigned i = 0; i < member_pace::fewest; ++i) known.came_after(ms);
  known.wait_begins(5000 * ms, 0);
  const step next = known.next_step(5000 * ms);
  ASSERT_EQ(next.what, step::kind::sleep);
  known.wait_ends(next.until + 3 * ms, true);  // the region came at some time before
  known.wait_begins(5010 * ms, 0);
  EXPECT_EQ(known.step_after(3 * ms, 0).what, step::kind::rest) << "nothing is due after 4 ms";
}

TEST(member_pace, a_missed_loop_begins_the_next_gap_GAP_5) {
  member_pace known;
  std::uint64_t now = 5000 * ms;
  known.wait_begins(now, 0);
  for (int i = 0; i < 8; ++i) {
    known.missed(now + ms, now + ms + 20 * us);
    now += ms + 20 * us;
  }
  ASSERT_TRUE(known.expects());
  const step next = known.next_step(now + 10 * us);
  EXPECT_EQ(next.what, step::kind::sleep);
  EXPECT_LT(next.until, now + ms);
  EXPECT_GT(next.until, now + ms - 200 * us);
  known.wait_begins(now, 0);
  known.missed(now + 500 * us, now + 520 * us);  // noted after the look at the clock
  EXPECT_EQ(known.next_step(now + 100 * us).what, step::kind::sleep);
}

TEST(member_pace, who_polled_without_a_cpu_when_it_came_says_so_once_SEPARATE_5) {
  member_pace known;
  for (int i = 0; i < 8; ++i) known.came_after(30 * us);
  const auto came_after = [&known](std::uint64_t last_look) {
    known.wait_begins(5000 * ms, 0);
    EXPECT_EQ(known.next_step(5000 * ms + 3 * us).what, step::kind::poll);
    EXPECT_FALSE(known.looked_after(last_look));
    known.wait_ends(5000 * ms + 30 * us, true);
  };
  came_after(1 * us);
  EXPECT_FALSE(known.take_had_no_cpu());
  came_after(50 * us);
  EXPECT_TRUE(known.take_had_no_cpu());
  EXPECT_FALSE(known.take_had_no_cpu());
}

TEST(member_pace, who_lost_a_time_slice_where_a_cpu_is_free_goes_on_and_moves_at_once_SEPARATE_5) {
  member_pace known;
  for (int i = 0; i < 20; ++i) known.came_after(ms);
  EXPECT_FALSE(known.looked_after(1 * ms));
  EXPECT_EQ(known.separation.shares_cpu(5000 * ms), separation_pace::advice::stay);
  EXPECT_TRUE(known.looked_after(3 * ms));
  known.lost_slice(machine_load::has_room);
  EXPECT_TRUE(known.expects());
  EXPECT_EQ(known.separation.shares_cpu(5001 * ms), separation_pace::advice::move_if_free);
  EXPECT_TRUE(known.looked_after(3 * ms));
  known.lost_slice(machine_load::full);
  EXPECT_EQ(known.separation.shares_cpu(6000 * ms), separation_pace::advice::stay);
}

TEST(member_pace, gaps_of_any_length_are_taken) {
  member_pace known;
  for (const std::uint64_t gap : {std::uint64_t{0}, ~std::uint64_t{0}, 5000 * ms, 1 * us}) {
    for (unsigned i = 0; i < member_pace::memory; ++i) {
      known.came_after(gap);
      wait_for(known, gap);
    }
  }
  EXPECT_EQ(known.step_after(0, 0).what, step::kind::rest) << "nobody waits for what takes so long";
}

// --- when to leave a CPU ---

using advice = separation_pace::advice;

/// Observations at these distances that all find it on the other one's CPU; the times at which it moves.
std::vector<std::uint64_t> moves(separation_pace& pace, std::uint64_t begin, std::uint64_t end,
                                 std::uint64_t distance, bool is_free) {
  std::vector<std::uint64_t> times;
  for (std::uint64_t now = begin; now < end; now += distance) {
    const advice what = pace.shares_cpu(now);
    if (what == advice::stay || (what == advice::move_if_free && !is_free)) continue;
    pace.moved();
    times.push_back(now);
  }
  return times;
}

TEST(separation_pace, members_that_switch_all_the_time_part_after_a_millisecond_SEPARATE_2) {
  separation_pace pace;
  const std::vector<std::uint64_t> times = moves(pace, 5000 * ms, 5003 * ms, 3 * us, false);
  ASSERT_FALSE(times.empty());
  EXPECT_GE(times.front(), 5001 * ms);
  EXPECT_LE(times.front(), 5001 * ms + 300 * us);
}

TEST(separation_pace, members_that_work_between_their_waits_stay_where_no_cpu_is_free_SEPARATE_2) {
  for (const std::uint64_t distance : {15 * us, 50 * us}) {
    separation_pace pace;
    EXPECT_TRUE(moves(pace, 5000 * ms, 9000 * ms, distance, false).empty()) << distance;
  }
}

/// How many time slices of a stranger pass before it moves, of 20: one comes after each 64 waits at that distance.
int slices_before_leaving(std::uint64_t distance) {
  separation_pace pace;
  std::uint64_t now = 5000 * ms;
  for (int slices = 0; slices < 20; ++slices, now += 3300 * us) {
    for (int i = 0; i < 64; ++i, now += distance) {
      if (pace.shares_cpu(now) == advice::move) return slices;
    }
  }
  return 20;
}

TEST(separation_pace, time_slices_of_a_stranger_between_waits_hide_no_switches_SEPARATE_2) {
  EXPECT_LE(slices_before_leaving(7 * us), 3);
  EXPECT_LE(slices_before_leaving(14 * us), 2);
  EXPECT_EQ(slices_before_leaving(40 * us), 20) << "members that work between their waits";
}

TEST(separation_pace, waits_that_are_rare_and_far_apart_never_add_up_SEPARATE_2) {
  separation_pace pace;
  std::uint64_t now = 5000 * ms;
  for (int burst = 0; burst < 200; ++burst, now += 20 * ms) {
    for (int i = 0; i < 3; ++i) EXPECT_NE(pace.shares_cpu(now += 50 * us), advice::move) << burst;
  }
}

TEST(separation_pace, where_a_cpu_is_free_it_moves_after_four_in_a_row_at_any_distance_SEPARATE_5) {
  for (const std::uint64_t distance : {3 * us, ms, 50 * ms, 5000 * ms}) {
    separation_pace pace;
    const auto times = moves(pace, 5000 * ms, 5000 * ms + 4 * distance, distance, true);
    EXPECT_EQ(times, std::vector<std::uint64_t>{5000 * ms + 3 * distance});
    for (int i = 0; i < 200; ++i) {
      if (i % 4 == 0) {
        pace.has_own_cpu();
      } else {
        EXPECT_EQ(pace.shares_cpu(5000 * ms + 200 * distance), advice::stay) << "three in a row";
      }
    }
  }
}

TEST(separation_pace, moves_in_vain_become_rare_and_a_good_one_makes_the_next_early_SEPARATE_3) {
  for (const bool is_free : {false, true}) {
    separation_pace pace;
    const auto times = moves(pace, 1000 * ms, 5000 * ms, 3 * us, is_free);
    ASSERT_GE(times.size(), 8u);
    EXPECT_LE(times.size(), 80u);
    for (std::size_t i = 1; i < times.size(); ++i) EXPECT_GE(times[i] - times[i - 1], ms) << i;
    EXPECT_GE(times.back() - times[times.size() - 2], separation_pace::most_rest);
    pace.has_own_cpu();
    const auto later = moves(pace, 9000 * ms, 9008 * ms, 3 * us, is_free);
    ASSERT_GE(later.size(), 2u);
    EXPECT_LE(later[1] - later[0], 3 * ms);
  }
}

/// How often it asks whether a CPU is free, where none is, in `waits` waits in a row.
int questions(separation_pace& pace, std::uint64_t begin, int waits, std::uint64_t distance) {
  int count = 0;
  for (int i = 0; i < waits; ++i) {
    count += pace.shares_cpu(begin + std::uint64_t(i) * distance) == advice::move_if_free ? 1 : 0;
  }
  return count;
}

TEST(separation_pace, questions_answered_by_no_become_rare_at_any_distance_SEPARATE_3) {
  for (const std::uint64_t distance : {50 * us, 200 * us, ms, 3 * ms}) {
    separation_pace pace;
    const int waits = static_cast<int>(640 * ms / distance);
    const int first = questions(pace, 5000 * ms, waits, distance);
    EXPECT_GE(first, 8) << distance;
    EXPECT_LE(first, 16) << distance;
    pace.has_own_cpu();
    EXPECT_GE(questions(pace, 6000 * ms, static_cast<int>(20 * ms / distance), distance), 1)
        << "what was seen since makes the next one early";
  }
}

TEST(separation_pace,
     a_question_answered_by_no_puts_off_no_move_of_members_that_switch_SEPARATE_3) {
  separation_pace pace;
  questions(pace, 5000 * ms, 500, ms);
  EXPECT_FALSE(moves(pace, 5500 * ms, 5504 * ms, 3 * us, false).empty());
}

/// Regions that take a worker so long, on the CPU of the caller, 10 us apart; before which of them it moves. So many come
/// before it has to wait.
std::vector<int> moves_before(member_pace& known, int regions, std::uint64_t region, bool shares,
                              std::uint32_t at_once = 1) {
  std::vector<int> result;
  std::uint64_t now = 5000 * ms;
  std::uint32_t phase = 7;
  known.wait_begins(now, phase);
  for (int i = 0; i < regions; ++i) {
    known.wait_ends(now += 10 * us, true);
    known.wait_begins(now += at_once * region, phase += at_once);
    if (!shares) known.separation.has_own_cpu();
    if (known.separation.shares_cpu(now) != advice::move) continue;
    known.separation.moved();
    result.push_back(i);
  }
  return result;
}

TEST(separation_pace, members_whose_regions_take_time_slices_part_after_four_of_them_SEPARATE_6) {
  member_pace far_apart;
  EXPECT_EQ(moves_before(far_apart, 9, 500 * ms, true), (std::vector<int>{3, 7}));
  for (const std::uint64_t region : {ms, 4 * ms}) {
    member_pace again;
    EXPECT_EQ(moves_before(again, 7, region, true), (std::vector<int>{3, 4, 5, 6})) << region;
  }
  member_pace known, separated, short_ones, long_ones;
  EXPECT_TRUE(moves_before(short_ones, 9, us, true, 4000).empty()) << "short ones without waits";
  EXPECT_FALSE(moves_before(long_ones, 9, 4 * ms, true, 3).empty()) << "long ones without waits";
  EXPECT_TRUE(moves_before(known, 9, ms - us, true).empty()) << "a region without a time slice";
  EXPECT_TRUE(moves_before(separated, 9, 4 * ms, false).empty()) << "on a CPU of its own";
}

TEST(separation_pace,
     after_such_a_move_each_sight_moves_until_regions_were_short_for_64_ms_SEPARATE_6) {
  member_pace known;
  ASSERT_EQ(moves_before(known, 4, 4 * ms, true), (std::vector<int>{3}));
  const std::uint64_t moved_at = 5000 * ms + 4 * (4 * ms + 10 * us);
  known.separation.ran(us);
  EXPECT_EQ(known.separation.shares_cpu(moved_at + 60 * ms), advice::move);
  known.separation.moved();
  EXPECT_EQ(known.separation.shares_cpu(moved_at + 64 * ms), advice::stay);
}

TEST(separation_pace, regions_after_which_a_worker_does_not_wait_count_as_well_SEPARATE_6) {
  member_pace known;
  std::uint64_t now = 5000 * ms;
  known.wait_begins(now, 2);
  known.wait_ends(now += 10 * us, true);
  for (std::uint32_t phase = 4; phase < 10; phase += 2) {
    known.region_ends(now += 8 * ms, phase);
    ASSERT_EQ(known.separation.shares_cpu(now), advice::stay) << phase;
  }
  known.region_ends(now += 8 * ms, 10);
  EXPECT_EQ(known.separation.shares_cpu(now), advice::move);
}

// --- when the caller of a crowd yields ---

/// Two CPUs run the members of a crowd one after another, a microsecond each: `here` with the caller, `there` from `late`
/// on. The caller waits for one report after another. How long the region takes, and how often the caller polled.
struct one_region {
  std::uint64_t time = 0;
  unsigned polls = 0;
};
one_region collect(round_pace& pace, std::uint64_t begin, std::uint64_t here, std::uint64_t there,
                   std::uint64_t late, bool from_the_last) {
  pace.announced();
  one_region result;
  std::uint64_t now = begin;
  for (std::uint64_t k = 1; k <= there; ++k) {
    const std::uint64_t comes = begin + late + (from_the_last ? there + 1 - k : k) * us;
    while (comes > now) {
      if (pace.should_poll(now)) {
        ++result.polls;
        const bool has_come = comes <= pace.polls_until();
        pace.polled(has_come);
        now = has_come ? comes : pace.polls_until();
        if (has_come) break;
      }
      pace.yielded(now, now + here * us);
      now += here * us;
    }
  }
  result.time = now - begin;
  return result;
}

TEST(round_pace, a_region_ends_with_the_longer_round_wherever_the_caller_is_ROUND_1) {
  for (std::uint64_t here = 2; here <= 32; ++here) {
    for (std::uint64_t there = 1; there < 2 * here; ++there) {
      for (const std::uint64_t late : {std::uint64_t{0}, us / 3, us}) {
        for (const bool from_the_last : {false, true}) {
          round_pace pace;
          for (std::uint64_t i = 0; i < 20; ++i) {
            const std::uint64_t longer = std::max(here * us, there * us + late);
            ASSERT_EQ(collect(pace, (1 + i) * ms, here, there, late, from_the_last).time, longer)
                << here << " and " << there << ", region " << i;
          }
        }
      }
    }
  }
}

TEST(round_pace, a_round_of_the_region_before_says_nothing_ROUND_1) {
  round_pace pace;
  pace.yielded(ms, ms + 50 * us);
  EXPECT_TRUE(pace.should_poll(ms + 60 * us));
  pace.announced();
  EXPECT_FALSE(pace.should_poll(ms + 60 * us)) << "no member of its CPU has had a turn";
}

TEST(round_pace, it_seldom_polls_while_a_stranger_holds_up_the_other_cpu_ROUND_2) {
  round_pace pace;
  unsigned polls = 0;
  for (std::uint64_t i = 0; i < 100; ++i) {
    polls += collect(pace, (1 + 10 * i) * ms, 8, 8, 3 * ms, false).polls;
  }
  EXPECT_LE(polls, 100 * 3000 / 8 / 50)
      << "about one in 64 of those that it could have polled after";
  unsigned regions = 0;
  while (collect(pace, (2000 + regions) * ms, 8, 9, 0, false).time > 9 * us) ++regions;
  EXPECT_LE(regions, 64u) << "then the stranger is gone";
}

TEST(round_pace, it_does_not_poll_after_a_strangers_time_slice_ROUND_2) {
  round_pace pace;
  pace.yielded(ms, ms + backoff_trust::long_yield);
  EXPECT_FALSE(pace.should_poll(ms + backoff_trust::long_yield + us));
}

}  // namespace
