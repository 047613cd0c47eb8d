// SPDX-License-Identifier: MIT
// src/loop/loop_costs.hpp -- what loops cost, and on how many members they pay (layer: loop)
//
// Pure: it makes a plan of what it has learned. loop_steering.hpp measures.
//
// A loop pays on several members if what they take off the caller is more than what it costs to have them. Both are
// learned: what an iteration costs at each place in the program (one closure type, in one team), what it costs to
// join members that are awake, and what it takes to wake them. Times are nanoseconds.
//
//   COST-1   A loop of an unknown place is planned for all members that get an iteration each. The caller measures its
//            own parts. Where shares have several it begins alone, as a probe: it announces the loop when what is left
//            is worth that. Else it announces the loop at once and wakes nobody until what is left is worth it. A place
//            is known from its second sample on: the first one has cold caches. Where even that was short, the
//            second loop runs on the caller.
//   COST-2   A known loop that would not gain runs on the caller alone. So does one that would gain with members that
//            are awake, but not with a wake-up; a longer one is announced then and wakes nobody, and members that come
//            by themselves join. The plan says what the sleepers would have gained, so that the caller can add it up.
//   COST-3   A long share has several parts of about `part_time`: what its member loses when others take parts of it.
//   COST-4   One strange sample moves what is known by a factor of two at most. Of a young place a lower one is
//            believed: what is not the loop's only makes it longer.
//   COST-5   Of the places that share a set the oldest can lose its slot to a new one: then it is unknown again.
//   COST-6   Loops run alone without being asked about, by their place's hint, as long as they are below the break-even
//            with members that are awake; and for some 100 us in all, then one is measured.
#ifndef LOCKSTEP_SRC_LOOP_LOOP_COSTS_HPP
#define LOCKSTEP_SRC_LOOP_LOOP_COSTS_HPP

#include <cstddef>
#include <cstdint>

#include <lockstep/detail/platform/cache_line.hpp>
#include "loop_request.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

class loop_costs {
 public:
  static constexpr double part_time = 8000;
  static constexpr std::uint32_t most_parts = 64, first_parts = 8;

  /// Of the team that the loops are for.
  struct helpers {
    std::size_t members;
    std::size_t at_once;  ///< how many of them can run at the same time
    bool are_crowded;
    bool learns;  ///< false: a loop always has all that can run at once
  };

  explicit loop_costs(const helpers& of)
      : members_(of.members),
        most_(of.at_once),
        learns_(of.learns),
        first_join_(of.are_crowded ? 2000.0 : 150.0 + 25.0 * static_cast<double>(of.at_once)),
        join_(first_join_) {}

  std::size_t most_shares() const noexcept { return most_; }

  /// The plan of a loop; `asleep`: whether members sleep that it could use.
  loop_plan plan(const loop_request& of, bool asleep) noexcept {
    if (of.is_fixed || of.grain != 0 || !learns_) return by_request(of);
    if (!asleep) {
      place& at = at_place(of.place);
      if (at.is_as_before(of.iterations)) {
        loop_plan before;
        before.shares = at.shares;
        return before;
      }
    }
    return by_costs(of, asleep);
  }

  /// More nanoseconds of work than that are worth a wake-up.
  double least_worth_waking() const noexcept {
    return most_ > 1 ? wake_ / (1 - 1 / static_cast<double>(most_)) : never;
  }
  bool is_worth_waking(double left) const noexcept { return pays(left, most_, wake_); }
  /// Whether the rest of a probe is worth announcing: the first time in a loop is no fair sample.
  bool is_rest_worth(double left, bool asleep) const noexcept {
    return asleep ? is_worth_waking(left) : pays(left, most_, larger(join_, dear_announcement));
  }

  /// COST-6: which loops at a place may run alone, and how many.
  struct lone_loops {
    double most_iterations;
    std::uint32_t loops;
  };
  lone_loops lone(const void* place_key, std::size_t iterations) noexcept {
    const place& at = at_place(place_key);
    if (at.samples < known || !learns_) return {0, 0};
    const double work = at.iteration * static_cast<double>(iterations);
    const double join = lesser(join_, 2 * first_join_);
    const double most = most_ > 1 ? join / (1 - 1 / static_cast<double>(most_)) : unmeasured;
    const double often = at.steady != 0 ? most_lone : least_lone;
    return {most / at.iteration,
            static_cast<std::uint32_t>(between(least_lone, unmeasured / work, often))};
  }

