// SPDX-License-Identifier: MIT
// src/graph/flow_schedule.cpp -- the bodies of flow_schedule.hpp (layer: graph)
#include "flow_schedule.hpp"

#include <iterator>
#include <queue>
#include <utility>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

LOCKSTEP_INLINE flow_scheduler::flow_scheduler(const graph_model& of, const flow& checked,
                                               const std::vector<plan_time>& costs,
                                               std::uint32_t members)
    : blocks(checked.blocks.size()),
      of_(of),
      flow_(checked),
      costs_(costs),
      nodes_(static_cast<std::uint32_t>(of.nodes.size())),
      members_(members) {
  collect();
  collect_wishes();
  for (std::size_t block = blocks.size(); block-- > 0;) {
    schedule(static_cast<std::uint32_t>(block));
  }
}

/// Which items a block has, and which edges there are between them.
LOCKSTEP_INLINE void flow_scheduler::collect() {
  for (const node_index node : flow_.order) blocks[flow_.block_of[node]].items.push_back(node);
  for (std::uint32_t block = 1; block < blocks.size(); ++block) {
    blocks[flow_.blocks[block].parent].items.push_back(nodes_ + block);
  }
  for (const item_edge& each : flow_.item_edges) blocks[each.block].edges.push_back(each);
  for (const node_index node : flow_.order) {
    if (of_.nodes[node].pin == no_node) continue;
    std::uint32_t block = flow_.block_of[node];
    while (!blocks[block].is_bound) {
      blocks[block].is_bound = true;
      block = flow_.blocks[block].parent;
    }
  }
  blocks[0].is_bound = true;
}

/// Nodes of one block that are kept near each other.
LOCKSTEP_INLINE void flow_scheduler::collect_wishes() {
  if (of_.wishes.empty()) return;
  for (node_index i = 0; i < nodes_; ++i) group_of_.push_back(i);
  const auto root = [&](node_index node) {
    for (; group_of_[node] != node; node = group_of_[node]) {
      group_of_[node] = group_of_[group_of_[node]];
    }
    return node;
  };
  for (const model_wish& each : of_.wishes) {
    if (flow_.block_of[each.node] != flow_.block_of[each.other]) continue;
    if (of_.nodes[each.node].is_wide || of_.nodes[each.other].is_wide) continue;
    group_of_[root(each.node)] = root(each.other);
  }
  for (node_index i = 0; i < nodes_; ++i) group_of_[i] = root(i);
}

