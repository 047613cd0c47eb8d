// SPDX-License-Identifier: MIT
// lockstep/detail/team/loop_steering.hpp -- decides how a loop is run, and learns what loops cost (layer: team)
//
// loop_costs is pure: it makes a plan of what it has learned. loop_steering measures, and looks whether members sleep.
// For team_core.hpp: the caller that has the turn uses both, in one loop after another.
//
// A loop pays on several members if what they take off the caller is more than what it costs to have them. Both are
// learned: what an iteration costs at each place in the program (one closure type, in one team), what it costs to
// join members that are awake, and what it takes to wake them. Times are nanoseconds.
//
//   COST-1   A loop of an unknown place begins on all members that get an iteration each. It wakes nobody: the caller
//            measures its own parts, and wakes the others when what is left is worth it.
//   COST-2   A known loop that would not gain runs on the caller alone. One that would gain with members that are
//            awake, but not with a wake-up, is announced and wakes nobody: members that come by themselves join. The
//            plan says what the sleepers would have gained, so that the caller can add it up.
//   COST-3   A long share has several parts of about `part_time`: what its member loses when others take parts of it.
//   COST-4   One strange sample moves what is known by a factor of two at most.
//   COST-5   A place that is not used for long can lose its slot to another place: then it is unknown again.
//   STEER-1  A loop that wakes nobody at its beginning wakes its members as soon as the caller has seen, after a part
//            of it, that what is left is worth a wake-up.
//   STEER-2  Loops that follow each other closely without members that sleep wake them when all of them together have
//            missed as much as a wake-up takes: at most twice the time is lost that way.
//   STEER-3  Where workers may anticipate, and slept through loops that were worth joining, they are woken after the
//            loop, a few times in a row now and then: so they learn when the next ones are due.
//
// Cost   a loop that is not measured: none. Else two or three looks at the clock, 20 to 25 ns each: the first loops of
//        a place, then one in 16, and all that last longer than 10 us. What only those run is compiled for size.
#ifndef LOCKSTEP_DETAIL_TEAM_LOOP_STEERING_HPP
#define LOCKSTEP_DETAIL_TEAM_LOOP_STEERING_HPP

#include <cstddef>
#include <cstdint>

#include "fork_board.hpp"
#include "loop_crew.hpp"
#include "placement.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

class loop_costs {
 public:
  static constexpr double part_time = 8000;
  static constexpr std::uint32_t most_parts = 64, first_parts = 16;

  /// For a team of `members`, of whom `most` can run at once. `learns`: false for always all of those, at once.
  loop_costs(std::size_t members, std::size_t most, bool is_crowded, bool learns) noexcept
      : members_(members),
        most_(most),
        learns_(learns),
        join_(is_crowded ? 2000.0 : 150.0 + 25.0 * static_cast<double>(most)) {}

  std::size_t most_shares() const noexcept { return most_; }

  /// The plan of a loop; `asleep`: whether members sleep that it could use.
  loop_plan plan(const loop_request& of, bool asleep) noexcept {
    if (of.is_fixed || of.grain != 0 || !learns_) return by_request(of);
    if (!asleep) {
      place& at = at_place(of.place);
      if (at.is_as_before(of.iterations)) return at.before;
    }
    return by_costs(of, asleep);
  }

  /// Whether `left` nanoseconds of work are worth a wake-up.
  bool is_worth_waking(double left) const noexcept { return pays(left, most_, wake_); }

  /// So much time of the caller's went into so many iterations at the place.
  LOCKSTEP_COLD void learn_iterations(const void* place_key, std::size_t iterations,
                                      double time) noexcept {
    if (iterations == 0) return;
    place& at = at_place(place_key);
    const double now = larger(time - clock_time, 1.0) / static_cast<double>(iterations);
    at.steady = 0;
    if (at.samples == 0) {
      at.iteration = now;
    } else if (now > 2 * at.iteration) {
      at.iteration *= 2;
    } else if (2 * now < at.iteration) {
      at.iteration /= 2;
    } else {
      at.iteration += (now - at.iteration) / 4;
      at.steady = 1;
    }
    if (at.samples < young) ++at.samples;
    at.skipped = 0;
    at.iterations = 0;
  }
  /// So long the caller waited for members that were awake, after its own share.
  LOCKSTEP_COLD void learn_join(double time) noexcept {
    const double now = lesser(time + clock_time, 4 * join_);
    join_ += (now - join_) / (now < join_ ? 4 : 32);
    join_ = between(least_join, join_, most_join);
  }
  /// So long a member took to come from when the caller began to wake it.
  LOCKSTEP_COLD void learn_wake(double time) noexcept {
    const double now = lesser(time, 2 * wake_);
    wake_ += (now - wake_) / 8;
    wake_ = between(least_wake, wake_, most_wake);
  }