  /// So much time of the caller's went into so many iterations at the place.
  void learn_iterations(const void* place_key, std::size_t iterations, double time) noexcept {
    if (iterations == 0) return;
    place& at = at_place(place_key);
    const double now = larger(time - clock_time, 1.0) / static_cast<double>(iterations);
    at.steady = 0;
    if (at.samples == 0 || (at.samples < young && now < at.iteration)) {
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
    const double now = lesser(time + clock_time, 4 * join_);
    join_ += (now - join_) / (now < join_ ? 4 : 32);
    join_ = between(least_join, join_, most_join);
  }
  /// So long a member took to come from when the caller began to wake it.
  void learn_wake(double time) noexcept {
    const double now = lesser(time, 2 * wake_);
    wake_ += (now - wake_) / 8;
    wake_ = between(least_wake, wake_, most_wake);
  }

  double wake() const noexcept { return wake_; }

  static double between(double least, double value, double most) noexcept {
    return value < least ? least : value > most ? most : value;
  }

 private:
  friend struct learned_costs;  // of tests

  static constexpr double clock_time = 20, least_join = 100, most_join = 50000;
  static constexpr double least_wake = 5000, most_wake = 1000000, least_for_late_members = 40000;
  static constexpr double always_timed = 10000, dear_announcement = 4000;
  static constexpr double unmeasured = 100000, least_lone = 8, most_lone = 256;
  static constexpr double never = 1e300;
  static constexpr unsigned sets = 128, ways = 4, known = 2, young = 4, loops_per_sample = 16;

  struct place {
    const void* key = nullptr;
    double iteration = 0;
    std::uint8_t samples = 0;
    std::uint8_t skipped = 0;
    std::uint8_t steady = 0;
    std::uint32_t shares = 1;    ///< of the loop before
    std::size_t iterations = 0;  ///< of it, if it was short and planned by what is known

    /// Whether a loop of so many iterations has as many shares again, and it is not time to measure.
    bool is_as_before(std::size_t now) noexcept {
      return now == iterations && steady != 0 && ++skipped < loops_per_sample;
    }
    void remember(std::size_t now, double work, const loop_plan& plan) noexcept {
      const bool is_short =
          work <= always_timed && plan.parts == 1 && plan.wakes && plan.missed <= 0;
      iterations = is_short && samples == young ? now : 0;
      shares = plan.shares;
    }
    bool is_due(double work) noexcept {
      if (samples < young || steady == 0 || work > always_timed || skipped >= loops_per_sample)
        return true;
      ++skipped;
      return false;
    }
  };

  // <algorithm> takes a tenth of the time that this library's headers take to compile.
  template <class Type>
  static Type lesser(Type a, Type b) noexcept {
    return b < a ? b : a;
  }
  template <class Type>
  static Type larger(Type a, Type b) noexcept {
    return a < b ? b : a;
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
  loop_plan by_costs(const loop_request& of, bool asleep) noexcept {
    loop_plan result;
    const std::size_t most = lesser(most_, of.iterations);
    place& at = at_place(of.place);
    const double work = at.iteration * static_cast<double>(of.iterations);
    result.is_timed = at.is_due(work);
    if (most < 2) return result;
    if (at.samples < known) {
      result.is_timed = true;
      if (at.samples > 0 && !is_rest_worth(work, false)) return result;
      result.shares = static_cast<std::uint32_t>(most);
      result.parts = of.can_split ? parts_of(of, most, first_parts) : 1;
      result.is_probe = result.parts == first_parts;
      result.wakes = !asleep || !of.can_split;
      return result;
    }
    const std::size_t shares = shares_for(work, most);
    if (shares < 2) {
      if (result.is_timed && join_ > first_join_)
        join_ -= (join_ - first_join_) / 64;  // tried again
      at.remember(of.iterations, work, result);
      return result;
    }
    if (asleep && !pays(work, most, wake_)) {
      result.missed = larger(work - work / static_cast<double>(shares) - join_, 1.0);
      if (work < least_for_late_members) return result;
      result.is_timed = true;
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

  static std::size_t set_of(const void* key) noexcept {
    const std::uint64_t mixed =
        converted<std::uint64_t>(reinterpret_cast<std::uintptr_t>(key)) * 0x9E3779B97F4A7C15u;
    return converted<std::size_t>(mixed >> 32) % sets;
  }
  /// A place is somewhere in its set.
  place& at_place(const void* key) noexcept {
    place* const set = places_[set_of(key)].ways;
    for (unsigned way = 0; way < ways; ++way) {
      if (set[way].key == key) return set[way];
    }
    return new_place(set, key);
  }
  /// It comes first in its set, and drives out the one that came before all others.
  static place& new_place(place* set, const void* key) noexcept {
    for (unsigned way = ways - 1; way > 0; --way) set[way] = set[way - 1];
    set[0] = place();
    set[0].key = key;
    return set[0];
  }

  const std::size_t members_, most_;
  const bool learns_;
  const double first_join_;
  double join_;
  double wake_ = 50000;
  struct place_set {
    place ways[loop_costs::ways];
  };
  aligned_array<place_set> places_{
      sets};  // apart: the team's own words are to stay close to each other
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_LOOP_LOOP_COSTS_HPP
