// SPDX-License-Identifier: MIT
// src/graph/flow.cpp -- the bodies of flow.hpp (layer: graph)
#include "flow.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

LOCKSTEP_INLINE adjacency edges_by(const std::vector<model_edge>& edges, std::size_t nodes,
                                   bool by_end) {
  adjacency made;
  made.begin.assign(nodes + 1, 0);
  made.edges.resize(edges.size());
  for (const model_edge& each : edges) ++made.begin[(by_end ? each.to : each.from) + 1];
  for (std::size_t i = 0; i < nodes; ++i) made.begin[i + 1] += made.begin[i];
  std::vector<std::uint32_t> next(made.begin.begin(), made.begin.end() - 1);
  for (std::uint32_t i = 0; i < edges.size(); ++i) {
    made.edges[next[by_end ? edges[i].to : edges[i].from]++] = i;
  }
  return made;
}

LOCKSTEP_INLINE std::vector<std::uint32_t> order_of(const std::vector<model_edge>& edges,
                                                    const adjacency& out, std::size_t count) {
  std::vector<std::uint32_t> missing(count, 0), order;
  order.reserve(count);
  for (const model_edge& each : edges) ++missing[each.to];
  for (std::uint32_t i = 0; i < count; ++i) {
    if (missing[i] == 0) order.push_back(i);
  }
  for (std::size_t at = 0; at < order.size(); ++at) {
    for (const std::uint32_t e : out.of(order[at])) {
      if (--missing[edges[e].to] == 0) order.push_back(edges[e].to);
    }
  }
  return order;
}

LOCKSTEP_INLINE std::string name_of(const graph_model& of, node_index node) {
  const std::string& name = of.nodes[node].name;
  std::size_t number = 0, all = 0;
  for (node_index i = 0; i < of.nodes.size(); ++i) {
    if (of.nodes[i].name != name) continue;
    ++all;
    if (i <= node) ++number;
  }
  return all == 1 ? name : name + " #" + std::to_string(number);
}

LOCKSTEP_INLINE node_index root_of(node_list& forest, node_index node) {
  while (forest[node] != node) node = forest[node] = forest[forest[node]];
  return node;
}

/// The edges of one cycle, in order. Requires that there is a cycle: then `order` lacks some nodes.
LOCKSTEP_INLINE std::vector<std::uint32_t> cycle_of(const std::vector<model_edge>& edges,
                                                    const std::vector<std::uint32_t>& order,
                                                    std::size_t count) {
  const adjacency in = edges_by(edges, count, true);
  std::vector<bool> is_missing(count, true), seen(count, false);
  for (const std::uint32_t each : order) is_missing[each] = false;
  std::uint32_t at = 0;
  while (!is_missing[at]) ++at;
  // Each missing node has a predecessor that is missing too. So going backwards reaches one of them twice.
  std::vector<std::uint32_t> back(count, 0);  // the edge by which it was left
  while (!seen[at]) {
    seen[at] = true;
    const std::uint32_t* e = in.of(at).begin();
    while (!is_missing[edges[*e].from]) ++e;
    at = edges[*e].from;
    back[at] = *e;
  }
  std::vector<std::uint32_t> found;
  std::uint32_t next = at;
  do {
    found.push_back(back[next]);
    next = edges[back[next]].to;
  } while (next != at);
  return found;
}

/// Numbers groups of nodes: two nodes have the same number if each can be reached from the other.
LOCKSTEP_INLINE node_list rings_of(const std::vector<model_edge>& edges, std::size_t count) {
  const adjacency out = edges_by(edges, count, false), in = edges_by(edges, count, true);
  node_list left, way, ring(count, no_node);
  std::vector<const std::uint32_t*> next(count, nullptr);  // null: not seen
  for (node_index start = 0; start < count; ++start) {
    if (next[start] == nullptr) way.push_back(start);
    while (!way.empty()) {
      const node_index here = way.back();
      if (next[here] == nullptr) next[here] = out.of(here).begin();
      while (next[here] != out.of(here).end() && next[edges[*next[here]].to] != nullptr)
        ++next[here];
      if (next[here] != out.of(here).end()) {
        way.push_back(edges[*next[here]].to);
      } else {
        left.push_back(here);
        way.pop_back();
      }
    }
  }
  for (; !left.empty(); left.pop_back()) {
    if (ring[left.back()] != no_node) continue;
    for (way.assign(1, left.back()); !way.empty();) {
      const node_index here = way.back();
      way.pop_back();
      ring[here] = left.back();
      for (const std::uint32_t e : in.of(here)) {
        if (ring[edges[e].from] == no_node) way.push_back(edges[e].from);
      }
    }
  }
  return ring;
}

/// Finds the structure of a graph, step by step. Stops at the first fault.
class flow_builder {
 public:
  explicit flow_builder(const graph_model& of) : of_(of) {}

