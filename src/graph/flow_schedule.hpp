// SPDX-License-Identifier: MIT
// src/graph/flow_schedule.hpp -- which member runs which item of a block, and when (layer: graph)
//
// Pure, the first half of flow_planner.cpp. Of the items that could begin, the one with the longest path to the end is
// next. It goes to the member that can begin it first. Values from other members arrive `crossing_time` later. [KA99]
//
// Where iterations overlap, spread() orders items by their way to the end, and cuts this order into one piece for each
// member. So members wait for those before them only, and none waits for its own next iteration. It does so if
// iterations then follow each other faster by a quarter, since values cross more often.
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
    for (std::uint32_t block = static_cast<std::uint32_t>(blocks_.size()); block-- > 0;) {
      schedule(block);
    }
    if (!checked.overlaps) return;
    find_span();
    spread();
  }

  /// The time from one iteration to the next: what the busiest member takes, or the longest time by which feedback keeps
  /// iterations apart, whichever is more.
  plan_time time_between_iterations() const {
    const block_schedule& all = blocks_[0];
    if (!flow_.overlaps) return all.length;
    std::vector<plan_time> busy(members_, 0);
    for (const placed_item& each : all.placed) {
      for (const std::uint32_t member : each.members) {
        busy[member] = time_after(busy[member], length_of(each.item));
      }
    }
    const plan_time busiest = *std::max_element(busy.begin(), busy.end());
    return (std::min)(all.length, (std::max)(busiest, span_));
  }

  bool is_wide(std::uint32_t item) const { return item < nodes_ && of_.nodes[item].is_wide; }
  static std::vector<std::uint32_t> numbers_below(std::uint32_t count) {
    std::vector<std::uint32_t> made(count);
    for (std::uint32_t m = 0; m < count; ++m) made[m] = m;
    return made;
  }
  /// The item of `block` that is the node or has it. Requires: the node is in the block.
  std::uint32_t item_in(std::uint32_t block, node_index node) const noexcept {
    std::uint32_t at = flow_.block_of[node];
    if (at == block) return node;
    while (flow_.blocks[at].parent != block) at = flow_.blocks[at].parent;
    return nodes_ + at;
  }
  plan_time length_of(std::uint32_t item) const noexcept {
    return item < nodes_ ? made_.costs[item] : blocks_[item - nodes_].length;
  }
  plan_time start_of(std::uint32_t item) const noexcept { return finish_[item] - length_of(item); }

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

  void find_span() {
    for (const model_feedback& each : flow_.delayed) {
      const plan_time time = finish_[item_in(0, each.from)] - start_of(item_in(0, each.to));
      if (time > 0) span_ = (std::max)(span_, time / std::int64_t{each.delay});
    }
  }
  void spread() {
    std::vector<placed_item> all = blocks_[0].placed;
    const auto is_movable = [this](const placed_item& each) {
      const bool is_pinned = each.item < nodes_ ? of_.nodes[each.item].pin != no_node
                                                : blocks_[each.item - nodes_].is_bound;
      return each.members.size() == 1 && !is_pinned && !is_wide(each.item);
    };
    if (!of_.wishes.empty() || !std::all_of(all.begin(), all.end(), is_movable)) return;
    std::stable_sort(all.begin(), all.end(), [this](const placed_item& a, const placed_item& b) {
      return way_[a.item] > way_[b.item];
    });
    const plan_time before = time_between_iterations();
    plan_time least = 0, most = before;  // what a member takes: too little, enough
    while (most - least > 1) {
      const plan_time middle = least + (most - least) / 2;
      (cut(all, middle) == 0 ? least : most) = middle;
    }
    if (time_after(most, crossing_time) >= before - before / 4) return;
    const std::uint32_t used = cut(all, most);
    for (placed_item& each : all) each.members[0] = used - home_[each.item];
    blocks_[0].placed = std::move(all);
    blocks_[0].used = used;
    blocks_[0].length = most;
    span_ = 0;
  }
  /// Into how many pieces of at most this time, from the end on; 0 if there are too few members, or if feedback keeps
  /// iterations further apart. Leaves for each item the number of its piece from 1, and its end before that of the piece.
  std::uint32_t cut(const std::vector<placed_item>& all, plan_time most) {
    std::uint32_t pieces = 1;
    plan_time busy = 0;
    for (std::size_t k = all.size(); k-- > 0;) {
      const std::uint32_t item = all[k].item;
      const plan_time length = length_of(item);
      if (length > most) return 0;
      if (length > most - busy) {
        ++pieces;
        busy = 0;
      }
      finish_[item] = -busy;
      busy += length;
      home_[item] = pieces;
    }
    const auto is_kept = [this](const model_feedback& each) {
      const std::uint32_t from = item_in(0, each.from), to = item_in(0, each.to);
      const std::int64_t slack = std::int64_t{each.delay} + home_[from] - home_[to];
      return slack > 0 || (slack == 0 && finish_[from] <= start_of(to));
    };
    const bool are_kept = std::all_of(flow_.delayed.begin(), flow_.delayed.end(), is_kept);
    return are_kept && pieces <= members_ ? pieces : 0;
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
      placed_item place = {item, members_for(of)};
      plan_time start = 0;
      for (const std::uint32_t member : place.members) {
        start = (std::max)(start, of.starts[member]);
        in.used = (std::max)(in.used, member + 1);
      }
      finish_[item] = time_after(start, length_of(item));
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
  plan_time span_ = 0;  ///< the longest by which feedback keeps iterations apart
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_GRAPH_FLOW_SCHEDULE_HPP
