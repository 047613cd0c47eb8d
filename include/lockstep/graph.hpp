// SPDX-License-Identifier: MIT
// lockstep/graph.hpp -- nodes that run one after the other, beside each other, and again (layer: graph)
//
// A graph says which node comes before which; a plan says which member runs which node when. Data between nodes are the
// user's own variables:
//
//   GRAPH-1  What a node does happens before every node that it has an edge to, through others as well. Nodes without a
//            path of edges between them may run at the same time. Two calls of one node never run at the same time.
//   GRAPH-2  An iteration runs every node once, except in loops, and except nodes that are skipped or stopped.
//   GRAPH-3  Iterations do not overlap, unless that is asked for: every node of one happens before every node of the next.
//   GRAPH-4  channel(from, to, buffer) lets `from` run ahead of `to`, by as many iterations as the buffer has places.
//            GRAPH-3 still holds among nodes that other edges join, and among nodes that no path of channels and edges
//            joins. After overlap() only feedback and channels order nodes of different iterations. Then a graph is refused
//            if an edge lets its beginning run ahead of its end without a bound. feedback(from, to, delay) adds order:
//            iteration i of `to` comes after iteration i - delay of `from`. The first `delay` iterations of a run do not
//            wait for it.
//   GRAPH-5  repeat_while(test, first) makes a loop of all nodes on paths from `first` to `test`. They run again while
//            `test` returns true. The next turn begins when `test` has returned. A node outside runs once: before the
//            first turn if a node of the loop depends on it, after the last one if it depends on a node of the loop.
//   GRAPH-6  A node is skipped in an iteration (or a loop's turn) if an edge_if or edge_unless to it fails, or if all
//            the nodes that it depends on were skipped. If the test of such an edge was skipped, the edge fails.
//
// One thread at a time builds a graph. The graph must outlive its plans. If the graph has changed when a run of a plan
// begins, the plan is made anew first (plan.hpp); so no other thread changes it then.
//
// Order  GRAPH-1, GRAPH-3, GRAPH-4.
// Errors a node of another graph, an edge from a node to itself, a bad number: std::invalid_argument, and nothing has
//        changed. What validate() finds is refused when a plan is made. A graph that was moved: std::logic_error.
// Cost   a node is one object on the heap, and its function another. Building is linear, except validate(). To run
//        one: plan.hpp.
// Example
//   double residual = 1;
//   lockstep::graph g;
//   auto load = g.node("load", [&] { residual /= 2; });
//   auto left = g.node("left", [&] {}), right = g.node("right", [&] {});
//   auto test = g.node("test", [&] { return residual > 0.01; });
//   g.edge(load, left).edge(load, right).edge(left, test).edge(right, test);
//   g.repeat_while(test, load);  // in blocks, all of it: g.loop(g.series(load, g.parallel(left, right), test))
//   lockstep::team two(2);
//   lockstep::plan plan(g, two);
//   plan.run();
#ifndef LOCKSTEP_GRAPH_HPP
#define LOCKSTEP_GRAPH_HPP

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <lockstep/detail/graph/node_function.hpp>
#include <lockstep/detail/platform/cache_line.hpp>
#include <lockstep/detail/platform/config.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {

class graph;
template <class Type, std::size_t Depth>
class buffer;  // of buffer.hpp
namespace detail {
struct graph_body;  // src/graph/graph_model.hpp
struct graph_access;
enum class edge_kind : std::uint8_t;
}  // namespace detail

/// A handle on a node. Copies refer to the same node. It stays valid if the graph is moved, and ends with the graph.
class graph_node {
 public:
  /// Refers to no node.
  graph_node() noexcept = default;

  /// How long the node takes: a hint for the plan, until it has measured (plan.hpp). Without one: 1 us.
  graph_node cost(std::chrono::nanoseconds time) const;
  /// Only the member of this rank runs it. Nobody takes it over when that member is late. A team-wide node cannot be
  /// pinned.
  graph_node pin(std::size_t rank) const;
  /// The plan gives it to the same member as `other`, whose data it uses. If that member is late, others take it over,
  /// unless it is pinned. All nodes that are kept near each other are on one member; a pinned one says on which. No effect
  /// between nodes of different loops, and on team-wide nodes.
  graph_node keep_near(const graph_node& other) const;

  const std::string& name() const;
  /// Nodes have numbers from 0, in the order in which node() made them.
  std::size_t number() const noexcept { return index_; }

 private:
  friend class graph;
  friend class graph_block;

  graph_node(detail::graph_body* of, std::uint32_t index) noexcept : of_(of), index_(index) {}
  void refuse_unless_of_graph(const char* function) const;

  detail::graph_body* of_ = nullptr;
  std::uint32_t index_ = ~std::uint32_t{0};
};

/// Part of a graph: the nodes where it begins, and those where it ends. series(), parallel() and loop() take and return it.
class graph_block {
 public:
  /// Empty.
  graph_block() = default;
  /// A node is a block.
  graph_block(const graph_node& only);

  bool empty() const noexcept { return firsts_.empty(); }

 private:
  friend class graph;

  detail::graph_body* of_ = nullptr;
  std::vector<std::uint32_t> firsts_, lasts_;
};

/// Nodes, edges between them, loops and feedback.
class graph {
 public:
  /// The width of a team-wide node that all members of the plan's team run.
  static constexpr std::size_t whole_team = 0;

  graph();
  ~graph();
  /// Until `other` is assigned another graph, its size() is 0, and other calls of it fail with std::logic_error.
  graph(graph&& other) noexcept;
  graph& operator=(graph&& other) noexcept;

  // --- nodes ---

