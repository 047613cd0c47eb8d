// SPDX-License-Identifier: MIT
// lockstep/detail/team/loop_costs.hpp -- what loops cost, and on how many members one pays: pure (layer: team)
//
// A loop pays on several members if what they take off the caller is more than what it costs to have them. Both are
// learned: what an iteration costs at each place in the program (one closure type, in one team), what it costs to
// join members that are awake, and what it takes to wake them. Times are nanoseconds.
//
//   E1  A loop whose place is not known yet is begun on all members that have an iteration each, but nobody is woken
//       for it: the caller sees how long it takes, and wakes them when what is left is worth it.
//   E2  A known loop that would not gain runs on the caller alone. One that would gain with members that are awake,
//       but not with a wake-up, is announced and wakes nobody: who comes by itself may join.
//       What they would have gained is told, for who adds it up.
//   E3  A long share has several parts of about `part_time`: what its member loses when others take parts of it.
//   E4  One strange sample moves what is known by a factor of two at most.
//   E5  What is learned of a place that is not used can be lost to another place: then it is unknown again.
//
// One thread uses an object at a time: the caller that has the turn.
#ifndef LOCKSTEP_DETAIL_TEAM_LOOP_COSTS_HPP
#define LOCKSTEP_DETAIL_TEAM_LOOP_COSTS_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "../platform/config.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// How a loop is to be run.
struct loop_plan {
  std::uint32_t shares = 1;  ///< 1: by the caller alone
  std::uint32_t parts = 1;   ///< of each share
  bool wakes = true;         ///< sleepers at once; else when the loop has turned out to be long
  bool is_timed = false;     ///< the caller measures it
  double missed = 0;         ///< the time that members who sleep would take off the caller
};

/// What is asked for.
struct loop_request {
  std::size_t iterations;
  const void* place;  ///< a number for the closure type
  std::size_t grain;  ///< the fewest iterations of a share; 0: to be learned
  bool can_split;     ///< shares may have several parts
  bool is_fixed;      ///< a share for every member, whatever was learned
};

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

  bool learns() const noexcept { return learns_; }
  std::size_t most_shares() const noexcept { return most_; }

  /// The plan of a loop; `asleep`: whether members sleep that it could use.
  loop_plan plan(const loop_request& of, bool asleep) noexcept {
    loop_plan result;
    const std::size_t most = (std::min)(most_, of.iterations);
    if (of.is_fixed) {
      result.shares = static_cast<std::uint32_t>(
          (std::max)(std::size_t{1}, (std::min)(members_, of.iterations)));
      return result;
    }
    if (of.grain != 0 || !learns_) return by_hand(of, most);
    place& at = at_place(of.place);
    if (!asleep && at.is_as_before(of.iterations)) return at.before;
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
      if (of.can_split) result.parts = (std::max)(result.parts, parts_of(of, shares, 4));
    }
    at.remember(of.iterations, work, result);
    return result;
  }

  /// Whether `left` nanoseconds of work are worth a wake-up.
  bool is_worth_waking(double left) const noexcept { return pays(left, most_, wake_); }

  /// So much time of the caller's went into so many iterations at the place.
  void learn_iterations(const void* place_key, std::size_t iterations, double time) noexcept {
    if (iterations == 0) return;
    place& at = at_place(place_key);
    const double now = (std::max)(time - clock_time, 1.0) / static_cast<double>(iterations);
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
  void learn_join(double time) noexcept {
    const double now = (std::min)(time + clock_time, 4 * join_);
    join_ += (now - join_) / (now < join_ ? 4 : 32);
    join_ = between(least_join, join_, most_join);
  }
  /// So long a member took to come from when the caller began to wake it.
  void learn_wake(double time) noexcept {
    const double now = (std::min)(time, 2 * wake_);
    wake_ += (now - wake_) / 8;
    wake_ = between(least_wake, wake_, most_wake);
  }

  /// Of an iteration at a place; 0: not known.
  double iteration(const void* place_key) const noexcept {
    const std::size_t slot = slot_of(place_key);
    for (const std::size_t each : {slot, slot ^ 1u}) {
      if (places_[each].key == place_key) return places_[each].iteration;
    }
    return 0;
  }
  double join() const noexcept { return join_; }
  double wake() const noexcept { return wake_; }

 private:
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
               ? (std::max)(std::size_t{2}, static_cast<std::size_t>(wanted))
               : most;
  }
  static std::uint32_t parts_of(const loop_request& of, std::size_t shares,
                                double wanted) noexcept {
    const double each = static_cast<double>(of.iterations / shares);
    const double parts = (std::min)((std::min)(wanted, each), static_cast<double>(most_parts));
    return parts < 1 ? 1 : static_cast<std::uint32_t>(parts);
  }
  loop_plan by_hand(const loop_request& of, std::size_t most) const noexcept {
    loop_plan result;
    const std::size_t grain = of.grain != 0 ? of.grain : 1;
    const std::size_t shares = (std::max)(std::size_t{1}, (std::min)(most, of.iterations / grain));
    result.shares = static_cast<std::uint32_t>(shares);
    const std::size_t share = of.iterations / shares;
    if (of.can_split && shares > 1) {
      result.parts = static_cast<std::uint32_t>(
          of.grain != 0
              ? (std::max)(std::size_t{1}, (std::min<std::size_t>)(share / grain, most_parts))
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
  /// In one of two slots; a new one drives out who had the first of them for longer.
  place& at_place(const void* key) noexcept {
    place& first = places_[slot_of(key)];
    if (first.key == key) return first;
    place& second = places_[slot_of(key) ^ 1u];
    if (second.key == key) return second;
    second = first;
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

/// A number for a type: the address of `here`.
template <class Type>
struct type_number {
  static char here;
};
template <class Type>
char type_number<Type>::here = 0;

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TEAM_LOOP_COSTS_HPP