  double wake() const noexcept { return wake_; }

 private:
  friend struct learned_costs;  // of tests

  static constexpr double clock_time = 20, least_join = 40, most_join = 50000;
  static constexpr double least_wake = 5000, most_wake = 1000000, least_for_late_members = 3000;
  static constexpr double always_timed = 10000;
  static constexpr unsigned places = 64, young = 4, loops_per_sample = 16;

  struct place {
    const void* key = nullptr;
    double iteration = 0;
    std::uint8_t samples = 0;
    std::uint8_t skipped = 0;
    std::uint8_t steady = 0;
    std::size_t iterations = 0;  ///< of the loop before, if it was planned by what is known
    loop_plan before;

    /// Whether `before` is right for so many iterations, and it is not time to measure.
    bool is_as_before(std::size_t now) noexcept {
      return now == iterations && steady != 0 && ++skipped < loops_per_sample;
    }
    void remember(std::size_t now, double work, const loop_plan& plan) noexcept {
      const bool is_short =
          work <= always_timed && plan.parts == 1 && plan.wakes && plan.missed <= 0;
      iterations = is_short && samples == young ? now : 0;
      before = plan;
      before.is_timed = false;
    }
    bool is_due(double work) noexcept {
      if (samples < young || steady == 0 || work > always_timed || skipped >= loops_per_sample)
        return true;
      ++skipped;
      return false;
    }
  };

  // <algorithm> takes a tenth of the time that this library's headers take to compile.
  template <class T>
  static T lesser(T a, T b) noexcept {
    return b < a ? b : a;
  }
  template <class T>
  static T larger(T a, T b) noexcept {
    return a < b ? b : a;
  }
  static double between(double least, double value, double most) noexcept {
    return value < least ? least : value > most ? most : value;
  }
  static bool pays(double work, std::size_t shares, double cost) noexcept {
    return work - work / static_cast<double>(shares) > cost;
  }
  /// All of them, or fewer where a share would be less than what it costs to have a member more.
  std::size_t shares_for(double work, std::size_t most) const noexcept {
    if (!pays(work, most, join_)) return 1;
    const double least_share = join_ / static_cast<double>(most_);
    const double wanted = work / least_share;
    return wanted < static_cast<double>(most)
               ? larger(std::size_t{2}, static_cast<std::size_t>(wanted))
               : most;
  }
  static std::uint32_t parts_of(const loop_request& of, std::size_t shares,
                                double wanted) noexcept {
    const double each = static_cast<double>(of.iterations / shares);
    const double parts = lesser(lesser(wanted, each), static_cast<double>(most_parts));
    return parts < 1 ? 1 : static_cast<std::uint32_t>(parts);
  }
  LOCKSTEP_COLD loop_plan by_costs(const loop_request& of, bool asleep) noexcept {
    loop_plan result;
    const std::size_t most = lesser(most_, of.iterations);
    place& at = at_place(of.place);
    const double work = at.iteration * static_cast<double>(of.iterations);
    result.is_timed = at.is_due(work);
    if (most < 2) return result;
    if (at.samples == 0) {
      result.shares = static_cast<std::uint32_t>(most);
      result.parts = of.can_split ? parts_of(of, most, first_parts) : 1;
      result.wakes = !asleep || !of.can_split;
      return result;
    }
    const std::size_t shares = shares_for(work, most);
    if (shares < 2) {
      if (result.is_timed) join_ -= (join_ - least_join) / 64;  // so that it is tried again
      at.remember(of.iterations, work, result);
      return result;
    }
    if (asleep && !pays(work, most, wake_)) {
      result.missed = work - work / static_cast<double>(shares);
      result.is_timed = true;
      if (work < least_for_late_members) return result;
    }
    result.shares = static_cast<std::uint32_t>(shares);
    const double share = work / static_cast<double>(shares);
    if (of.can_split && share > 2 * part_time) {
      result.parts = parts_of(of, shares, share / part_time);
    }
    if (result.missed > 0) {
      result.wakes = false;
      if (of.can_split) result.parts = larger(result.parts, parts_of(of, shares, 4));
    }
    at.remember(of.iterations, work, result);
    return result;
  }
  /// Without what was learned.
  LOCKSTEP_NOINLINE loop_plan by_request(const loop_request& of) const noexcept {
    loop_plan result;
    if (of.is_fixed) {
      result.shares =
          static_cast<std::uint32_t>(larger(std::size_t{1}, lesser(members_, of.iterations)));
      return result;
    }
    const std::size_t most = lesser(most_, of.iterations);
    const std::size_t grain = of.grain != 0 ? of.grain : 1;
    const std::size_t shares = larger(std::size_t{1}, lesser(most, of.iterations / grain));
    result.shares = static_cast<std::uint32_t>(shares);
    const std::size_t share = of.iterations / shares;
    if (of.can_split && shares > 1) {
      result.parts = static_cast<std::uint32_t>(
          of.grain != 0   ? larger(std::size_t{1}, lesser<std::size_t>(share / grain, most_parts))
          : share >= 1024 ? 8
                          : 1);
    }
    return result;
  }

