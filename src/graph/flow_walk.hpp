// SPDX-License-Identifier: MIT
// src/graph/flow_walk.hpp -- a member goes through its lanes, and helps where it would wait (layer: graph)
//
// walk() is a member's part of a run. At each step it waits for what the plan says, claims the step, runs its nodes,
// and publishes that the step is done (flow_board.hpp).
//
//   WALK-1  A member that waits looks now and then at the next step of the member that it waits for; if that waits for
//           a third member, at the next step there, and so on. It runs such a step if the step could begin and has not.
//   WALK-2  So another thread may run or have run a member's own step. The member learns this when a claim fails. Then
//           it starts again from its lane of the graph to find its place.
//   WALK-3  A stop of the region ends every wait (stop_source.hpp).
//   WALK-4  A member helps only with steps that could begin, so help never waits.
//   WALK-5  A member publishes all that it has done before it waits or helps. If it is late then, perhaps preempted,
//           others see what its next step waits for, and can run that step.
#ifndef LOCKSTEP_SRC_GRAPH_FLOW_WALK_HPP
#define LOCKSTEP_SRC_GRAPH_FLOW_WALK_HPP

#include <cstddef>
#include <cstdint>

#include "../observe/hooks.hpp"
#include "flow_machine.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

class flow_walk {
 public:
  /// For member `rank`, in region `region` of `stop`.
  flow_walk(flow_machine& of, const turn_range& turns, std::size_t rank, stop_source& stop,
            std::uint32_t region) noexcept
      : of_(of),
        plan_(of.plan),
        turns_(turns),
        own_(of.walkers[rank].value),
        rank_(static_cast<std::uint32_t>(rank)),
        stop_{stop, region},
        looks_each_(of.board.policy().is_crowded() ? 1 : 16),
        counts_waits_(is_observed_by(observer::accounts)) {}

  void walk() {
    if (plan_.lane(0, rank_) == no_lane) {
      if (rank_ != 0 || of_.gate == nullptr) return finish_run();
      for (std::uint64_t turn = turns_.first; ask_gate(turn); ++turn) continue;
      return finish_run();
    }
    bool goes_on = start();
    while (goes_on) {
      const lane_place& at = here();
      if (at.at == lane_of(at).steps) {
        goes_on = end_turn();
        continue;
      }
      const plan_step& step = step_of(at);
      for (std::uint32_t w = step.first_wait; w < step.last_wait && goes_on; ++w) {
        const plan_wait& wait = plan_.waits[w];
        goes_on = await(wait.lane, steps_for(wait, at.turn));
      }
      if (goes_on) goes_on = step.loop != 0 ? enter(step) : run_step(step);
    }
    finish_run();
  }

 private:
  /// A step that another thread may run.
  struct found_step {
    std::uint32_t lane = no_lane;
    std::uint64_t step = 0, turn = 0, outer_turn = 0, iteration = 0;
    const plan_step* what = nullptr;  ///< null: the lane's member is to leave a loop that is over
  };

  lane_place& here() noexcept { return own_.places[depth_]; }
  const plan_lane& lane_of(const lane_place& at) const noexcept { return plan_.lanes[at.lane]; }
  const plan_step& step_of(const lane_place& at) const noexcept {
    return plan_.steps[lane_of(at).first_step + at.at];
  }
  std::uint64_t iteration() const noexcept { return own_.places[0].turn - turns_.first; }
  std::uint64_t steps_for(const plan_wait& wait, std::uint64_t turn) const noexcept {
    return (turn - wait.delay) * plan_.lanes[wait.lane].steps + wait.steps;
  }

  /// Waits until a lane has done `steps` steps. False once the region is stopped.
  bool await(std::uint32_t lane, std::uint64_t steps) {
    return own_.seen[lane] >= steps || has_done(lane, steps) || await_slowly(lane, steps);
  }
  bool has_done(std::uint32_t lane, std::uint64_t steps) {
    const std::uint64_t now = of_.board.done(lane).value();
    own_.seen[lane] = now;
    return now >= steps;
  }

  /// For the ledger. An awaited step has the name of its last node; a loop has that of the node that decides it.
  void count_wait(std::uint32_t lane, std::uint64_t steps, std::uint64_t ticks) const noexcept {
    const plan_lane& on = plan_.lanes[lane];
    if (on.steps == 0 || steps == 0) return;
    const plan_step& step =
        plan_.steps[on.first_step + converted<std::size_t>((steps - 1) % on.steps)];
    const node_index node = step.loop != 0                     ? of_.checked.blocks[step.loop].from
                            : step.last_call > step.first_call ? of_.calls[step.last_call - 1].node
                                                               : no_node;
    note_node_wait(of_.name_of(node), of_.where, ticks);
  }

  struct has_so_many {
    const flow_walk& self;
    std::uint64_t steps;
    std::uint32_t member;  ///< of the awaited lane

