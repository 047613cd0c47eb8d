// SPDX-License-Identifier: MIT
// tests/loop/replay_test.cpp -- what was learned against the best in hindsight, on sequences of loops as programs make them
//
// A sequence is what a program asks for, whatever becomes of it: for each loop the time since the one before, its iterations,
// how long it takes serially, and its place. The programs of bench/team, loops between other work, frames and events were
// recorded on 2 virtual CPUs, some beside two busy processes; the table has their medians, and what was rare and long.
// A simulated caller and worker live through it: the caller asks loop_pace, the worker member_pace. What that costs in all is
// compared with the best of the fixed ways: alone, with a worker that polls all the time, or with one that polls for a while
// and is woken.
#include "loop/loop_pace.hpp"
#include "wait/member_pace.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <random>
#include <vector>

namespace {

using lockstep::call_site;
using lockstep::detail::loop_pace;
using lockstep::detail::loop_plan;
using lockstep::detail::member_pace;
using lockstep::detail::place_pace;

// The machine, in nanoseconds.
constexpr double join = 250, region = 20, look_at_clock = 25;
constexpr double wake = 28000, call_to_wake = 4000, lesson = 7000;
constexpr double late = 30000;    // a sleep with an end
constexpr double ladder = 82000;  // a worker that anticipates nothing polls and yields for so long
constexpr double price_of_cpu = 0.05;  // of time that is polled, in time of the caller

struct loop {
  double gap;
  std::size_t iterations;
  double time;
  std::uint32_t place;
};

/// How often something rare comes, how long it is then, and how much that differs, as a share.
struct rare {
  std::size_t every = 0;  // 0: never
  double time = 0;
  double spread = 0.01;
};

struct sequence {
  const char* name;
  std::size_t count;
  std::vector<loop> turn;  // the loops that follow each other, again and again
  double spread = 0.01;    // how far a gap is from its usual length at most, as a share
  rare gap{}, loop_time{};

  std::vector<loop> loops() const {
    std::minstd_rand random(1);
    const auto within = [&](double share) {
      return 1 + share * (2.0 * static_cast<double>(random()) / std::minstd_rand::max() - 1);
    };
    const auto comes = [](const rare& what, std::size_t i) {
      return what.every > 0 && i % what.every == what.every - 1;
    };
    std::vector<loop> all;
    for (std::size_t i = 0; i < count; ++i) {
      loop next = turn[i % turn.size()];
      next.gap = comes(gap, i) ? gap.time * within(gap.spread) : next.gap * within(spread);
      next.time = comes(loop_time, i) ? loop_time.time : next.time * within(0.01);
      if (i < turn.size()) next.time *= 2;  // code and data are not in the caches yet
      all.push_back(next);
    }
    return all;
  }
};
std::ostream& operator<<(std::ostream& to, const sequence& of) { return to << of.name; }

double time_of_two(double time) { return time / 2 + join; }
/// The time of a loop that the worker joins after `comes_in`.
double time_of_late(double time, double comes_in) {
  return time <= comes_in ? time : comes_in + time_of_two(time - comes_in);
}

/// The least that one of the fixed ways costs.
double best_fixed(const std::vector<loop>& loops) {
  double alone = 0, polls = 0, sleeps = 0;
  double comes_in = 0;  // the worker that sleeps and is woken, after the last loop
  for (const loop& each : loops) {
    alone += each.time;
    polls += time_of_two(each.time) + price_of_cpu * each.gap;
    const bool is_woken = each.gap >= ladder;
    sleeps += (is_woken ? call_to_wake : 0) + price_of_cpu * std::min(each.gap, ladder);
    comes_in = is_woken ? wake : std::max(comes_in - each.gap, 0.0);
    const double time = time_of_late(each.time, comes_in);
    sleeps += time;
    comes_in = std::max(comes_in - time, 0.0);
  }
  return std::min({alone, polls, sleeps});
}

/// A worker that waits for loops, as wait_for_region() does.
class worker {
 public:
  explicit worker(double now) { wait_from(now); }

  /// Whether it is awake at a time.
  bool is_awake_at(double time) {
    if (time < comes_at_) return false;
    while (at_ < time) {
      hear();
      const double end = next();
      if (is_awake_) burnt += std::min(end, time) - at_;
      if (end > time && !is_awake_) return false;
      at_ = std::min(end, time);
    }
    return is_awake_;
  }
  /// In how much time it is awake, and whether it has to be woken for that.
  double comes_in(double time) const { return time < comes_at_ ? comes_at_ - time : wake; }
  bool is_coming_at(double time) const { return time < comes_at_; }
  void is_woken(double time) { comes_at_ = time + wake; }
  /// It came to a loop, or only learned what it had missed.
  void came(double begin, double end) {
    sleeps_until_ = 0;
    const bool heard = hear();
    pace_.wait_ends(clock(begin), !heard);
    wait_from(end);
  }
  void missed(double begin, double end) { missed_.push_back({begin, end}); }