  static std::size_t slot_of(const void* key) noexcept {
    const std::uint64_t mixed =
        static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(key)) * 0x9E3779B97F4A7C15u;
    return static_cast<std::size_t>(mixed >> 32) % places;
  }
  /// A place is in one of two slots.
  place& at_place(const void* key) noexcept {
    const std::size_t slot = slot_of(key);
    if (places_[slot].key == key) return places_[slot];
    if (places_[slot ^ 1u].key == key) return places_[slot ^ 1u];
    return new_place(slot, key);
  }
  /// The place that was in the first slot moves to the second one, and drives out what was there.
  LOCKSTEP_COLD place& new_place(std::size_t slot, const void* key) noexcept {
    place& first = places_[slot];
    places_[slot ^ 1u] = first;
    first = place();
    first.key = key;
    return first;
  }

  const std::size_t members_, most_;
  const bool learns_;
  double join_;
  double wake_ = 50000;
  place places_[places];
};

class loop_steering final : public part_listener {
 public:
  loop_steering(fork_board& forks, const resolved_team& made) noexcept
      : forks_(forks), costs_(made.members, made.can_run_at_once, made.is_crowded, made.learns) {}
  loop_steering(const loop_steering&) = delete;
  loop_steering& operator=(const loop_steering&) = delete;

  /// Before a loop: how to run it.
  LOCKSTEP_NOINLINE const loop_plan& begin(const loop_request& of) {
    of_ = of;
    is_asleep_ = costs_.most_shares() > 1 && forks_.has_sleepers(costs_.most_shares());
    plan_ = costs_.plan(of, is_asleep_);
    may_wake_ = is_asleep_ && plan_.shares > 1 && !plan_.wakes;
    if (!is_asleep_ && plan_.shares > 1) pause_ = 0;
    if (plan_.is_timed) begin_to_measure();
    return plan_;
  }
  /// What after_part() is to be called for; null: nothing.
  part_listener* listener() noexcept { return plan_.is_timed ? this : nullptr; }

  /// Requires: the loop is measured.
  void after_part(bool is_own) override {
    ++parts_;
    if (is_own) {
      ++own_parts_;
      own_end_ = now();
    }
    if (may_wake_) wake_if_long(is_own ? own_end_ : now());
  }

  /// Every share is done; `all_came`: each was begun by its member.
  void end(bool all_came) {
    if (plan_.is_timed) learn(all_came, now());
  }

  /// Before shares that are no loop's: whether to wake members that sleep.
  bool begin_shares(const shares_request& of) {
    is_asleep_ = forks_.has_sleepers(of.shares);
    plan_ = loop_plan();
    plan_.shares = of.shares;
    if (is_asleep_) {
      plan_sleepers(of.gain);
    } else {
      pause_ = 0;
    }
    return plan_.wakes;
  }
  /// They are done.
  void end_shares() {
    if (!is_asleep_) return;
    own_end_ = now();
    if (plan_.missed > least_worth_joining / 2) teach();
  }

