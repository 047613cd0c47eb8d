// SPDX-License-Identifier: MIT
// tests/loop/loop_pace_test.cpp -- PACE-1 to PACE-7, on made-up times, without a thread or a clock
#include "loop/loop_pace.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace {

using lockstep::call_site;
using lockstep::detail::loop_pace;
using lockstep::detail::loop_plan;
using lockstep::detail::loop_request;
using lockstep::detail::place_pace;

constexpr std::size_t plenty = std::size_t{1} << 60;
constexpr bool awake = false, asleep = true, short_share = true;

place_pace places[4];
place_pace* const here = &places[0];
constexpr std::uint32_t team = 7;

/// Nanoseconds of an iteration at a place; 0: not known.
double iteration_of(const place_pace* place = here) { return place->look().iteration; }

loop_request loop_of(std::size_t iterations, place_pace* place = here) {
  return {iterations, place, 0, true, call_site::none()};
}
loop_request unsplit(std::size_t iterations) {
  return {iterations, here, 0, false, call_site::none()};
}
loop_request grained(std::size_t iterations, std::size_t grain, bool can_split = true) {
  return {iterations, here, grain, can_split, call_site::none()};
}

/// A pace, and places of which nothing is known.
struct fresh : loop_pace {
  explicit fresh(const helpers& of = {4, 4, false, true, team}) : loop_pace(of) {
    for (place_pace& each : places) {
      each.keep({0, 0, 0, 0});
      each.allow(0, 0, 0);
    }
  }
  void learn(std::size_t iterations, double time, place_pace* place = here) {
    learn_iterations(*place, iterations, time);
  }
};
/// Learned until it is steady: `each` nanoseconds an iteration.
void teach(fresh& costs, double each, place_pace* place = here) {
  for (int i = 0; i < 64; ++i) costs.learn(1000, 1000 * each + 20, place);
}

/// A plan that any loop can be run by.
void expect_possible(const loop_plan& plan, const loop_request& of, std::size_t most) {
  EXPECT_GE(plan.shares, 1u);
  EXPECT_LE(plan.shares, most);
  EXPECT_GE(plan.parts, 1u);
  EXPECT_LE(plan.parts, loop_pace::most_parts);
  EXPECT_EQ(plan.parts & (plan.parts - 1), 0u) << "nodes of a reduction's tree";
  EXPECT_TRUE(plan.shares == 1 || plan.shares <= of.iterations) << "no share is empty";
  if (plan.parts > 1) {
    EXPECT_LE(plan.parts, of.iterations / plan.shares) << "no part is empty";
    EXPECT_TRUE(of.can_split);
  }
  EXPECT_TRUE(std::isfinite(plan.missed) && plan.missed >= 0);
}
// --- PACE-1: unknown places ---

TEST(loop_pace, an_unknown_loop_is_begun_on_all_and_measured_PACE_1) {
  fresh costs;
  const loop_plan plan = costs.plan(loop_of(1000), awake);
  EXPECT_EQ(plan.shares, 4u);
  EXPECT_EQ(plan.parts, loop_pace::first_parts);
  EXPECT_TRUE(plan.is_probe) << "the caller begins";
  EXPECT_FALSE(costs.plan(loop_of(20), awake).is_probe) << "of few iterations each may be long";
  EXPECT_TRUE(plan.is_timed);
  EXPECT_EQ(plan.missed, 0);
  EXPECT_EQ(iteration_of(), 0) << "planning teaches nothing";
}

TEST(loop_pace, for_an_unknown_loop_nobody_is_woken_who_could_come_later_PACE_1) {
  fresh costs;
  EXPECT_FALSE(costs.plan(loop_of(1000), asleep).wakes);
  EXPECT_EQ(costs.plan(loop_of(1000), asleep).shares, 4u);
  EXPECT_TRUE(costs.plan(loop_of(1000), awake).wakes);
  EXPECT_TRUE(costs.plan(unsplit(1000), asleep).wakes) << "it cannot be looked at in between";
  EXPECT_EQ(costs.plan(unsplit(1000), asleep).parts, 1u);
}

TEST(loop_pace, an_unknown_loop_has_no_more_shares_and_parts_than_iterations_PACE_1) {
  fresh costs;
  for (std::size_t n = 0; n < 200; ++n) {
    const loop_plan plan = costs.plan(loop_of(n), asleep);
    expect_possible(plan, loop_of(n), 4);
    EXPECT_EQ(plan.shares, n < 2 ? 1u : n < 4 ? n : 4u);
  }
}

TEST(loop_pace, the_rest_of_a_probe_is_announced_when_that_is_worth_much_more_than_a_join_PACE_1) {
  fresh costs;
  EXPECT_FALSE(costs.is_rest_worth(2 * costs.join(), awake)) << "the first time is no fair sample";
  EXPECT_TRUE(costs.is_rest_worth(10000, awake));
  EXPECT_FALSE(costs.is_rest_worth(10000, asleep));
  EXPECT_TRUE(costs.is_rest_worth(1e6, asleep));
  EXPECT_FALSE(loop_pace({4, 1, true, true, team}).is_rest_worth(1e300, awake))
      << "nobody could take any";
}

TEST(loop_pace, a_place_is_known_from_its_second_sample_on_PACE_1) {
  fresh costs;
  costs.learn(1000, 1e6);
  EXPECT_TRUE(costs.plan(loop_of(1000), awake).is_probe) << "its first time was long";
  costs.learn(1000, 1e6);
  EXPECT_FALSE(costs.plan(loop_of(1000), awake).is_probe);
  fresh brief;
  brief.learn(1000, 1020);
  const loop_plan second = brief.plan(loop_of(1000), awake);
  EXPECT_EQ(second.shares, 1u) << "even its first time was short";
  EXPECT_TRUE(second.is_timed);
}

