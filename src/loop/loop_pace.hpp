// SPDX-License-Identifier: MIT
// src/loop/loop_pace.hpp -- what loops cost, on how many members they pay, and when sleepers are woken for them (layer: loop)
//
// Pure: observations in, decisions out; times are nanoseconds. A loop pays on several members if they save the caller
// more time than they cost. So a team learns the cost of members that are awake, and the cost of a wake-up. Each place
// of the program (leaf_loop.hpp) learns the cost of an iteration. loop_crew.hpp measures.
//
//   PACE-1  A loop of an unknown place is planned for all members that get an iteration each. The caller measures its
//           own parts. If a share has `first_parts` parts, the caller begins alone: a probe. It announces the loop when
//           the rest is worth it. A loop with fewer parts is announced at once. It wakes sleepers when the rest is
//           worth it; if shares cannot be split, it wakes them at once. The first sample of a place has cold caches, so
//           the place is known from its second one on. If even the first was short, the second loop runs on the caller.
//   PACE-2  A known loop that would not gain runs on the caller alone. So does a loop that gains with members that are
//           awake but is not worth a wake-up. If that loop is long, it is announced and wakes nobody: members that
//           wake up by themselves join. The plan says what the sleepers would have gained.
//   PACE-3  A long share has several parts of `part_time` to twice that. A member loses about that when others take its
//           parts. Their number is a power of two, so that the parts of a reduction are nodes of its tree, or nearly: with
//           three leaves in each part one of 4096 iterations takes 1.3 times as long as with four (decision 0070).
//   PACE-4  One strange sample changes what is known by a factor of two at most. A young place takes a lower sample as
//           it is: disturbances only make a loop longer. A short share teaches only that an iteration costs less: its data
//           may have come from other CPUs. Otherwise a loop that is slow because it is shared would look long, and be
//           shared for that. A join is all that a loop on awake members takes beyond a share of what it takes alone: the
//           announcement, data that move, the wait. It takes no less if no member comes. Each measured loop that does
//           not pay makes it lower, so that it is tried again.
//   PACE-5  Loops below the break-even of members that are awake run alone, without a plan. After some 100 us of them
//           one is measured. While members sleep, so do loops that would miss too little to be told: 1 us, or a 1500th of
//           the time between them, up to 4 us. A plan whose code is no longer in the caches takes 2 to 4 us. The shorter
//           of the last two gaps counts, so that the first loop of a burst is told.
//   PACE-6  Loops may run on their caller while members sleep. When such loops have missed enough, the members are woken
//           once, after a loop: if loops follow each other closely, they take part in the next one, and workers that
//           anticipate learn when it is due. The price in missed time doubles each time, and halves when members come by
//           themselves. What loops missed belongs to the team, not to a place.
//   PACE-7  Loops of several places may use the same data. As long as some are shared, each looks long where it runs alone,
//           since its data are elsewhere. So after 128 shared loops below 4 us, 256, and so on up to 8192, all of
//           them run alone for 60 us, and are measured. The first that pays then wakes the members.
#ifndef LOCKSTEP_SRC_LOOP_LOOP_PACE_HPP
#define LOCKSTEP_SRC_LOOP_LOOP_PACE_HPP

#include <cstddef>
#include <cstdint>

#include <lockstep/call_site.hpp>
#include <lockstep/detail/loop/leaf_loop.hpp>
#include "../base/numbers.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

struct loop_ends;  // of loop_crew.hpp

/// What the caller of a loop asks for.
struct loop_request {
  std::size_t iterations;
  /// Learns what the loop costs; null: there is a share for every member, whatever was learned.
  place_pace* place;
  std::size_t grain;   ///< the fewest iterations of a share; 0: to be learned
  bool can_split;      ///< shares may have several parts
  source_place where;  ///< for observers
  const loop_ends* ends;
  // Of a plan, whose shares are run like those of a loop.
  bool is_plan = false;
  double gain = 1e300;  ///< the nanoseconds that members save when they come; not known by default