  /// Whether members slept when this loop began.
  bool were_asleep() const noexcept { return is_asleep_; }

 private:
  static constexpr double least_worth_joining = 2000;
  static constexpr std::uint64_t awake_time = 50000;
  static constexpr unsigned lessons = 8, first_pause = 16, most_pause = 128;

  static std::uint64_t now() { return detail::monotonic_nanoseconds(); }

  LOCKSTEP_COLD void begin_to_measure() {
    parts_ = own_parts_ = 0;
    last_end_ = own_end_;
    start_ = own_end_ = now();
    if (plan_.missed > 0 && has_missed_enough()) {
      plan_ = costs_.plan(of_, false);
      plan_.is_timed = true;
      may_wake_ = false;
    }
    if (woken_at_ != 0) learn_wake_up();
    if (is_asleep_ && plan_.shares > 1 && plan_.wakes) woken_at_ = start_;
  }
  LOCKSTEP_COLD void plan_sleepers(double gain) {
    last_end_ = own_end_;
    start_ = now();
    if (woken_at_ != 0) learn_wake_up();
    plan_.missed = gain > costs_.wake() ? 0 : gain;
    if (plan_.missed > 0 && has_missed_enough()) plan_.missed = 0;
    plan_.wakes = plan_.missed <= 0;
    if (plan_.wakes) woken_at_ = start_;
  }
  LOCKSTEP_COLD void learn(bool all_came, std::uint64_t end) {
    const double own_time = static_cast<double>(own_end_ - start_);
    costs_.learn_iterations(of_.place, iterations_of_own(), own_time);
    if (plan_.shares > 1 && plan_.parts == 1 && of_.can_split && all_came && !is_asleep_) {
      costs_.learn_join(static_cast<double>(end - own_end_));
    }
    if (may_wake_ && own_time > least_worth_joining) teach();
  }

  std::size_t iterations_of_own() const noexcept {
    const std::size_t parts = std::size_t{plan_.shares} * plan_.parts;
    return own_parts_ == parts ? of_.iterations : of_.iterations / parts * own_parts_;
  }

  /// STEER-2. Members that are awake poll for some 50 us.
  bool has_missed_enough() noexcept {
    missed_ = start_ - last_end_ < awake_time ? missed_ + plan_.missed : plan_.missed;
    if (missed_ < costs_.wake()) return false;
    missed_ = 0;
    return true;
  }
  LOCKSTEP_COLD void wake_if_long(std::uint64_t at) {
    const double each = static_cast<double>(at - start_) / static_cast<double>(parts_);
    const std::size_t left = std::size_t{plan_.shares} * plan_.parts - parts_;
    if (!costs_.is_worth_waking(each * static_cast<double>(left))) return;
    may_wake_ = false;
    woken_at_ = at;
    forks_.wake(plan_.shares);
  }
  void learn_wake_up() {
    const std::uint64_t came = forks_.last_coming(1);
    if (came <= woken_at_) return;
    costs_.learn_wake(static_cast<double>(came - woken_at_));
    woken_at_ = 0;
  }
  /// STEER-3. The pauses between such rows grow, until members have come by themselves again.
  void teach() {
    if (!forks_.anticipates()) return;
    if (pause_ == 0) {
      pause_ = first_pause;
      lessons_left_ = lessons;
    }
    if (lessons_left_ == 0 && --rest_ > 0) return;
    if (lessons_left_ == 0) lessons_left_ = lessons;
    if (--lessons_left_ == 0) {
      rest_ = pause_;
      pause_ = 2 * pause_ < most_pause ? 2 * pause_ : most_pause;
    }
    forks_.wake(plan_.shares);
  }

  fork_board& forks_;
  loop_costs costs_;
  loop_request of_ = {0, nullptr, 0, true, false};
  loop_plan plan_;
  bool is_asleep_ = false;
  bool may_wake_ = false;
  std::size_t parts_ = 0, own_parts_ = 0;
  std::uint64_t start_ = 0, own_end_ = 0, last_end_ = 0;
  std::uint64_t woken_at_ = 0;  ///< 0: not, or it is known how long that took
  double missed_ = 0;
  unsigned pause_ = 0, rest_ = 0, lessons_left_ = 0;  ///< in loops; no pause: members were there
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TEAM_LOOP_STEERING_HPP