// --- PACE-2: known places ---

TEST(loop_pace, a_known_loop_that_would_not_gain_runs_on_the_caller_alone_PACE_2) {
  fresh costs;
  teach(costs, 1);
  for (const bool sleeps : {awake, asleep}) {
    const loop_plan plan = costs.plan(loop_of(100), sleeps);
    EXPECT_EQ(plan.shares, 1u);
    EXPECT_EQ(plan.parts, 1u);
    EXPECT_EQ(plan.missed, 0) << "awake members would not have taken anything off either";
  }
}

TEST(loop_pace, a_loop_gains_from_where_the_work_saved_is_more_than_the_join_PACE_2) {
  fresh costs;
  teach(costs, 1);
  const double least = costs.join() / (1 - 1.0 / 4);  // where work - work / 4 == join
  const auto below = static_cast<std::size_t>(least * 0.98);
  const auto above = static_cast<std::size_t>(least * 1.02);
  EXPECT_EQ(costs.plan(loop_of(below), awake).shares, 1u);
  EXPECT_GT(costs.plan(loop_of(above), awake).shares, 1u);
}

TEST(loop_pace, a_known_loop_that_gains_runs_on_all_at_once_when_they_are_awake_PACE_2) {
  fresh costs;
  teach(costs, 1);
  const loop_plan plan = costs.plan(loop_of(4000), awake);
  EXPECT_EQ(plan.shares, 4u);
  EXPECT_EQ(plan.parts, 1u) << "a share is short";
  EXPECT_TRUE(plan.wakes);
  EXPECT_EQ(plan.missed, 0);
}

TEST(loop_pace, more_work_is_never_planned_on_fewer_members_PACE_2) {
  fresh costs({64, 64, false, true, team});
  teach(costs, 1);
  std::uint32_t before = 1;
  for (std::size_t n = 1; n < 100000; n += 1 + n / 16) {
    const loop_plan plan = costs.plan(loop_of(n), awake);
    expect_possible(plan, loop_of(n), 64);
    EXPECT_GE(plan.shares, before) << n;
    before = plan.shares;
  }
  EXPECT_EQ(before, 64u);
}

TEST(loop_pace,
     below_the_break_even_of_a_wake_up_nobody_is_woken_and_what_was_missed_is_told_PACE_2) {
  fresh costs;
  teach(costs, 1);
  const double least = costs.wake() / (1 - 1.0 / 4);
  const auto below = static_cast<std::size_t>(least * 0.98);
  const double gain = static_cast<double>(below) * 3 / 4 - costs.join();
  const loop_plan plan = costs.plan(loop_of(below), asleep);
  EXPECT_EQ(plan.shares, 4u) << "who comes by itself may join";
  EXPECT_GE(plan.parts, 4u);
  EXPECT_FALSE(plan.wakes);
  EXPECT_TRUE(plan.is_timed);
  EXPECT_NEAR(plan.missed, gain, static_cast<double>(below) / 50);
  expect_possible(plan, loop_of(below), 4);
  EXPECT_TRUE(costs.plan(loop_of(below), awake).wakes);
  EXPECT_EQ(costs.plan(loop_of(below), awake).missed, 0);
}

TEST(loop_pace, above_the_break_even_of_a_wake_up_all_are_woken_at_once_PACE_2) {
  fresh costs;
  teach(costs, 1);
  const double least = costs.wake() / (1 - 1.0 / 4);
  const auto above = static_cast<std::size_t>(least * 1.02);
  const loop_plan plan = costs.plan(loop_of(above), asleep);
  EXPECT_EQ(plan.shares, 4u);
  EXPECT_TRUE(plan.wakes);
  EXPECT_EQ(plan.missed, 0);
}

TEST(loop_pace, a_loop_too_short_for_late_members_runs_alone_and_tells_what_it_missed_PACE_2) {
  fresh costs;
  teach(costs, 1);
  for (const std::size_t n : {std::size_t{1000}, std::size_t{5000}, std::size_t{39000}}) {
    const loop_plan plan = costs.plan(loop_of(n), asleep);
    EXPECT_EQ(plan.shares, 1u);
    EXPECT_EQ(plan.parts, 1u);
    EXPECT_NEAR(plan.missed, static_cast<double>(n) * 3 / 4 - costs.join(),
                1 + 0.02 * static_cast<double>(n));
  }
  EXPECT_GT(costs.plan(loop_of(41000), asleep).shares, 1u);
}

TEST(loop_pace, what_is_left_is_worth_a_wake_up_by_the_same_rule) {
  const loop_pace costs({4, 4, false, true, team});
  const double least = costs.wake() / (1 - 1.0 / 4);  // where work - work / 4 == wake
  EXPECT_FALSE(costs.is_rest_worth(0, asleep));
  EXPECT_FALSE(costs.is_rest_worth(least * 0.99, asleep));
  EXPECT_TRUE(costs.is_rest_worth(least * 1.01, asleep));
  const loop_pace lonely({4, 1, true, true, team});
  EXPECT_FALSE(lonely.is_rest_worth(1e300, asleep)) << "nobody could take any";
}

// --- PACE-3: parts ---

