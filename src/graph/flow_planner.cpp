// SPDX-License-Identifier: MIT
// src/graph/flow_planner.cpp -- makes a plan of a graph (layer: graph)
//
// Three passes over the schedules of flow_schedule.hpp. "lay" makes each item an operation on the lanes of its members.
// "wait" goes through the operations of each lane, and keeps how far every other lane must be by then: what a lane
// knows already needs no wait. "cut" joins operations to one step if no lane waits for those in between.
#include "flow_plan.hpp"

#include <algorithm>
#include <limits>

#include "../platform/system_texts.hpp"
#include "flow_schedule.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

class flow_planner : private flow_scheduler {
 public:
  /// Requires: `made` has costs.
  flow_planner(const graph_model& of, const flow& checked, std::size_t members, flow_plan& made)
      : flow_scheduler(of, checked, members, made), spots_(nodes_ + checked.blocks.size()) {}

  void make() {
    made_.members = (std::max)(blocks_[0].used, std::uint32_t{1});
    made_.lane_at.assign(blocks_.size() * made_.members, std::uint32_t{no_lane});
    made_.decider.assign(blocks_.size(), std::uint32_t{no_lane});
    made_.member_of.assign(nodes_, 0);
    made_.width_of.assign(nodes_, 1);
    made_.critical_path = blocks_[0].critical_path;
    made_.predicted_time = time_between_iterations();
    lay(0, numbers_below(blocks_[0].used));
    for (std::uint32_t block = 0; block < blocks_.size(); ++block) find_waits(block);
    cut();
  }

 private:
  /// One place of a lane, before operations are joined to steps.
  struct lane_operation {
    std::uint32_t item;
    std::uint32_t rank;   ///< of a team-wide node
    std::uint32_t order;  ///< of its item in the block
    std::uint32_t first_wait, last_wait;
    std::uint32_t step;
    bool is_awaited;
    bool is_decision;  ///< it decides the loop, and calls no node
  };
  struct lane_spot {
    std::uint32_t lane, at;
  };

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

  // --- lay ---

  std::vector<lane_operation>& operations(std::uint32_t lane) { return operations_[lane]; }
  lane_operation& operation_at(const lane_spot& at) { return operations_[at.lane][at.at]; }
  std::uint32_t member_of(const lane_spot& at) const noexcept {
    return made_.lanes[at.lane].member;
  }

  std::uint32_t lane(std::uint32_t block, std::uint32_t member) {
    std::uint32_t& at = made_.lane_at[block * made_.members + member];
    if (at != no_lane) return at;
    at = static_cast<std::uint32_t>(made_.lanes.size());
    made_.lanes.push_back({block, member, 0, 0});
    operations_.push_back(std::vector<lane_operation>());
    return at;
  }

  /// `members`: for each number in the block's schedule, the member that it stands for.
  void lay(std::uint32_t block, const std::vector<std::uint32_t>& members) {
    const std::uint32_t begin_of_line = static_cast<std::uint32_t>(made_.line.size());
    std::uint32_t order = 0;
    for (const placed_item& each : blocks_[block].placed) {
      std::vector<std::uint32_t> own;
      for (const std::uint32_t member : each.members) own.push_back(members[member]);
      std::vector<std::uint32_t> sorted = own;
      std::sort(sorted.begin(), sorted.end());
      for (std::uint32_t rank = 0; rank < sorted.size(); ++rank) {
        const std::uint32_t at = lane(block, sorted[rank]);
        spots_[each.item].push_back({at, static_cast<std::uint32_t>(operations(at).size())});
        lane_operation made = lane_operation();
        made.item = each.item;
        made.rank = rank;
        made.order = order;
        operations(at).push_back(made);
      }
      ++order;
      if (each.item >= nodes_) {
        lay_loop(each.item, own);
        continue;
      }
      made_.member_of[each.item] = sorted[0];
      made_.width_of[each.item] = static_cast<std::uint32_t>(sorted.size());
      made_.line.push_back(each.item);
      const bool ends_loop = flow_.loop_from[each.item] != 0;
      made_.again.push_back(ends_loop ? begin_of_line : no_lane);
      if (ends_loop) add_decision(block, each.item);
    }
  }
  /// For the node that decides a loop. If that is team-wide, an operation of its own decides, after all members.
  void add_decision(std::uint32_t block, std::uint32_t item) {
    const std::uint32_t lane = spots_[item][0].lane;
    made_.decider[block] = lane;
    if (!is_wide(item)) return;
    lane_operation made = operations(lane).back();
    made.is_decision = true;
    operations(lane).push_back(made);
  }
  void lay_loop(std::uint32_t item, const std::vector<std::uint32_t>& own) {
    const std::uint32_t inner = item - nodes_;
    // A number in the schedule of a bound loop is the member's own.
    lay(inner, blocks_[inner].is_bound ? numbers_below(blocks_[inner].used) : own);
  }

  // --- wait ---

  std::int64_t length(std::uint32_t lane) const {
    return static_cast<std::int64_t>(operations_[lane].size());
  }