LOCKSTEP_INLINE void flow_scheduler::schedule(std::uint32_t block) {
  block_schedule& in = blocks[block];
  const std::size_t count = in.items.size();
  // By their place in `items`.
  std::vector<std::uint32_t> local(nodes_ + blocks.size(), 0);
  for (std::uint32_t i = 0; i < count; ++i) local[in.items[i]] = i;
  std::vector<model_edge> edges;
  edges.reserve(in.edges.size());
  for (const item_edge& each : in.edges) {
    edges.push_back({local[each.from], local[each.to], edge_kind::plain});
  }
  const adjacency out = edges_by(edges, count, false), incoming = edges_by(edges, count, true);

  const std::vector<std::uint32_t> order = order_of(edges, out, count);
  // How far it is to the end: with and without what edges between members cost.
  std::vector<plan_time> way(count, 0), bare(count, 0);
  for (std::size_t k = count; k-- > 0;) {
    const std::uint32_t i = order[k];
    for (const std::uint32_t e : out.of(i)) {
      way[i] = (std::max)(way[i], time_after(way[edges[e].to], crossing_time));
      bare[i] = (std::max)(bare[i], bare[edges[e].to]);
    }
    way[i] = time_after(way[i], length_of(in.items[i]));
    bare[i] =
        time_after(bare[i], in.items[i] < nodes_ ? costs_[in.items[i]]
                                                 : blocks[in.items[i] - nodes_].critical_path);
    in.critical_path = (std::max)(in.critical_path, bare[i]);
  }

  struct entry {
    plan_time key;
    std::uint32_t item;
  };
  // At the top: the longest way; the earliest arrival. Then the lower number.
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
  std::vector<std::uint32_t> home(count, no_lane);
  std::vector<std::uint32_t> missing(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    missing[i] = incoming.begin[i + 1] - incoming.begin[i];
    if (missing[i] == 0) coming.push(entry{0, i});
  }
  std::vector<std::uint32_t> member_of_group(group_of_.size(), no_lane);
  for (std::size_t i = 0; i < count && !group_of_.empty(); ++i) {
    if (in.items[i] >= nodes_ || of_.nodes[in.items[i]].pin == no_node) continue;
    member_of_group[group_of_[in.items[i]]] = of_.nodes[in.items[i]].pin;
  }
  in.placed.reserve(count);
  while (!ready.empty() || !coming.empty()) {
    plan_time now = free[0];
    for (const plan_time each : free) now = (std::min)(now, each);
    if (ready.empty()) now = (std::max)(now, coming.top().key);
    while (!coming.empty() && coming.top().key <= now) {
      const std::uint32_t next = coming.top().item;
      coming.pop();
      ready.push(entry{way[next], next});
    }
    const std::uint32_t i = ready.top().item;
    ready.pop();

    placed_item place = {in.items[i], 0, 0, 0};
    // What ends a turn, or an iteration, is best where the next one begins.
    const bool is_end =
        block != 0 ? in.items[i] == flow_.blocks[block].from : !flow_.overlaps && out.of(i).empty();
    const std::uint32_t next = is_end && !in.members.empty() ? in.members[0] : no_lane;
    candidate of = {in.items[i], arrivals[i], next, no_lane, node_list()};
    plan_time latest = -1;
    for (const std::uint32_t e : incoming.of(i)) {
      const std::uint32_t writer = edges[e].from;
      if (home[writer] == no_lane) continue;
      of.writers.push_back(home[writer]);
      if (finish[writer] > latest) std::swap(of.writers.front(), of.writers.back());
      latest = (std::max)(latest, finish[writer]);
    }
    const bool has_group = !group_of_.empty() && in.items[i] < nodes_;
    if (has_group) of.wish = member_of_group[group_of_[in.items[i]]];
    choose(in, of, free, place);
    if (has_group && !of_.nodes[in.items[i]].is_wide) {
      member_of_group[group_of_[in.items[i]]] = in.members[place.first_member];
    }
    in.placed.push_back(place);
    finish[i] = time_after(place.start, length_of(in.items[i]));
    in.length = (std::max)(in.length, finish[i]);
    const bool is_wide = in.items[i] < nodes_ && of_.nodes[in.items[i]].is_wide;
    home[i] = is_wide ? no_lane : in.members[place.first_member];
    for (const std::uint32_t e : out.of(i)) {
      const std::uint32_t to = edges[e].to;
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
  for (const std::uint32_t member : in.members) in.used = (std::max)(in.used, member + 1);
}

/// (A loop's first item is placed first.)
LOCKSTEP_INLINE void flow_scheduler::choose(block_schedule& in, const candidate& of,
                                            std::vector<plan_time>& free, placed_item& place) {
  const std::uint32_t item = of.item, next = of.next;
  const arrival& at = of.at;
  place.first_member = static_cast<std::uint32_t>(in.members.size());
  const bool is_loop = item >= nodes_;
  std::uint32_t width = is_loop ? blocks[item - nodes_].used : 1;
  if (!is_loop && of_.nodes[item].is_wide) {
    width = of_.nodes[item].width == 0 ? members_ : of_.nodes[item].width;
  }
  if (is_loop && blocks[item - nodes_].is_bound) {
    std::vector<std::uint32_t> taken = blocks[item - nodes_].members;
    std::sort(taken.begin(), taken.end());
    std::unique_copy(taken.begin(), taken.end(), std::back_inserter(in.members));
  } else if (!is_loop && of_.nodes[item].pin != no_node) {
    in.members.push_back(of_.nodes[item].pin);
  } else if (!is_loop && !of_.nodes[item].is_wide && of.wish != no_lane) {
    in.members.push_back(of.wish);
  } else if (width == 1) {
    std::uint32_t best = next != no_lane ? next : at.home != no_lane ? at.home : 0;
    const auto start_for_next = [&](std::uint32_t m) {
      return time_after(start_on(at, free[m], m),
                        next != no_lane && m != next ? plan_time{crossing_time} : 0);
    };
    plan_time soonest = start_for_next(best);
    for (std::uint32_t m = 0; m < members_; ++m) {
      const plan_time start = start_for_next(m);
      if (start >= soonest) continue;
      soonest = start;
      best = m;
    }
    // Of several that are as good, one that has its data.
    for (std::size_t k = 0; k < of.writers.size() && best != next && best != at.home; ++k) {
      if (start_for_next(of.writers[k]) == soonest) {
        best = of.writers[k];
        break;
      }
    }
    in.members.push_back(best);
  } else {
    std::vector<std::uint32_t> all(members_);
    for (std::uint32_t m = 0; m < members_; ++m) all[m] = m;
    std::sort(all.begin(), all.end(), [&](std::uint32_t a, std::uint32_t b) {
      const plan_time start_a = start_on(at, free[a], a), start_b = start_on(at, free[b], b);
      return start_a < start_b || (!(start_b < start_a) && a < b);
    });
    all.resize(width);
    std::sort(all.begin(), all.end());
    in.members.insert(in.members.end(), all.begin(), all.end());
  }
  place.last_member = static_cast<std::uint32_t>(in.members.size());
  for (std::uint32_t k = place.first_member; k < place.last_member; ++k) {
    place.start = (std::max)(place.start, start_on(at, free[in.members[k]], in.members[k]));
  }
  for (std::uint32_t k = place.first_member; k < place.last_member; ++k) {
    free[in.members[k]] = time_after(place.start, length_of(item));
  }
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