TEST(loop_pace, long_shares_have_parts_of_about_the_part_time_PACE_3) {
  fresh costs;
  teach(costs, 100);
  for (const std::size_t n : {700u, 1500u, 3000u, 10000u}) {
    const loop_plan plan = costs.plan(loop_of(n), awake);
    ASSERT_EQ(plan.shares, 4u);
    const double part = 100.0 * static_cast<double>(n) / plan.shares / plan.parts;
    EXPECT_GE(part, loop_pace::part_time * 0.9) << n;
    EXPECT_LE(part, loop_pace::part_time * 2.1) << n;
    expect_possible(plan, loop_of(n), 4);
  }
  EXPECT_EQ(costs.plan(loop_of(100), awake).parts, 1u);
  EXPECT_EQ(costs.plan(loop_of(plenty), awake).parts, loop_pace::most_parts);
}

TEST(loop_pace, a_share_of_few_long_iterations_has_no_more_parts_than_them_PACE_3) {
  fresh costs;
  teach(costs, 1e6);
  for (std::size_t n = 2; n < 400; ++n) {
    for (const bool sleeps : {awake, asleep}) {
      expect_possible(costs.plan(loop_of(n), sleeps), loop_of(n), 4);
    }
  }
  EXPECT_EQ(costs.plan(loop_of(7), awake).parts, 1u);
  EXPECT_EQ(costs.plan(loop_of(8), awake).parts, 2u);
}

TEST(loop_pace, a_loop_that_cannot_be_split_has_one_part_a_share_PACE_3) {
  fresh costs;
  for (int round = 0; round < 2; ++round) {
    for (std::size_t n = 0; n < 100000; n += 1 + n / 3) {
      for (const bool sleeps : {awake, asleep}) {
        EXPECT_EQ(costs.plan(unsplit(n), sleeps).parts, 1u) << n;
      }
    }
    teach(costs, 100);
  }
}

// --- PACE-4: strange samples ---

TEST(loop_pace, the_first_sample_is_believed_and_of_the_others_a_quarter_PACE_4) {
  fresh costs;
  costs.learn(100, 1020);
  EXPECT_DOUBLE_EQ(iteration_of(), 10);
  costs.learn(100, 1420);
  EXPECT_DOUBLE_EQ(iteration_of(), 11);
}

TEST(loop_pace, a_short_share_never_makes_an_iteration_cost_more_PACE_4) {
  fresh costs;
  costs.learn_iterations(*here, 100, 2020, short_share);
  EXPECT_DOUBLE_EQ(iteration_of(), 20) << "but it is the first news of an unknown place";
  costs.learn(100, 2020);
  costs.learn_iterations(*here, 100, 3020, short_share);
  EXPECT_DOUBLE_EQ(iteration_of(), 20) << "which is known from its second sample on";
  teach(costs, 10);
  const double before = iteration_of();
  for (int i = 0; i < 100; ++i) {
    costs.learn_iterations(*here, 100, 3020, short_share);
  }
  EXPECT_DOUBLE_EQ(iteration_of(), before);
  costs.learn_iterations(*here, 100, 820, short_share);
  EXPECT_NEAR(iteration_of(), before - 0.5, 0.01);
}

TEST(loop_pace, of_a_young_place_a_lower_sample_is_believed_PACE_4) {
  fresh costs;
  costs.learn(100, 100020);  // cold
  costs.learn(100, 1020);
  EXPECT_DOUBLE_EQ(iteration_of(), 10);
  costs.learn(100, 100020);
  EXPECT_LE(iteration_of(), 20);
}

TEST(loop_pace, one_strange_sample_moves_an_iteration_by_two_at_most_PACE_4) {
  for (const double strange : {0.0, 1e-300, 1.0, 1e3, 1e9, 1e18, 1e300}) {
    fresh costs;
    teach(costs, 10);
    const double before = iteration_of();
    costs.learn(1000, strange);
    EXPECT_GE(iteration_of(), before / 2) << strange;
    EXPECT_LE(iteration_of(), before * 2) << strange;
  }
}

TEST(loop_pace, what_has_changed_for_good_is_learned_in_few_samples_PACE_4) {
  for (const double now : {0.1, 1000.0}) {
    fresh costs;
    teach(costs, 10);
    for (int i = 0; i < 24; ++i) costs.learn(1000, 1000 * now + 20);
    EXPECT_NEAR(iteration_of(), now, now / 20);
  }
}

TEST(loop_pace, no_time_and_no_iterations_teach_no_nonsense_PACE_4) {
  fresh costs;
  costs.learn(0, 1e9);
  EXPECT_EQ(iteration_of(), 0) << "still unknown";
  costs.learn(1000, 0);
  EXPECT_GT(iteration_of(), 0);
  costs.learn(plenty, 1);
  EXPECT_GT(iteration_of(), 0);
}

TEST(loop_pace, the_join_is_learned_by_an_eighth_a_time_and_within_bounds_PACE_4) {
  constexpr std::uint64_t for_ever = std::uint64_t{1} << 60;
  fresh costs;
  const double first = costs.join();
  EXPECT_EQ(first, 400);
  costs.learn_join(1800, 1200);
  EXPECT_DOUBLE_EQ(costs.join(), first + (600 - first) / 8);
  costs.learn_join(for_ever, 0);
  EXPECT_DOUBLE_EQ(costs.join(), 425 * 9.0 / 8) << "one disturbance is no news";
  for (int i = 0; i < 1000; ++i) costs.learn_join(for_ever, 1000);
  EXPECT_EQ(costs.join(), 50000);
  for (int i = 0; i < 1000; ++i) costs.learn_join(0, 1000);
  EXPECT_EQ(costs.join(), 200);
  for (int i = 0; i < 100; ++i) costs.learn_join(1300, 1000);
  EXPECT_NEAR(costs.join(), 300, 1) << "it rises again";
}