  /// Adds the operations after which the item is done. A loop is over when the member that decides has left it.
  void need_item(std::uint32_t item, std::uint32_t delay, std::vector<need>& needs) {
    const std::int64_t order = std::int64_t{operation_at(spots_[item][0]).order} -
                               std::int64_t{delay} * (std::numeric_limits<std::int32_t>::max)();
    for (const lane_spot& each : spots_[item]) {
      if (item >= nodes_ && member_of(each) != made_.lanes[made_.decider[item - nodes_]].member) {
        continue;
      }
      needs.push_back({each, delay, order});
    }
  }
  bool decides(std::uint32_t block, std::uint32_t item) const noexcept {
    return block != 0 && item == flow_.blocks[block].from;
  }
  /// Adds the end of each lane: all nodes come before the one that decides, but members may have to leave inner loops.
  void need_turn(std::vector<need>& needs) {
    for (const std::uint32_t lane : own_) {
      const std::uint32_t last = static_cast<std::uint32_t>(operations(lane).size() - 1);
      needs.push_back({{lane, last}, 0, operations(lane)[last].order});
    }
  }
  /// Whether the item is a node, or a loop whose first node the member of this lane runs.
  bool enters(std::uint32_t item, std::uint32_t lane) const {
    if (item < nodes_) return true;
    for (const lane_spot& each : spots_[flow_.blocks[item - nodes_].to]) {
      if (member_of(each) == made_.lanes[lane].member) return true;
    }
    return false;
  }
  void find_waits(std::uint32_t block) {
    const block_schedule& of = blocks_[block];
    std::vector<model_edge> delays;
    for (std::uint32_t i = 0; block == 0 && i < flow_.delayed.size(); ++i) {
      delays.push_back({i, item_in(0, flow_.delayed[i].to), edge_kind::plain});
    }
    const adjacency delayed = edges_by(delays, spots_.size(), true);

    // Lanes of one block do not have successive numbers, as loops have lanes in between. Here they count from 0.
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
    after_.assign(own_.size(), knowledge());

    std::vector<need> needs;
    for (const placed_item& each : of.placed) {
      const bool ends_turn = decides(block, each.item);
      for (const lane_spot& here : spots_[each.item]) {
        needs.clear();
        if (enters(each.item, here.lane)) {
          for (const std::uint32_t e : flow_.item_in.of(each.item)) {
            need_item(flow_.item_edges[e].from, 0, needs);
          }
          for (const std::uint32_t e : delayed.of(each.item)) {
            const model_feedback& what = flow_.delayed[delays[e].from];
            need_item(item_in(0, what.from), what.delay, needs);
          }
        }
        if (ends_turn && !is_wide(each.item)) need_turn(needs);
        wait_for(here, needs, known_on(here.lane));
      }
      if (each.item >= nodes_) meet(spots_[each.item]);
      for (const lane_spot& here : spots_[each.item]) pass(here);
      if (!ends_turn || !is_wide(each.item)) continue;
      needs.clear();
      need_turn(needs);
      const lane_spot first = spots_[each.item][0];
      wait_for({first.lane, first.at + 1}, needs, known_on(first.lane));
      pass({first.lane, first.at + 1});
    }
    if (block == 0 && !flow_.overlaps) wait_for_iteration(of);
  }

  std::int64_t* known_on(std::uint32_t lane) { return &known_[number_[lane] * lanes_]; }

  /// Adds the waits that are not implied by what is known. It begins with the latest, because that implies others.
  void wait_for(const lane_spot& here, std::vector<need>& needs, std::int64_t* known) {
    lane_operation& own = operation_at(here);
    own.first_wait = static_cast<std::uint32_t>(waits_.size());
    std::sort(needs.begin(), needs.end(), need::comes_before);
    for (const need& each : needs) {
      const std::uint32_t k = number_[each.what.lane];
      const std::int64_t reach =
          each.what.at + 1 - std::int64_t{each.delay} * length(each.what.lane);
      if (known[k] >= reach || each.what.lane == here.lane) continue;
      waits_.push_back({each.what.lane, each.what.at, each.delay});
      operation_at(each.what).is_awaited = true;
      learn(known, each);
      known[k] = (std::max)(known[k], reach);
    }
    own.last_wait = static_cast<std::uint32_t>(waits_.size());
  }
  /// Adds what the other lane knew after that operation, if that is known yet.
  void learn(std::int64_t* known, const need& from) {
    const std::vector<std::int64_t>& rows = after_[number_[from.what.lane]];
    if (rows.size() <= from.what.at * lanes_) return;
    for (std::uint32_t k = 0; k < lanes_; ++k) {
      known[k] = (std::max)(
          known[k], rows[from.what.at * lanes_ + k] - std::int64_t{from.delay} * length(own_[k]));
    }
  }
  /// At the end of a loop every lane knows what any of them knew.
  void meet(const std::vector<lane_spot>& spots) {
    knowledge all(lanes_, std::int64_t{least});
    for (const lane_spot& each : spots) {
      const std::int64_t* const known = known_on(each.lane);
      for (std::uint32_t i = 0; i < lanes_; ++i) all[i] = (std::max)(all[i], known[i]);
    }
    for (const lane_spot& each : spots) std::copy(all.begin(), all.end(), known_on(each.lane));
  }
  void pass(const lane_spot& here) {
    std::int64_t* const known = known_on(here.lane);
    known[number_[here.lane]] = here.at + 1;
    if (!keeps_all_) return;
    std::vector<std::int64_t>& rows = after_[number_[here.lane]];
    rows.insert(rows.end(), known, known + lanes_);
  }

