// SPDX-License-Identifier: MIT
// src/graph/flow_planner.cpp -- makes a plan of a graph (layer: graph)
//
// Scheduling (flow_schedule.hpp): of the nodes that could begin, the one with the longest path to the end is next. It goes
// to the member on which it can begin first; a value from another member arrives `crossing` later. [KA99]
//
// Waits: kept is, for each lane, operation by operation, how far every other lane must be by then. What a lane knows already
// needs no wait.
#include "flow_plan.hpp"

#include <algorithm>
#include <limits>

#include "flow_schedule.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// What a lane has at one place, before operations are joined to steps.
struct lane_operation {
  std::uint32_t item;
  std::uint32_t rank;   ///< of a team-wide node
  std::uint32_t order;  ///< of its item in the block
  std::uint32_t first_wait, last_wait;
  std::uint32_t step;
  bool is_awaited;
  bool is_decision;  ///< nothing else
};
struct lane_spot {
  std::uint32_t lane, at;
};
struct spot_range {
  std::uint32_t first, last;
};

/// The lanes of a schedule.
struct flow_layout {
  std::vector<std::vector<lane_operation>> operations;  ///< of each lane
  std::vector<lane_spot> spots;
  std::vector<spot_range> place_of;  ///< of each item, in `spots`
  std::vector<plan_wait> waits;      ///< `steps` is the place of an operation
};

/// Finds the waits of each block.
class flow_waits {
 public:
  flow_waits(const graph_model& of, const flow& checked, const flow_scheduler& schedule,
             const flow_plan& made, flow_layout& layout)
      : of_(of),
        flow_(checked),
        schedule_(schedule),
        made_(made),
        layout_(layout),
        nodes_(static_cast<std::uint32_t>(of.nodes.size())) {}

  void find() {
    for (std::uint32_t block = 0; block < flow_.blocks.size(); ++block) find_waits(block);
  }

 private:
  struct need {
    lane_spot what;
    std::uint32_t delay;
    std::int64_t order;

    /// The latest first.
    static bool comes_before(const need& a, const need& b) noexcept {
      return a.order > b.order || (a.order == b.order && a.what.lane < b.what.lane);
    }
  };
  /// How far a lane is known to be: operations done, counted from the beginning of this turn.
  using knowledge = std::vector<std::int64_t>;

  lane_operation& operation_at(const lane_spot& at) const {
    return layout_.operations[at.lane][at.at];
  }

  /// In `block` or further inside: the item of the block that has the node.
  std::uint32_t item_in(std::uint32_t block, node_index node) const noexcept {
    std::uint32_t at = flow_.block_of[node];
    if (at == block) return node;
    while (flow_.blocks[at].parent != block) at = flow_.blocks[at].parent;
    return nodes_ + at;
  }
  std::int64_t order_of(std::uint32_t item) const {
    const lane_spot& at = layout_.spots[layout_.place_of[item].first];
    return operation_at(at).order;
  }
  std::int64_t length(std::uint32_t lane) const {
    return static_cast<std::int64_t>(layout_.operations[lane].size());
  }