/// Loops that are planned for several members until one is not. They take so much beyond a share, a third of it in the
/// caller's part, whose data have moved.
int loops_shared_in_vain(fresh& costs, std::size_t iterations, std::uint64_t beyond) {
  for (int loops = 0;; ++loops) {
    const loop_plan plan = costs.plan(loop_of(iterations), awake);
    if (plan.shares == 1 || loops == 1000) return loops;
    if (!plan.is_timed) continue;
    const auto share = static_cast<std::uint64_t>(plan.share_time);
    costs.learn_join(share + beyond, plan.share_time);
    costs.learn_iterations(*here, iterations / plan.shares,
                           static_cast<double>(iterations / plan.shares + beyond / 3 + 20),
                           short_share);
  }
}
TEST(loop_pace, loops_that_lose_on_several_members_soon_run_alone_PACE_4) {
  for (const std::uint64_t beyond : {500u, 600u, 1000u}) {
    fresh costs({2, 2, false, true, team});
    teach(costs, 1);
    EXPECT_LE(loops_shared_in_vain(costs, 700, beyond), 8) << beyond;
    EXPECT_TRUE(here->allows(team, 700)) << "and need no plan for that";
  }
  fresh gains({2, 2, false, true, team});
  teach(gains, 1);
  EXPECT_EQ(loops_shared_in_vain(gains, 700, 300), 127) << "the next one is a trial: PACE-7";
}

TEST(loop_pace, the_first_loops_that_a_team_shares_are_measured_PACE_4) {
  fresh costs;
  teach(costs, 1);
  for (int i = 0; i < 8; ++i) {
    const loop_plan plan = costs.plan(loop_of(4000), awake);
    EXPECT_TRUE(plan.is_timed) << i;
    EXPECT_NEAR(plan.share_time, 1000, 10);
  }
  EXPECT_FALSE(costs.plan(loop_of(4000), awake).is_timed);
  EXPECT_EQ(costs.plan(loop_of(4000), asleep).share_time, 0) << "that would be a wake-up";
  EXPECT_EQ(costs.plan(unsplit(4000), awake).share_time, 0);
  EXPECT_EQ(costs.plan(loop_of(100000), awake).share_time, 0) << "others take parts";
  EXPECT_EQ(costs.plan(loop_of(100), awake).share_time, 0);
}

TEST(loop_pace, the_wake_up_is_learned_within_bounds_and_by_an_eighth_a_time_PACE_4) {
  fresh costs;
  const double first = costs.wake();
  costs.learn_wake(1e12);
  EXPECT_DOUBLE_EQ(costs.wake(), first * 9 / 8);
  for (int i = 0; i < 1000; ++i) costs.learn_wake(1e12);
  EXPECT_EQ(costs.wake(), 1000000);
  costs.learn_wake(0);
  EXPECT_DOUBLE_EQ(costs.wake(), 875000);
  for (int i = 0; i < 1000; ++i) costs.learn_wake(0);
  EXPECT_EQ(costs.wake(), 5000);
  for (int i = 0; i < 100; ++i) costs.learn_wake(20000);
  EXPECT_NEAR(costs.wake(), 20000, 100);
}

TEST(loop_pace, a_join_that_was_learned_too_high_is_tried_again_PACE_4) {
  for (const bool sleeps : {awake, asleep}) {
    fresh costs;
    teach(costs, 1);
    for (int i = 0; i < 1000; ++i) costs.learn_join(std::uint64_t{1} << 60, 0);
    bool is_tried = false;
    int loops = 0;
    for (; !is_tried && loops < 100000; ++loops) {
      const loop_plan plan = costs.plan(loop_of(4000), sleeps);
      is_tried = plan.shares > 1 || costs.is_worth_telling(plan.missed);
      if (plan.is_timed) costs.learn(4000, 4020);
    }
    EXPECT_TRUE(is_tried) << "the join stays where it is as long as nobody joins: " << sleeps;
    EXPECT_LT(loops, 20000);
  }
}

// --- places ---

TEST(loop_pace, places_are_known_by_themselves) {
  fresh costs;
  teach(costs, 1, &places[1]);
  teach(costs, 1000, &places[2]);
  EXPECT_NEAR(iteration_of(&places[1]), 1, 0.01);
  EXPECT_NEAR(iteration_of(&places[2]), 1000, 1);
  EXPECT_EQ(costs.plan(loop_of(100, &places[1]), awake).shares, 1u);
  EXPECT_EQ(costs.plan(loop_of(100, &places[2]), awake).shares, 4u);
  EXPECT_EQ(iteration_of(&places[3]), 0);
}

TEST(loop_pace, what_an_iteration_costs_is_known_to_all_teams_and_what_pays_to_one) {
  fresh costs;
  teach(costs, 2);
  const loop_pace other({2, 2, false, true, team});
  EXPECT_FALSE(loop_pace(other).plan(loop_of(1000), awake).is_probe);
  EXPECT_TRUE(here->allows(team, 10));
  EXPECT_FALSE(here->allows(team + 1, 10));
}

// --- PACE-5: loops that run alone ---

