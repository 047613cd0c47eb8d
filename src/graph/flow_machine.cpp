// SPDX-License-Identifier: MIT
// src/graph/flow_machine.cpp -- the bodies of flow_machine.hpp (layer: graph)
#include "flow_machine.hpp"
#include "../observe/hooks.hpp"

#include <algorithm>
#include <utility>

#include <lockstep/detail/platform/clock.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

LOCKSTEP_INLINE flow_machine::flow_machine(const graph_model& of, const flow& checked,
                                           flow_plan made,
                                           const std::vector<node_function>& functions,
                                           wait_policy policy, stop_source* stop)
    : plan(std::move(made)),
      board(plan.lanes.size(), policy, stop),
      wide_of(of.nodes.size(), nullptr),
      wide_number(of.nodes.size(), 0),
      times(of.nodes.size()),
      walkers(plan.members),
      questions_begin_(1, 0),
      answers_(of.nodes.size(), 0),
      origin_(checked.most_delay) {
  for (std::size_t i = 0; i < of.nodes.size(); ++i) {
    for (const std::uint32_t e : checked.in.of(i)) {
      if (!checked.may_be_skipped[i]) continue;
      const model_edge& edge = checked.edges[e];
      questions_.push_back({checked.tells(edge) ? edge.from : no_node, edge.kind});
    }
    questions_begin_.push_back(static_cast<std::uint32_t>(questions_.size()));
    if (!of.nodes[i].is_wide || stop == nullptr) continue;
    wide_parts_.push_back(owner<wide_part>(new wide_part(plan.width_of[i], policy, *stop)));
    wide_of[i] = wide_parts_.back().get();
    wide_number[i] = static_cast<std::uint32_t>(wide_parts_.size() - 1);
  }
  for (const plan_call& each : plan.calls) calls.push_back(bind(of, checked, functions, each));
  for (const node_index each : plan.line) {
    line.push_back(bind(of, checked, functions, plan_call{each, 0}));
    is_plain_ = is_plain_ && line.back().flags == 0;
  }
  for (std::size_t rank = 0; rank < plan.members; ++rank) {
    walker_state& own = walkers[rank].value;
    // What a member writes all the time must not share lines with other members' data: some room after it.
    own.seen.reserve(plan.lanes.size() + 2 * cache_line_size / sizeof(std::uint64_t));
    own.seen.assign(plan.lanes.size(), 0);
    own.entered.assign(wide_parts_.size(), 0);
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

LOCKSTEP_INLINE flow_machine::~flow_machine() = default;

LOCKSTEP_INLINE bound_call flow_machine::bind(const graph_model& of, const flow& checked,
                                              const std::vector<node_function>& functions,
                                              plan_call what) const {
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
      (of.nodes[what.node].is_wide ? bound_call::is_wide : 0) |
      (checked.may_be_skipped[what.node] ? bound_call::may_be_skipped : 0) |
      (is_asked ? bound_call::is_asked : 0));
  return made;
}

LOCKSTEP_INLINE void flow_machine::reset() noexcept {
  for (std::size_t lane = 0; lane < plan.lanes.size(); ++lane) {
    const plan_lane& of = plan.lanes[lane];
    // A loop in the graph is over as often as the graph has turns.
    const bool is_outer = of.block != 0 && plan.lanes[of.parent].block == 0;
    board.reset(lane, of.block == 0 ? turns.first * of.steps : 0,
                loop_decision(is_outer ? turns.first : 0, 0));
  }
  for (std::size_t rank = 0; rank < plan.members; ++rank) {
    walker_state& own = walkers[rank].value;
    for (std::uint64_t& each : own.seen) each = 0;
    for (lane_place& each : own.places) each.is_behind = false;
  }
}

LOCKSTEP_INLINE void flow_machine::begin(std::uint64_t iterations, const iteration_gate* asks) {
  look_at_run();
  const std::uint64_t most = most_turns_ - turns.first;
  turns.last = turns.first + (iterations < most ? iterations : most);
  if (gate != asks) gate = asks;
  if (asks != nullptr) {
    turns.last = ~std::uint64_t{0};
    board.gate().reset(turns.first << 1);
  }
  for (const owner<wide_part>& each : wide_parts_) {
    each->phase = each->shared.set_size(each->shared.most());
  }
}

LOCKSTEP_INLINE void flow_machine::end(bool was_stopped) {
  for (const owner<wide_part>& each : wide_parts_) {
    each->shared.come_to_rest(was_stopped);
    each->shared.destroy_kept_values();
  }
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

LOCKSTEP_INLINE bool flow_machine::is_done() const noexcept {
  for (std::size_t lane = 0; lane < plan.lanes.size(); ++lane) {
    const plan_lane& of = plan.lanes[lane];
    if (of.block == 0 && board.done(lane).value() != turns.last * of.steps) return false;
  }
  return true;
}

LOCKSTEP_INLINE bool flow_machine::is_skipped(node_index node) const noexcept {
  bool one_ran = false;
  for (std::uint32_t q = questions_begin_[node]; q < questions_begin_[node + 1]; ++q) {
    if (questions_[q].node == no_node) {
      one_ran = true;
      continue;
    }
    const std::uint8_t said = answers_[questions_[q].node];
    one_ran |= (said & ran) != 0;
    if (questions_[q].kind == edge_kind::if_true && said != (ran | said_true)) return true;
    if (questions_[q].kind == edge_kind::if_false && said != ran) return true;
  }
  return !one_ran;
}

LOCKSTEP_INLINE bool flow_machine::run_watched(const bound_call& what, std::uint64_t iteration,
                                               member* me) {
  const bool notes = iteration < timed_iterations && times[what.node].count < most_samples;
  if (observers() != 0) node_begins(name_of(what.node));
  const std::uint64_t begin = tick_clock::now();
  const bool result = what.call(what.held, converted<std::size_t>(iteration), me);
  if (notes) note_time(what, begin);
  if (observers() != 0) note_node(name_of(what.node), iteration, begin);
  return result;
}

LOCKSTEP_INLINE void flow_machine::run_asked(const bound_call& what, std::uint64_t iteration,
                                             member* me) {
  std::uint8_t said = 0;
  if ((what.flags & bound_call::may_be_skipped) == 0 || !is_skipped(what.node)) {
    said = static_cast<std::uint8_t>(run(what, iteration, me) ? ran | said_true : ran);
  }
  if (what.rank == 0) answers_[what.node] = said;
}

LOCKSTEP_INLINE const char* flow_machine::name_of(node_index node) const noexcept {
  const bool has_name = model != nullptr && node < model->nodes.size();
  return has_name ? model->nodes[node].name.c_str() : "node";
}

LOCKSTEP_INLINE void flow_machine::note_time(const bound_call& what, std::uint64_t begin) noexcept {
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

/// Where no node has to be asked anything. A loop as short as it can be: nodes may take as little as a nanosecond.
LOCKSTEP_INLINE bool flow_machine::run_plain(std::uint64_t iterations, const stop_question& stop) {
  const bound_call *const begin = line.data(), *const end = begin + line.size();
  for (std::uint64_t i = 0; i < iterations; ++i) {
    if (stop()) return false;
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

LOCKSTEP_INLINE bool flow_machine::run_alone(std::uint64_t iterations, const iteration_gate* asks,
                                             member* me, const stop_question& stop) {
  look_at_run();
  if (is_plain_ && asks == nullptr) return run_plain(iterations, stop);
  for (std::uint64_t i = 0; asks != nullptr || i < iterations; ++i) {
    if (stop()) return false;
    if (asks != nullptr && (*asks)()) return true;
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

/// The median: two looks that follow each other at once may see the same tick now and then.
LOCKSTEP_INLINE std::uint64_t time_of_nothing() noexcept {
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

LOCKSTEP_INLINE double usual_time(const node_times& of, std::uint64_t clock) noexcept {
  const bool has_many = of.count > 2;
  const std::uint64_t count = has_many ? of.count - 1 : of.count;
  const std::uint64_t sum = has_many ? of.sum - of.most : of.sum;
  constexpr std::uint64_t little = 10;  // times the clock
  if (sum < little * clock * count) {
    return of.least < 2 * clock ? 0 : static_cast<double>(of.least - clock);
  }
  return static_cast<double>(sum - clock * count) / static_cast<double>(count);
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
