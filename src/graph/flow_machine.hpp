// SPDX-License-Identifier: MIT
// src/graph/flow_machine.hpp -- a plan with its functions, ready to be run (layer: graph)
//
// It holds what the members of a run share, and what each has for itself. The thread that calls a run prepares it, and
// the members walk through it (flow_walk.hpp). Between runs it is at rest: each lane has done all that it has claimed,
// and all lanes of the graph have done the same number of turns.
#ifndef LOCKSTEP_SRC_GRAPH_FLOW_MACHINE_HPP
#define LOCKSTEP_SRC_GRAPH_FLOW_MACHINE_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <lockstep/buffer.hpp>
#include <lockstep/detail/graph/node_function.hpp>
#include <lockstep/detail/platform/clock.hpp>
#include <lockstep/member.hpp>
#include "../observe/hooks.hpp"
#include "../region/group.hpp"
#include "flow_board.hpp"
#include "flow_plan.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// A call of a node, with all that it needs in one place.
struct bound_call {
  enum : std::uint16_t { is_wide = 1, may_be_skipped = 2, is_asked = 4 };

  node_function::caller call;
  void* held;
  node_index node;
  std::uint16_t rank;
  std::uint16_t flags;
};

/// The measured times of a node. The thread that runs the node writes them: runs of one node do not overlap.
struct node_times {
  std::uint64_t count = 0, sum = 0, most = 0, least = ~std::uint64_t{0};  ///< ticks
  std::uint64_t last_begin = 0, last_end = 0;
};

/// The ticks of an empty node with two looks at the clock: a median, because two looks may see the same tick.
inline std::uint64_t time_of_nothing() noexcept {
  constexpr std::size_t count = 31;
  const node_function::caller volatile nothing = [](void*, std::size_t, member*) -> bool {
    return true;
  };
  std::uint64_t took[count];
  for (std::uint64_t& each : took) {
    const std::uint64_t begin = tick_clock::now();
    nothing(nullptr, 0, nullptr);
    each = tick_clock::now() - begin;
  }
  std::sort(took, took + count);
  return took[count / 2];
}

/// The mean in ticks, without the clock's own time. The longest of several runs does not count: it may have been
/// preempted. For a short node the result is the shortest run, because a cache miss takes as long as the node. A node
/// that takes less time than the clock counts as 0.
inline double usual_time(const node_times& of, std::uint64_t clock) noexcept {
  const bool has_many = of.count > 2;
  const std::uint64_t count = has_many ? of.count - 1 : of.count;
  const std::uint64_t sum = has_many ? of.sum - of.most : of.sum;
  constexpr std::uint64_t little = 10;  // times the clock
  if (sum < little * clock * count) {
    return of.least < 2 * clock ? 0 : static_cast<double>(of.least - clock);
  }
  return static_cast<double>(sum - clock * count) / static_cast<double>(count);
}

/// Asks the user or a region whether to stop.
struct stop_question {
  void* held;
  bool (*call)(void* held);

  bool operator()() const { return call(held); }
};
/// True if no other iteration is to begin. The caller's thread asks.
using iteration_gate = stop_question;

/// The turns of the graph that a run makes.
struct turn_range {
  std::uint64_t first, last;
};

/// Where a member stands in a lane.
struct lane_place {
  std::uint32_t lane = no_lane;
  std::uint32_t at = 0;    ///< the step of the turn
  std::uint64_t step = 0;  ///< counted since the plan was made
  std::uint64_t turn = 0;
  bool is_behind = false;  ///< `done` is not stored yet
};

/// What each member has for itself.
struct walker_state {
  wait_history history = {};
  backoff_trust patience = {};      ///< whether others come while it polls for them
  std::vector<std::uint64_t> seen;  ///< of each lane: the `done` that this member saw last
  std::vector<lane_place> places;   ///< in the graph, and in the loops that the member is in
};