/// How many loops of so many iterations may still run alone.
int loops_alone(std::size_t iterations) {
  int loops = 0;
  while (here->allows(team, iterations)) ++loops;
  return loops;
}
TEST(loop_pace, below_the_break_even_loops_run_alone_and_above_they_do_not_PACE_5) {
  fresh costs;
  EXPECT_EQ(loops_alone(1), 0) << "unknown";
  costs.learn(1000, 2020);
  EXPECT_EQ(loops_alone(1), 0) << "hardly known";
  teach(costs, 2);
  const auto most = static_cast<std::size_t>(costs.join() / (1 - 1.0 / 4) / 2);
  EXPECT_TRUE(here->allows(team, most - 1));
  EXPECT_FALSE(here->allows(team, most + 1));
  EXPECT_EQ(costs.plan(loop_of(most * 98 / 100), awake).shares, 1u);
  EXPECT_GT(costs.plan(loop_of(most * 102 / 100), awake).shares, 1u);
}

TEST(loop_pace, the_longer_loops_are_the_fewer_run_alone_before_one_is_measured_PACE_5) {
  fresh costs;
  teach(costs, 1);
  costs.learn(10, 30);
  EXPECT_EQ(loops_alone(10), 256);
  EXPECT_TRUE(here->is_spent(team));
  costs.learn(1000, 1020);
  EXPECT_EQ(loops_alone(10), 100);
  costs.learn(100000, 100020);
  EXPECT_EQ(loops_alone(10), 8);
  costs.learn(10, 120);
  EXPECT_EQ(loops_alone(1), 8) << "it has changed";
}

TEST(loop_pace, a_join_that_was_learned_too_high_keeps_no_long_loop_alone_PACE_5) {
  fresh costs;
  for (int i = 0; i < 1000; ++i) costs.learn_join(std::uint64_t{1} << 60, 0);
  teach(costs, 1);
  EXPECT_TRUE(here->allows(team, 1000));
  EXPECT_FALSE(here->allows(team, 3000));
}

TEST(loop_pace, what_is_known_when_a_team_begins_is_used_from_its_second_loop_on_PACE_5) {
  fresh costs;
  teach(costs, 1);
  loop_pace other({2, 2, false, true, team + 1});
  EXPECT_FALSE(here->allows(team + 1, 100));
  EXPECT_FALSE(other.plan(loop_of(100), awake).is_timed);
  EXPECT_TRUE(here->allows(team + 1, 100));
  EXPECT_FALSE(here->allows(team + 1, 1000));
}

TEST(loop_pace, while_members_sleep_loops_that_miss_too_little_to_be_told_run_alone_PACE_5) {
  fresh costs;
  teach(costs, 1);
  EXPECT_NEAR(costs.plan(loop_of(1600), asleep).missed, 800, 10);  // 1600 - 400 - 400
  EXPECT_EQ(loops_alone(1900), 0) << "such a loop is told";
  EXPECT_NEAR(loops_alone(1800), 62, 1);
  EXPECT_NEAR(costs.plan(loop_of(1900), asleep).missed, 1025, 10);
  EXPECT_EQ(loops_alone(1900), 0);
  costs.learn_iterations(*here, 1600, 1620, false, asleep);
  EXPECT_NEAR(loops_alone(1600), 62, 1) << "a measurement says the same as a plan";
  costs.learn_iterations(*here, 1600, 1620);
  EXPECT_EQ(loops_alone(1600), 0) << "who is awake helps";
}

TEST(loop_pace, loops_far_apart_miss_more_before_they_are_told_PACE_5) {
  fresh costs;
  teach(costs, 1);
  const auto is_told = [&] {
    return costs.is_worth_telling(costs.plan(loop_of(4600), asleep).missed);  // 4600 - 1150 - 400
  };
  ASSERT_TRUE(is_told());
  costs.began_after(5e6);
  EXPECT_TRUE(is_told()) << "one gap is the pause before a burst";
  costs.began_after(5e6);
  EXPECT_FALSE(is_told());
  EXPECT_NEAR(loops_alone(4600), 21, 1);
  EXPECT_FALSE(is_told()) << "once the others have run alone";
  for (int i = 0; i < 2; ++i) costs.began_after(16 * 4e6);
  EXPECT_TRUE(is_told()) << "16 loops in 64 ms: a gap of 4";
  costs.learn_iterations(*here, 4600, 4620);  // the members were awake: nobody is let alone
  for (int i = 0; i < 2; ++i) costs.began_after(16 * 5e6);
  EXPECT_FALSE(is_told());
  costs.began_after(1e3);
  EXPECT_TRUE(is_told()) << "in a burst";
  for (int i = 0; i < 2; ++i) costs.began_after(1e12);
  EXPECT_FALSE(is_told());
  EXPECT_TRUE(costs.is_worth_telling(4001)) << "however far apart they are";
}

TEST(loop_pace, a_loop_of_one_iteration_runs_alone_however_long_it_takes_PACE_5) {
  fresh costs;
  for (int i = 0; i < 4; ++i) costs.learn(1, 9020);
  EXPECT_EQ(costs.plan(loop_of(1), asleep).shares, 1u);
  EXPECT_FALSE(here->allows(team, 2));
  EXPECT_EQ(loops_alone(1), 11);
}

TEST(loop_pace, where_one_member_can_run_loops_of_any_length_run_alone_PACE_5) {
  fresh costs({8, 1, true, true, team});
  teach(costs, 1);
  EXPECT_TRUE(here->allows(team, 100000));
}

TEST(loop_pace, who_does_not_learn_runs_nothing_alone_PACE_5) {
  fresh costs({4, 4, false, false, team});
  teach(costs, 1);
  EXPECT_EQ(loops_alone(1), 0);
}

