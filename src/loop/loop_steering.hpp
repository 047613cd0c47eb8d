// SPDX-License-Identifier: MIT
// src/loop/loop_steering.hpp -- measures loops, and runs the next one by what was learned (layer: loop)
//
// It reads the clock and checks whether members sleep; loop_pace.hpp decides. For team_core.hpp: the caller that has
// the turn uses it, in one loop after another.
//
//   STEER-1  A loop may begin without waking its members. After each part the caller checks whether the rest is worth a
//            wake-up, and then wakes them.
//   STEER-2  Loops that missed enough while workers slept are noted for anticipation.hpp. PACE-6 decides when the workers
//            are woken for that.
//   STEER-3  In a probe (PACE-1) the caller begins alone, and announces the rest when that is worth it. So a short loop
//            of an unknown place costs only some looks at the clock.
//
// Cost   nothing in a loop that is not measured. A measured one: two or three looks at the clock, 20 to 25 ns each.
//        These are the first loops of a place, then one in 16, and all longer than 10 us.
#ifndef LOCKSTEP_SRC_LOOP_LOOP_STEERING_HPP
#define LOCKSTEP_SRC_LOOP_LOOP_STEERING_HPP

#include <cstddef>
#include <cstdint>
#include <cstdio>

#include <lockstep/detail/platform/clock.hpp>
#include "../observe/hooks.hpp"
#include "../region/region_board.hpp"
#include "loop_pace.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// Shares that do not belong to a loop. `gain`: the nanoseconds that members save when they come.
struct shares_request {
  std::uint32_t shares;
  double gain;
  source_place where;  ///< for observers
};
struct shares_outcome {
  bool is_complete;  ///< not stopped
  bool all_came;     ///< each share was begun by its member
};

/// What the caller of a loop measures. It looks at the clock after parts that it has run.
struct loop_timing {
  region_board& board;
  std::size_t all = 0;         ///< parts, over all shares
  std::size_t parts = 0;       ///< the parts that the caller has run
  std::size_t own_parts = 0;   ///< those of its own share
  std::uint64_t start = 0;     ///< when the loop began
  std::uint64_t own_end = 0;   ///< when the caller's last own part ended
  std::uint64_t woken_at = 0;  ///< when members were woken in the loop, or 0
  double least = 0;            ///< more work than this must be left for a wake-up, in nanoseconds
  std::uint32_t may_wake = 0;  ///< how many members a wake-up wakes

  explicit loop_timing(region_board& of) noexcept : board(of) {}

  /// Before a loop. `sleepers`: how many members are woken once more than `least_left` is left.
  void reset(std::size_t of, std::uint32_t sleepers, double least_left) {
    all = of;
    parts = own_parts = 0;
    woken_at = 0;
    may_wake = sleepers;
    least = least_left;
    start = own_end = monotonic_nanoseconds();
  }
  /// The caller has run `count` parts of its own share, or of another.
  void after_parts(bool is_own, std::size_t count = 1) {
    parts += count;
    if (is_own) {
      own_parts += count;
      own_end = monotonic_nanoseconds();
    }
    if (may_wake != 0) wake_if_long(is_own ? own_end : monotonic_nanoseconds());
  }
  /// The work that is left at a time, in nanoseconds. Requires: a part was run.
  double left_at(std::uint64_t now) const noexcept {
    const double each = static_cast<double>(now - start) / static_cast<double>(parts);
    return each * static_cast<double>(all - parts);
  }
  LOCKSTEP_NOINLINE void wake_if_long(std::uint64_t now) {
    if (left_at(now) <= least) return;
    woken_at = now;
    if (observers() != 0) note_mark(mark_kind::woken, "woken", "the loop is long", may_wake);
    board.wake(may_wake);
    may_wake = 0;
  }
};

class loop_steering {
 public:
  /// `number`: the team's number; places know by it which team has learned (place_pace.hpp).
  loop_steering(region_board& forks, const loop_pace::helpers& team, std::uint32_t number)
      : board_(forks), pace_(team), team_(number), timing_(forks) {}
  loop_steering(const loop_steering&) = delete;
  loop_steering& operator=(const loop_steering&) = delete;

