// SPDX-License-Identifier: MIT
// src/loop/loop_steering.hpp -- measures loops, and decides how the next one is run (layer: loop)
//
// It measures, and looks whether members sleep; loop_costs.hpp makes a plan of what was learned. For team_core.hpp: the
// caller that has the turn uses it, in one loop after another.
//
//   STEER-1  A loop that wakes nobody at its beginning wakes its members as soon as the caller has seen, after a part
//            of it, that what is left is worth a wake-up.
//   STEER-2  Loops that follow each other closely without members that sleep wake them when all of them together have
//            missed as much as a wake-up takes: at most twice the time is lost that way.
//   STEER-3  Where workers may anticipate, the times of loops that they slept through and that were worth joining are
//            noted (missed_loops.hpp). When these loops have missed enough, the workers are woken once, after a loop, read
//            the times, and learn when the next one is due. That has a price: it doubles each time, and halves when members
//            come by themselves. What loops missed belongs to the team, not to a place.
//   STEER-4  A loop of an unknown place is a probe: the caller begins alone, and announces the rest when that is worth
//            it. So a short loop costs no more than some looks at the clock before it is known.
//   STEER-5  When it is known from how many iterations on a place pays on several members, its hint says so
//            (lone_loops.hpp): shorter loops run without a region. Now and then one of them is measured.
//
// Cost   a loop that is not measured: none. Else two or three looks at the clock, 20 to 25 ns each: the first loops of
//        a place, then one in 16, and all that last longer than 10 us. What only those run is compiled for size.
#ifndef LOCKSTEP_SRC_LOOP_LOOP_STEERING_HPP
#define LOCKSTEP_SRC_LOOP_LOOP_STEERING_HPP

#include <cstddef>
#include <cstdint>

#include "../region/region_board.hpp"
#include "lone_loops.hpp"
#include "loop_costs.hpp"
#include "loop_timing.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

class loop_steering {
 public:
  /// `number`: of the team, for hints.
  loop_steering(region_board& forks, const loop_costs::helpers& team, std::uint32_t number)
      : board_(forks), costs_(team), team_(number), timing_(forks) {}
  loop_steering(const loop_steering&) = delete;
  loop_steering& operator=(const loop_steering&) = delete;

  /// Before a loop: how to run it.
  LOCKSTEP_NOINLINE const loop_plan& begin(const loop_request& of) {
    of_ = of;
    is_asleep_ = costs_.most_shares() > 1 && board_.has_sleepers(costs_.most_shares());
    plan_ = costs_.plan(of, is_asleep_);
    if (plan_.missed > 0) add_missed();
    if (of.hint != nullptr && of.hint->is_spent(team_)) plan_.is_timed = true;
    if (is_worth_noting()) plan_.is_timed = true;
    if (plan_.is_timed) begin_to_measure();
    return plan_;
  }
  /// For observers: how the loop is run, and why.
  void tell(const loop_plan& plan) const noexcept;
  /// What is to be told of each part that the caller runs; null: nothing.
  loop_timing* timing() noexcept { return plan_.is_timed ? &timing_ : nullptr; }

  /// In a probe, after so many parts of the caller's share: whether to announce the rest.
  bool is_worth_announcing(std::uint32_t done) noexcept {
    timing_.note_run(done);
    if (!costs_.is_rest_worth(timing_.left_at(timing_.own_end()), is_asleep_)) return false;
    if (is_asleep_) woken_at_ = timing_.own_end();
    return true;
  }
  /// The caller has run all parts of a probe.
  void end_probe() noexcept { timing_.note_run(all_parts()); }

  /// Every share is done; `all_came`: each was begun by its member.
  void end(bool all_came) {
    if (plan_.is_timed) learn(all_came, now());
    if (all_came && !is_asleep_ && plan_.shares > 1 && !plan_.is_probe) price_ /= 2;
    if (is_worth_noting()) note_missed({timing_.start(), timing_.own_end()});
  }

  /// Before shares that are no loop's: whether to wake members that sleep.
  bool begin_shares(const shares_request& of) {
    is_asleep_ = board_.has_sleepers(of.shares);
    plan_ = loop_plan();
    plan_.shares = of.shares;
    if (is_asleep_) {
      plan_sleepers(of.gain);
      shares_begin_ = is_worth_noting() ? now() : 0;
    } else {
      price_ /= 2;
    }
    return plan_.wakes;
  }
  /// They are done.
  void end_shares() {
    if (!is_asleep_) return;
    if (is_worth_noting()) note_missed({shares_begin_, now()});
  }