// --- PACE-7: trials ---

/// How many loops that gain are planned before one of them runs alone, `most` at most.
int loops_before_a_trial(fresh& costs, std::size_t iterations, int most) {
  int loops = 0;
  while (loops < most && costs.plan(loop_of(iterations), awake).shares > 1) ++loops;
  return loops;
}
/// How many loops in a row run alone, all of them measured. They take as long as is known.
int loops_of_trial(fresh& costs, std::size_t iterations, bool sleeps) {
  for (int loops = 1;; ++loops) {
    costs.learn(iterations, static_cast<double>(iterations) + 20);
    const loop_plan plan = costs.plan(loop_of(iterations), sleeps);
    if (plan.shares > 1) return loops;
    EXPECT_TRUE(plan.is_timed);
  }
}
TEST(loop_pace, short_loops_that_are_shared_run_alone_now_and_then_PACE_7) {
  fresh costs;
  teach(costs, 1);
  for (const int loops : {127, 254, 510, 1022, 2046, 4094, 8190, 8190}) {
    EXPECT_NEAR(loops_before_a_trial(costs, 3000, 100000), loops, 2);
    EXPECT_EQ(loops_of_trial(costs, 3000, awake), 20);
  }
}

TEST(loop_pace, loops_that_look_long_because_they_are_shared_are_found_out_PACE_7) {
  fresh costs;
  teach(costs, 3);  // alone they take 1
  EXPECT_EQ(loops_before_a_trial(costs, 500, 1000), 127);
  int alone = 0;
  while (costs.plan(loop_of(500), awake).shares == 1 && alone < 1000) {
    ++alone;
    costs.learn(500, 520);
  }
  EXPECT_EQ(alone, 1000);
}

TEST(loop_pace,
     the_first_loop_that_pays_after_a_trial_wakes_members_that_fell_asleep_in_it_PACE_7) {
  fresh costs;
  teach(costs, 1);
  EXPECT_EQ(loops_before_a_trial(costs, 3000, 1000), 127);
  EXPECT_EQ(loops_of_trial(costs, 3000, asleep), 20);
  EXPECT_EQ(costs.plan(loop_of(3000), asleep).shares, 1u) << "only the first";
}

TEST(loop_pace, no_long_loop_is_held_back_for_a_trial_PACE_7) {
  fresh costs;
  teach(costs, 1);
  EXPECT_EQ(loops_before_a_trial(costs, 4100, 100000), 100000);
}

// --- PACE-6: loops that sleepers miss ---

TEST(loop_pace, sleepers_are_woken_ever_more_rarely_until_members_come_by_themselves_PACE_6) {
  fresh costs;
  const auto loops_until_they_are = [&costs] {
    for (int loop = 1;; ++loop) {
      if (costs.is_worth_waking_after(10000)) return loop;
    }
  };
  EXPECT_EQ(loops_until_they_are(), 1);
  for (const int loops : {6, 12, 24, 48, 96, 192, 200, 200}) {
    EXPECT_EQ(loops_until_they_are(), loops);
  }
  for (int i = 0; i < 20; ++i) costs.came_by_themselves();
  EXPECT_EQ(loops_until_they_are(), 1);
}

// --- by hand ---

TEST(loop_pace, a_grain_says_how_much_a_share_has_at_least) {
  fresh costs;
  teach(costs, 1e6);  // has no say
  for (const bool sleeps : {awake, asleep}) {
    EXPECT_EQ(costs.plan(grained(0, 100), sleeps).shares, 1u);
    EXPECT_EQ(costs.plan(grained(99, 100), sleeps).shares, 1u);
    EXPECT_EQ(costs.plan(grained(199, 100), sleeps).shares, 1u);
    EXPECT_EQ(costs.plan(grained(200, 100), sleeps).shares, 2u);
    EXPECT_EQ(costs.plan(grained(399, 100), sleeps).shares, 3u);
    EXPECT_EQ(costs.plan(grained(1000000, 100), sleeps).shares, 4u);
    EXPECT_EQ(costs.plan(grained(plenty, plenty + 1), sleeps).shares, 1u);
    EXPECT_EQ(costs.plan(grained(3, 1), sleeps).shares, 3u);
    EXPECT_TRUE(costs.plan(grained(200, 100), sleeps).wakes);
    EXPECT_FALSE(costs.plan(grained(200, 100), sleeps).is_timed);
  }
}

TEST(loop_pace, parts_have_a_grain_at_least) {
  fresh costs;
  EXPECT_EQ(costs.plan(grained(400, 100), awake).parts, 1u);
  EXPECT_EQ(costs.plan(grained(800, 100), awake).parts, 2u);
  EXPECT_EQ(costs.plan(grained(plenty, 1), awake).parts, loop_pace::most_parts);
  EXPECT_EQ(costs.plan(grained(800, 100, false), awake).parts, 1u);
  for (std::size_t n = 0; n < 300; ++n) {
    for (std::size_t grain = 1; grain < 40; ++grain) {
      const loop_plan plan = costs.plan(grained(n, grain), awake);
      expect_possible(plan, grained(n, grain), 4);
      EXPECT_TRUE(plan.shares == 1 || n / plan.shares / plan.parts >= grain);
    }
  }
}