  double burnt = 0;

 private:
  struct span {
    double begin, end;
  };
  static constexpr double never = 1e18;

  static std::uint64_t clock(double time) { return static_cast<std::uint64_t>(time); }
  void wait_from(double time) {
    start_ = at_ = std::max(time, comes_at_);
    sleeps_until_ = 0;
    pace_.wait_begins(clock(start_), 0);
  }
  bool hear() {
    if (sleeps_until_ > at_ || missed_.empty()) return false;
    for (const span& each : missed_) pace_.missed(clock(each.begin), clock(each.end));
    missed_.clear();
    return true;
  }
  /// Until when it does what it does next; is_awake_ says what.
  double next() {
    is_awake_ = sleeps_until_ <= at_;
    if (!is_awake_) return sleeps_until_;
    const double first = static_cast<double>(member_pace::shortest_gap);
    if (at_ < start_ + first) return start_ + first;
    if (!pace_.expects()) return at_ < start_ + ladder ? start_ + ladder : sleep_until(never);
    const member_pace::step step = pace_.next_step(clock(at_));
    const double until = static_cast<double>(step.until);
    if (step.what == member_pace::step::kind::poll) return std::max(until, at_ + 1);
    return sleep_until(step.what == member_pace::step::kind::sleep ? until + late : never);
  }
  double sleep_until(double time) {
    is_awake_ = false;
    return sleeps_until_ = time;
  }

  member_pace pace_;
  std::vector<span> missed_;
  double start_ = 0, at_ = 0, sleeps_until_ = 0, comes_at_ = 0;
  bool is_awake_ = true;
};

class replay {
 public:
  double run(const std::vector<loop>& loops) {
    double now = beginning, cost = 0;
    for (const loop& each : loops) {
      now += each.gap;
      const double time = run(each, now);
      cost += time;
      now += time;
    }
    return cost + price_of_cpu * other_.burnt;
  }

 private:
  static constexpr std::uint32_t team = 1;
  static constexpr double beginning = 1e9;

  double run(const loop& of, double now) {
    place_pace& place = places_[of.place];
    if (place.allows(team, of.iterations)) return of.time;
    const bool is_asleep = !other_.is_awake_at(now);
    const lockstep::detail::loop_request request(of.iterations, &place, 0, true, call_site::none());
    loop_plan plan = pace_.plan(request, is_asleep);
    bool is_woken = is_asleep && plan.shares > 1 && plan.wakes;
    const bool tells = pace_.is_worth_telling(plan.missed);
    if (plan.shares > 1 && (!plan.wakes || plan.is_probe)) {  // as soon as the rest is worth it
      const double begun = of.time / plan.shares / plan.parts;
      is_woken = is_asleep && pace_.is_rest_worth(of.time - begun, true);
      if (is_asleep ? !is_woken : !pace_.is_rest_worth(of.time - begun, false)) plan.shares = 1;
    }
    double time = region;
    if (plan.shares == 1) {
      time += of.time;
    } else {
      time += !is_woken ? time_of_two(of.time)
                        : (other_.is_coming_at(now) ? 0 : call_to_wake) +
                              time_of_late(of.time, other_.comes_in(now));
      if (is_woken && !other_.is_coming_at(now)) {
        pace_.learn_wake(wake);
        other_.is_woken(now);
      }
      if (!is_woken) pace_.came_by_themselves();
    }
    if (plan.is_timed || tells) {
      time += 2 * look_at_clock;
      const std::size_t own = plan.shares == 1 ? of.iterations : of.iterations / 2;
      const double own_time =
          of.time * static_cast<double>(own) / static_cast<double>(of.iterations);
      pace_.began_after(now - last_end_);
      last_end_ = now + of.time;
      pace_.learn_iterations(place, own, own_time + look_at_clock, plan.share_time > 0, is_asleep);
      if (plan.shares > 1 && plan.share_time > 0) {
        pace_.learn_join(static_cast<std::uint64_t>(time_of_two(of.time)), plan.share_time);
      }
    }
    if (plan.shares > 1) {
      other_.came(now, now + time);
    } else if (tells) {
      other_.missed(now, now + time);
      if (pace_.is_worth_waking_after(plan.missed)) {
        time += lesson;
        other_.came(now + time, now + time);
      }
    }
    return time;
  }