  /// The operation after which the item is done: a loop is over when the member that decides has left it.
  void need_item(std::uint32_t item, std::uint32_t delay, std::vector<need>& needs) {
    const spot_range& place = layout_.place_of[item];
    const std::int64_t order =
        order_of(item) - std::int64_t{delay} * (std::numeric_limits<std::int32_t>::max)();
    for (std::uint32_t k = place.first; k < place.last; ++k) {
      if (item >= nodes_) {
        const std::uint32_t decider = made_.decider[item - nodes_];
        if (made_.lanes[layout_.spots[k].lane].member != made_.lanes[decider].member) continue;
      }
      needs.push_back({layout_.spots[k], delay, order});
    }
  }
  bool decides(std::uint32_t block, std::uint32_t item) const noexcept {
    return block != 0 && item == flow_.blocks[block].from;
  }
  /// The end of each lane. All nodes come before the one that decides; but who is in a loop further inside has to
  /// leave it.
  void need_turn(std::vector<need>& needs) {
    for (const std::uint32_t lane : own_) {
      const std::uint32_t last = static_cast<std::uint32_t>(layout_.operations[lane].size() - 1);
      needs.push_back({{lane, last}, 0, layout_.operations[lane][last].order});
    }
  }
  /// Whether the member of this lane runs the first node of the item, or all of it.
  bool enters(std::uint32_t item, std::uint32_t lane) const {
    if (item < nodes_) return true;
    const spot_range& place = layout_.place_of[flow_.blocks[item - nodes_].to];
    for (std::uint32_t k = place.first; k < place.last; ++k) {
      if (made_.lanes[layout_.spots[k].lane].member == made_.lanes[lane].member) return true;
    }
    return false;
  }
  void find_waits(std::uint32_t block) {
    const block_schedule& of = schedule_.blocks[block];
    std::vector<model_edge> edges;
    for (const item_edge& each : of.edges) {
      edges.push_back({each.from, each.to, edge_kind::plain});
    }
    const adjacency in = edges_by(edges, layout_.place_of.size(), true),
                    out = edges_by(edges, layout_.place_of.size(), false);
    std::vector<model_edge> delays;
    if (block == 0) {
      for (std::uint32_t i = 0; i < flow_.delayed.size(); ++i) {
        delays.push_back({i, item_in(0, flow_.delayed[i].to), edge_kind::plain});
      }
    }
    const adjacency delayed = edges_by(delays, layout_.place_of.size(), true);

    // Lanes of a block were made one by one, between those of loops: by their own numbers here.
    number_.assign(made_.lanes.size(), no_lane);
    own_.clear();
    for (std::uint32_t m = 0; m < made_.members; ++m) {
      const std::uint32_t lane = made_.lane(block, m);
      if (lane == no_lane) continue;
      number_[lane] = static_cast<std::uint32_t>(own_.size());
      own_.push_back(lane);
    }
    lanes_ = own_.size();
    const bool knows_turn_before = block != 0 || !flow_.overlaps;
    known_.assign(lanes_ * lanes_, knows_turn_before ? 0 : std::int64_t{least});
    for (std::uint32_t k = 0; k < lanes_; ++k) known_[k * lanes_ + k] = 0;
    keeps_all_ = of.placed.size() * lanes_ <= most_kept;
    after_.clear();
    if (keeps_all_) after_.resize(own_.size());

    std::vector<need> needs;
    for (const placed_item& each : of.placed) {
      const spot_range place = layout_.place_of[each.item];
      for (std::uint32_t k = place.first; k < place.last; ++k) {
        const lane_spot here = layout_.spots[k];
        needs.clear();
        if (enters(each.item, here.lane)) {
          for (const std::uint32_t e : in.of(each.item)) {
            need_item(edges[e].from, 0, needs);
          }
          for (const std::uint32_t e : delayed.of(each.item)) {
            const model_feedback& what = flow_.delayed[delays[e].from];
            need_item(item_in(0, what.from), what.delay, needs);
          }
        }
        if (decides(block, each.item) && !of_.nodes[each.item].is_wide) need_turn(needs);
        wait_for(here, needs);
      }
      if (each.item >= nodes_) meet(place);
      for (std::uint32_t k = place.first; k < place.last; ++k) pass(layout_.spots[k]);
      if (!decides(block, each.item) || !of_.nodes[each.item].is_wide) continue;
      needs.clear();
      need_turn(needs);
      const lane_spot decision = {layout_.spots[place.first].lane,
                                  layout_.spots[place.first].at + 1};
      wait_for(decision, needs);
      pass(decision);
    }
    if (block == 0 && !flow_.overlaps) wait_for_iteration(of, in, out);
  }

  std::int64_t* known_on(std::uint32_t lane) { return &known_[number_[lane] * lanes_]; }