  /// Calls f(), or f(iteration) if it takes a number: that of the iteration, from 0 in each run. f returns nothing or
  /// bool. It is copied or moved into the graph. Names are for messages and pictures, which number equal ones.
  template <class Function>
  graph_node node(std::string name, Function&& f) {
    static_assert(detail::is_for_node<detail::alone_on_node, Function>::value,
                  "lockstep::graph::node: the function can be called neither as f() nor as "
                  "f(iteration), with a std::size_t; one that takes a member is given after "
                  "lockstep::graph::whole_team");
    return add(std::move(name),
               detail::node_function::of<detail::alone_on_node>(std::forward<Function>(f)), 1,
               false);
  }
  /// An empty node: where paths meet.
  graph_node node(std::string name);
  /// Null is refused: a node without a name is called "".
  template <class... Arguments>
  graph_node node(std::nullptr_t, Arguments&&...) = delete;

  /// A team-wide node: `width` members call f(me), or f(me, iteration), together, and use all of member.hpp among them:
  /// me.sync_threads(), me.sync_sum(x), me.for_each(...). It begins for each when all that it depends on is done, and is
  /// done when all have returned. If f returns bool, what rank 0 returns counts. A plan for fewer members is refused. In a
  /// region of one member the node runs on that one.
  template <class Function>
  graph_node node(std::string name, std::size_t width, Function&& f) {
    static_assert(detail::is_for_node<detail::together_on_node, Function>::value,
                  "lockstep::graph::node: a team-wide function can be called neither as f(me), "
                  "with a lockstep::member&, nor as f(me, iteration)");
    return add(std::move(name),
               detail::node_function::of<detail::together_on_node>(std::forward<Function>(f)),
               width, true);
  }

  // --- edges ---

  /// GRAPH-1. Between blocks: from each end of the one to each beginning of the other. Fails, and changes nothing, if it
  /// joins a node with itself, or is given a node of another graph.
  graph& edge(const graph_block& from, const graph_block& to);
  /// The same, and `to` is skipped where `test` returns false, or true. See GRAPH-6. `test` returns bool.
  graph& edge_if(const graph_node& test, const graph_block& to);
  graph& edge_unless(const graph_node& test, const graph_block& to);

  /// A loop, GRAPH-5: all from `first` to `test` runs again while `test` returns true. `test` returns bool, and edges lead
  /// to it from `first`. Loops lie inside each other or apart.
  graph& repeat_while(const graph_node& test, const graph_node& first);

  // --- iterations that overlap ---

  /// An edge that lets `from` run up to values.depth() iterations ahead (GRAPH-4): iteration i of `to` finds in values[i]
  /// what iteration i of `from` has left there. From each end of the one to each beginning of the other. Only these
  /// beginnings may use the value. Between nodes of one loop it is an edge: turns do not overlap.
  template <class Type, std::size_t Depth>
  graph& channel(const graph_block& from, const graph_block& to, buffer<Type, Depth>& values) {
    values.joins_ = join_by_channel(from, to, Depth);
    return *this;
  }
  /// The same for values that are no `buffer`: each of `depth` iterations that overlap has a place of its own.
  graph& channel(const graph_block& from, const graph_block& to, std::size_t depth) {
    static_cast<void>(join_by_channel(from, to, depth));
    return *this;
  }
  /// Iterations overlap as far as feedback and channels allow, GRAPH-4.
  graph& overlap();
  /// An edge with a delay, GRAPH-4. With delay 0 it is an edge. Between nodes of one loop, and where iterations do not
  /// overlap, it adds nothing. From or to a node in a loop it counts for the whole loop.
  graph& feedback(const graph_node& from, const graph_node& to, std::size_t delay);

  // --- blocks ---

  /// A block in which each part comes after the one before. Takes nodes and blocks; empty blocks do not count.
  template <class... Blocks>
  graph_block series(const graph_block& first, const Blocks&... rest) {
    return series(std::vector<graph_block>{first, graph_block(rest)...});
  }
  graph_block series(const std::vector<graph_block>& parts);

  /// A block whose parts may run at the same time.
  template <class... Blocks>
  graph_block parallel(const graph_block& first, const Blocks&... rest) {
    return parallel(std::vector<graph_block>{first, graph_block(rest)...});
  }
  graph_block parallel(const std::vector<graph_block>& parts);

  /// Repeats the block while its last node returns true. Fails unless it has one last node. A block with several beginnings
  /// gets an empty node before them, called "loop of" and the name of the last.
  graph_block loop(const graph_block& body);

  // --- looks ---

  std::size_t size() const noexcept;

  /// What is wrong with the graph, with the names of the nodes on the way; empty if nothing is. A plan fails with this
  /// text, as std::invalid_argument. It finds: a cycle of edges; a loop that no path of edges closes; loops that cross;
  /// a node that no iteration can reach; a condition node that does not return bool; after overlap() an edge whose beginning
  /// may run ahead of its end without a bound.
  std::string validate() const;

  /// For Graphviz: loops are boxes, ways back and feedback are dashed, conditions are labels.
  std::string dot() const;

 private:
  friend struct detail::graph_access;

  graph_node add(std::string name, detail::node_function f, std::size_t width, bool is_wide);
  void check_join(const char* function, const graph_block& from, const graph_block& to) const;
  void join(const graph_block& from, const graph_block& to, detail::edge_kind kind);
  /// Returns the names of both ends.
  std::string join_by_channel(const graph_block& from, const graph_block& to, std::size_t depth);
  void check_own(const char* function, const detail::graph_body* of) const;

  /// Fails after a move.
  detail::graph_body& own() const;

  detail::owner<detail::graph_body> body_;
};

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_GRAPH_HPP