    bool operator()(std::uint64_t done) const noexcept { return done >= steps; }
    void describe(wait_subject& to) const noexcept {
      to.kind = wait_kind::step_of_plan;
      to.phase = static_cast<std::uint32_t>(steps);
      to.rank = self.rank_;
      to.awaited = member;
    }
  };
  /// Ends a wait for the stop, or for something to do for another member. It looks for that only now and then.
  struct stop_or_help {
    stop_or_help(flow_walk& walk, std::uint32_t awaited) noexcept : self(walk), member(awaited) {}

    flow_walk& self;
    std::uint32_t member;
    unsigned looks = 0;
    bool has_found = false;
    found_step found;

    bool requested() {
      if (self.stop_.requested()) return true;
      if (++looks % self.looks_each_ == 0) has_found = self.find(member, found);
      return has_found;
    }
  };
  struct watched_lane final : awaited_word<std::uint64_t, has_so_many, stop_or_help&> {
    watched_lane(const published_word<std::uint64_t>& at, has_so_many done,
                 stop_or_help& or_other) noexcept
        : awaited_word(at, done, or_other), other(or_other) {}

    /// Sleeps for 2 ms at most, because a member that has not begun may never come.
    void sleep(std::uint64_t until) override {
      awaited_word::sleep((std::min)(monotonic_nanoseconds() + 2000000, until));
      other.looks = other.self.looks_each_ - 1;
    }
    stop_or_help& other;
  };

  bool wait_or_help(std::uint32_t lane, std::uint64_t steps) {
    const bool has_patience = looks_each_ > 1 && own_.patience.asks();
    if (has_patience && come_in_time([&] { return has_done(lane, steps); })) {
      own_.patience.paid();
      return true;
    }
    if (stop_.requested()) return false;  // before it helps
    const std::uint32_t member = plan_.lanes[lane].member;
    found_step found;
    bool helped = false;
    while (find(member, found)) {
      help(found);
      if (has_patience && !helped) own_.patience.failed();
      helped = true;
      if (has_done(lane, steps)) return true;
      if (stop_.requested()) return false;
    }
    for (;;) {
      stop_or_help other(*this, member);
      watched_lane what(of_.board.done(lane), has_so_many{*this, steps, member}, other);
      wait_engine::wait(what, of_.board.policy(), own_.history);
      if (has_done(lane, steps)) return true;
      if (stop_.requested()) return false;
      if (other.has_found) help(other.found);
    }
  }

  bool await_slowly(std::uint32_t lane, std::uint64_t steps) {
    catch_up();
    if (LOCKSTEP_UNLIKELY(counts_waits_)) {
      ticks_of_help_ = 0;
      const std::uint64_t begin = tick_clock::now();
      const bool has_come = wait_or_help(lane, steps);
      count_wait(lane, steps, tick_clock::now() - begin - ticks_of_help_);
      return has_come;
    }
    return wait_or_help(lane, steps);
  }

  void catch_up() {
    for (std::size_t i = 0; i <= depth_; ++i) {
      lane_place& at = own_.places[i];
      if (!at.is_behind) continue;
      at.is_behind = false;
      of_.board.done(at.lane).publish(at.step);
    }
  }

  // --- where the member is ---

  /// Finds where a lane is, once no thread runs a step of it. False once the region is stopped.
  bool find_place(std::uint32_t lane, lane_place& at) {
    std::uint64_t step = of_.board.claimed(lane);
    while (of_.board.done(lane).value() < step) {
      if (!await(lane, step)) return false;
      step = of_.board.claimed(lane);
    }
    const std::uint64_t steps = plan_.lanes[lane].steps;
    at.lane = lane;
    at.step = step;
    at.turn = step / steps;
    at.at = static_cast<std::uint32_t>(step - at.turn * steps);
    at.is_behind = false;
    return true;
  }

  /// Finds the member's place, at the beginning and after a claim has failed.
  bool start() {
    catch_up();
    depth_ = 0;
    own_.places[0].is_behind = false;
    return find_place(plan_.lane(0, rank_), own_.places[0]) &&
           (here().at != 0 || begin_iteration());
  }

  /// False when there is no other iteration, or once the region is stopped.
  bool begin_iteration() {
    const std::uint64_t turn = own_.places[0].turn;
    if (turn < turns_.last && of_.gate == nullptr) return !stop_.source.requested(stop_.region);
    if (of_.gate == nullptr) return false;
    return ask_gate(turn);
  }

