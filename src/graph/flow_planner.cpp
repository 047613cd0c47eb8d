// SPDX-License-Identifier: MIT
// src/graph/flow_planner.cpp -- makes a plan of a graph (layer: graph)
//
// Scheduling (flow_schedule.hpp): of the nodes that could begin, the one with the longest path to the end is next. It goes
// to the member on which it can begin first; a value from another member arrives `crossing` later. [KA99]
#include "flow_plan.hpp"

#include <algorithm>

#include "flow_waits.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

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
      std::sort(sorted.begin(), sorted.end(),
                [](std::uint32_t a, std::uint32_t b) { return a < b; });
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
