// SPDX-License-Identifier: MIT
// src/graph/flow_schedule.hpp -- which member runs which item of a block, and when (layer: graph)
//
// Pure, the first half of flow_planner.cpp. Of the items that could begin, the one with the longest path to the end is
// next. It goes to the member that can begin it first. Values from other members arrive `crossing_time` later. [KA99]
//
// Inner loops come first. The schedule of a loop numbers its members. In the block around, the loop is one item, and a
// member is chosen for each number: it is in the loop until that ends. With a pinned node, numbers are members' own.
#ifndef LOCKSTEP_SRC_GRAPH_FLOW_SCHEDULE_HPP
#define LOCKSTEP_SRC_GRAPH_FLOW_SCHEDULE_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "flow_plan.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

class flow_scheduler {
 protected:
  struct placed_item {
    std::uint32_t item;
    plan_time start;
    std::vector<std::uint32_t> members;
  };
  struct block_schedule {
    std::vector<std::uint32_t> items;  ///< edges go forward
    std::vector<placed_item> placed;   ///< in order
    std::uint32_t used = 0;            ///< how many members
    bool is_bound = false;             ///< the numbers are the members' own
    plan_time length = 0;
    plan_time critical_path = 0;
  };

  flow_scheduler(const graph_model& of, const flow& checked, std::size_t members, flow_plan& made)
      : of_(of),
        flow_(checked),
        made_(made),
        nodes_(static_cast<std::uint32_t>(of.nodes.size())),
        members_(static_cast<std::uint32_t>(members)),
        blocks_(checked.blocks.size()),
        home_(nodes_ + checked.blocks.size(), no_lane),
        missing_(home_.size(), 0),
        finish_(home_.size(), 0),
        way_(home_.size(), 0),
        bare_way_(home_.size(), 0) {
    collect();
    collect_wishes();
    for (std::size_t block = blocks_.size(); block-- > 0;) {
      schedule(static_cast<std::uint32_t>(block));
    }
  }

  bool is_wide(std::uint32_t item) const { return item < nodes_ && of_.nodes[item].is_wide; }
  static std::vector<std::uint32_t> numbers_below(std::uint32_t count) {
    std::vector<std::uint32_t> made(count);
    for (std::uint32_t m = 0; m < count; ++m) made[m] = m;
    return made;
  }
  plan_time length_of(std::uint32_t item) const noexcept {
    return item < nodes_ ? made_.costs[item] : blocks_[item - nodes_].length;
  }

  const graph_model& of_;
  const flow& flow_;
  flow_plan& made_;
  const std::uint32_t nodes_, members_;

  std::vector<block_schedule> blocks_;

 private:
  /// What is known of an item when its member is chosen.
  struct candidate {
    std::uint32_t item;
    std::uint32_t next;             ///< the member that waits for it in the next turn, or none
    std::uint32_t wish;             ///< the member that runs the nodes it is kept near, or none
    node_list writers;              ///< members that run what it depends on, the latest first
    std::vector<plan_time> starts;  ///< when it could begin on each member
  };

  void collect() {
    for (const std::uint32_t item : flow_.item_order) {
      if (item != nodes_) blocks_[flow_.block_around(item)].items.push_back(item);
    }
    for (const node_index node : flow_.order) {
      if (of_.nodes[node].pin == no_node) continue;
      std::uint32_t block = flow_.block_of[node];
      while (!blocks_[block].is_bound) {
        blocks_[block].is_bound = true;
        block = flow_.blocks[block].parent;
      }
    }
    blocks_[0].is_bound = true;
  }
  /// Groups the nodes of one block that are kept near each other.
  void collect_wishes() {
    if (of_.wishes.empty()) return;
    group_of_ = numbers_below(nodes_);
    for (const model_wish& each : of_.wishes) {
      if (flow_.block_of[each.node] != flow_.block_of[each.other]) continue;
      if (is_wide(each.node) || is_wide(each.other)) continue;
      group_of_[root_of(group_of_, each.node)] = root_of(group_of_, each.other);
    }
    for (node_index i = 0; i < nodes_; ++i) group_of_[i] = root_of(group_of_, i);
  }

