// SPDX-License-Identifier: MIT
// src/graph/flow_waits.hpp -- which operations of a plan have to wait for which (layer: graph)
//
// Pure, for flow_planner.cpp. Keeps for each lane, operation by operation, how far every other lane must be by then.
// What a lane knows already needs no wait.
#ifndef LOCKSTEP_SRC_GRAPH_FLOW_WAITS_HPP
#define LOCKSTEP_SRC_GRAPH_FLOW_WAITS_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "flow_plan.hpp"
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
      if (out.first(each.item) == out.last(each.item)) need_item(each.item, 1, ends);
    }
    for (const placed_item& each : of.placed) {
      if (in.first(each.item) != in.last(each.item)) continue;
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

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_GRAPH_FLOW_WAITS_HPP