  /// Adds the waits that nothing known implies; the latest first, since they imply others.
  void wait_for(const lane_spot& here, std::vector<need>& needs) {
    lane_operation& own = operation_at(here);
    own.first_wait = own.last_wait = static_cast<std::uint32_t>(layout_.waits.size());
    std::sort(needs.begin(), needs.end(), need::comes_before);
    std::int64_t* const known = known_on(here.lane);
    for (const need& each : needs) {
      const std::uint32_t k = number_[each.what.lane];
      const std::int64_t reach =
          each.what.at + 1 - std::int64_t{each.delay} * length(each.what.lane);
      if (known[k] >= reach || each.what.lane == here.lane) continue;
      layout_.waits.push_back({each.what.lane, each.what.at, each.delay});
      operation_at(each.what).is_awaited = true;
      own.last_wait = static_cast<std::uint32_t>(layout_.waits.size());
      if (each.delay == 0) learn(known, each.what);
      known[k] = (std::max)(known[k], reach);
    }
  }
  /// What was known after that operation.
  void learn(std::int64_t* known, const lane_spot& from) {
    if (!keeps_all_) return;
    const std::vector<std::int64_t>& rows = after_[number_[from.lane]];
    for (std::uint32_t k = 0; k < lanes_; ++k) {
      known[k] = (std::max)(known[k], rows[from.at * lanes_ + k]);
    }
  }
  /// At the end of a loop every lane knows what any of them knew.
  void meet(const spot_range& place) {
    knowledge all(lanes_, std::int64_t{least});
    for (std::uint32_t k = place.first; k < place.last; ++k) {
      const std::int64_t* const known = known_on(layout_.spots[k].lane);
      for (std::uint32_t i = 0; i < lanes_; ++i) all[i] = (std::max)(all[i], known[i]);
    }
    for (std::uint32_t k = place.first; k < place.last; ++k) {
      std::int64_t* const known = known_on(layout_.spots[k].lane);
      for (std::uint32_t i = 0; i < lanes_; ++i) known[i] = all[i];
    }
  }
  void pass(const lane_spot& here) {
    std::int64_t* const known = known_on(here.lane);
    known[number_[here.lane]] = here.at + 1;
    if (!keeps_all_) return;
    std::vector<std::int64_t>& rows = after_[number_[here.lane]];
    rows.insert(rows.end(), known, known + lanes_);
  }

  /// GRAPH-3: what depends on nothing waits for all of the iteration before, where it is the first of its lane.
  /// Whatever else comes first on a lane waits for such a node.
  void wait_for_iteration(const block_schedule& of, const adjacency& in, const adjacency& out) {
    std::vector<need> ends;
    for (const placed_item& each : of.placed) {
      if (out.of(each.item).empty()) need_item(each.item, 1, ends);
    }
    for (const placed_item& each : of.placed) {
      if (!in.of(each.item).empty()) continue;
      const spot_range place = layout_.place_of[each.item];
      for (std::uint32_t k = place.first; k < place.last; ++k) {
        const lane_spot here = layout_.spots[k];
        if (here.at != 0 || !enters(each.item, here.lane)) continue;
        // What the lane knew at the end of the iteration before; then the last of each lane first.
        knowledge known(known_on(here.lane), known_on(here.lane) + lanes_);
        std::sort(ends.begin(), ends.end(), need::comes_before);
        lane_operation& own = operation_at(here);
        own.first_wait = static_cast<std::uint32_t>(layout_.waits.size());
        for (const need& end : ends) {
          if (known[number_[end.what.lane]] > end.what.at) continue;
          layout_.waits.push_back({end.what.lane, end.what.at, 1});
          operation_at(end.what).is_awaited = true;
          learn(known.data(), end.what);
          known[number_[end.what.lane]] = end.what.at + 1;
        }
        own.last_wait = static_cast<std::uint32_t>(layout_.waits.size());
      }
    }
  }

  static constexpr std::int64_t least = (std::numeric_limits<std::int64_t>::min)() / 4;
  static constexpr std::size_t most_kept = std::size_t{1} << 22;

  const graph_model& of_;
  const flow& flow_;
  const flow_scheduler& schedule_;
  const flow_plan& made_;
  flow_layout& layout_;
  const std::uint32_t nodes_;

  // Of the block whose waits are sought.
  std::size_t lanes_ = 0;
  std::vector<std::uint32_t> number_, own_;
  knowledge known_;  // of each lane at its present end
  bool keeps_all_ = true;
  std::vector<knowledge> after_;  // the same after each of its operations
};

/// Makes lanes of a schedule, then the waits between them, then steps.
class plan_assembler {
 public:
  plan_assembler(const graph_model& of, const flow& checked, const flow_scheduler& schedule,
                 flow_plan& made)
      : of_(of),
        flow_(checked),
        schedule_(schedule),
        made_(made),
        nodes_(static_cast<std::uint32_t>(of.nodes.size())) {
    layout_.place_of.resize(nodes_ + checked.blocks.size());
  }