  bool ask_gate(std::uint64_t turn) {
    const published_word<std::uint64_t> gate = of_.board.gate();
    if (rank_ != 0) {
      struct turn_is_known {
        std::uint64_t turn;
        bool operator()(std::uint64_t word) const noexcept {
          return (word >> 1) > turn || (word & 1u) != 0;
        }
        void describe(wait_subject&) const noexcept {}
      };
      const turn_is_known is_known{turn};
      if (!is_known(gate.value())) {
        catch_up();
        gate.wait(is_known, stop_, own_.history);
      }
      return (gate.value() >> 1) > turn && !stop_.requested();
    }
    if ((gate.value() >> 1) > turn) return !stop_.requested();
    const std::uint64_t before = turn - turns_.first;
    const std::uint64_t slowest = before == of_.timed_iterations ? turn  // all are timed
                                  : before < of_.ahead           ? turns_.first
                                                                 : turn - of_.ahead;
    for (std::uint32_t m = 1; m < plan_.members; ++m) {
      const std::uint32_t lane = plan_.lane(0, m);
      if (lane != no_lane && !await(lane, slowest * plan_.lanes[lane].steps)) return false;
    }
    if (stop_.requested()) return false;
    const bool is_over = (*of_.gate)();
    gate.publish(is_over ? turn << 1 | 1u : (turn + of_.opens) << 1);
    return !is_over;
  }

  bool enter(const plan_step& step) {
    const std::uint32_t lane = plan_.lane(step.loop, rank_);
    if (of_.board.decided(plan_.decider[step.loop]).has_ended(here().turn + 1)) return leave();
    own_.places[depth_ + 1].is_behind = false;
    if (!find_place(lane, own_.places[depth_ + 1])) return false;
    // If the step was claimed, another thread has left the loop. Else the place is in it, or begin_turn() leaves it.
    if (of_.board.claimed(here().lane) != here().step) return start();
    ++depth_;
    return here().at != 0 || begin_turn();
  }

  /// In a loop, after a turn or before the first: whether there is another.
  bool begin_turn() {
    const std::uint32_t decider = plan_.decider[lane_of(here()).block];
    const std::uint64_t turn = here().turn, outer = own_.places[depth_ - 1].turn;
    for (;;) {
      const loop_decision last = decided_lane_ == decider ? decided_ : of_.board.decided(decider);
      decided_lane_ = no_lane;
      if (!last.has_ended(outer)) break;
      if (last.has_decided(turn)) return !stop_.source.requested(stop_.region);
      if (of_.board.claimed(here().lane) != here().step) return start();  // others are further
      if (!await(decider, turn * plan_.lanes[decider].steps)) return false;
    }
    catch_up();
    --depth_;
    return leave();
  }

  /// Ends the step that is a loop, which is over.
  bool leave() {
    lane_place& at = here();
    const plan_step& step = step_of(at);
    if (!of_.board.try_claim(at.lane, at.step)) return start();
    finish(at, step.is_awaited);
    return true;
  }

  bool end_turn() {
    lane_place& at = here();
    at.at = 0;
    ++at.turn;
    return depth_ == 0 ? begin_iteration() : begin_turn();
  }

  bool run_step(const plan_step& step) {
    lane_place& at = here();
    if (!step.is_open) {
      of_.board.claim_own(at.lane, at.step);
    } else if (!of_.board.try_claim(at.lane, at.step)) {
      return start();
    }
    if (!perform(step, iteration())) return false;
    bool tells = step.is_awaited;
    if (step.decides) {
      const bool again = decide(at.lane, at.turn, own_.places[depth_ - 1].turn);
      if (again && step.is_followed) tells = false;
      decided_lane_ = at.lane;
    }
    finish(at, tells);
    return true;
  }

  /// False if a team-wide node was stopped: its members may have left it anywhere.
  bool perform(const plan_step& step, std::uint64_t iteration) {
    for (std::uint32_t c = step.first_call; c < step.last_call; ++c) {
      const bound_call& what = of_.calls[c];
      if (what.flags == 0) {
        of_.run(what, iteration, nullptr);
      } else if ((what.flags & bound_call::is_wide) == 0) {
        of_.run_asked(what, iteration, nullptr);
      } else {
        run_wide(what);
        if (stop_.requested()) return false;
      }
    }
    return true;
  }

  void run_wide(const bound_call& what) {
    group& shared = *of_.wide_of[what.node];
    member_state& state = shared.state(what.rank);
    if (state.region() != stop_.region) {
      state.enter(shared.most(), stop_.region);
      state.set_rank_in_team(rank_);
    } else {
      state.begin_again();  // FPLAN-5
    }
    member_access access(state);
    of_.run_asked(what, iteration(), &access.self);
    // Here the others find out if a member has returned too early.
    if (diagnoses_misuse && !stop_.requested()) {
      static_cast<void>(state.sync("the end of a team-wide node"));
    }
  }

  bool decide(std::uint32_t lane, std::uint64_t turn, std::uint64_t outer_turn) {
    const bool again = of_.answer(of_.checked.blocks[plan_.lanes[lane].block].from);
    decided_ = loop_decision(again ? outer_turn : outer_turn + 1, turn + 1);
    of_.board.decide(lane, decided_);
    return again;
  }