TEST(loop_pace, who_does_not_learn_runs_every_loop_on_all_at_once) {
  fresh costs({4, 4, false, false, team});
  for (const bool sleeps : {awake, asleep}) {
    for (std::size_t n = 0; n < 10000; n += 1 + n / 8) {
      const loop_plan plan = costs.plan(loop_of(n), sleeps);
      expect_possible(plan, loop_of(n), 4);
      EXPECT_EQ(plan.shares, n < 2 ? 1u : n < 4 ? n : 4u);
      EXPECT_TRUE(plan.wakes);
      EXPECT_FALSE(plan.is_timed);
    }
  }
  EXPECT_EQ(costs.plan(loop_of(4096), awake).parts, 8u);
  EXPECT_EQ(costs.plan(unsplit(4096), awake).parts, 1u);
  EXPECT_EQ(costs.plan(grained(200, 100), awake).shares, 2u) << "a grain counts all the same";
}

TEST(loop_pace, a_fixed_loop_has_a_share_for_every_member_also_in_a_crowd) {
  for (const bool learns : {true, false}) {
    fresh costs({16, 2, true, learns, team});
    const auto fixed = [&](std::size_t n) {
      return costs.plan({n, nullptr, 0, false, call_site::none()}, asleep);
    };
    for (const std::size_t n : {std::size_t{16}, std::size_t{1000}, plenty}) {
      EXPECT_EQ(fixed(n).shares, 16u);
      EXPECT_EQ(fixed(n).parts, 1u);
      EXPECT_TRUE(fixed(n).wakes);
      EXPECT_FALSE(fixed(n).is_timed);
    }
    EXPECT_EQ(fixed(5).shares, 5u);
    EXPECT_EQ(fixed(1).shares, 1u);
    EXPECT_EQ(fixed(0).shares, 1u);
  }
}

TEST(loop_pace, sleepers_are_woken_for_a_plan_that_gains_more_than_a_wake_up) {
  fresh costs;
  loop_request of(3, nullptr, 1, false, call_site::none());
  of.is_plan = true;
  const auto with_gain = [&](double gain, bool sleeps) {
    of.gain = gain;
    return costs.plan(of, sleeps);
  };
  EXPECT_EQ(with_gain(0, awake).shares, 3u);
  EXPECT_TRUE(with_gain(0, awake).wakes);
  EXPECT_EQ(with_gain(0, awake).missed, 0);
  EXPECT_FALSE(with_gain(0, awake).is_timed);
  EXPECT_EQ(with_gain(costs.wake(), asleep).shares, 3u);
  EXPECT_FALSE(with_gain(costs.wake(), asleep).wakes);
  EXPECT_EQ(with_gain(costs.wake(), asleep).missed, costs.wake());
  EXPECT_TRUE(with_gain(costs.wake() + 1, asleep).wakes);
  EXPECT_EQ(with_gain(costs.wake() + 1, asleep).missed, 0);
  EXPECT_TRUE(with_gain(costs.wake() + 1, asleep).is_timed) << "how long it takes is learned";
  EXPECT_TRUE(with_gain(loop_of(1).gain, asleep).wakes);
}

// --- crowds, and one member ---

TEST(loop_pace, no_loop_has_more_shares_than_members_can_run_at_once) {
  for (const bool learns : {true, false}) {
    fresh costs({16, 2, true, learns, team});
    EXPECT_EQ(costs.its_team().at_once, 2u);
    for (int round = 0; round < 2; ++round) {
      for (std::size_t n = 0; n < 1000000; n += 1 + n / 4) {
        for (const bool sleeps : {awake, asleep}) {
          expect_possible(costs.plan(loop_of(n), sleeps), loop_of(n), 2);
          expect_possible(costs.plan(grained(n, 1 + n / 100), sleeps), loop_of(n), 2);
        }
      }
      teach(costs, 50);
    }
    EXPECT_EQ(costs.plan(loop_of(plenty), awake).shares, 2u);
  }
}

TEST(loop_pace, a_join_in_a_crowd_is_taken_to_be_dear_at_first) {
  EXPECT_GT(loop_pace({16, 2, true, true, team}).join(),
            loop_pace({2, 2, false, true, team}).join() * 4);
}

TEST(loop_pace, where_one_member_can_run_every_loop_is_the_callers) {
  for (const std::size_t members : {std::size_t{1}, std::size_t{8}}) {
    for (const bool learns : {true, false}) {
      fresh costs({members, 1, members > 1, learns, team});
      for (int round = 0; round < 2; ++round) {
        for (std::size_t n = 0; n < 1000000; n += 1 + n / 2) {
          EXPECT_EQ(costs.plan(loop_of(n), asleep).shares, 1u);
          EXPECT_EQ(costs.plan(loop_of(n), awake).parts, 1u);
          EXPECT_EQ(costs.plan(grained(n, 1), awake).shares, 1u);
        }
        teach(costs, 1000);
      }
    }
  }
}

TEST(loop_pace, loops_of_no_and_of_one_iteration_are_the_callers) {
  for (const bool learns : {true, false}) {
    fresh costs({4, 4, false, learns, team});
    for (int round = 0; round < 2; ++round) {
      for (const std::size_t n : {0u, 1u}) {
        for (const bool sleeps : {awake, asleep}) {
          EXPECT_EQ(costs.plan(loop_of(n), sleeps).shares, 1u);
          EXPECT_EQ(costs.plan(loop_of(n), sleeps).parts, 1u);
        }
      }
      teach(costs, 1e9);
    }
  }
}

// --- absurd numbers ---

