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
#include <queue>
#include <utility>
#include <vector>

#include "flow_plan.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

class flow_scheduler {
 protected:
  /// The number of an item: that of a node; or that of a loop's block plus the number of nodes.
  struct placed_item {
    std::uint32_t item;
    plan_time start;
    std::vector<std::uint32_t> members;
  };
  struct block_schedule {
    std::vector<std::uint32_t> items;
    std::vector<model_edge> edges;  ///< by their places in `items`
    adjacency in, out;
    std::vector<placed_item> placed;  ///< in order
    std::uint32_t used = 0;           ///< how many members
    bool is_bound = false;            ///< the numbers are the members' own
    plan_time length = 0;
    plan_time critical_path = 0;
  };

  flow_scheduler(const graph_model& of, const flow& checked, std::size_t members, flow_plan& made)
      : of_(of),
        flow_(checked),
        made_(made),
        nodes_(static_cast<std::uint32_t>(of.nodes.size())),
        members_(static_cast<std::uint32_t>(members)),
        blocks_(checked.blocks.size()) {}

  void schedule_all() {
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
  std::vector<std::uint32_t> local_;  ///< of each item: its place in its block's `items`
  node_list
      group_of_;  ///< of each node: the node that stands for all that are kept near it; empty: no wishes

 private:
  struct arrival {
    plan_time latest, second;  ///< when the last value is there; the last one not from `home`
    std::uint32_t home;
  };
  /// What is known of an item when its member is chosen.
  struct candidate {
    std::uint32_t item;
    arrival at;
    std::uint32_t next;  ///< the member that waits for it in the next turn, or none
    std::uint32_t wish;  ///< the member that runs the nodes it is kept near, or none
    node_list writers;   ///< members that run what it depends on, the latest first
  };

  /// Finds the items of each block, and the edges between them.
  void collect() {
    local_.resize(nodes_ + blocks_.size());
    const auto add = [this](std::uint32_t block, std::uint32_t item) {
      local_[item] = static_cast<std::uint32_t>(blocks_[block].items.size());
      blocks_[block].items.push_back(item);
    };
    for (const node_index node : flow_.order) add(flow_.block_of[node], node);
    for (std::uint32_t block = 1; block < blocks_.size(); ++block) {
      add(flow_.blocks[block].parent, nodes_ + block);
    }
    for (const item_edge& each : flow_.item_edges) {
      blocks_[each.block].edges.push_back({local_[each.from], local_[each.to], edge_kind::plain});
    }
    for (block_schedule& each : blocks_) {
      each.in = edges_by(each.edges, each.items.size(), true);
      each.out = edges_by(each.edges, each.items.size(), false);
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

  plan_time start_on(const arrival& at, plan_time free, std::uint32_t member) const noexcept {
    plan_time there = time_after(at.latest, crossing_time);
    if (member == at.home || at.home == no_lane) {
      there =
          at.second < 0 ? at.latest : (std::max)(at.latest, time_after(at.second, crossing_time));
    }
    return (std::max)(there, free);
  }

  /// How far each item is from the end of its block.
  std::vector<plan_time> ways_to_end(block_schedule& in) const {
    const std::vector<std::uint32_t> order = order_of(in.edges, in.out, in.items.size());
    // `way` has the cost of edges between members, `bare` has not.
    std::vector<plan_time> way(order.size(), 0), bare(order.size(), 0);
    for (std::size_t k = order.size(); k-- > 0;) {
      const std::uint32_t i = order[k], item = in.items[i];
      for (const std::uint32_t e : in.out.of(i)) {
        way[i] = (std::max)(way[i], time_after(way[in.edges[e].to], crossing_time));
        bare[i] = (std::max)(bare[i], bare[in.edges[e].to]);
      }
      way[i] = time_after(way[i], length_of(item));
      bare[i] = time_after(
          bare[i], item < nodes_ ? made_.costs[item] : blocks_[item - nodes_].critical_path);
      in.critical_path = (std::max)(in.critical_path, bare[i]);
    }
    return way;
  }

  void schedule(std::uint32_t block) {
    block_schedule& in = blocks_[block];
    const std::size_t count = in.items.size();
    const std::vector<plan_time> way = ways_to_end(in);
    struct entry {
      plan_time key;
      std::uint32_t item;
    };
    // The longest way is on top, or the earliest arrival. Among equals it is the lower number.
    const auto shorter_way = [](const entry& a, const entry& b) {
      return a.key < b.key || (!(b.key < a.key) && a.item > b.item);
    };
    const auto later = [](const entry& a, const entry& b) {
      return b.key < a.key || (!(a.key < b.key) && a.item > b.item);
    };
    std::priority_queue<entry, std::vector<entry>, decltype(shorter_way)> ready(shorter_way);
    std::priority_queue<entry, std::vector<entry>, decltype(later)> coming(later);
    std::vector<arrival> arrivals(count, arrival{0, -1, no_lane});
    std::vector<plan_time> free(members_, 0), finish(count, 0);
    std::vector<std::uint32_t> home(count, no_lane), missing(count);
    for (std::uint32_t i = 0; i < count; ++i) {
      missing[i] = in.in.begin[i + 1] - in.in.begin[i];
      if (missing[i] == 0) coming.push(entry{0, i});
    }
    node_list member_of_group(group_of_.size(), no_lane);
    for (std::size_t i = 0; i < count && !group_of_.empty(); ++i) {
      if (in.items[i] >= nodes_ || of_.nodes[in.items[i]].pin == no_node) continue;
      member_of_group[group_of_[in.items[i]]] = of_.nodes[in.items[i]].pin;
    }
    in.placed.reserve(count);
    while (!ready.empty() || !coming.empty()) {
      plan_time now = *std::min_element(free.begin(), free.end());
      if (ready.empty()) now = (std::max)(now, coming.top().key);
      while (!coming.empty() && coming.top().key <= now) {
        const std::uint32_t next = coming.top().item;
        coming.pop();
        ready.push(entry{way[next], next});
      }
      const std::uint32_t i = ready.top().item, item = in.items[i];
      ready.pop();

      // The end of a turn or an iteration is best on the member that begins the next one.
      const bool is_end =
          block != 0 ? item == flow_.blocks[block].from : !flow_.overlaps && in.out.of(i).empty();
      const std::uint32_t next = is_end && !in.placed.empty() ? in.placed[0].members[0] : no_lane;
      candidate of = {item, arrivals[i], next, no_lane, node_list()};
      plan_time latest = -1;
      for (const std::uint32_t e : in.in.of(i)) {
        const std::uint32_t writer = in.edges[e].from;
        if (home[writer] == no_lane) continue;
        of.writers.push_back(home[writer]);
        if (finish[writer] > latest) std::swap(of.writers.front(), of.writers.back());
        latest = (std::max)(latest, finish[writer]);
      }
      const bool has_group = !group_of_.empty() && item < nodes_;
      if (has_group) of.wish = member_of_group[group_of_[item]];
      placed_item place = {item, 0, members_for(of, free)};
      for (const std::uint32_t member : place.members) {
        place.start = (std::max)(place.start, start_on(of.at, free[member], member));
        in.used = (std::max)(in.used, member + 1);
      }
      finish[i] = time_after(place.start, length_of(item));
      for (const std::uint32_t member : place.members) free[member] = finish[i];
      in.length = (std::max)(in.length, finish[i]);
      home[i] = is_wide(item) ? std::uint32_t{no_lane} : place.members[0];
      if (has_group && !is_wide(item)) member_of_group[group_of_[item]] = home[i];
      in.placed.push_back(std::move(place));
      for (const std::uint32_t e : in.out.of(i)) {
        const std::uint32_t to = in.edges[e].to;
        arrival& at = arrivals[to];
        if (at.home == no_lane && at.second < 0 && at.latest <= 0) {
          at = {finish[i], -1, home[i]};
        } else if (finish[i] > at.latest) {
          if (home[i] != at.home) at.second = at.latest;
          at.latest = finish[i];
          at.home = home[i];
        } else if (home[i] != at.home && finish[i] > at.second) {
          at.second = finish[i];
        }
        if (--missing[to] > 0) continue;
        coming.push(entry{start_on(at, 0, at.home), to});
      }
    }
  }

  /// The members that run an item. If it is a loop that is not bound, the first of them runs its first node.
  std::vector<std::uint32_t> members_for(const candidate& of,
                                         const std::vector<plan_time>& free) const {
    const std::uint32_t item = of.item, next = of.next;
    const auto start_of = [&](std::uint32_t m) { return start_on(of.at, free[m], m); };
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
      std::stable_sort(all.begin(), all.end(),
                       [&](std::uint32_t a, std::uint32_t b) { return start_of(a) < start_of(b); });
      all.resize(width);
      std::sort(all.begin(), all.end());
      return all;
    }
    std::uint32_t best = next != no_lane ? next : of.at.home != no_lane ? of.at.home : 0;
    const auto start_for_next = [&](std::uint32_t m) {
      return time_after(start_of(m), next != no_lane && m != next ? plan_time{crossing_time} : 0);
    };
    plan_time soonest = start_for_next(best);
    for (std::uint32_t m = 0; m < members_; ++m) {
      const plan_time start = start_for_next(m);
      if (start >= soonest) continue;
      soonest = start;
      best = m;
    }
    // Among members that are equally good, take one that has its data.
    for (std::size_t k = 0; k < of.writers.size() && best != next && best != of.at.home; ++k) {
      if (start_for_next(of.writers[k]) == soonest) return {of.writers[k]};
    }
    return {best};
  }
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_GRAPH_FLOW_SCHEDULE_HPP
