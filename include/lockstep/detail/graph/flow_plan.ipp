// SPDX-License-Identifier: MIT
// lockstep/detail/graph/flow_plan.ipp -- the bodies of flow_plan.hpp (layer: graph)
#ifndef LOCKSTEP_DETAIL_GRAPH_FLOW_PLAN_IPP
#define LOCKSTEP_DETAIL_GRAPH_FLOW_PLAN_IPP

#include <algorithm>
#include <limits>

#include "flow_plan.hpp"
#include "flow_schedule.hpp"
#include "flow_schedule.ipp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// Makes lanes of a schedule, then the waits between them, then steps.
class plan_assembler {
 public:
  LOCKSTEP_COLD plan_assembler(const graph_model& of, const flow& checked,
                               const flow_scheduler& schedule, flow_plan& made)
      : of_(of),
        flow_(checked),
        schedule_(schedule),
        made_(made),
        nodes_(static_cast<std::uint32_t>(of.nodes.size())),
        place_of_(nodes_ + checked.blocks.size()) {}

  LOCKSTEP_COLD void assemble() {
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
    for (std::uint32_t block = 0; block < flow_.blocks.size(); ++block) find_waits(block);
    cut();
  }

 private:
  /// What a lane has at one place.
  struct operation {
    std::uint32_t item;
    std::uint32_t rank;  ///< of a team-wide node
    std::uint32_t order;  ///< of its item in the block
    std::uint32_t first_wait = 0, last_wait = 0;
    std::uint32_t step = 0;
    bool is_awaited = false;
    bool is_decision = false;  ///< nothing else
  };
  struct lane_of_operations {
    std::vector<operation> list;
  };
  struct spot {
    std::uint32_t lane, at;
  };
  struct item_place {
    std::uint32_t first = 0, last = 0;  ///< in spots_
  };
  struct need {
    spot what;
    std::uint32_t delay;
    std::int64_t order;
  };
  /// How far a lane is known to be: operations done, counted from the beginning of this turn.
  using knowledge = std::vector<std::int64_t>;

  // --- lanes ---

  LOCKSTEP_COLD std::uint32_t lane(std::uint32_t block, std::uint32_t member) {
    std::uint32_t& at = made_.lane_at[block * made_.members + member];
    if (at != no_lane) return at;
    at = static_cast<std::uint32_t>(made_.lanes.size());
    made_.lanes.push_back({block, member, 0, 0, no_lane, 0});
    operations_.emplace_back();
    return at;
  }