  loop_request(std::size_t length, place_pace* at, std::size_t least, bool splits,
               source_place from, const loop_ends* around = nullptr) noexcept
      : iterations(length), place(at), grain(least), can_split(splits), where(from), ends(around) {}
};

/// How a loop is to be run.
struct loop_plan {
  std::uint32_t shares = 1;  ///< 1: by the caller alone
  std::uint32_t parts = 1;   ///< of each share
  bool wakes = true;  ///< wakes sleepers at once; false: only when the loop turns out to be long
  bool is_timed = false;  ///< the caller measures it
  /// The caller begins alone. It announces the loop when the rest is worth it.
  bool is_probe = false;
  double missed = 0;      ///< the time that sleeping members would save the caller
  double share_time = 0;  ///< what a share is to take; 0: the loop teaches nothing about joins
};

class loop_pace {
 public:
  static constexpr double part_time = 8000;
  static constexpr std::uint32_t most_parts = 64, first_parts = 8;

  /// The team that runs the loops.
  struct helpers {
    std::size_t members;
    std::size_t at_once;  ///< how many of them can run at the same time
    bool are_crowded;
    bool learns;           ///< false: a loop always gets all members that can run at once
    std::uint32_t number;  ///< by which places know the team (leaf_loop.hpp)
  };

  explicit loop_pace(const helpers& of) noexcept
      : team_(of),
        least_join_(50.0 * static_cast<double>(of.at_once)),
        join_(of.are_crowded ? 2000.0 : 2 * least_join_) {}

  const helpers& its_team() const noexcept { return team_; }
  double join() const noexcept { return join_; }
  double wake() const noexcept { return wake_; }

  /// The plan of a loop. `asleep`: members that it could use are asleep.
  LOCKSTEP_HOT loop_plan plan(const loop_request& of, bool asleep) noexcept {
    if (of.place == nullptr || of.grain != 0 || !team_.learns) return by_request(of, asleep);
    loop_plan result;
    const std::size_t most = lesser(team_.at_once, of.iterations);
    place_pace::cost at = of.place->look();
    const double work = at.iteration * static_cast<double>(of.iterations);
    loops_since_ = of.place->is_spent(team_.number) ? loops_per_sample : 1;
    result.is_timed = is_due(at, work) || loops_since_ > 1;
    if (!result.is_timed) {
      ++at.skipped;
      of.place->keep(at);
    }
    if (most < 2) return result;
    if (at.samples < known) {
      if (at.samples > 0 && !is_rest_worth(work, false)) return result;
      result.shares = static_cast<std::uint32_t>(most);
      result.parts = of.can_split ? parts_of(of, most, first_parts) : 1;
      result.is_probe = result.parts == first_parts;
      result.wakes = !asleep || !of.can_split;
      return result;
    }
    const std::size_t shares = shares_for(work, most);
    const double gain = work - work / static_cast<double>(shares) - join_;
    const bool sleeps_on = asleep && !is_after_trial_;
    if (gain < (sleeps_on ? told_above_ : 0)) {
      let_alone(*of.place, at, work, asleep);
      if (result.is_timed) join_ -= (join_ - least_join_) / 64;  // it is tried again
      if (asleep) result.missed = larger(gain, 0.0);
      return result;
    }
    if (is_trial(work, asleep)) {
      result.is_timed = true;
      return result;
    }
    double parts = work / static_cast<double>(shares) / part_time;
    if (sleeps_on && !pays(work, most, wake_)) {
      result.missed = gain;
      if (work < least_for_late_members) return result;
      result.wakes = false;  // until it turns out to be long: a loop of that length is timed
      parts = larger(parts, 4.0);
    }
    is_after_trial_ = false;
    result.shares = static_cast<std::uint32_t>(shares);
    if (of.can_split && parts > 2) result.parts = parts_of(of, shares, parts);
    if (asleep || !of.can_split || result.parts > 1) return result;
    result.share_time = work / static_cast<double>(shares);
    result.is_timed |= shared_++ < enough_shared;
    return result;
  }