  flow make() {
    made_.problem = find();
    return std::move(made_);
  }

 private:
  std::size_t size() const noexcept { return of_.nodes.size(); }
  std::string name(node_index node) const { return quoted(of_, node); }

  std::string find() {
    std::string wrong = silent_tests();
    if (!wrong.empty()) return wrong;
    take_edges();
    wrong = sort();
    if (wrong.empty()) wrong = find_loops();
    if (wrong.empty()) wrong = sort_items();
    if (!wrong.empty()) return wrong;
    find_skips();
    wrong = contradictions();
    return wrong.empty() ? order_iterations() : wrong;
  }

  std::string silent_tests() const {
    for (const model_edge& each : of_.edges) {
      if (!asks(each.kind) || of_.nodes[each.from].returns_bool) continue;
      return "the edge from " + name(each.from) + " to " + name(each.to) +
             " has a condition, but " + name(each.from) +
             " does not return bool: let it return whether the edge holds";
    }
    for (const model_feedback& each : of_.feedbacks) {
      if (!each.is_loop() || of_.nodes[each.from].returns_bool) continue;
      return loop_name(each.from, each.to) + " has no condition: " + name(each.from) +
             " does not return bool: let it return whether the loop goes on";
    }
    return std::string();
  }

  bool is_channel(std::size_t edge) const noexcept {
    return of_.edges[edge].kind == edge_kind::channel;
  }
  void take_edges() {
    made_.overlaps = of_.overlaps;
    made_.edges = of_.edges;
    for (std::size_t e = 0; e < made_.edges.size(); ++e) {
      made_.overlaps |= is_channel(e);
      if (is_channel(e)) made_.edges[e].kind = edge_kind::plain;
    }
    made_.out = edges_by(made_.edges, size(), false);
    made_.in = edges_by(made_.edges, size(), true);
  }

  std::string sort() {
    made_.order = order_of(made_.edges, made_.out, size());
    if (made_.order.size() == size()) return std::string();
    std::string way;
    for (const std::uint32_t e : cycle_of(made_.edges, made_.order, size())) {
      if (way.empty()) way = name(made_.edges[e].from);
      way += " -> " + name(made_.edges[e].to);
    }
    return "a cycle of edges: " + way +
           "; use repeat_while for a loop, feedback for a later iteration";
  }

  // --- loops ---

  struct found_loop {
    node_index from, to;
    node_list nodes;
  };

  std::string find_loops() {
    std::vector<found_loop> loops;  // the one with most nodes first
    for (const model_feedback& each : of_.feedbacks) {
      if (!each.is_loop()) continue;
      found_loop made = {each.from, each.to, body_of(each)};
      if (made.nodes.empty()) {
        return loop_name(each.from, each.to) + " is not closed: no path of edges leads from " +
               name(each.to) + " to " + name(each.from);
      }
      loops.push_back(std::move(made));
      for (std::size_t i = loops.size() - 1; i > 0; --i) {
        if (loops[i].nodes.size() <= loops[i - 1].nodes.size()) break;
        std::swap(loops[i], loops[i - 1]);
      }
    }
    made_.blocks.resize(1);
    made_.block_of.assign(size(), 0);
    made_.loop_from.assign(size(), 0);
    for (const found_loop& each : loops) {
      const std::string wrong = add_loop(each);
      if (!wrong.empty()) return wrong;
    }
    return std::string();
  }

  /// The nodes on paths from `to` to `from`, in order.
  node_list body_of(const model_feedback& loop) const {
    std::vector<bool> ahead(size(), false), behind(size(), false);
    ahead[loop.to] = behind[loop.from] = true;
    node_list body;
    for (const node_index node : made_.order) {
      if (!ahead[node]) continue;
      for (const std::uint32_t e : made_.out.of(node)) ahead[made_.edges[e].to] = true;
    }
    for (std::size_t i = size(); i-- > 0;) {
      const node_index node = made_.order[i];
      if (!behind[node]) continue;
      for (const std::uint32_t e : made_.in.of(node)) behind[made_.edges[e].from] = true;
    }
    for (const node_index node : made_.order) {
      if (ahead[node] && behind[node]) body.push_back(node);
    }
    return body;
  }

  std::string loop_name(node_index from, node_index to) const {
    return "the loop from " + name(to) + " to " + name(from);
  }