  void assemble() {
    const block_schedule& top = schedule_.blocks[0];
    std::vector<std::uint32_t> members(top.used);
    for (std::uint32_t m = 0; m < top.used; ++m) members[m] = m;
    made_.members = (std::max)(top.used, std::uint32_t{1});
    made_.lane_at.assign(flow_.blocks.size() * made_.members, std::uint32_t{no_lane});
    made_.decider.assign(flow_.blocks.size(), std::uint32_t{no_lane});
    for (const flow_block& each : flow_.blocks) made_.from.push_back(each.from);
    made_.member_of.assign(nodes_, 0);
    made_.width_of.assign(nodes_, 1);
    made_.start.assign(nodes_, 0);
    lay(0, members, 0);
    flow_waits(of_, flow_, schedule_, made_, layout_).find();
    cut();
  }

 private:
  // --- lanes ---

  std::uint32_t lane(std::uint32_t block, std::uint32_t member) {
    std::uint32_t& at = made_.lane_at[block * made_.members + member];
    if (at != no_lane) return at;
    at = static_cast<std::uint32_t>(made_.lanes.size());
    made_.lanes.push_back({block, member, 0, 0, no_lane, 0});
    layout_.operations.push_back(std::vector<lane_operation>());
    return at;
  }

  void lay(std::uint32_t block, const std::vector<std::uint32_t>& members, plan_time begin) {
    const block_schedule& from = schedule_.blocks[block];
    const std::size_t begin_of_line = made_.line.size();
    std::uint32_t order = 0;
    for (const placed_item& each : from.placed) {
      std::vector<std::uint32_t> own;
      for (std::uint32_t k = each.first_member; k < each.last_member; ++k) {
        own.push_back(members[from.members[k]]);
      }
      const bool is_loop = each.item >= nodes_;
      std::vector<std::uint32_t> sorted = own;
      std::sort(sorted.begin(), sorted.end());
      spot_range& place = layout_.place_of[each.item];
      place.first = static_cast<std::uint32_t>(layout_.spots.size());
      std::uint32_t rank = 0;
      for (const std::uint32_t member : sorted) {
        const std::uint32_t at = lane(block, member);
        layout_.spots.push_back({at, static_cast<std::uint32_t>(operations(at).size())});
        lane_operation made = lane_operation();
        made.item = each.item;
        made.rank = rank++;
        made.order = order;
        operations(at).push_back(made);
      }
      place.last = static_cast<std::uint32_t>(layout_.spots.size());
      ++order;
      if (is_loop) {
        lay_loop(each, own, place, time_after(begin, each.start));
        continue;
      }
      made_.member_of[each.item] = sorted[0];
      made_.width_of[each.item] = static_cast<std::uint32_t>(sorted.size());
      made_.start[each.item] = time_after(begin, each.start);
      made_.line.push_back(each.item);
      made_.again.push_back(
          flow_.loop_from[each.item] != 0 ? static_cast<std::uint32_t>(begin_of_line) : no_lane);
      if (flow_.loop_from[each.item] != 0) add_decision(block, each.item);
    }
  }
  /// The node that decides a loop. If it is team-wide, the decision is an operation of its own: after all members.
  void add_decision(std::uint32_t block, std::uint32_t item) {
    const std::uint32_t lane = layout_.spots[layout_.place_of[item].first].lane;
    made_.decider[block] = lane;
    if (!of_.nodes[item].is_wide) return;
    lane_operation made = operations(lane).back();
    made.is_decision = true;
    operations(lane).push_back(made);
  }
  void lay_loop(const placed_item& each, const std::vector<std::uint32_t>& own,
                const spot_range& place, plan_time begin) {
    const std::uint32_t inner = each.item - nodes_;
    // A bound loop's members are known by their own numbers.
    std::vector<std::uint32_t> members = own;
    if (schedule_.blocks[inner].is_bound) {
      members.resize(schedule_.blocks[inner].used);
      for (std::uint32_t m = 0; m < members.size(); ++m) members[m] = m;
    }
    lay(inner, members, begin);
    for (std::uint32_t k = place.first; k < place.last; ++k) {
      plan_lane& of_inner =
          made_.lanes[made_.lane(inner, made_.lanes[layout_.spots[k].lane].member)];
      of_inner.parent = layout_.spots[k].lane;
    }
  }

  // --- steps ---

  bool is_open(const lane_operation& of) const {
    return of.item < nodes_ && !of_.nodes[of.item].is_wide && of_.nodes[of.item].pin == no_node;
  }