TEST(loop_pace, numbers_of_any_size_make_possible_plans) {
  const double times[] = {0, 1e-300, 1, 1e9, 1e18, 1e300, std::numeric_limits<double>::max()};
  const std::size_t counts[] = {0, 1, 2, 3, 65536, std::size_t{1} << 32, plenty, ~std::size_t{0}};
  for (const std::size_t members : {2u, 65536u}) {
    for (const double first : times) {
      for (const std::size_t learned : counts) {
        fresh costs({members, members, false, true, team});
        for (int i = 0; i < 40; ++i) costs.learn(learned, first);
        for (const std::size_t n : counts) {
          for (const bool sleeps : {awake, asleep}) {
            const loop_plan plan = costs.plan(loop_of(n), sleeps);
            EXPECT_TRUE(plan.shares >= 1 && plan.shares <= members);
            EXPECT_TRUE(plan.parts >= 1 && plan.parts <= loop_pace::most_parts);
            EXPECT_FALSE(std::isnan(plan.missed));
          }
        }
        costs.learn_join(std::uint64_t{1} << 60, 0);
        costs.learn_wake(first);
        EXPECT_TRUE(std::isfinite(costs.join()) && std::isfinite(costs.wake()));
      }
    }
  }
}

TEST(loop_pace, the_most_members_and_iterations_by_hand) {
  fresh costs({65536, 65536, false, false, team});
  const loop_plan plan = costs.plan(loop_of(plenty), awake);
  EXPECT_EQ(plan.shares, 65536u);
  expect_possible(plan, loop_of(plenty), 65536);
  EXPECT_EQ(costs.plan(grained(~std::size_t{0}, ~std::size_t{0}), awake).shares, 1u);
  EXPECT_EQ(costs.plan(grained(~std::size_t{0}, 1), awake).parts, loop_pace::most_parts);
}

// --- how often loops are measured ---

/// Of 1600 loops, how many are measured in a steady state.
int timed_of_1600(fresh& costs, const loop_request& of, double each) {
  int timed = 0;
  for (int i = 0; i < 1600; ++i) {
    if (!costs.plan(of, awake).is_timed) continue;
    ++timed;
    costs.learn(of.iterations, static_cast<double>(of.iterations) * each + 20);
  }
  return timed;
}

TEST(loop_pace, the_first_loops_of_a_place_are_measured_and_then_one_in_16) {
  for (const std::size_t n : {10u, 100u, 5000u, 9000u}) {
    fresh costs;
    for (int i = 0; i < 4; ++i) {
      ASSERT_TRUE(costs.plan(loop_of(n), awake).is_timed) << n << ", loop " << i;
      costs.learn(n, static_cast<double>(n) + 20);
    }
    for (int i = 0; i < 8; ++i) costs.plan(loop_of(n), awake);  // its first shared ones
    const int timed = timed_of_1600(costs, loop_of(n), 1);
    EXPECT_GE(timed, 1600 / 18) << n;
    EXPECT_LE(timed, 1600 / 15) << n;
  }
}

TEST(loop_pace, loops_whose_lengths_change_are_measured_as_often) {
  fresh costs;
  teach(costs, 1);
  for (int i = 0; i < 8; ++i) costs.plan(loop_of(4000), awake);  // its first shared ones
  int timed = 0;
  for (std::size_t i = 0; i < 1600; ++i) {
    const std::size_t n = (i % 2 == 0 ? 10 : 4100) + i * 37 % 300;
    if (!costs.plan(loop_of(n), awake).is_timed) continue;
    ++timed;
    costs.learn(n, static_cast<double>(n) + 20);
  }
  EXPECT_GE(timed, 1600 / 18);
  EXPECT_LE(timed, 1600 / 15);
}

TEST(loop_pace, loops_that_take_long_are_all_measured) {
  fresh costs;
  teach(costs, 100);
  EXPECT_EQ(timed_of_1600(costs, loop_of(1000), 100), 1600);
}

TEST(loop_pace, after_a_strange_sample_the_next_loop_is_measured) {
  fresh costs;
  teach(costs, 1);
  costs.learn(1000, 1e6);
  EXPECT_TRUE(costs.plan(loop_of(1000), awake).is_timed);
}

TEST(loop_pace, another_length_another_sleep_and_another_measurement_make_another_plan) {
  fresh costs;
  teach(costs, 1);
  EXPECT_EQ(costs.plan(loop_of(4000), awake).shares, 4u);
  EXPECT_EQ(costs.plan(loop_of(4000), awake).shares, 4u);
  EXPECT_EQ(costs.plan(loop_of(100), awake).shares, 1u) << "length";
  EXPECT_EQ(costs.plan(loop_of(4000), awake).shares, 4u);
  EXPECT_GT(costs.plan(loop_of(4000), asleep).missed, 0) << "they sleep";
  EXPECT_EQ(costs.plan(loop_of(4000), awake).missed, 0) << "they are awake again";
  EXPECT_TRUE(costs.plan(loop_of(4000), awake).wakes);
  for (int i = 0; i < 40; ++i) costs.learn(4000, 60);
  EXPECT_EQ(costs.plan(loop_of(4000), awake).shares, 1u) << "it has become short";
}

TEST(loop_pace, a_plan_for_sleepers_is_not_what_is_remembered_for_who_is_awake) {
  fresh costs;
  teach(costs, 1);
  for (const std::size_t n : {1000u, 4000u, 40000u, 100000u}) {
    costs.plan(loop_of(n), asleep);
    const loop_plan plan = costs.plan(loop_of(n), awake);
    EXPECT_TRUE(plan.wakes) << n;
    EXPECT_EQ(plan.missed, 0) << n;
    EXPECT_EQ(plan.shares, 4u) << n;
  }
}

}  // namespace