  std::string add_loop(const found_loop& loop) {
    const std::uint32_t parent = made_.block_of[loop.nodes[0]];
    for (const node_index node : loop.nodes) {
      if (made_.block_of[node] == parent) continue;
      std::uint32_t other = made_.block_of[node];
      if (made_.blocks[other].depth < made_.blocks[parent].depth) other = parent;
      return loop_name(loop.from, loop.to) + " crosses " +
             loop_name(made_.blocks[other].from, made_.blocks[other].to) + ": " + name(node) +
             " and " + name(loop.nodes[0]) + " are not both in it";
    }
    if (made_.loop_from[loop.from] != 0) {
      const flow_block& other = made_.blocks[made_.loop_from[loop.from]];
      return loop_name(loop.from, other.to) + " and " + loop_name(loop.from, loop.to) +
             " end in the same node: " + name(loop.from) + " can end only one of them";
    }
    const std::uint32_t block = static_cast<std::uint32_t>(made_.blocks.size());
    made_.blocks.push_back(flow_block());
    made_.blocks.back().parent = parent;
    made_.blocks.back().depth = made_.blocks[parent].depth + 1;
    made_.blocks.back().from = loop.from;
    made_.blocks.back().to = loop.to;
    made_.loop_from[loop.from] = block;
    for (const node_index node : loop.nodes) made_.block_of[node] = block;
    return std::string();
  }

  /// The edge between items of the innermost block that has both ends. An end in a loop there becomes that loop.
  model_edge raised(const model_edge& edge) const {
    const std::uint32_t nodes = static_cast<std::uint32_t>(size());
    std::uint32_t a = made_.block_of[edge.from], b = made_.block_of[edge.to];
    model_edge made = edge;
    while (a != b) {
      const std::uint32_t depth_a = made_.blocks[a].depth, depth_b = made_.blocks[b].depth;
      if (depth_a >= depth_b) {
        made.from = nodes + a;
        a = made_.blocks[a].parent;
      }
      if (depth_b >= depth_a) {
        made.to = nodes + b;
        b = made_.blocks[b].parent;
      }
    }
    return made;
  }

  /// GRAPH-5: what depends on a loop comes after all its turns; what the loop depends on comes before them. It is a
  /// fault if two loops would have to run after each other.
  std::string sort_items() {
    const std::size_t items = size() + made_.blocks.size();
    std::vector<model_edge>& edges = made_.item_edges;
    edges.reserve(made_.edges.size());
    for (const model_edge& each : made_.edges) edges.push_back(raised(each));
    made_.item_out = edges_by(edges, items, false);
    made_.item_in = edges_by(edges, items, true);
    made_.item_order = order_of(edges, made_.item_out, items);
    if (made_.item_order.size() == items) return std::string();
    std::string way;
    for (const std::uint32_t e : cycle_of(edges, made_.item_order, items)) {
      way +=
          (way.empty() ? "" : ", ") + name(made_.edges[e].from) + " -> " + name(made_.edges[e].to);
      if (edges[e].to < size()) continue;
      const flow_block& loop = made_.blocks[edges[e].to - size()];
      way += " in " + loop_name(loop.from, loop.to);
    }
    return "loops that can only run after each other: " + way;
  }

  // --- conditions ---

  void find_skips() {
    made_.may_be_skipped.assign(size(), false);
    made_.is_asked.assign(size(), false);
    for (const node_index node : made_.order) {
      bool all = !made_.in.of(node).empty(), one = false;
      for (const std::uint32_t e : made_.in.of(node)) {
        all &= made_.may_be_skipped[made_.edges[e].from];
        one |= asks(made_.edges[e].kind);
      }
      made_.may_be_skipped[node] = all || one;
      for (const std::uint32_t e : made_.in.of(node)) {
        model_edge& each = made_.edges[e];
        const bool is_asked = asks(each.kind) || made_.may_be_skipped[each.from];
        if (!is_asked) each.kind = edge_kind::no_question;
        if (is_asked && (all || one)) made_.is_asked[each.from] = true;
      }
    }
  }

  /// The answers that a node needs to run, sorted. An answer is twice the number of the node that gives it, plus 1 for
  /// true.
  using answers = std::vector<std::uint32_t>;

  static void add(answers& to, const answers& more) {
    answers made;
    std::set_union(to.begin(), to.end(), more.begin(), more.end(), std::back_inserter(made));
    to.swap(made);
  }
  static void keep(answers& of, const answers& other) {
    answers made;
    std::set_intersection(of.begin(), of.end(), other.begin(), other.end(),
                          std::back_inserter(made));
    of.swap(made);
  }

  /// Whether the edge leads from the node that decides a loop to a node outside. Then that node's last answer is false.
  bool is_over_before(const model_edge& edge) const noexcept {
    const std::uint32_t loop = made_.loop_from[edge.from];
    return loop != 0 && !made_.is_inside(made_.block_of[edge.to], loop);
  }