  void find_ways_to_end(block_schedule& in) {
    for (std::size_t k = in.items.size(); k-- > 0;) {
      const std::uint32_t i = in.items[k];
      for (const std::uint32_t e : flow_.item_out.of(i)) {
        const std::uint32_t next = flow_.item_edges[e].to;
        way_[i] = (std::max)(way_[i], time_after(way_[next], crossing_time));
        bare_way_[i] = (std::max)(bare_way_[i], bare_way_[next]);
      }
      way_[i] = time_after(way_[i], length_of(i));
      bare_way_[i] =
          time_after(bare_way_[i], i < nodes_ ? made_.costs[i] : blocks_[i - nodes_].critical_path);
      in.critical_path = (std::max)(in.critical_path, bare_way_[i]);
    }
  }

  /// When an item's values are there, on each member. That of a team-wide node is there on all at once.
  std::vector<plan_time> arrivals_of(std::uint32_t item) const {
    std::vector<plan_time> made(members_, 0);
    for (const std::uint32_t e : flow_.item_in.of(item)) {
      const std::uint32_t writer = flow_.item_edges[e].from;
      const plan_time crossed = time_after(finish_[writer], crossing_time);
      for (std::uint32_t m = 0; m < members_; ++m) {
        const bool is_near = home_[writer] == m || home_[writer] == no_lane;
        made[m] = (std::max)(made[m], is_near ? finish_[writer] : crossed);
      }
    }
    return made;
  }
  node_list writers_of(std::uint32_t item) const {
    node_list made;
    plan_time latest = -1;
    for (const std::uint32_t e : flow_.item_in.of(item)) {
      const std::uint32_t writer = flow_.item_edges[e].from;
      if (home_[writer] == no_lane) continue;
      made.push_back(home_[writer]);
      if (finish_[writer] > latest) std::swap(made.front(), made.back());
      latest = (std::max)(latest, finish_[writer]);
    }
    return made;
  }

  void schedule(std::uint32_t block) {
    block_schedule& in = blocks_[block];
    find_ways_to_end(in);
    // The longest way is on top, or the earliest arrival. Among equals it is the lower number.
    using entry = std::pair<plan_time, std::uint32_t>;
    std::priority_queue<entry, std::vector<entry>, std::greater<entry>> ready, coming;
    std::vector<plan_time> free(members_, 0);
    for (const std::uint32_t item : in.items) {
      missing_[item] = flow_.item_in.begin[item + 1] - flow_.item_in.begin[item];
      if (missing_[item] == 0) coming.push(entry{0, item});
    }
    node_list member_of_group(group_of_.size(), no_lane);
    for (const std::uint32_t item : in.items) {
      if (group_of_.empty() || item >= nodes_ || of_.nodes[item].pin == no_node) continue;
      member_of_group[group_of_[item]] = of_.nodes[item].pin;
    }
    in.placed.reserve(in.items.size());
    while (!ready.empty() || !coming.empty()) {
      plan_time now = *std::min_element(free.begin(), free.end());
      if (ready.empty()) now = (std::max)(now, coming.top().first);
      while (!coming.empty() && coming.top().first <= now) {
        const std::uint32_t next = coming.top().second;
        coming.pop();
        ready.push(entry{-way_[next], next});
      }
      const std::uint32_t item = ready.top().second;
      ready.pop();

      // The end of a turn or an iteration is best on the member that begins the next one.
      const bool is_end = block != 0 ? item == flow_.blocks[block].from
                                     : !flow_.overlaps && flow_.item_out.of(item).empty();
      const std::uint32_t next = is_end && !in.placed.empty() ? in.placed[0].members[0] : no_lane;
      candidate of = {item, next, no_lane, writers_of(item), arrivals_of(item)};
      for (std::uint32_t m = 0; m < members_; ++m) {
        of.starts[m] = (std::max)(of.starts[m], free[m]);
      }
      const bool has_group = !group_of_.empty() && item < nodes_;
      if (has_group) of.wish = member_of_group[group_of_[item]];
      placed_item place = {item, 0, members_for(of)};
      for (const std::uint32_t member : place.members) {
        place.start = (std::max)(place.start, of.starts[member]);
        in.used = (std::max)(in.used, member + 1);
      }
      finish_[item] = time_after(place.start, length_of(item));
      for (const std::uint32_t member : place.members) free[member] = finish_[item];
      in.length = (std::max)(in.length, finish_[item]);
      home_[item] = is_wide(item) ? std::uint32_t{no_lane} : place.members[0];
      if (has_group && !is_wide(item)) member_of_group[group_of_[item]] = home_[item];
      in.placed.push_back(std::move(place));
      for (const std::uint32_t e : flow_.item_out.of(item)) {
        const std::uint32_t to = flow_.item_edges[e].to;
        if (--missing_[to] > 0) continue;
        const std::vector<plan_time> arrivals = arrivals_of(to);
        coming.push(entry{*std::min_element(arrivals.begin(), arrivals.end()), to});
      }
    }
  }