  /// GRAPH-3: an item that depends on nothing, and is the first of its lane, waits for the whole iteration before. Any
  /// other item that is the first of a lane waits for such an item.
  void wait_for_iteration(const block_schedule& of) {
    std::vector<need> ends;
    for (const placed_item& each : of.placed) {
      if (flow_.item_out.of(each.item).empty()) need_item(each.item, 1, ends);
    }
    for (const placed_item& each : of.placed) {
      if (!flow_.item_in.of(each.item).empty()) continue;
      for (const lane_spot& here : spots_[each.item]) {
        if (here.at != 0 || !enters(each.item, here.lane)) continue;
        // It begins with what the lane knew at the end of the iteration before.
        knowledge known(known_on(here.lane), known_on(here.lane) + lanes_);
        for (std::uint32_t k = 0; k < lanes_; ++k) known[k] -= length(own_[k]);
        wait_for(here, ends, known.data());
      }
    }
  }

  // --- cut ---

  bool is_open(const lane_operation& of) const {
    return of.item < nodes_ && !is_wide(of.item) && of_.nodes[of.item].pin == no_node;
  }

  /// Joins operations to one step if no lane waits for those in between.
  void cut() {
    for (std::uint32_t lane = 0; lane < made_.lanes.size(); ++lane) {
      plan_lane& of = made_.lanes[lane];
      of.first_step = static_cast<std::uint32_t>(made_.steps.size());
      bool goes_on = false;
      for (lane_operation& each : operations(lane)) {
        const bool is_loop = each.item >= nodes_, is_single = is_loop || is_wide(each.item);
        goes_on = goes_on && !is_single && each.first_wait == each.last_wait &&
                  made_.steps.back().is_open == is_open(each);
        if (!goes_on) add_step(each);
        each.step = static_cast<std::uint32_t>(made_.steps.size()) - of.first_step - 1;
        if (!is_loop) {
          if (!each.is_decision) made_.calls.push_back({each.item, each.rank});
          made_.steps.back().decides =
              flow_.loop_from[each.item] != 0 && (each.is_decision || !is_wide(each.item));
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
          !is_wide(flow_.blocks[of.block].to);
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
    made_.waits.insert(made_.waits.end(), waits_.data() + first.first_wait,
                       waits_.data() + first.last_wait);
    made.last_wait = static_cast<std::uint32_t>(made_.waits.size());
    made.loop = first.item >= nodes_ ? first.item - nodes_ : 0;
    made.is_open = is_open(first);
    made_.steps.push_back(made);
  }

  static constexpr std::int64_t least = (std::numeric_limits<std::int64_t>::min)() / 4;
  static constexpr std::size_t most_kept = std::size_t{1} << 22;

  std::vector<std::vector<lane_operation>> operations_;  ///< of each lane
  std::vector<std::vector<lane_spot>> spots_;            ///< of each item
  std::vector<plan_wait> waits_;  ///< here `steps` is the place of an operation

  // Of the block whose waits are sought.
  std::size_t lanes_ = 0;
  std::vector<std::uint32_t> number_, own_;
  knowledge known_;  // of each lane at its present end
  bool keeps_all_ = true;
  std::vector<knowledge> after_;  // the same after each of its operations
};

LOCKSTEP_INLINE flow_plan make_flow_plan(const graph_model& of, const flow& checked,
                                         const std::vector<double>& costs, std::size_t members) {
  flow_plan made;
  for (std::size_t i = 0; i < of.nodes.size(); ++i) {
    const model_node& node = of.nodes[i];
    const auto name = [&] { return quoted(of, static_cast<node_index>(i)); };
    if (node.is_wide && node.width > members) {
      made.problem = "the team-wide node " + name() + " is for " + counted(node.width, "member") +
                     ", the plan for " + std::to_string(members);
    } else if (node.pin != no_node && node.is_wide) {
      made.problem = "the team-wide node " + name() + " cannot be pinned to a member";
    } else if (node.pin != no_node && node.pin >= members) {
      made.problem = "the node " + name() + " is pinned to member " + std::to_string(node.pin) +
                     ", the plan is for members 0 to " + std::to_string(members - 1);
    }
    if (!made.problem.empty()) return made;
    const double cost = i < costs.size() ? costs[i] : -1;
    made.costs.push_back(cost >= 0 ? whole_time(cost) : plan_time{usual_node_time});
    made.serial_time = time_after(made.serial_time, made.costs.back());
  }
  flow_planner(of, checked, members, made).make();
  return made;
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