  /// Whether what is left of a loop is worth announcing, or a wake-up where members sleep. To announce the rest of a probe,
  /// it must be worth more than usual: a first run is no fair sample.
  bool is_rest_worth(double left, bool asleep) const noexcept {
    return pays(left, team_.at_once, asleep ? wake_ : larger(join_, dear_announcement));
  }

  /// The caller has needed `time` for that many iterations at the place. Updates what the place knows (PACE-4), and which
  /// loops of the team may run alone (PACE-5). `asleep`: as in plan().
  void learn_iterations(place_pace& place, std::size_t iterations, double time,
                        bool is_short_share = false, bool asleep = false) noexcept {
    if (iterations == 0) return;
    place_pace::cost at = place.look();
    const double before = at.iteration;
    double now = larger(time - clock_time, 1.0) / static_cast<double>(iterations);
    if (is_short_share && at.samples >= known) now = lesser(now, before);
    const bool is_first = at.samples == 0 || (at.samples < young && now < before);
    const bool is_strange = now > 2 * before || 2 * now < before;
    at.steady = !is_first && !is_strange ? 1 : 0;
    const double believed = is_first     ? now
                            : is_strange ? between(before / 2, now, before * 2)
                                         : before + (now - before) / 4;
    at.iteration = static_cast<float>(lesser(believed, longest));
    if (at.samples < young) ++at.samples;
    at.skipped = 0;
    place.keep(at);
    if (at.samples < known || !team_.learns) return;
    let_alone(place, at, at.iteration * static_cast<double>(iterations), asleep);
  }
  /// A loop was announced to members that were awake, and `took` that long. A share was to take `share_time`.
  void learn_join(std::uint64_t took, double share_time) noexcept {
    const double time = static_cast<double>(took) - share_time;
    join_ = between(least_join_, join_ + (lesser(time, 2 * join_) - join_) / 8, most_join);
  }
  /// `time`: from the caller's wake-up call until the member came.
  void learn_wake(double time) noexcept {
    wake_ = between(least_wake, wake_ + (lesser(time, 2 * wake_) - wake_) / 8, most_wake);
  }

  /// The loop that was planned is measured, and began so long after the last such one. PACE-5.
  void began_after(double time) noexcept {
    time /= loops_since_;
    told_above_ = between(least_told, lesser(time, last_gap_) * untold_share, most_untold);
    last_gap_ = time;
  }
  /// Whether a loop that missed so much while members slept is told to them.
  bool is_worth_telling(double missed) const noexcept { return missed > told_above_; }
  /// A loop has missed `missed` while members slept. True if they are to be woken. PACE-6.
  bool is_worth_waking_after(double missed) noexcept {
    saved_up_ += missed;
    if (saved_up_ < larger(price_, least_price)) return false;
    saved_up_ = 0;
    price_ = between(first_price, 2 * price_, most_price);
    return true;
  }
  void came_by_themselves() noexcept { price_ /= 2; }

 private:
  static constexpr double least_told = 1000, most_untold = 4000, untold_share = 1.0 / 1500;
  static constexpr double clock_time = 20, most_join = 50000;
  static constexpr double least_wake = 5000, most_wake = 1000000, least_for_late_members = 40000;
  static constexpr double always_timed = 10000, dear_announcement = 4000, longest_trial = 4000;
  static constexpr double unmeasured = 100000, longest_lone = 2000, trial_time = 60000,
                          longest = 1e30;
  static constexpr unsigned known = 2, young = 4, loops_per_sample = 16;
  static constexpr unsigned least_lone = 8, most_lone = 256, enough_shared = 8;
  static constexpr unsigned first_trial_after = 128, most_trial_after = 8192;
  // Prices of a wake-up after a loop, in time that loops missed. The first one costs nearly nothing.
  static constexpr double least_price = 8000, first_price = 60000, most_price = 2000000;

