// SPDX-License-Identifier: MIT
// src/graph/flow_planner.cpp -- makes a plan of a graph (layer: graph)
//
// Three passes over the blocks. The items of a block are its nodes and the loops in it.
//
// Schedule: of the items that could begin, the one with the longest path to the end is next. It goes to the member on which it
// can begin first; a value from another member arrives `crossing_time` later. [KA99] Inner loops first: a loop is scheduled for
// members that are numbers only, and is one item of the block around, which chooses which members they are; these are in the
// loop until it ends. Where a node is pinned, they are as they are numbered.
//
// Lay: each item becomes an operation on the lanes of its members.
//
// Wait: kept is, for each lane, operation by operation, how far every other lane must be by then. What a lane knows already
// needs no wait. Then operations that nobody waits for in between are cut to steps.
#include "flow_plan.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <queue>
#include <utility>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

class flow_planner {
 public:
  /// `made` has members and costs.
  flow_planner(const graph_model& of, const flow& checked, std::size_t members, flow_plan& made)
      : of_(of),
        flow_(checked),
        made_(made),
        nodes_(static_cast<std::uint32_t>(of.nodes.size())),
        members_(static_cast<std::uint32_t>(members)),
        blocks_(checked.blocks.size()),
        spots_(nodes_ + checked.blocks.size()) {}

  void make() {
    collect();
    collect_wishes();
    for (std::size_t block = blocks_.size(); block-- > 0;) {
      schedule(static_cast<std::uint32_t>(block));
    }
    made_.members = (std::max)(blocks_[0].used, std::uint32_t{1});
    made_.lane_at.assign(blocks_.size() * made_.members, std::uint32_t{no_lane});
    made_.decider.assign(blocks_.size(), std::uint32_t{no_lane});
    for (const flow_block& each : flow_.blocks) made_.from.push_back(each.from);
    made_.member_of.assign(nodes_, 0);
    made_.width_of.assign(nodes_, 1);
    made_.start.assign(nodes_, 0);
    lay(0, numbers_below(blocks_[0].used), 0);
    predict();
    for (std::uint32_t block = 0; block < blocks_.size(); ++block) find_waits(block);
    cut();
  }