  /// Before a loop: how to run it.
  LOCKSTEP_NOINLINE const loop_plan& plan_loop(const loop_request& of) {
    of_ = of;
    is_asleep_ = pace_.most_shares() > 1 && board_.has_sleepers(pace_.most_shares());
    plan_ = pace_.plan(of, is_asleep_);
    if (is_worth_telling() || (of.place != nullptr && of.place->is_spent(team_)))
      plan_.is_timed = true;
    if (plan_.is_timed) begin_to_measure();
    return plan_;
  }
  /// For observers: how the loop is run, and why.
  LOCKSTEP_NOINLINE void tell(const loop_plan& plan) const noexcept {
    char name[48] = "loop inline";
    if (plan.shares > 1) {
      std::snprintf(name, sizeof name, "loop on %u members", static_cast<unsigned>(plan.shares));
    }
    const char* why = of_.is_fixed           ? "a share for each was asked for"
                      : of_.grain != 0       ? "the grain was given"
                      : plan.shares == 1     ? "it would not gain"
                      : of_.place == nullptr ? "as asked for"
                                             : "it gains";
    if (plan.is_probe) why = "it is not known: the caller begins";
    if (plan.shares == 1 && of_.iterations < 2) why = "there is one iteration at most";
    if (plan.missed > 0) why = "members sleep: they are not woken for so little";
    note_mark(mark_kind::decision, name, why, of_.iterations);
    if (is_asleep_ && plan.shares > 1 && plan.wakes) {
      note_mark(mark_kind::woken, "woken", "for a loop", plan.shares);
    }
  }
  /// Measures the parts that the caller runs; null: the loop is not measured.
  loop_timing* timing() noexcept { return plan_.is_timed ? &timing_ : nullptr; }

  /// In a probe, after `done` parts of the caller's share: whether to announce the rest.
  bool is_worth_announcing(std::uint32_t done) noexcept {
    timing_.after_parts(true, done - timing_.parts);
    if (!pace_.is_rest_worth(timing_.left_at(timing_.own_end), is_asleep_)) return false;
    if (is_asleep_) woken_at_ = timing_.own_end;
    return true;
  }
  /// The caller has run all parts of a probe.
  void end_probe() noexcept { timing_.after_parts(true, timing_.all - timing_.parts); }

  /// Every share is done; `all_came`: each was begun by its member.
  void end(bool all_came) {
    if (plan_.is_timed && of_.place != nullptr) learn(all_came);
    if (all_came && !is_asleep_ && plan_.shares > 1 && !plan_.is_probe) pace_.came_by_themselves();
    if (is_worth_telling()) tell_sleepers(timing_.start, timing_.own_end);
  }

  /// The same before shares that do not belong to a loop.
  const loop_plan& plan_shares(const shares_request& of) {
    is_asleep_ = board_.has_sleepers(of.shares);
    plan_ = loop_plan();
    plan_.shares = of.shares;
    if (!is_asleep_) {
      pace_.came_by_themselves();
      return plan_;
    }
    learn_wake_up();
    plan_.wakes = of.gain > pace_.wake();
    plan_.missed = plan_.wakes ? 0 : of.gain;
    if (plan_.wakes) woken_at_ = now();
    timing_.start = is_worth_telling() ? now() : 0;
    return plan_;
  }
  /// They are done.
  void end_shares() {
    if (is_worth_telling()) tell_sleepers(timing_.start, now());
  }

  /// Whether members slept when this loop began.
  bool were_asleep() const noexcept { return is_asleep_; }

 private:
  static std::uint64_t now() { return monotonic_nanoseconds(); }

  void begin_to_measure() {
    const bool wakes = is_asleep_ && plan_.shares > 1 && plan_.wakes;
    const bool may_wake = is_asleep_ && plan_.shares > 1 && !plan_.wakes && !plan_.is_probe;
    timing_.reset(std::size_t{plan_.shares} * plan_.parts, may_wake ? plan_.shares : 0,
                  pace_.least_worth_waking());
    learn_wake_up();
    if (wakes) woken_at_ = timing_.start;
  }
  void learn(bool all_came) {
    const std::uint64_t end = now();
    if (timing_.woken_at != 0) woken_at_ = timing_.woken_at;
    const std::size_t own = timing_.own_parts == timing_.all
                                ? of_.iterations
                                : of_.iterations / timing_.all * timing_.own_parts;
    pace_.learn_iterations(*of_.place, team_, own,
                           static_cast<double>(timing_.own_end - timing_.start));
    if (plan_.shares > 1 && plan_.parts == 1 && of_.can_split && all_came && !is_asleep_) {
      pace_.learn_join(static_cast<double>(end - timing_.own_end));
    }
  }
  void learn_wake_up() {
    const std::uint64_t came = board_.last_coming(1);
    if (woken_at_ == 0 || came <= woken_at_) return;
    pace_.learn_wake(static_cast<double>(came - woken_at_));
    woken_at_ = 0;
  }

  /// STEER-2.
  bool is_worth_telling() const noexcept { return plan_.missed > loop_pace::least_worth_telling; }
  void tell_sleepers(std::uint64_t begin, std::uint64_t end) {
    board_.note_missed(begin, end);
    if (!pace_.is_worth_waking_after(plan_.missed)) return;
    if (observers() != 0) {
      note_mark(mark_kind::woken, "woken", "they slept through loops", plan_.shares);
    }
    board_.announce_nothing();
  }

  region_board& board_;
  loop_pace pace_;
  const std::uint32_t team_;
  loop_request of_ = {0, nullptr, 0, true, false, call_site::none()};
  loop_plan plan_;
  loop_timing timing_;
  bool is_asleep_ = false;
  std::uint64_t woken_at_ = 0;  ///< 0: no wake-up is being measured
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_LOOP_LOOP_STEERING_HPP