  /// Operations that nobody waits for in between become one step.
  void cut() {
    for (std::uint32_t lane = 0; lane < made_.lanes.size(); ++lane) {
      plan_lane& of = made_.lanes[lane];
      of.first_step = static_cast<std::uint32_t>(made_.steps.size());
      bool goes_on = false;
      for (lane_operation& each : operations(lane)) {
        const bool is_loop = each.item >= nodes_,
                   is_single = is_loop || of_.nodes[each.item].is_wide;
        goes_on = goes_on && !is_single && each.first_wait == each.last_wait &&
                  made_.steps.back().is_open == is_open(each);
        if (!goes_on) add_step(each);
        each.step = static_cast<std::uint32_t>(made_.steps.size()) - of.first_step - 1;
        if (is_loop) {
          made_.lanes[made_.lane(each.item - nodes_, of.member)].parent_step = each.step;
        } else {
          if (!each.is_decision) made_.calls.push_back({each.item, each.rank});
          made_.steps.back().decides = flow_.loop_from[each.item] != 0 &&
                                       (each.is_decision || !of_.nodes[each.item].is_wide);
        }
        made_.steps.back().last_call = static_cast<std::uint32_t>(made_.calls.size());
        made_.steps.back().is_awaited =
            each.is_awaited || (made_.steps.back().decides && lanes_in(of.block) > 1);
        goes_on = !is_single && !each.is_awaited;
      }
      of.steps = static_cast<std::uint32_t>(made_.steps.size()) - of.first_step;
      const plan_step& first = made_.steps[of.first_step];
      made_.steps.back().is_followed =
          made_.steps.back().decides && of.steps > 1 && first.is_awaited && first.loop == 0 &&
          first.first_wait == first.last_wait &&
          made_.calls[first.first_call].node == flow_.blocks[of.block].to &&
          !of_.nodes[flow_.blocks[of.block].to].is_wide;
    }
    for (plan_wait& each : made_.waits) {
      each.steps = operations(each.lane)[each.steps].step + 1;
    }
  }
  std::size_t lanes_in(std::uint32_t block) const {
    std::size_t count = 0;
    for (std::uint32_t m = 0; m < made_.members; ++m) count += made_.lane(block, m) != no_lane;
    return count;
  }
  void add_step(const lane_operation& first) {
    plan_step made = plan_step();
    made.first_call = made.last_call = static_cast<std::uint32_t>(made_.calls.size());
    made.first_wait = static_cast<std::uint32_t>(made_.waits.size());
    made_.waits.insert(made_.waits.end(), layout_.waits.begin() + first.first_wait,
                       layout_.waits.begin() + first.last_wait);
    made.last_wait = static_cast<std::uint32_t>(made_.waits.size());
    made.loop = first.item >= nodes_ ? first.item - nodes_ : 0;
    made.is_open = is_open(first);
    made_.steps.push_back(made);
  }

  const graph_model& of_;
  const flow& flow_;
  const flow_scheduler& schedule_;
  flow_plan& made_;
  flow_layout layout_;
  const std::uint32_t nodes_;
  std::vector<lane_operation>& operations(std::uint32_t lane) { return layout_.operations[lane]; }
};

LOCKSTEP_INLINE flow_plan make_flow_plan(const graph_model& of, const flow& checked,
                                         const std::vector<double>& costs, std::size_t members) {
  flow_plan made;
  for (std::size_t i = 0; i < of.nodes.size(); ++i) {
    const model_node& node = of.nodes[i];
    const std::string name = quoted(of, static_cast<node_index>(i));
    if (node.is_wide && node.width > members) {
      made.problem = "the team-wide node " + name + " is for " + std::to_string(node.width) +
                     " members, the plan for " + std::to_string(members);
    } else if (node.pin != no_node && node.is_wide) {
      made.problem = "the team-wide node " + name + " cannot be pinned to a member";
    } else if (node.pin != no_node && node.pin >= members) {
      made.problem = "the node " + name + " is pinned to member " + std::to_string(node.pin) +
                     ", the plan is for members 0 to " + std::to_string(members - 1);
    }
    if (!made.problem.empty()) return made;
    const double cost = i < costs.size() ? costs[i] : -1;
    made.costs.push_back(cost >= 0 ? whole_time(cost) : plan_time{usual_node_time});
    made.serial_time = time_after(made.serial_time, made.costs.back());
  }
  const flow_scheduler schedule(of, checked, made.costs, static_cast<std::uint32_t>(members));
  made.critical_path = schedule.blocks[0].critical_path;
  plan_assembler(of, checked, schedule, made).assemble();
  made.problem = simulate(checked, made);
  return made;
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