 private:
  /// A node is an item by its number; a loop by its block's, after all nodes.
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
    bool is_bound = false;            ///< to their numbers
    plan_time length = 0;
    plan_time critical_path = 0;
  };
  struct arrival {
    plan_time latest, second;  ///< when the last value is there; the last from another member
    std::uint32_t home;
  };
  /// What is known of an item when its member is chosen.
  struct candidate {
    std::uint32_t item;
    arrival at;
    std::uint32_t next;  ///< the member that waits for it in the next turn, or none
    std::uint32_t wish;  ///< the member of those that it is kept near, or none
    node_list writers;   ///< members that run what it depends on, the latest first
  };

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

  bool is_wide(std::uint32_t item) const { return item < nodes_ && of_.nodes[item].is_wide; }
  static std::vector<std::uint32_t> numbers_below(std::uint32_t count) {
    std::vector<std::uint32_t> made(count);
    for (std::uint32_t m = 0; m < count; ++m) made[m] = m;
    return made;
  }

  // --- schedule ---

  /// Which items a block has, and which edges there are between them.
  void collect() {
    local_.resize(spots_.size());
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

  /// Nodes of one block that are kept near each other.
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

  plan_time length_of(std::uint32_t item) const noexcept {
    return item < nodes_ ? made_.costs[item] : blocks_[item - nodes_].length;
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
    // With and without what edges between members cost.
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

      // What ends a turn, or an iteration, is best where the next one begins.
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

  /// Who runs an item: of a loop, the one that has its first node is the first.
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
    // Of several that are as good, one that has its data.
    for (std::size_t k = 0; k < of.writers.size() && best != next && best != of.at.home; ++k) {
      if (start_for_next(of.writers[k]) == soonest) return {of.writers[k]};
    }
    return {best};
  }

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
    made_.lanes.push_back({block, member, 0, 0, no_lane, 0});
    operations_.push_back(std::vector<lane_operation>());
    return at;
  }

  /// `members`: whom the numbers of the block's schedule stand for.
  void lay(std::uint32_t block, const std::vector<std::uint32_t>& members, plan_time begin) {
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
      const plan_time start = time_after(begin, each.start);
      if (each.item >= nodes_) {
        lay_loop(each.item, own, start);
        continue;
      }
      made_.member_of[each.item] = sorted[0];
      made_.width_of[each.item] = static_cast<std::uint32_t>(sorted.size());
      made_.start[each.item] = start;
      made_.line.push_back(each.item);
      const bool ends_loop = flow_.loop_from[each.item] != 0;
      made_.again.push_back(ends_loop ? begin_of_line : no_lane);
      if (ends_loop) add_decision(block, each.item);
    }
  }
  /// The node that decides a loop. If it is team-wide, the decision is an operation of its own: after all members.
  void add_decision(std::uint32_t block, std::uint32_t item) {
    const std::uint32_t lane = spots_[item][0].lane;
    made_.decider[block] = lane;
    if (!is_wide(item)) return;
    lane_operation made = operations(lane).back();
    made.is_decision = true;
    operations(lane).push_back(made);
  }
  void lay_loop(std::uint32_t item, const std::vector<std::uint32_t>& own, plan_time begin) {
    const std::uint32_t inner = item - nodes_;
    // A bound loop's members are known by their own numbers.
    lay(inner, blocks_[inner].is_bound ? numbers_below(blocks_[inner].used) : own, begin);
    for (const lane_spot& each : spots_[item]) {
      made_.lanes[made_.lane(inner, member_of(each))].parent = each.lane;
    }
  }

  /// How long an iteration will take after others. Where they overlap, no member can be busy for longer, and feedback keeps
  /// what it joins apart.
  void predict() {
    made_.critical_path = blocks_[0].critical_path;
    made_.predicted_time = blocks_[0].length;
    if (!flow_.overlaps) return;
    std::vector<plan_time> busy(made_.members, 0);
    for (const placed_item& each : blocks_[0].placed) {
      for (const std::uint32_t member : each.members) {
        busy[member] = time_after(busy[member], length_of(each.item));
      }
    }
    plan_time shortest = *std::max_element(busy.begin(), busy.end());
    for (const model_feedback& each : flow_.delayed) {
      const plan_time end = time_after(made_.start[each.from], made_.costs[each.from]);
      const plan_time begin = made_.start[each.to];
      if (end > begin) shortest = (std::max)(shortest, (end - begin) / std::int64_t{each.delay});
    }
    made_.predicted_time = (std::min)(made_.predicted_time, shortest);
  }

  // --- wait ---

  /// In `block` or further inside: the item of the block that has the node.
  std::uint32_t item_in(std::uint32_t block, node_index node) const noexcept {
    std::uint32_t at = flow_.block_of[node];
    if (at == block) return node;
    while (flow_.blocks[at].parent != block) at = flow_.blocks[at].parent;
    return nodes_ + at;
  }
  std::int64_t length(std::uint32_t lane) const {
    return static_cast<std::int64_t>(operations_[lane].size());
  }

  /// The operation after which the item is done: a loop is over when the member that decides has left it.
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
  /// The end of each lane. All nodes come before the one that decides; but who is in a loop further inside has to
  /// leave it.
  void need_turn(std::vector<need>& needs) {
    for (const std::uint32_t lane : own_) {
      const std::uint32_t last = static_cast<std::uint32_t>(operations(lane).size() - 1);
      needs.push_back({{lane, last}, 0, operations(lane)[last].order});
    }
  }
  /// Whether the member of this lane runs the first node of the item, or all of it.
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
      delays.push_back({i, local_[item_in(0, flow_.delayed[i].to)], edge_kind::plain});
    }
    const adjacency delayed = edges_by(delays, of.items.size(), true);

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
      const bool ends_turn = decides(block, each.item);
      for (const lane_spot& here : spots_[each.item]) {
        needs.clear();
        if (enters(each.item, here.lane)) {
          for (const std::uint32_t e : of.in.of(local_[each.item])) {
            need_item(of.items[of.edges[e].from], 0, needs);
          }
          for (const std::uint32_t e : delayed.of(local_[each.item])) {
            const model_feedback& what = flow_.delayed[delays[e].from];
            need_item(item_in(0, what.from), what.delay, needs);
          }
        }
        if (ends_turn && !is_wide(each.item)) need_turn(needs);
        wait_for(here, needs);
      }
      if (each.item >= nodes_) meet(spots_[each.item]);
      for (const lane_spot& here : spots_[each.item]) pass(here);
      if (!ends_turn || !is_wide(each.item)) continue;
      needs.clear();
      need_turn(needs);
      const lane_spot first = spots_[each.item][0];
      wait_for({first.lane, first.at + 1}, needs);
      pass({first.lane, first.at + 1});
    }
    if (block == 0 && !flow_.overlaps) wait_for_iteration(of);
  }

  std::int64_t* known_on(std::uint32_t lane) { return &known_[number_[lane] * lanes_]; }

  /// Adds the waits that nothing known implies; the latest first, since they imply others.
  void wait_for(const lane_spot& here, std::vector<need>& needs) {
    lane_operation& own = operation_at(here);
    own.first_wait = own.last_wait = static_cast<std::uint32_t>(waits_.size());
    std::sort(needs.begin(), needs.end(), need::comes_before);
    std::int64_t* const known = known_on(here.lane);
    for (const need& each : needs) {
      const std::uint32_t k = number_[each.what.lane];
      const std::int64_t reach =
          each.what.at + 1 - std::int64_t{each.delay} * length(each.what.lane);
      if (known[k] >= reach || each.what.lane == here.lane) continue;
      waits_.push_back({each.what.lane, each.what.at, each.delay});
      operation_at(each.what).is_awaited = true;
      own.last_wait = static_cast<std::uint32_t>(waits_.size());
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

  /// GRAPH-3: what depends on nothing waits for all of the iteration before, where it is the first of its lane.
  /// Whatever else comes first on a lane waits for such a node.
  void wait_for_iteration(const block_schedule& of) {
    std::vector<need> ends;
    for (const placed_item& each : of.placed) {
      if (of.out.of(local_[each.item]).empty()) need_item(each.item, 1, ends);
    }
    std::sort(ends.begin(), ends.end(), need::comes_before);
    for (const placed_item& each : of.placed) {
      if (!of.in.of(local_[each.item]).empty()) continue;
      for (const lane_spot& here : spots_[each.item]) {
        if (here.at != 0 || !enters(each.item, here.lane)) continue;
        // What the lane knew at the end of the iteration before; then the last of each lane first.
        knowledge known(known_on(here.lane), known_on(here.lane) + lanes_);
        lane_operation& own = operation_at(here);
        own.first_wait = static_cast<std::uint32_t>(waits_.size());
        for (const need& end : ends) {
          if (known[number_[end.what.lane]] > end.what.at) continue;
          waits_.push_back({end.what.lane, end.what.at, 1});
          operation_at(end.what).is_awaited = true;
          learn(known.data(), end.what);
          known[number_[end.what.lane]] = end.what.at + 1;
        }
        own.last_wait = static_cast<std::uint32_t>(waits_.size());
      }
    }
  }

  // --- cut ---

  bool is_open(const lane_operation& of) const {
    return of.item < nodes_ && !is_wide(of.item) && of_.nodes[of.item].pin == no_node;
  }

  /// Operations that nobody waits for in between become one step.
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
        if (is_loop) {
          made_.lanes[made_.lane(each.item - nodes_, of.member)].parent_step = each.step;
        } else {
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
    made_.waits.insert(made_.waits.end(), waits_.begin() + first.first_wait,
                       waits_.begin() + first.last_wait);
    made.last_wait = static_cast<std::uint32_t>(made_.waits.size());
    made.loop = first.item >= nodes_ ? first.item - nodes_ : 0;
    made.is_open = is_open(first);
    made_.steps.push_back(made);
  }

  static constexpr std::int64_t least = (std::numeric_limits<std::int64_t>::min)() / 4;
  static constexpr std::size_t most_kept = std::size_t{1} << 22;

  const graph_model& of_;
  const flow& flow_;
  flow_plan& made_;
  const std::uint32_t nodes_, members_;

  std::vector<block_schedule> blocks_;
  std::vector<std::uint32_t> local_;  ///< of each item: its place in its block's `items`
  node_list
      group_of_;  ///< of each node: one of those that it is kept near, the same for all; empty: no wishes
  std::vector<std::vector<lane_operation>> operations_;  ///< of each lane
  std::vector<std::vector<lane_spot>> spots_;            ///< of each item
  std::vector<plan_wait> waits_;                         ///< `steps` is the place of an operation

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
  flow_planner(of, checked, members, made).make();
  return made;
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