  loop_pace pace_{{2, 2, false, true, team}};
  place_pace places_[64];
  worker other_{beginning};
  double last_end_ = 0;
};

// As a loop between other work: 64 iterations.
loop between(double gap, double time) { return {gap, 64, time, 0}; }

std::vector<loop> places_32() {
  std::vector<loop> turn;
  for (std::uint32_t place = 0; place < 32; ++place)
    turn.push_back({20, 50 + 14 * place, 35.0 + 4 * place, place});
  return turn;
}

std::vector<loop> sizes_in_a_row() {
  std::vector<loop> turn;
  for (std::uint32_t place = 0; place < 8; ++place) {
    turn.push_back({20, std::size_t{256} << place, 30 + 68.0 * (1u << place), place});
  }
  return turn;
}

const sequence recorded[] = {
    {"audio_1333us", 160, {between(1303000, 30100)}},
    {"bursts_of_10", 300, {{20, 1000, 10060, 0}}, 0.5, {10, 12140000}, {}},
    {"busy_100_1000", 160, {between(1000060, 100070)}, 0.01, {8, 4600000}, {}},
    {"busy_20_1000", 160, {between(1000060, 20060)}, 0.01, {4, 4917000}, {}},
    {"busy_20_200", 160, {between(200070, 20060)}, 0.01, {23, 4170000}, {80, 4050000}},
    {"busy_jacobi_128", 160, {{20, 128, 10780, 0}}, 0.5, {}, {}},
    {"cg_200", 120, {{25, 200, 31050, 1}, {20, 200, 31350, 2}, {20, 200, 14450, 3}}, 0.5, {}, {}},
    {"cg_32", 120, {{20, 32, 911, 1}, {20, 32, 775, 2}, {20, 32, 300, 3}}, 0.5, {}, {}},
    {"duty_100_1000", 160, {between(1000060, 100070)}},
    {"duty_20_1000", 160, {between(1000060, 20060)}},
    {"duty_20_200", 160, {between(200070, 20060)}},
    {"duty_20_3000", 160, {between(3000065, 20060)}},
    {"duty_20_50", 160, {between(50065, 20060)}},
    {"duty_500_1000", 160, {between(1000060, 500065)}},
    {"duty_5_50", 160, {between(50065, 5070)}},
    {"frames_8ms",
     300,
     {{7900000, 64, 4480, 0},
      {3065, 64, 8060, 1},
      {3065, 64, 12070, 2},
      {3065, 64, 16064, 3},
      {3065, 64, 20060, 4},
      {3064, 64, 24066, 5}}},
    {"gauss_seidel_48", 160, {{20, 48, 601, 0}}, 0.5, {}, {}},
    {"gui_events",
     400,
     {{1060, 256, 3065, 0}, {1060, 256, 10065, 1}, {1060, 256, 17065, 2}},
     0.01,
     {11, 6000000, 0.9},
     {}},
    {"hydro_rows",
     160,
     {{20, 125, 53, 0}, {20, 216, 93, 1}, {20, 125, 62, 2}, {20, 216, 93, 3}},
     0.5,
     {},
     {}},
    {"jacobi_256", 160, {{25, 256, 46300, 0}}, 0.5, {}, {}},
    {"jacobi_32", 160, {{20, 32, 685, 0}}, 0.5, {}, {}},
    {"n_body_512", 160, {{20, 512, 813000, 0}, {20, 512, 690, 1}}, 0.5, {}, {}},
    {"n_body_64", 160, {{20, 64, 12600, 0}, {20, 64, 110, 1}}, 0.5, {}, {}},
    {"places_32", 160, places_32(), 0.5, {}, {}},
    {"random_100_200", 160, {between(200000, 100070)}, 0.97, {}, {}},
    {"random_20_1000", 160, {between(1000000, 20060)}, 0.97, {}, {}},
    {"sizes_in_a_row", 160, sizes_in_a_row(), 0.5, {}, {}},
    {"tenth_100_1000", 160, {between(1000000, 100070)}, 0.1, {}, {}},
    {"tenth_20_200", 160, {between(200000, 20060)}, 0.1, {}, {}},
    {"turns_20_1000", 160, {between(1000070, 20060), between(250070, 20060)}},
};

class replays : public testing::TestWithParam<sequence> {};
INSTANTIATE_TEST_SUITE_P(recorded, replays, testing::ValuesIn(recorded));

TEST_P(replays, what_was_learned_costs_at_most_1_3_of_the_best_fixed_way) {
  replay learner;
  const std::vector<loop> loops = GetParam().loops();
  const double cost = learner.run(loops), best = best_fixed(loops);
  EXPECT_LE(cost, 1.3 * best) << cost / best;
  EXPECT_GE(cost, 0.4 * best) << "the simulation gives something away";
}

}  // namespace