/// Notes for checked buffers which iteration the calling thread runs. Only in builds that diagnose misuse.
class iteration_mark {
 public:
  explicit iteration_mark(std::uint64_t iteration) noexcept {
    if (!diagnoses_misuse) return;
    before_ = iteration_of_this_thread();
    iteration_of_this_thread() = static_cast<std::size_t>(iteration);
  }
  ~iteration_mark() {
    if (diagnoses_misuse) iteration_of_this_thread() = before_;
  }
  iteration_mark(const iteration_mark&) = delete;
  iteration_mark& operator=(const iteration_mark&) = delete;

 private:
  std::size_t before_ = no_iteration;
};

class flow_machine {
 public:
  /// How many iterations a plan that learns has timed before it is made anew.
  static constexpr std::uint64_t first_timed = 5;

  /// Takes copies of graph and check. `stop` and `policy`: those of the team. A plan without a team has none, and never runs.
  flow_machine(const graph_model& of, const flow& graph, flow_plan made,
               const std::vector<node_function>& functions, wait_policy policy, stop_source* stop)
      : model(of),
        checked(graph),
        plan(std::move(made)),
        board(plan.lanes.size(), policy, stop),
        wide_of(of.nodes.size(), nullptr),
        times(of.nodes.size()),
        walkers(plan.members),
        answers_(of.nodes.size(), 0),
        origin_(checked.most_delay + first_timed) {
    for (std::size_t i = 0; i < of.nodes.size(); ++i) {
      if (!of.nodes[i].is_wide || stop == nullptr) continue;
      wide_parts_.push_back(owner<group>(new group(plan.width_of[i], policy, *stop)));
      wide_of[i] = wide_parts_.back().get();
      wide_of[i]->begin(plan.width_of[i]);
    }
    for (const plan_call& each : plan.calls) calls.push_back(bind(functions, each));
    for (const node_index each : plan.line) {
      line.push_back(bind(functions, plan_call{each, 0}));
      is_plain_ = is_plain_ && line.back().flags == 0;
    }
    for (std::size_t rank = 0; rank < plan.members; ++rank) {
      walker_state& own = walkers[rank].value;
      // A member writes these all the time. The room after them keeps other members' data off their cache lines.
      own.seen.reserve(plan.lanes.size() + 2 * cache_line_size / sizeof(std::uint64_t));
      own.seen.assign(plan.lanes.size(), 0);
      std::size_t most = 0;
      for (const flow_block& each : checked.blocks) most = each.depth > most ? each.depth : most;
      own.places.reserve(most + 1 + 2 * cache_line_size / sizeof(lane_place));
      own.places.resize(most + 1);
    }
    std::uint64_t most_steps = 1;
    for (const plan_lane& each : plan.lanes)
      most_steps = (std::max)(most_steps, std::uint64_t{each.steps});
    most_turns_ = (~std::uint64_t{0} >> 1) / most_steps;
    turns = {origin_, origin_};
    ahead = checked.overlaps ? std::uint64_t{checked.most_delay} + 1 : 0;
    reset();
  }
  flow_machine(const flow_machine&) = delete;
  flow_machine& operator=(const flow_machine&) = delete;

  /// Before a run by several members, of `iterations` iterations, or of as many as the gate lets through.
  void prepare(std::uint64_t iterations, const iteration_gate* asks) noexcept {
    look_at_run();
    const std::uint64_t most = most_turns_ - turns.first;
    turns.last = turns.first + (iterations < most ? iterations : most);
    if (gate != asks) gate = asks;
    if (asks != nullptr) {
      opens = 1;
      turns.last = ~std::uint64_t{0};
      board.gate().reset(turns.first << 1);
    }
  }
  /// After the run. A stopped run leaves lanes at any step: then it resets them.
  void come_to_rest(bool was_stopped) {
    for (const owner<group>& each : wide_parts_) each->come_to_rest(was_stopped);
    if (gate != nullptr) {
      turns.last = board.gate().peek() >> 1;
      gate = nullptr;
    }
    if (!was_stopped) {
      turns.first = turns.last;
      return;
    }
    turns = {origin_, origin_};
    reset();
  }