  LOCKSTEP_COLD void lay(std::uint32_t block, const std::vector<std::uint32_t>& members,
                         double begin) {
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
      item_place& place = place_of_[each.item];
      place.first = static_cast<std::uint32_t>(spots_.size());
      std::uint32_t rank = 0;
      for (const std::uint32_t member : sorted) {
        const std::uint32_t at = lane(block, member);
        spots_.push_back({at, static_cast<std::uint32_t>(operations_[at].list.size())});
        operation made = operation();
        made.item = each.item;
        made.rank = rank++;
        made.order = order;
        operations_[at].list.push_back(made);
      }
      place.last = static_cast<std::uint32_t>(spots_.size());
      ++order;
      if (is_loop) {
        lay_loop(each, own, place, begin + each.start);
        continue;
      }
      made_.member_of[each.item] = sorted[0];
      made_.width_of[each.item] = static_cast<std::uint32_t>(sorted.size());
      made_.start[each.item] = begin + each.start;
      made_.line.push_back(each.item);
      made_.again.push_back(flow_.loop_from[each.item] != 0
                                ? static_cast<std::uint32_t>(begin_of_line)
                                : no_lane);
      if (flow_.loop_from[each.item] != 0) add_decision(block, each.item);
    }
  }
  /// The node that decides a loop. If it is team-wide, the decision is an operation of its own: after all members.
  LOCKSTEP_COLD void add_decision(std::uint32_t block, std::uint32_t item) {
    const std::uint32_t lane = spots_[place_of_[item].first].lane;
    made_.decider[block] = lane;
    if (!of_.nodes[item].is_wide) return;
    operation made = operations_[lane].list.back();
    made.is_decision = true;
    operations_[lane].list.push_back(made);
  }
  LOCKSTEP_COLD void lay_loop(const placed_item& each, const std::vector<std::uint32_t>& own,
                              const item_place& place, double begin) {
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
          made_.lanes[made_.lane(inner, made_.lanes[spots_[k].lane].member)];
      of_inner.parent = spots_[k].lane;
    }
  }

  // --- waits ---

  /// In `block` or further inside: the item of the block that has the node.
  std::uint32_t item_in(std::uint32_t block, node_index node) const noexcept {
    std::uint32_t at = flow_.block_of[node];
    if (at == block) return node;
    while (flow_.blocks[at].parent != block) at = flow_.blocks[at].parent;
    return nodes_ + at;
  }
  std::int64_t order_of(std::uint32_t item) const {
    const spot& at = spots_[place_of_[item].first];
    return operations_[at.lane].list[at.at].order;
  }
  std::int64_t length(std::uint32_t lane) const {
    return static_cast<std::int64_t>(operations_[lane].list.size());
  }

  /// What has to be done for the item to be: a loop is over when the member that decides has left it.
  LOCKSTEP_COLD void need_item(std::uint32_t item, std::uint32_t delay, std::vector<need>& needs) {
    const item_place& place = place_of_[item];
    const std::int64_t order =
        order_of(item) - std::int64_t{delay} * std::numeric_limits<std::int32_t>::max();
    for (std::uint32_t k = place.first; k < place.last; ++k) {
      if (item >= nodes_) {
        const std::uint32_t decider = made_.decider[item - nodes_];
        if (made_.lanes[spots_[k].lane].member != made_.lanes[decider].member) continue;
      }
      needs.push_back({spots_[k], delay, order});
    }
  }
  bool decides(std::uint32_t block, std::uint32_t item) const noexcept {
    return block != 0 && item == flow_.blocks[block].from;
  }
  /// The end of each lane. All nodes come before the one that decides; but who is in a loop further inside has to leave it.
  LOCKSTEP_COLD void need_turn(std::vector<need>& needs) {
    for (const std::uint32_t lane : own_) {
      const std::uint32_t last = static_cast<std::uint32_t>(operations_[lane].list.size() - 1);
      needs.push_back({{lane, last}, 0, operations_[lane].list[last].order});
    }
  }
  /// Whether the member of this lane runs the first node of the item, or all of it.
  LOCKSTEP_COLD bool enters(std::uint32_t item, std::uint32_t lane) const {
    if (item < nodes_) return true;
    const item_place& place = place_of_[flow_.blocks[item - nodes_].to];
    for (std::uint32_t k = place.first; k < place.last; ++k) {
      if (made_.lanes[spots_[k].lane].member == made_.lanes[lane].member) return true;
    }
    return false;
  }
  LOCKSTEP_COLD void find_waits(std::uint32_t block) {
    const block_schedule& of = schedule_.blocks[block];
    std::vector<model_edge> edges;
    for (const item_edge& each : of.edges) {
      edges.push_back({each.from, each.to, edge_kind::plain});
    }
    const adjacency in = edges_by(edges, place_of_.size(), true),
                    out = edges_by(edges, place_of_.size(), false);
    std::vector<model_edge> delays;
    if (block == 0) {
      for (std::uint32_t i = 0; i < flow_.delayed.size(); ++i) {
        delays.push_back({i, item_in(0, flow_.delayed[i].to), edge_kind::plain});
      }
    }
    const adjacency delayed = edges_by(delays, place_of_.size(), true);

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
      const item_place place = place_of_[each.item];
      for (std::uint32_t k = place.first; k < place.last; ++k) {
        const spot here = spots_[k];
        needs.clear();
        if (enters(each.item, here.lane)) {
          for (const std::uint32_t* e = in.first(each.item); e != in.last(each.item); ++e) {
            need_item(edges[*e].from, 0, needs);
          }
          for (const std::uint32_t* e = delayed.first(each.item); e != delayed.last(each.item);
               ++e) {
            const model_feedback& what = flow_.delayed[delays[*e].from];
            need_item(item_in(0, what.from), what.delay, needs);
          }
        }
        if (decides(block, each.item) && !of_.nodes[each.item].is_wide) need_turn(needs);
        wait_for(here, needs);
      }
      if (each.item >= nodes_) meet(place);
      for (std::uint32_t k = place.first; k < place.last; ++k) pass(spots_[k]);
      if (!decides(block, each.item) || !of_.nodes[each.item].is_wide) continue;
      needs.clear();
      need_turn(needs);
      const spot decision = {spots_[place.first].lane, spots_[place.first].at + 1};
      wait_for(decision, needs);
      pass(decision);
    }
    if (block == 0 && !flow_.overlaps) wait_for_iteration(of, in, out);
  }

  std::int64_t* known_on(std::uint32_t lane) { return &known_[number_[lane] * lanes_]; }

  /// Adds the waits that nothing known implies; the latest first, since they imply others.
  LOCKSTEP_COLD void wait_for(const spot& here, std::vector<need>& needs) {
    operation& own = operations_[here.lane].list[here.at];
    own.first_wait = own.last_wait = static_cast<std::uint32_t>(waits_.size());
    std::sort(needs.begin(), needs.end(), [](const need& a, const need& b) {
      return a.order > b.order || (a.order == b.order && a.what.lane < b.what.lane);
    });
    std::int64_t* const known = known_on(here.lane);
    for (const need& each : needs) {
      const std::uint32_t k = number_[each.what.lane];
      const std::int64_t far = each.what.at + 1 - std::int64_t{each.delay} * length(each.what.lane);
      if (known[k] >= far || each.what.lane == here.lane) continue;
      waits_.push_back({each.what.lane, each.what.at, each.delay});
      operations_[each.what.lane].list[each.what.at].is_awaited = true;
      own.last_wait = static_cast<std::uint32_t>(waits_.size());
      if (each.delay == 0) learn(known, each.what);
      known[k] = (std::max)(known[k], far);
    }
  }
  /// What was known after that operation.
  LOCKSTEP_COLD void learn(std::int64_t* known, const spot& from) {
    if (!keeps_all_) return;
    const std::vector<std::int64_t>& rows = after_[number_[from.lane]];
    for (std::uint32_t k = 0; k < lanes_; ++k) {
      known[k] = (std::max)(known[k], rows[from.at * lanes_ + k]);
    }
  }
  /// At the end of a loop all know what one of them knew.
  LOCKSTEP_COLD void meet(const item_place& place) {
    knowledge all(lanes_, std::int64_t{least});
    for (std::uint32_t k = place.first; k < place.last; ++k) {
      const std::int64_t* const known = known_on(spots_[k].lane);
      for (std::uint32_t i = 0; i < lanes_; ++i) all[i] = (std::max)(all[i], known[i]);
    }
    for (std::uint32_t k = place.first; k < place.last; ++k) {
      std::copy(all.begin(), all.end(), known_on(spots_[k].lane));
    }
  }
  LOCKSTEP_COLD void pass(const spot& here) {
    std::int64_t* const known = known_on(here.lane);
    known[number_[here.lane]] = here.at + 1;
    if (!keeps_all_) return;
    std::vector<std::int64_t>& rows = after_[number_[here.lane]];
    rows.insert(rows.end(), known, known + lanes_);
  }

  /// GRAPH-3: what depends on nothing waits for all of the iteration before, where it is the first of its lane. Whatever
  /// else comes first on a lane waits for such a node.
  LOCKSTEP_COLD void wait_for_iteration(const block_schedule& of, const adjacency& in,
                                        const adjacency& out) {
    std::vector<need> ends;
    for (const placed_item& each : of.placed) {
      if (out.first(each.item) == out.last(each.item)) need_item(each.item, 1, ends);
    }
    for (const placed_item& each : of.placed) {
      if (in.first(each.item) != in.last(each.item)) continue;
      const item_place place = place_of_[each.item];
      for (std::uint32_t k = place.first; k < place.last; ++k) {
        const spot here = spots_[k];
        if (here.at != 0 || !enters(each.item, here.lane)) continue;
        // What the lane knew at the end of the iteration before; then the last of each lane first.
        knowledge known(known_on(here.lane), known_on(here.lane) + lanes_);
        std::sort(ends.begin(), ends.end(), [](const need& a, const need& b) {
          return a.order > b.order || (a.order == b.order && a.what.lane < b.what.lane);
        });
        operation& own = operations_[here.lane].list[here.at];
        own.first_wait = static_cast<std::uint32_t>(waits_.size());
        for (const need& end : ends) {
          if (known[number_[end.what.lane]] > end.what.at) continue;
          waits_.push_back({end.what.lane, end.what.at, 1});
          operations_[end.what.lane].list[end.what.at].is_awaited = true;
          learn(known.data(), end.what);
          known[number_[end.what.lane]] = end.what.at + 1;
        }
        own.last_wait = static_cast<std::uint32_t>(waits_.size());
      }
    }
  }

  // --- steps ---

  bool is_open(const operation& of) const {
    return of.item < nodes_ && !of_.nodes[of.item].is_wide && of_.nodes[of.item].pin == no_node;
  }

  /// Operations that nobody waits for in between become one step.
  LOCKSTEP_COLD void cut() {
    for (std::uint32_t lane = 0; lane < made_.lanes.size(); ++lane) {
      plan_lane& of = made_.lanes[lane];
      of.first_step = static_cast<std::uint32_t>(made_.steps.size());
      bool goes_on = false;
      for (operation& each : operations_[lane].list) {
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
          made_.steps.back().decides =
              flow_.loop_from[each.item] != 0 &&
              (each.is_decision || !of_.nodes[each.item].is_wide);
        }
        made_.steps.back().last_call = static_cast<std::uint32_t>(made_.calls.size());
        made_.steps.back().is_awaited = each.is_awaited || made_.steps.back().decides;
        goes_on = !is_single && !each.is_awaited;
      }
      of.steps = static_cast<std::uint32_t>(made_.steps.size()) - of.first_step;
    }
    for (plan_wait& each : made_.waits) {
      each.steps = operations_[each.lane].list[each.steps].step + 1;
    }
  }
  LOCKSTEP_COLD void add_step(const operation& first) {
    plan_step made = plan_step();
    made.first_call = made.last_call = static_cast<std::uint32_t>(made_.calls.size());
    made.first_wait = static_cast<std::uint32_t>(made_.waits.size());
    made_.waits.insert(made_.waits.end(), waits_.begin() + first.first_wait,
                       waits_.begin() + first.last_wait);
    made.last_wait = static_cast<std::uint32_t>(made_.waits.size());
    made.loop = first.item >= nodes_ ? first.item - nodes_ : 0;
    made.is_open = is_open(first);
    made_.steps.push_back(made);
  }

  static constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min() / 4;
  static constexpr std::size_t most_kept = std::size_t{1} << 22;

  const graph_model& of_;
  const flow& flow_;
  const flow_scheduler& schedule_;
  flow_plan& made_;
  const std::uint32_t nodes_;
  std::vector<item_place> place_of_;
  std::vector<spot> spots_;
  std::vector<lane_of_operations> operations_;
  std::vector<plan_wait> waits_;  // of operations; `steps` is the place of one

  // Of the block whose waits are sought.
  std::size_t lanes_ = 0;
  std::vector<std::uint32_t> number_, own_;
  knowledge known_;  // of each lane at its present end
  bool keeps_all_ = true;
  std::vector<std::vector<std::int64_t>> after_;  // the same after each of its operations
};