  /// The members that run an item. If it is a loop that is not bound, the first of them runs its first node.
  std::vector<std::uint32_t> members_for(const candidate& of) const {
    const std::uint32_t item = of.item, next = of.next;
    std::uint32_t width = 1;
    if (item >= nodes_) {
      const block_schedule& loop = blocks_[item - nodes_];
      width = loop.used;
      if (loop.is_bound) {
        std::vector<bool> is_in(members_, false);
        for (const placed_item& each : loop.placed) {
          for (const std::uint32_t member : each.members) is_in[member] = true;
        }
        std::vector<std::uint32_t> own;
        for (std::uint32_t m = 0; m < members_; ++m) {
          if (is_in[m]) own.push_back(m);
        }
        return own;
      }
    } else if (is_wide(item)) {
      width = of_.nodes[item].width == 0 ? members_ : of_.nodes[item].width;
    } else if (of_.nodes[item].pin != no_node) {
      return {of_.nodes[item].pin};
    } else if (of.wish != no_lane) {
      return {of.wish};
    }
    if (width > 1) {
      std::vector<std::uint32_t> all = numbers_below(members_);
      std::sort(all.begin(), all.end(), [&](std::uint32_t a, std::uint32_t b) {
        return of.starts[a] != of.starts[b] ? of.starts[a] < of.starts[b] : a < b;
      });
      all.resize(width);
      std::sort(all.begin(), all.end());
      return all;
    }
    const std::uint32_t home = of.writers.empty() ? no_lane : of.writers[0];
    std::uint32_t best = next != no_lane ? next : home != no_lane ? home : 0;
    const auto start_for_next = [&](std::uint32_t m) {
      return time_after(of.starts[m], next != no_lane && m != next ? plan_time{crossing_time} : 0);
    };
    plan_time soonest = start_for_next(best);
    for (std::uint32_t m = 0; m < members_; ++m) {
      const plan_time start = start_for_next(m);
      if (start >= soonest) continue;
      soonest = start;
      best = m;
    }
    // Among members that are equally good, take one that has its data.
    for (std::size_t k = 0; k < of.writers.size() && best != next && best != home; ++k) {
      if (start_for_next(of.writers[k]) == soonest) return {of.writers[k]};
    }
    return {best};
  }

  node_list
      group_of_;  ///< of each node: the node that stands for all that are kept near it; empty: no wishes
  std::vector<std::uint32_t> home_;  ///< of each item: its member; none yet, or a team-wide node
  // Of each item: what it depends on and has no member yet; its end; how far it is from the end of its block, with the
  // cost of edges between members, and without.
  std::vector<std::uint32_t> missing_;
  std::vector<plan_time> finish_, way_, bare_way_;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_GRAPH_FLOW_SCHEDULE_HPP