  /// Whether all lanes have done all iterations of the run.
  bool is_done() const noexcept {
    for (std::size_t lane = 0; lane < plan.lanes.size(); ++lane) {
      const plan_lane& of = plan.lanes[lane];
      if (of.block == 0 && board.done(lane).value() != turns.last * of.steps) return false;
    }
    return true;
  }

  /// A run on the calling thread alone, from iteration `from` on. `me`: for team-wide nodes. False if it was stopped.
  bool run_line(std::uint64_t from, std::uint64_t iterations, member* me,
                const stop_question& stop) {
    look_at_run();
    if (is_plain_ && gate == nullptr) return run_plain(from, iterations, stop);
    for (std::uint64_t i = from, open = from; gate != nullptr || i < iterations; ++i) {
      if (stop()) return false;
      if (gate != nullptr && i == open) {
        if ((*gate)()) return true;
        open += opens;
      }
      for (std::size_t at = 0; at < line.size();) {
        const bound_call& what = line[at];
        if (what.flags == 0) {
          run(what, i, nullptr);
          ++at;
          continue;
        }
        run_asked(what, i, me);
        if ((what.flags & bound_call::is_wide) != 0 && stop()) return false;
        if (plan.again[at] != no_lane && answer(what.node)) {
          if (stop()) return false;
          at = plan.again[at];
        } else {
          ++at;
        }
      }
    }
    return !stop();
  }

  /// Calls a node.
  bool run(const bound_call& what, std::uint64_t iteration, member* me) {
    const iteration_mark here(iteration);
    return iteration >= looked_at ? what.call(what.held, converted<std::size_t>(iteration), me)
                                  : run_watched(what, iteration, me);
  }
  /// Calls a node unless it is to be skipped, and keeps what it returns.
  void run_asked(const bound_call& what, std::uint64_t iteration, member* me) {
    std::uint8_t said = 0;
    if ((what.flags & bound_call::may_be_skipped) == 0 || !is_skipped(what.node)) {
      said = static_cast<std::uint8_t>(run(what, iteration, me) ? ran | said_true : ran);
    }
    if (what.rank == 0) answers_[what.node] = said;
  }
  /// What a node has returned last; false if it was skipped.
  bool answer(node_index node) const noexcept { return answers_[node] == (ran | said_true); }

  const graph_model model;
  const flow checked;
  const flow_plan plan;
  flow_board board;
  std::vector<bound_call> calls;  ///< as in the plan
  std::vector<bound_call> line;   ///< in the order for one member
  /// Of each node: what the members of a team-wide one share, or null.
  std::vector<group*> wide_of;
  std::vector<node_times> times;
  aligned_array<padded<walker_state>> walkers;
  // The next run times nodes in its first `timed_iterations` iterations, each until it has `most_samples` samples.
  std::uint64_t timed_iterations = 0, most_samples = 0;
  source_place where = {nullptr, 0};  ///< where the plan was made, for the ledger
  /// For observers.
  const char* name_of(node_index node) const noexcept {
    return node < model.nodes.size() ? model.nodes[node].name.c_str() : "node";
  }

  // Of the run. Its caller writes these before it, and only if they change, because members read these cache lines.
  std::uint64_t looked_at = 0;  ///< iterations to watch: timed_iterations, or all for an observer
  const iteration_gate* gate = nullptr;
  std::uint64_t opens = 1;  ///< how many iterations the gate lets through at once; for its caller
  std::uint64_t ahead = 0;  ///< how many turns the gate may be ahead of the slowest lane

 private:
  enum : std::uint8_t { ran = 1, said_true = 2 };