  std::string contradictions() {
    std::vector<answers> known(size());  // empty for a node that is never skipped
    for (const node_index node : made_.order) {
      if (!made_.may_be_skipped[node]) continue;
      answers here, common;
      bool is_first = true;
      for (const std::uint32_t e : made_.in.of(node)) {
        const model_edge& each = made_.edges[e];
        if (asks(each.kind)) {
          if (each.kind == edge_kind::if_true && is_over_before(each)) {
            return "no iteration can reach " + name(node) + ": " + name(each.from) +
                   " would have to return true, and then " +
                   loop_name(each.from, made_.blocks[made_.loop_from[each.from]].to) + " goes on";
          }
          add(here, known[each.from]);
          add(here, {2 * each.from + (each.kind == edge_kind::if_true ? 1u : 0u)});
        }
        if (is_first) common = known[each.from];
        keep(common, known[each.from]);
        is_first = false;
      }
      add(here, common);
      for (std::size_t i = 1; i < here.size(); ++i) {
        const node_index asked = here[i] / 2;
        if (here[i - 1] / 2 != asked || here[i] == here[i - 1]) continue;
        return "no iteration can reach " + name(node) + ": " + name(asked) +
               " would have to return both true and false";
      }
      known[node].swap(here);
    }
    return std::string();
  }

  // --- iterations ---

  std::string order_iterations() {
    if (!made_.overlaps) return std::string();
    made_.most_delay = 1;
    for (const model_feedback& each : of_.feedbacks) {
      if (each.is_loop()) continue;
      made_.most_delay = (std::max)(made_.most_delay, each.delay);
      add_delay(each);
    }
    if (!of_.overlaps) keep_order();
    for (const model_edge& each : made_.edges) {
      if (made_.may_be_skipped[each.to] && flow::tells(each)) add_delay({each.to, each.from, 1});
    }
    // Nothing else keeps one member of a team-wide node from beginning the next iteration before the others.
    for (node_index i = 0; i < size(); ++i) {
      if (of_.nodes[i].is_wide) add_delay({i, i, 1});
    }
    return edge_without_bound();
  }

  /// The first node of the outermost loop around the node. If it is in no loop: the node itself.
  node_index outermost(node_index node) const {
    std::uint32_t block = made_.block_of[node];
    while (made_.blocks[block].depth > 1) block = made_.blocks[block].parent;
    return block == 0 ? node : made_.blocks[block].to;
  }

  /// GRAPH-4: edges that are no channels join nodes to one stage. Nodes of two stages may overlap if edges and channels
  /// join these stages. All other nodes keep their iterations in order.
  void keep_order() {
    node_list stage(size());
    for (node_index i = 0; i < size(); ++i) stage[i] = outermost(i);
    node_list part = stage;
    std::vector<bool> begins(size(), true), ends(size(), true);
    for (std::size_t e = 0; e < made_.edges.size(); ++e) {
      const model_edge& each = made_.edges[e];
      const node_index from = outermost(each.from), to = outermost(each.to);
      part[root_of(part, from)] = root_of(part, to);
      if (is_channel(e) && from != to) continue;
      stage[root_of(stage, from)] = root_of(stage, to);
      ends[each.from] = begins[each.to] = false;
    }
    for (node_index a = 0; a < size(); ++a) {
      for (node_index b = 0; ends[a] && b < size(); ++b) {
        if (!begins[b]) continue;
        if (root_of(stage, a) == root_of(stage, b) || root_of(part, a) != root_of(part, b)) {
          add_delay({a, b, 1});
        }
      }
    }
  }

  /// A message for the first edge without a bound. An edge has one if a path with delays leads from its end back to its
  /// beginning, or if both ends are in one loop.
  std::string edge_without_bound() const {
    std::vector<model_edge> ways;
    for (const model_edge& each : made_.edges) {
      ways.push_back({outermost(each.from), outermost(each.to), edge_kind::plain});
    }
    for (const model_feedback& each : made_.delayed) {
      ways.push_back({outermost(each.from), outermost(each.to), edge_kind::plain});
    }
    const node_list ring = rings_of(ways, size());
    for (std::size_t e = 0; e < made_.edges.size(); ++e) {
      if (ring[ways[e].from] == ring[ways[e].to]) continue;
      const std::string from = name(made_.edges[e].from), to = name(made_.edges[e].to);
      return from + " may be any number of iterations ahead of " + to +
             ", which may read what it writes: bound it by feedback(" + to + ", " + from +
             ", delay), or join them by a channel";
    }
    return std::string();
  }

  void add_delay(const model_feedback& each) {
    std::uint32_t a = made_.block_of[each.from];
    while (a != 0 && !made_.is_inside(made_.block_of[each.to], a)) a = made_.blocks[a].parent;
    if (a == 0) made_.delayed.push_back(each);
  }

  const graph_model& of_;
  flow made_;
};

LOCKSTEP_INLINE flow make_flow(const graph_model& of) { return flow_builder(of).make(); }

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