  void finish(lane_place& at, bool is_awaited) {
    ++at.at;
    ++at.step;
    at.is_behind = !is_awaited;
    if (is_awaited) of_.board.done(at.lane).publish(at.step);
  }

  /// Member 0 has to wait for the others anyway. It waits for their lanes, because it can help meanwhile.
  void finish_run() {
    catch_up();
    if (rank_ != 0) return;
    const std::uint64_t last = of_.gate != nullptr ? of_.board.gate().peek() >> 1 : turns_.last;
    for (std::uint32_t m = 1; m < plan_.members; ++m) {
      const std::uint32_t lane = plan_.lane(0, m);
      if (lane != no_lane && !await(lane, last * plan_.lanes[lane].steps)) return;
    }
  }

  // --- help ---

  bool find(std::uint32_t member, found_step& out) {
    constexpr unsigned most_hops = 8;
    for (unsigned i = 0; i < most_hops; ++i) {
      const look seen = find_on(member, out);
      if (seen != look::elsewhere) return seen == look::found;
    }
    return false;
  }

  enum class look { found, nothing, elsewhere };
  /// Looks at the next step of a member. If that waits for another member, goes on with that member.
  look find_on(std::uint32_t& member, found_step& out) {
    std::uint32_t lane = plan_.lane(0, member), outer_lane = no_lane;
    std::uint64_t outer = 0, outer_step = 0;
    while (lane != no_lane) {
      const plan_lane& on = plan_.lanes[lane];
      const std::uint64_t step = of_.board.claimed(lane);
      if (of_.board.done(lane).value() < step) return look::nothing;
      const std::uint64_t turn = step / on.steps, at = step - turn * on.steps;
      if (on.block == 0) {
        out.iteration = turn - turns_.first;
        if (turn >= (of_.gate != nullptr ? of_.board.gate().value() >> 1 : turns_.last)) {
          return look::nothing;
        }
      } else if (at == 0) {
        const std::uint32_t decider = plan_.decider[on.block];
        const loop_decision last = of_.board.decided(decider);
        if (!last.has_ended(outer)) return look::nothing;
        if (!last.has_decided(turn)) {
          member = plan_.lanes[decider].member;
          return look::elsewhere;
        }
      }
      // As in enter().
      if (on.block != 0 && of_.board.claimed(outer_lane) != outer_step) return look::nothing;
      const plan_step& what = plan_.steps[on.first_step + static_cast<std::size_t>(at)];
      for (std::uint32_t w = what.first_wait; w < what.last_wait; ++w) {
        const plan_wait& wait = plan_.waits[w];
        if (of_.board.done(wait.lane).value() >= steps_for(wait, turn)) continue;
        member = plan_.lanes[wait.lane].member;
        return look::elsewhere;
      }
      out.lane = lane;
      out.step = step;
      out.turn = turn;
      out.outer_turn = outer;
      out.what = nullptr;
      if (what.loop == 0) {
        out.what = &what;
        return what.is_open ? look::found : look::nothing;
      }
      if (of_.board.decided(plan_.decider[what.loop]).has_ended(turn + 1)) return look::found;
      outer = turn;
      outer_lane = lane;
      outer_step = step;
      lane = plan_.lane(what.loop, member);
    }
    return look::nothing;
  }

  void help(const found_step& with) {
    const std::uint64_t begin = LOCKSTEP_UNLIKELY(counts_waits_) ? tick_clock::now() : 0;
    if (!of_.board.try_claim(with.lane, with.step)) return;
    if (LOCKSTEP_UNLIKELY(observers() != 0)) {
      note_mark(mark_kind::share_taken_over, "step taken over", nullptr,
                plan_.lanes[with.lane].member);
    }
    if (with.what != nullptr) {
      static_cast<void>(perform(*with.what, with.iteration));  // none is team-wide
      if (with.what->decides) decide(with.lane, with.turn, with.outer_turn);
    }
    of_.board.done(with.lane).publish(with.step + 1);
    if (LOCKSTEP_UNLIKELY(counts_waits_)) ticks_of_help_ += tick_clock::now() - begin;
  }

  flow_machine& of_;
  const flow_plan& plan_;
  const turn_range turns_;
  walker_state& own_;
  const std::uint32_t rank_;
  const stops_with_region stop_;
  const unsigned looks_each_;
  const bool counts_waits_;          ///< for the ledger
  std::uint64_t ticks_of_help_ = 0;  ///< spent on help during a wait, if waits are counted
  std::size_t depth_ = 0;
  // The last decision of this member, so that it need not read the line that it has just published.
  std::uint32_t decided_lane_ = no_lane;
  loop_decision decided_{};
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_GRAPH_FLOW_WALK_HPP