  bound_call bind(const std::vector<node_function>& functions, plan_call what) const {
    const node_function* const f = what.node < functions.size() ? &functions[what.node] : nullptr;
    bound_call made = bound_call();
    made.call = [](void*, std::size_t, member*) -> bool { return true; };
    if (f != nullptr && *f) {
      made.call = f->call();
      made.held = f->held();
    }
    made.node = what.node;
    made.rank = static_cast<std::uint16_t>(what.rank);
    const bool is_asked = checked.is_asked[what.node] || checked.loop_from[what.node] != 0;
    made.flags = static_cast<std::uint16_t>(
        (model.nodes[what.node].is_wide ? bound_call::is_wide : 0) |
        (checked.may_be_skipped[what.node] ? bound_call::may_be_skipped : 0) |
        (is_asked ? bound_call::is_asked : 0));
    return made;
  }
  void look_at_run() noexcept {
    const bool are_watched = LOCKSTEP_UNLIKELY(watch_others_than_ledger(observers()));
    const std::uint64_t now = are_watched ? ~std::uint64_t{0} : timed_iterations;
    if (looked_at != now) looked_at = now;
  }
  /// For graphs without conditions, loops and team-wide nodes. The loop is short because a node may take only 1 ns.
  bool run_plain(std::uint64_t from, std::uint64_t iterations, const stop_question& stop) {
    const bound_call *const begin = line.data(), *const end = begin + line.size();
    for (std::uint64_t i = from; i < iterations; ++i) {
      if (stop()) return false;
      const iteration_mark here(i);
      if (i < looked_at) {
        for (const bound_call& each : line) run_watched(each, i, nullptr);
        continue;
      }
      for (const bound_call* at = begin; at != end; ++at) {
        at->call(at->held, converted<std::size_t>(i), nullptr);
      }
    }
    return !stop();
  }
  bool run_watched(const bound_call& what, std::uint64_t iteration, member* me) {
    const bool notes = iteration < timed_iterations && times[what.node].count < most_samples;
    if (observers() != 0) node_begins(name_of(what.node));
    const std::uint64_t begin = tick_clock::now();
    const bool result = what.call(what.held, converted<std::size_t>(iteration), me);
    if (notes) note_time(what, begin);
    if (observers() != 0) note_node(name_of(what.node), iteration, begin);
    return result;
  }
  void note_time(const bound_call& what, std::uint64_t begin) noexcept {
    if (what.rank != 0) return;
    node_times& at = times[what.node];
    at.last_begin = begin;
    at.last_end = tick_clock::now();
    const std::uint64_t took = at.last_end - begin;
    ++at.count;
    at.sum += took;
    if (took > at.most) at.most = took;
    if (took < at.least) at.least = took;
  }
  bool is_skipped(node_index node) const noexcept {
    bool one_ran = false;
    for (const std::uint32_t e : checked.in.of(node)) {
      const model_edge& edge = checked.edges[e];
      if (!flow::tells(edge)) {
        one_ran = true;
        continue;
      }
      const std::uint8_t said = answers_[edge.from];
      one_ran |= (said & ran) != 0;
      if (edge.kind == edge_kind::if_true && said != (ran | said_true)) return true;
      if (edge.kind == edge_kind::if_false && said != ran) return true;
    }
    return !one_ran;
  }
  void reset() noexcept {
    for (std::size_t lane = 0; lane < plan.lanes.size(); ++lane) {
      const plan_lane& of = plan.lanes[lane];
      // A loop that lies directly in the graph is over once in each turn of the graph.
      const bool is_outer = of.block != 0 && checked.blocks[of.block].parent == 0;
      board.reset(lane, of.block == 0 ? turns.first * of.steps : 0,
                  loop_decision(is_outer ? turns.first : 0, 0));
    }
    for (std::size_t rank = 0; rank < plan.members; ++rank) {
      walker_state& own = walkers[rank].value;
      for (std::uint64_t& each : own.seen) each = 0;
      for (lane_place& each : own.places) each.is_behind = false;
    }
  }

  bool is_plain_ = true;  ///< no node of the line is asked, skipped or team-wide
  std::vector<std::uint8_t> answers_;
  std::vector<owner<group>> wide_parts_;
  /// The number of the first turn: no delay reaches below 0, and those of a run that another plan has begun count back.
  std::uint64_t origin_;
  std::uint64_t most_turns_;  ///< how many turns can be counted; no run has more

 public:
  line_gap before_turns;
  turn_range turns;  ///< of the run. Only its caller reads them: the job has a copy for the members
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_GRAPH_FLOW_MACHINE_HPP
