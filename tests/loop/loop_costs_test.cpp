// SPDX-License-Identifier: MIT
// tests/loop/loop_costs_test.cpp -- COST-1 to COST-5, on made-up times, without a thread or a clock
#include "loop/loop_steering.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <set>
#include <vector>

#include "support/learned_costs.hpp"

namespace {

using lockstep::detail::learned_costs;
using lockstep::detail::loop_costs;
using lockstep::detail::loop_plan;
using lockstep::detail::loop_request;

/// Nanoseconds of an iteration at a place; 0: not known.
double iteration_of(const loop_costs& costs, const void* place) {
  return learned_costs::iteration(costs, place);
}
double join_of(const loop_costs& costs) { return learned_costs::join(costs); }

constexpr std::size_t plenty = std::size_t{1} << 60;
constexpr bool awake = false, asleep = true;

// Places are numbers by their addresses.
char places[4096];
const void* const here = &places[0];

loop_request loop_of(std::size_t iterations, const void* place = here) {
  return {iterations, place, 0, true, false};
}
loop_request unsplit(std::size_t iterations, const void* place = here) {
  return {iterations, place, 0, false, false};
}
loop_request grained(std::size_t iterations, std::size_t grain, bool can_split = true) {
  return {iterations, here, grain, can_split, false};
}

/// Learned until it is steady: `each` nanoseconds an iteration.
void teach(loop_costs& costs, double each, const void* place = here) {
  for (int i = 0; i < 64; ++i) costs.learn_iterations(place, 1000, 1000 * each + 20);
}
loop_costs four_members() { return loop_costs({4, 4, false, true}); }

/// A plan that any loop can be run by.
void expect_possible(const loop_plan& plan, const loop_request& of, std::size_t most) {
  EXPECT_GE(plan.shares, 1u);
  EXPECT_LE(plan.shares, most);
  EXPECT_GE(plan.parts, 1u);
  EXPECT_LE(plan.parts, loop_costs::most_parts);
  EXPECT_TRUE(plan.shares == 1 || plan.shares <= of.iterations) << "no share is empty";
  if (plan.parts > 1) {
    EXPECT_LE(plan.parts, of.iterations / plan.shares) << "no part is empty";
    EXPECT_TRUE(of.can_split);
  }
  EXPECT_TRUE(std::isfinite(plan.missed) && plan.missed >= 0);
}
bool is_same(const loop_plan& a, const loop_plan& b) {
  return a.shares == b.shares && a.parts == b.parts && a.wakes == b.wakes && a.missed == b.missed &&
         a.is_timed == b.is_timed;
}

// --- COST-1: unknown places ---

TEST(loop_costs, an_unknown_loop_is_begun_on_all_and_measured_COST_1) {
  loop_costs costs = four_members();
  const loop_plan plan = costs.plan(loop_of(1000), awake);
  EXPECT_EQ(plan.shares, 4u);
  EXPECT_EQ(plan.parts, loop_costs::first_parts);
  EXPECT_TRUE(plan.is_probe) << "the caller begins";
  EXPECT_FALSE(costs.plan(loop_of(20), awake).is_probe) << "of few iterations each may be long";
  EXPECT_TRUE(plan.is_timed);
  EXPECT_EQ(plan.missed, 0);
  EXPECT_EQ(iteration_of(costs, here), 0) << "planning teaches nothing";
}

TEST(loop_costs, for_an_unknown_loop_nobody_is_woken_who_could_come_later_COST_1) {
  loop_costs costs = four_members();
  EXPECT_FALSE(costs.plan(loop_of(1000), asleep).wakes);
  EXPECT_EQ(costs.plan(loop_of(1000), asleep).shares, 4u);
  EXPECT_TRUE(costs.plan(loop_of(1000), awake).wakes);
  EXPECT_TRUE(costs.plan(unsplit(1000), asleep).wakes) << "it cannot be looked at in between";
  EXPECT_EQ(costs.plan(unsplit(1000), asleep).parts, 1u);
}

TEST(loop_costs, an_unknown_loop_has_no_more_shares_and_parts_than_iterations_COST_1) {
  loop_costs costs = four_members();
  for (std::size_t n = 0; n < 200; ++n) {
    const loop_plan plan = costs.plan(loop_of(n), asleep);
    expect_possible(plan, loop_of(n), 4);
    EXPECT_EQ(plan.shares, n < 2 ? 1u : n < 4 ? n : 4u);
  }
}

TEST(loop_costs, the_rest_of_a_probe_is_announced_when_that_is_worth_much_more_than_a_join_COST_1) {
  loop_costs costs = four_members();
  EXPECT_FALSE(costs.is_rest_worth(2 * join_of(costs), awake))
      << "the first time is no fair sample";
  EXPECT_TRUE(costs.is_rest_worth(10000, awake));
  EXPECT_FALSE(costs.is_rest_worth(10000, asleep));
  EXPECT_EQ(costs.is_rest_worth(1e6, asleep), costs.is_worth_waking(1e6));
  EXPECT_TRUE(costs.is_rest_worth(1e6, asleep));
  EXPECT_FALSE(loop_costs({4, 1, true, true}).is_rest_worth(1e300, awake))
      << "nobody could take any";
}

TEST(loop_costs, a_place_is_known_from_its_second_sample_on_COST_1) {
  loop_costs costs = four_members();
  costs.learn_iterations(here, 1000, 1e6);
  EXPECT_TRUE(costs.plan(loop_of(1000), awake).is_probe) << "its first time was long";
  costs.learn_iterations(here, 1000, 1e6);
  EXPECT_FALSE(costs.plan(loop_of(1000), awake).is_probe);
  loop_costs brief = four_members();
  brief.learn_iterations(here, 1000, 1020);
  const loop_plan second = brief.plan(loop_of(1000), awake);
  EXPECT_EQ(second.shares, 1u) << "even its first time was short";
  EXPECT_TRUE(second.is_timed);
}

// --- COST-2: known places ---

TEST(loop_costs, a_known_loop_that_would_not_gain_runs_on_the_caller_alone_COST_2) {
  loop_costs costs = four_members();
  teach(costs, 1);
  for (const bool sleeps : {awake, asleep}) {
    const loop_plan plan = costs.plan(loop_of(100), sleeps);
    EXPECT_EQ(plan.shares, 1u);
    EXPECT_EQ(plan.parts, 1u);
    EXPECT_EQ(plan.missed, 0) << "awake members would not have taken anything off either";
  }
}

TEST(loop_costs, a_loop_gains_from_where_the_work_saved_is_more_than_the_join_COST_2) {
  loop_costs costs = four_members();
  teach(costs, 1);
  const double least = join_of(costs) / (1 - 1.0 / 4);  // where work - work / 4 == join
  const auto below = static_cast<std::size_t>(least * 0.98);
  const auto above = static_cast<std::size_t>(least * 1.02);
  EXPECT_EQ(costs.plan(loop_of(below), awake).shares, 1u);
  EXPECT_GT(costs.plan(loop_of(above), awake).shares, 1u);
}

TEST(loop_costs, a_known_loop_that_gains_runs_on_all_at_once_when_they_are_awake_COST_2) {
  loop_costs costs = four_members();
  teach(costs, 1);
  const loop_plan plan = costs.plan(loop_of(4000), awake);
  EXPECT_EQ(plan.shares, 4u);
  EXPECT_EQ(plan.parts, 1u) << "a share is short";
  EXPECT_TRUE(plan.wakes);
  EXPECT_EQ(plan.missed, 0);
}

TEST(loop_costs, more_work_is_never_planned_on_fewer_members_COST_2) {
  loop_costs costs({64, 64, false, true});
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

TEST(loop_costs,
     below_the_break_even_of_a_wake_up_nobody_is_woken_and_what_was_missed_is_told_COST_2) {
  loop_costs costs = four_members();
  teach(costs, 1);
  const double least = costs.wake() / (1 - 1.0 / 4);
  const auto below = static_cast<std::size_t>(least * 0.98);
  const double gain = static_cast<double>(below) * 3 / 4 - join_of(costs);
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

TEST(loop_costs, above_the_break_even_of_a_wake_up_all_are_woken_at_once_COST_2) {
  loop_costs costs = four_members();
  teach(costs, 1);
  const double least = costs.wake() / (1 - 1.0 / 4);
  const auto above = static_cast<std::size_t>(least * 1.02);
  const loop_plan plan = costs.plan(loop_of(above), asleep);
  EXPECT_EQ(plan.shares, 4u);
  EXPECT_TRUE(plan.wakes);
  EXPECT_EQ(plan.missed, 0);
}

TEST(loop_costs, a_loop_too_short_for_late_members_runs_alone_and_tells_what_it_missed_COST_2) {
  loop_costs costs = four_members();
  teach(costs, 1);
  for (const std::size_t n : {std::size_t{1000}, std::size_t{5000}, std::size_t{39000}}) {
    const loop_plan plan = costs.plan(loop_of(n), asleep);
    EXPECT_EQ(plan.shares, 1u);
    EXPECT_EQ(plan.parts, 1u);
    EXPECT_NEAR(plan.missed, static_cast<double>(n) * 3 / 4 - join_of(costs),
                1 + 0.02 * static_cast<double>(n));
  }
  EXPECT_GT(costs.plan(loop_of(41000), asleep).shares, 1u);
}

TEST(loop_costs, what_is_left_is_worth_a_wake_up_by_the_same_rule) {
  loop_costs costs = four_members();
  const double least = costs.wake() / (1 - 1.0 / 4);
  EXPECT_FALSE(costs.is_worth_waking(0));
  EXPECT_FALSE(costs.is_worth_waking(least * 0.99));
  EXPECT_TRUE(costs.is_worth_waking(least * 1.01));
  EXPECT_FALSE(loop_costs({4, 1, true, true}).is_worth_waking(1e300)) << "nobody could take any";
}

// --- COST-3: parts ---

TEST(loop_costs, long_shares_have_parts_of_about_the_part_time_COST_3) {
  loop_costs costs = four_members();
  teach(costs, 100);
  for (const std::size_t n : {700u, 1500u, 3000u, 10000u}) {
    const loop_plan plan = costs.plan(loop_of(n), awake);
    ASSERT_EQ(plan.shares, 4u);
    const double part = 100.0 * static_cast<double>(n) / plan.shares / plan.parts;
    EXPECT_GE(part, loop_costs::part_time * 0.9) << n;
    EXPECT_LE(part, loop_costs::part_time * 2.1) << n;
    expect_possible(plan, loop_of(n), 4);
  }
  EXPECT_EQ(costs.plan(loop_of(100), awake).parts, 1u);
  EXPECT_EQ(costs.plan(loop_of(plenty), awake).parts, loop_costs::most_parts);
}

TEST(loop_costs, a_share_of_few_long_iterations_has_no_more_parts_than_them_COST_3) {
  loop_costs costs = four_members();
  teach(costs, 1e6);
  for (std::size_t n = 2; n < 400; ++n) {
    for (const bool sleeps : {awake, asleep}) {
      expect_possible(costs.plan(loop_of(n), sleeps), loop_of(n), 4);
    }
  }
  EXPECT_EQ(costs.plan(loop_of(7), awake).parts, 1u);
  EXPECT_EQ(costs.plan(loop_of(8), awake).parts, 2u);
}

TEST(loop_costs, a_loop_that_cannot_be_split_has_one_part_a_share_COST_3) {
  loop_costs costs = four_members();
  for (int round = 0; round < 2; ++round) {
    for (std::size_t n = 0; n < 100000; n += 1 + n / 3) {
      for (const bool sleeps : {awake, asleep}) {
        EXPECT_EQ(costs.plan(unsplit(n), sleeps).parts, 1u) << n;
      }
    }
    teach(costs, 100);
  }
}

// --- COST-4: strange samples ---

TEST(loop_costs, the_first_sample_is_believed_and_of_the_others_a_quarter_COST_4) {
  loop_costs costs = four_members();
  costs.learn_iterations(here, 100, 1020);
  EXPECT_DOUBLE_EQ(iteration_of(costs, here), 10);
  costs.learn_iterations(here, 100, 1420);
  EXPECT_DOUBLE_EQ(iteration_of(costs, here), 11);
}

TEST(loop_costs, of_a_young_place_a_lower_sample_is_believed_COST_4) {
  loop_costs costs = four_members();
  costs.learn_iterations(here, 100, 100020);  // cold
  costs.learn_iterations(here, 100, 1020);
  EXPECT_DOUBLE_EQ(iteration_of(costs, here), 10);
  costs.learn_iterations(here, 100, 100020);
  EXPECT_LE(iteration_of(costs, here), 20);
}

TEST(loop_costs, one_strange_sample_moves_an_iteration_by_two_at_most_COST_4) {
  for (const double strange : {0.0, 1e-300, 1.0, 1e3, 1e9, 1e18, 1e300}) {
    loop_costs costs = four_members();
    teach(costs, 10);
    const double before = iteration_of(costs, here);
    costs.learn_iterations(here, 1000, strange);
    EXPECT_GE(iteration_of(costs, here), before / 2) << strange;
    EXPECT_LE(iteration_of(costs, here), before * 2) << strange;
  }
}

TEST(loop_costs, what_has_changed_for_good_is_learned_in_few_samples_COST_4) {
  for (const double now : {0.1, 1000.0}) {
    loop_costs costs = four_members();
    teach(costs, 10);
    for (int i = 0; i < 24; ++i) costs.learn_iterations(here, 1000, 1000 * now + 20);
    EXPECT_NEAR(iteration_of(costs, here), now, now / 20);
  }
}

TEST(loop_costs, no_time_and_no_iterations_teach_no_nonsense_COST_4) {
  loop_costs costs = four_members();
  costs.learn_iterations(here, 0, 1e9);
  EXPECT_EQ(iteration_of(costs, here), 0) << "still unknown";
  costs.learn_iterations(here, 1000, 0);
  EXPECT_GT(iteration_of(costs, here), 0);
  costs.learn_iterations(here, plenty, 1);
  EXPECT_GT(iteration_of(costs, here), 0);
}

TEST(loop_costs, the_join_is_learned_downwards_quickly_upwards_slowly_and_within_bounds_COST_4) {
  loop_costs costs = four_members();
  const double first = join_of(costs);
  EXPECT_EQ(first, 250);
  costs.learn_join(1e12);
  EXPECT_LE(join_of(costs), first * 1.1);
  EXPECT_GT(join_of(costs), first);
  for (int i = 0; i < 1000; ++i) costs.learn_join(1e12);
  EXPECT_EQ(join_of(costs), 50000);
  for (int i = 0; i < 4; ++i) costs.learn_join(0);
  EXPECT_LT(join_of(costs), 16000);
  for (int i = 0; i < 1000; ++i) costs.learn_join(0);
  EXPECT_EQ(join_of(costs), 100);
  for (int i = 0; i < 1000; ++i) costs.learn_join(300);
  EXPECT_NEAR(join_of(costs), 160, 160) << "it rises again";
  EXPECT_GT(join_of(costs), 100);
}

TEST(loop_costs, the_wake_up_is_learned_within_bounds_and_by_an_eighth_a_time_COST_4) {
  loop_costs costs = four_members();
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

TEST(loop_costs, a_join_that_was_learned_too_high_is_tried_again) {
  loop_costs costs = four_members();
  teach(costs, 1);
  for (int i = 0; i < 1000; ++i) costs.learn_join(1e12);
  std::uint32_t shares = 1;
  int loops = 0;
  for (; shares == 1 && loops < 100000; ++loops) {
    const loop_plan plan = costs.plan(loop_of(4000), awake);
    shares = plan.shares;
    if (plan.is_timed) costs.learn_iterations(here, 4000, 4020);
  }
  EXPECT_GT(shares, 1u) << "the join stays where it is as long as nobody joins";
  EXPECT_LT(loops, 20000);
}

// --- COST-5: places ---

TEST(loop_costs, places_are_known_by_themselves) {
  loop_costs costs = four_members();
  teach(costs, 1, &places[1]);
  teach(costs, 1000, &places[2]);
  EXPECT_NEAR(iteration_of(costs, &places[1]), 1, 0.01);
  EXPECT_NEAR(iteration_of(costs, &places[2]), 1000, 1);
  EXPECT_EQ(costs.plan(loop_of(100, &places[1]), awake).shares, 1u);
  EXPECT_EQ(costs.plan(loop_of(100, &places[2]), awake).shares, 4u);
  EXPECT_EQ(iteration_of(costs, &places[3]), 0);
}

/// The places that share the set of the first one, which is among them.
std::vector<const void*> rivals_of(const void* first) {
  std::vector<const void*> found;
  for (const char& each : places) {
    if (learned_costs::set_of(&each) == learned_costs::set_of(first)) found.push_back(&each);
  }
  return found;
}

TEST(loop_costs, four_places_in_the_same_set_keep_what_is_learned_of_all_COST_5) {
  const std::vector<const void*> rivals = rivals_of(here);
  ASSERT_GE(rivals.size(), 5u);
  loop_costs costs = four_members();
  for (int round = 0; round < 100; ++round) {
    for (std::size_t i = 0; i < 4; ++i) {
      costs.plan(loop_of(1000, rivals[i]), awake);
      costs.learn_iterations(rivals[i], 1000, 1020 + 1000 * static_cast<double>(i));
    }
  }
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(iteration_of(costs, rivals[i]), 1 + static_cast<double>(i), 0.05);
  }
}

TEST(loop_costs,
     a_fifth_place_in_the_set_drives_out_the_oldest_which_is_then_unknown_again_COST_5) {
  const std::vector<const void*> rivals = rivals_of(here);
  ASSERT_GE(rivals.size(), 5u);
  loop_costs costs = four_members();
  for (std::size_t i = 0; i < 5; ++i) teach(costs, 1, rivals[i]);
  EXPECT_EQ(iteration_of(costs, rivals[0]), 0);
  for (std::size_t i = 1; i < 5; ++i) EXPECT_NE(iteration_of(costs, rivals[i]), 0) << i;
  const loop_plan plan = costs.plan(loop_of(1000, rivals[0]), awake);
  EXPECT_TRUE(plan.is_probe) << "as a place that was never seen, COST-1";
  EXPECT_TRUE(plan.is_timed);
}

TEST(loop_costs, a_program_of_128_places_keeps_what_is_learned_of_nearly_all_COST_5) {
  std::mt19937_64 random(7);  // the addresses of functions, somewhere
  for (int program = 0; program < 20; ++program) {
    loop_costs costs = four_members();
    std::set<const void*> used;
    const std::uintptr_t base = random() % (std::uintptr_t{1} << 40);
    while (used.size() < 128) {
      used.insert(reinterpret_cast<const void*>(base + 16 * (random() % 60000)));
    }
    for (const void* const place : used) teach(costs, 1, place);
    std::size_t known = 0;
    for (const void* const place : used) known += iteration_of(costs, place) != 0 ? 1 : 0;
    EXPECT_GE(known, 118u);
  }
}

TEST(loop_costs, any_number_of_places_is_taken_COST_5) {
  loop_costs costs = four_members();
  for (int round = 0; round < 3; ++round) {
    for (const char& each : places) {
      expect_possible(costs.plan(loop_of(1000, &each), round % 2 == 0), loop_of(1000), 4);
      costs.learn_iterations(&each, 1000, 5020);
      EXPECT_NEAR(iteration_of(costs, &each), 5, 0.01) << "the last one is always known";
    }
  }
}

// --- COST-6: loops that run alone ---

TEST(loop_costs, below_the_break_even_loops_run_alone_and_above_they_do_not_COST_6) {
  loop_costs costs = four_members();
  EXPECT_EQ(costs.lone(here, 100).loops, 0u) << "unknown";
  costs.learn_iterations(here, 1000, 2020);
  EXPECT_EQ(costs.lone(here, 100).loops, 0u) << "hardly known";
  teach(costs, 2);
  const loop_costs::lone_loops alone = costs.lone(here, 100);
  EXPECT_NEAR(alone.most_iterations, join_of(costs) / (1 - 1.0 / 4) / 2, 1);
  const auto most = static_cast<std::size_t>(alone.most_iterations);
  EXPECT_EQ(costs.plan(loop_of(most * 98 / 100), awake).shares, 1u);
  EXPECT_GT(costs.plan(loop_of(most * 102 / 100), awake).shares, 1u);
}

TEST(loop_costs, the_longer_loops_are_the_fewer_run_alone_before_one_is_measured_COST_6) {
  loop_costs costs = four_members();
  teach(costs, 1);
  EXPECT_EQ(costs.lone(here, 10).loops, 256u);
  EXPECT_EQ(costs.lone(here, 1000).loops, 100u);
  EXPECT_EQ(costs.lone(here, plenty).loops, 8u);
  costs.learn_iterations(here, 1000, 10020);
  EXPECT_EQ(costs.lone(here, 10).loops, 8u) << "it has changed";
}

TEST(loop_costs, a_join_that_was_learned_too_high_keeps_no_long_loop_alone_COST_6) {
  loop_costs costs = four_members();
  teach(costs, 1);
  for (int i = 0; i < 1000; ++i) costs.learn_join(1e12);
  EXPECT_LT(costs.lone(here, 100).most_iterations, 1000);
}

TEST(loop_costs, where_one_member_can_run_loops_of_any_length_run_alone_COST_6) {
  loop_costs costs({8, 1, true, true});
  teach(costs, 1);
  EXPECT_GE(costs.lone(here, 100).most_iterations, 100000);
}

TEST(loop_costs, who_does_not_learn_runs_nothing_alone_COST_6) {
  loop_costs costs({4, 4, false, false});
  teach(costs, 1);
  EXPECT_EQ(costs.lone(here, 100).loops, 0u);
}

// --- by hand ---

TEST(loop_costs, a_grain_says_how_much_a_share_has_at_least) {
  loop_costs costs = four_members();
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

TEST(loop_costs, parts_have_a_grain_at_least) {
  loop_costs costs = four_members();
  EXPECT_EQ(costs.plan(grained(400, 100), awake).parts, 1u);
  EXPECT_EQ(costs.plan(grained(800, 100), awake).parts, 2u);
  EXPECT_EQ(costs.plan(grained(plenty, 1), awake).parts, loop_costs::most_parts);
  EXPECT_EQ(costs.plan(grained(800, 100, false), awake).parts, 1u);
  for (std::size_t n = 0; n < 300; ++n) {
    for (std::size_t grain = 1; grain < 40; ++grain) {
      const loop_plan plan = costs.plan(grained(n, grain), awake);
      expect_possible(plan, grained(n, grain), 4);
      EXPECT_TRUE(plan.shares == 1 || n / plan.shares / plan.parts >= grain);
    }
  }
}

TEST(loop_costs, who_does_not_learn_runs_every_loop_on_all_at_once) {
  loop_costs costs({4, 4, false, false});
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

TEST(loop_costs, a_fixed_loop_has_a_share_for_every_member_also_in_a_crowd) {
  for (const bool learns : {true, false}) {
    loop_costs costs({16, 2, true, learns});
    const auto fixed = [&](std::size_t n) {
      return costs.plan({n, nullptr, 0, false, true}, asleep);
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

// --- crowds, and one member ---

TEST(loop_costs, no_loop_has_more_shares_than_members_can_run_at_once) {
  for (const bool learns : {true, false}) {
    loop_costs costs({16, 2, true, learns});
    EXPECT_EQ(costs.most_shares(), 2u);
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

TEST(loop_costs, a_join_in_a_crowd_is_taken_to_be_dear_at_first) {
  EXPECT_GT(join_of(loop_costs({16, 2, true, true})), join_of(loop_costs({2, 2, false, true})) * 4);
}

TEST(loop_costs, where_one_member_can_run_every_loop_is_the_callers) {
  for (const std::size_t members : {std::size_t{1}, std::size_t{8}}) {
    for (const bool learns : {true, false}) {
      loop_costs costs({members, 1, members > 1, learns});
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

TEST(loop_costs, loops_of_no_and_of_one_iteration_are_the_callers) {
  for (const bool learns : {true, false}) {
    loop_costs costs({4, 4, false, learns});
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

TEST(loop_costs, numbers_of_any_size_make_possible_plans) {
  const double times[] = {0, 1e-300, 1, 1e9, 1e18, 1e300, std::numeric_limits<double>::max()};
  const std::size_t counts[] = {0, 1, 2, 3, 65536, std::size_t{1} << 32, plenty, ~std::size_t{0}};
  for (const std::size_t members : {2u, 65536u}) {
    for (const double first : times) {
      for (const std::size_t learned : counts) {
        loop_costs costs({members, members, false, true});
        for (int i = 0; i < 40; ++i) costs.learn_iterations(here, learned, first);
        for (const std::size_t n : counts) {
          for (const bool sleeps : {awake, asleep}) {
            const loop_plan plan = costs.plan(loop_of(n), sleeps);
            EXPECT_TRUE(plan.shares >= 1 && plan.shares <= members);
            EXPECT_TRUE(plan.parts >= 1 && plan.parts <= loop_costs::most_parts);
            EXPECT_FALSE(std::isnan(plan.missed));
          }
        }
        costs.learn_join(first);
        costs.learn_wake(first);
        EXPECT_TRUE(std::isfinite(join_of(costs)) && std::isfinite(costs.wake()));
      }
    }
  }
}

TEST(loop_costs, the_most_members_and_iterations_by_hand) {
  loop_costs costs({65536, 65536, false, false});
  const loop_plan plan = costs.plan(loop_of(plenty), awake);
  EXPECT_EQ(plan.shares, 65536u);
  expect_possible(plan, loop_of(plenty), 65536);
  EXPECT_EQ(costs.plan(grained(~std::size_t{0}, ~std::size_t{0}), awake).shares, 1u);
  EXPECT_EQ(costs.plan(grained(~std::size_t{0}, 1), awake).parts, loop_costs::most_parts);
}

// --- how often loops are measured ---

/// Of 1600 loops, how many are measured in a steady state.
int timed_of_1600(loop_costs& costs, const loop_request& of, double each) {
  int timed = 0;
  for (int i = 0; i < 1600; ++i) {
    if (!costs.plan(of, awake).is_timed) continue;
    ++timed;
    costs.learn_iterations(of.place, of.iterations, static_cast<double>(of.iterations) * each + 20);
  }
  return timed;
}

TEST(loop_costs, the_first_loops_of_a_place_are_measured_and_then_one_in_16) {
  for (const std::size_t n : {10u, 100u, 1000u, 9000u}) {
    loop_costs costs = four_members();
    for (int i = 0; i < 4; ++i) {
      ASSERT_TRUE(costs.plan(loop_of(n), awake).is_timed) << n << ", loop " << i;
      costs.learn_iterations(here, n, static_cast<double>(n) + 20);
    }
    const int timed = timed_of_1600(costs, loop_of(n), 1);
    EXPECT_GE(timed, 1600 / 18) << n;
    EXPECT_LE(timed, 1600 / 15) << n;
  }
}

TEST(loop_costs, loops_whose_lengths_change_are_measured_as_often) {
  loop_costs costs = four_members();
  teach(costs, 1);
  int timed = 0;
  for (std::size_t i = 0; i < 1600; ++i) {
    const std::size_t n = 100 + i * 37 % 5000;
    if (!costs.plan(loop_of(n), awake).is_timed) continue;
    ++timed;
    costs.learn_iterations(here, n, static_cast<double>(n) + 20);
  }
  EXPECT_GE(timed, 1600 / 18);
  EXPECT_LE(timed, 1600 / 15);
}

TEST(loop_costs, loops_that_take_long_are_all_measured) {
  loop_costs costs = four_members();
  teach(costs, 100);
  EXPECT_EQ(timed_of_1600(costs, loop_of(1000), 100), 1600);
}

TEST(loop_costs, after_a_strange_sample_the_next_loop_is_measured) {
  loop_costs costs = four_members();
  teach(costs, 1);
  costs.learn_iterations(here, 1000, 1e6);
  EXPECT_TRUE(costs.plan(loop_of(1000), awake).is_timed);
}

// --- the plan of the loop before ---

TEST(loop_costs, the_plan_that_is_remembered_is_what_a_fresh_one_would_be) {
  for (const double each : {0.2, 1.0, 3.0, 30.0}) {
    for (std::size_t n = 1; n < 20000; n += 1 + n / 2) {
      loop_costs costs = four_members();
      teach(costs, each);
      costs.plan(loop_of(n), awake);
      const loop_plan remembered = costs.plan(loop_of(n), awake);
      loop_costs fresh = four_members();
      teach(fresh, each);
      EXPECT_TRUE(is_same(remembered, fresh.plan(loop_of(n), awake))) << n << " of " << each;
    }
  }
}

TEST(loop_costs, another_length_another_sleep_and_another_measurement_make_another_plan) {
  loop_costs costs = four_members();
  teach(costs, 1);
  EXPECT_EQ(costs.plan(loop_of(4000), awake).shares, 4u);
  EXPECT_EQ(costs.plan(loop_of(4000), awake).shares, 4u);
  EXPECT_EQ(costs.plan(loop_of(100), awake).shares, 1u) << "length";
  EXPECT_EQ(costs.plan(loop_of(4000), awake).shares, 4u);
  EXPECT_GT(costs.plan(loop_of(4000), asleep).missed, 0) << "they sleep";
  EXPECT_EQ(costs.plan(loop_of(4000), awake).missed, 0) << "they are awake again";
  EXPECT_TRUE(costs.plan(loop_of(4000), awake).wakes);
  for (int i = 0; i < 40; ++i) costs.learn_iterations(here, 4000, 60);
  EXPECT_EQ(costs.plan(loop_of(4000), awake).shares, 1u) << "it has become short";
}

TEST(loop_costs, a_plan_for_sleepers_is_not_what_is_remembered_for_who_is_awake) {
  loop_costs costs = four_members();
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