LOCKSTEP_COLD flow_plan make_flow_plan(const graph_model& of, const flow& checked,
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
    made.costs.push_back(cost >= 0 ? cost : double{usual_node_time});
    made.serial_time += made.costs.back();
  }
  const flow_scheduler schedule(of, checked, made.costs, static_cast<std::uint32_t>(members));
  made.critical_path = schedule.blocks[0].critical_path;
  plan_assembler(of, checked, schedule, made).assemble();
  made.problem = simulate(checked, made);
  return made;
}

// The pure run of a plan.

class plan_simulation {
 public:
  LOCKSTEP_COLD plan_simulation(const flow& checked, flow_plan& of)
      : flow_(checked), of_(of), lanes_(of.lanes.size()), decided_(checked.blocks.size()) {}

  LOCKSTEP_COLD std::string run() {
    iterations_ = flow_.most_delay + 2;
    std::vector<member> members(of_.members);
    for (std::uint32_t m = 0; m < of_.members; ++m) members[m].lane = of_.lane(0, m);
    end_.assign(iterations_, 0);
    bool moves = true;
    while (moves) {
      moves = false;
      for (member& each : members) {
        while (go(each)) moves = true;
      }
    }
    for (std::uint32_t m = 0; m < of_.members; ++m) {
      if (members[m].lane == no_lane) continue;
      if (lanes_[of_.lane(0, m)].turn < iterations_) {
        return "the plan gets stuck at member " + std::to_string(m);
      }
    }
    of_.predicted_time = end_[iterations_ - 1] - end_[iterations_ - 2];
    return std::string();
  }