  static bool is_due(const place_pace::cost& at, double work) noexcept {
    return at.samples < young || at.steady == 0 || work > always_timed ||
           at.skipped >= loops_per_sample;
  }
  static bool pays(double work, std::size_t shares, double cost) noexcept {
    return work - work / static_cast<double>(shares) > cost;
  }
  /// Whether a short loop that gains runs alone for all that: PACE-7.
  bool is_trial(double work, bool asleep) noexcept {
    if (work > longest_trial || (asleep && trial_left_ <= 0)) return false;
    if (trial_left_ <= 0) {
      if (--until_trial_ > 0) return false;
      until_trial_ = trial_after_ = lesser(2 * trial_after_, most_trial_after);
      trial_left_ = trial_time;
      is_after_trial_ = true;
    }
    trial_left_ -= work;
    return true;
  }
  /// Loops of the place may run alone: PACE-5. `work`: of the last one.
  void let_alone(place_pace& place, const place_pace::cost& at, double work,
                 bool asleep) const noexcept {
    const double saved = larger(1 - 1 / static_cast<double>(team_.at_once), 1e-9);
    const double most = lesser(join_, longest_lone) + (asleep ? told_above_ : 0);
    const double most_loops = at.steady != 0 ? most_lone : least_lone;
    const double loops = between(least_lone, unmeasured / larger(work, 1.0), most_loops);
    const double iterations = larger(most / saved / at.iteration, 1.0);  // one helps nobody
    place.allow(team_.number, iterations, static_cast<std::uint32_t>(loops));
  }
  /// All members, or fewer if a share would take less time than one more member costs.
  std::size_t shares_for(double work, std::size_t most) const noexcept {
    const double wanted = work * static_cast<double>(team_.at_once) / join_;
    return static_cast<std::size_t>(between(2, wanted, static_cast<double>(most)));
  }
  static std::uint32_t parts_of(const loop_request& of, std::size_t shares,
                                double wanted) noexcept {
    const double most = lesser(wanted, static_cast<double>(of.iterations / shares));
    std::uint32_t parts = 1;
    while (parts < most_parts && 2.0 * parts <= most) parts *= 2;
    return parts;
  }
  /// A plan that uses nothing learned of the loop.
  LOCKSTEP_NOINLINE loop_plan by_request(const loop_request& of, bool asleep) const noexcept {
    loop_plan result;
    const std::size_t grain = of.grain != 0 ? of.grain : 1;
    const std::size_t most = of.place == nullptr ? team_.members : team_.at_once;
    const std::size_t wanted = lesser(of.iterations / grain, most);
    if (wanted > 1) result.shares = static_cast<std::uint32_t>(wanted);
    const std::size_t share = of.iterations / result.shares;
    if (of.can_split && result.shares > 1) {
      const std::size_t parts = of.grain != 0 ? share / grain : share < 1024 ? 1 : first_parts;
      result.parts = parts_of(of, result.shares, static_cast<double>(parts));
    }
    if (asleep && of.gain <= wake_) {
      result.wakes = false;
      result.missed = of.gain;
    }
    // Timed, to learn whether the wake-up is worth it.
    result.is_timed = asleep && of.is_plan;
    return result;
  }

  double told_above_ = least_told, last_gap_ = 0, loops_since_ = 1;
  const helpers team_;
  const double least_join_;  ///< a line for each member
  double join_;
  double wake_ = 50000;
  double saved_up_ = 0, price_ = 0;
  unsigned shared_ = 0;  ///< loops planned for members that are awake
  unsigned until_trial_ = first_trial_after, trial_after_ = first_trial_after;  ///< short loops
  double trial_left_ = 0;        ///< nanoseconds of loops
  bool is_after_trial_ = false;  ///< members may have fallen asleep in it
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_LOOP_LOOP_PACE_HPP