  /// Whether members slept when this loop began.
  bool were_asleep() const noexcept { return is_asleep_; }

 private:
  static constexpr double least_worth_noting = 1000;
  static constexpr double awake_time = 50000;
  static constexpr unsigned least_noted = anticipation::fewest + 1;
  // Of a wake-up for noted loops, in time that loops missed. The first one costs nearly nothing.
  static constexpr double least_price = 8000, first_price = 60000, most_price = 2000000;

  static std::uint64_t now() { return detail::monotonic_nanoseconds(); }

  void begin_to_measure() {
    timing_.begin(all_parts());
    if (woken_at_ != 0) learn_wake_up();
    if (!is_asleep_ || plan_.shares == 1) return;
    if (plan_.wakes) {
      woken_at_ = timing_.start();
    } else if (!plan_.is_probe) {
      timing_.wake_above(costs_.least_worth_waking(), plan_.shares);
    }
  }
  void plan_sleepers(double gain) {
    if (woken_at_ != 0) learn_wake_up();
    plan_.missed = gain > costs_.wake() ? 0 : gain;
    if (plan_.missed > 0 && has_missed_enough()) plan_.missed = 0;
    plan_.wakes = plan_.missed <= 0;
    if (plan_.wakes) woken_at_ = now();
  }
  void learn(bool all_came, std::uint64_t end) {
    if (timing_.woken_at() != 0) woken_at_ = timing_.woken_at();
    const double own_time = static_cast<double>(timing_.own_end() - timing_.start());
    costs_.learn_iterations(of_.place, iterations_of_own(), own_time);
    if (plan_.shares > 1 && plan_.parts == 1 && of_.can_split && all_came && !is_asleep_) {
      costs_.learn_join(static_cast<double>(end - timing_.own_end()));
    }
    if (of_.hint != nullptr) {
      const loop_costs::lone_loops alone = costs_.lone(of_.place, of_.iterations);
      if (alone.loops > 0) of_.hint->set(team_, alone.most_iterations, alone.loops);
    }
  }

  std::size_t iterations_of_own() const noexcept {
    const std::size_t own = timing_.own_parts();
    return own == all_parts() ? of_.iterations : of_.iterations / all_parts() * own;
  }
  std::size_t all_parts() const noexcept { return std::size_t{plan_.shares} * plan_.parts; }

  /// STEER-2. Members that are awake poll for some 50 us. The clock is looked at when enough was missed: if the loops
  /// that did came further apart on average, they begin anew.
  bool has_missed_enough() noexcept {
    missed_ += plan_.missed;
    ++missed_loops_;
    if (missed_ < costs_.wake()) return false;
    const std::uint64_t before = missed_since_;
    missed_since_ = now();
    const double each = static_cast<double>(missed_since_ - before) / missed_loops_;
    missed_ = missed_loops_ = 0;
    return each < awake_time;
  }
  void add_missed() noexcept {
    if (!has_missed_enough()) return;
    plan_ = costs_.plan(of_, false);
    plan_.is_timed = true;
  }
  void learn_wake_up() {
    const std::uint64_t came = board_.last_coming(1);
    if (came <= woken_at_) return;
    costs_.learn_wake(static_cast<double>(came - woken_at_));
    woken_at_ = 0;
  }
  /// STEER-3.
  bool is_worth_noting() const noexcept {
    return plan_.missed > least_worth_noting && board_.anticipates();
  }
  void note_missed(const missed_loops::span& loop) {
    board_.note_missed(loop);
    ++noted_;
    saved_up_ += plan_.missed;
    if (noted_ < least_noted || saved_up_ < price_ || saved_up_ < least_price) return;
    noted_ = 0;
    saved_up_ = 0;
    price_ = loop_costs::between(first_price, 2 * price_, most_price);
    if (observers() != 0) {
      note_mark(mark_kind::woken, "woken", "they slept through loops", plan_.shares);
    }
    board_.announce_nothing();
  }

  region_board& board_;
  loop_costs costs_;
  const std::uint32_t team_;
  loop_request of_ = {0, nullptr, 0, true, false};
  loop_plan plan_;
  loop_timing timing_;
  bool is_asleep_ = false;
  std::uint64_t woken_at_ = 0;  ///< 0: not, or it is known how long that took
  std::uint64_t missed_since_ = 0;
  double missed_ = 0, missed_loops_ = 0;
  double saved_up_ = 0, price_ = 0;  ///< for a wake-up
  unsigned noted_ = 0;               ///< since the last wake-up
  std::uint64_t shares_begin_ = 0;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_LOOP_LOOP_STEERING_HPP