 private:
  static constexpr std::uint32_t turns_of_loops = 2;

  struct member {
    std::uint32_t lane = no_lane;
    double now = 0;
  };
  struct lane_state {
    std::uint32_t turn = 0, at = 0;
    std::vector<double> done;  ///< when, of each step of each turn
  };
  struct decision {
    std::uint32_t turns;
    double when;
  };

  /// One step of a member. False if it cannot go on.
  LOCKSTEP_COLD bool go(member& self) {
    if (self.lane == no_lane) return false;
    lane_state& at = lanes_[self.lane];
    const plan_lane& of = of_.lanes[self.lane];
    if (of.block == 0 && at.turn == iterations_) return false;
    if (at.at == of.steps) return end_turn(self);
    const plan_step& step = of_.steps[of.first_step + at.at];
    double begin = self.now;
    for (std::uint32_t w = step.first_wait; w < step.last_wait; ++w) {
      const plan_wait& wait = of_.waits[w];
      if (at.turn < wait.delay) continue;
      const std::size_t which =
          std::size_t{at.turn - wait.delay} * of_.lanes[wait.lane].steps + wait.steps - 1;
      if (lanes_[wait.lane].done.size() <= which) return false;
      begin = (std::max)(begin, lanes_[wait.lane].done[which] + crossing_time);
    }
    self.now = begin;
    if (step.loop != 0) {
      self.lane = of_.lane(step.loop, of.member);
      return true;
    }
    for (std::uint32_t c = step.first_call; c < step.last_call; ++c) {
      self.now += of_.costs[of_.calls[c].node];
    }
    if (step.decides) decided_[of.block] = {at.turn + 1, self.now};
    finish(self, at);
    return true;
  }
  void finish(member& self, lane_state& at) {
    at.done.push_back(self.now);
    ++at.at;
  }
  LOCKSTEP_COLD bool end_turn(member& self) {
    lane_state& at = lanes_[self.lane];
    const plan_lane& of = of_.lanes[self.lane];
    if (of.block == 0) {
      end_[at.turn] = (std::max)(end_[at.turn], self.now);
      at.at = 0;
      ++at.turn;
      return true;
    }
    const decision& last = decided_[of.block];
    if (last.turns <= at.turn) return false;
    if (of_.lanes[of_.decider[of.block]].member != of.member) {
      self.now = (std::max)(self.now, last.when + crossing_time);
    }
    at.at = 0;
    ++at.turn;
    if (at.turn % turns_of_loops != 0) return true;
    self.lane = of.parent;
    finish(self, lanes_[self.lane]);
    return true;
  }

  const flow& flow_;
  flow_plan& of_;
  std::vector<lane_state> lanes_;
  std::vector<decision> decided_;
  std::vector<double> end_;
  std::uint32_t iterations_ = 0;
};

LOCKSTEP_COLD std::string simulate(const flow& checked, flow_plan& of) {
  return plan_simulation(checked, of).run();
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_GRAPH_FLOW_PLAN_IPP
