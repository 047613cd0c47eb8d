// SPDX-License-Identifier: MIT
// tests/support/random_graph.hpp -- graphs at random; graph_oracle.hpp says what their nodes compute
//
// Nodes are numbered so that edges go forward, and a loop is a range of numbers.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include <lockstep/detail/platform/clock.hpp>
#include <lockstep/graph.hpp>
#include <lockstep/member.hpp>

#include "support/effort.hpp"
#include "support/graph_oracle.hpp"

namespace lockstep::test {

/// How many graphs of a kind: as LOCKSTEP_RANDOM_GRAPHS says, else `usually`, in brief that by `less`.
inline int graphs(int usually, int less = 4) {
  const char* const text = std::getenv("LOCKSTEP_RANDOM_GRAPHS");
  return text != nullptr ? std::atoi(text) : is_brief() ? (usually + less - 1) / less : usually;
}
inline std::uint64_t first_seed() {
  const char* const text = std::getenv("LOCKSTEP_RANDOM_SEED");
  return text != nullptr ? std::strtoull(text, nullptr, 0) : 1;
}

/// What may be in a graph.
struct graph_taste {
  int most_nodes = 14;
  int most_delay = 3;
  bool has_loops = true;
  bool has_conditions = true;
  bool has_delays = true;
  bool has_hints = true;       ///< else nodes take their time, and plans learn it
  std::size_t most_width = 1;  ///< of team-wide nodes; 1: there are none
  std::size_t pins = 0;        ///< members that nodes may be pinned to
};

class random_graph {
 public:
  struct edge {
    int from, to;
    int kind;  ///< 0 always, 1 if true, 2 if false
  };
  struct delay {
    int from, to, by;
  };
  struct node {
    int loop_first = -1;  ///< of a node that decides a loop
    bool may_answer = false;
    std::size_t width = 0;  ///< 0: not team-wide
    std::size_t pin = no_pin;
    int cost = 0;  ///< in nanoseconds, as a hint
    std::vector<edge> in;
    std::vector<delay> feedback;
  };
  static constexpr std::size_t no_pin = ~std::size_t{0};

  random_graph(std::uint64_t seed, const graph_taste& taste) : random_(seed), taste_(taste) {
    const int count = 1 + pick(taste.most_nodes);
    while (static_cast<int>(nodes.size()) < count) add_item(0);
    if (taste.has_delays && pick(2) == 0) add_delays();
    for (const node& each : nodes) {
      for (const delay& back : each.feedback) overlaps |= back.by > 0;
    }
  }

  /// A graph whose nodes do what `with` says, which must outlive it; null: the graph is not run.
  graph build(const graph_computation* with = nullptr) const {
    graph g;
    std::vector<graph_node> made;
    for (std::size_t n = 0; n < nodes.size(); ++n) {
      const std::string name = "n" + std::to_string(n);
      const int pauses = taste_.has_hints ? 0 : nodes[n].cost / 100;
      const auto compute = [n, with, pauses](std::size_t i) {
        for (int k = 0; k < pauses; ++k) lockstep::detail::native::polling_pause();
        return with->of->compute(n, i, *with->into);
      };
      if (nodes[n].width > 0) {
        const std::size_t width = nodes[n].width;
        made.push_back(g.node(name, width, [n, width, with](member& me, std::size_t i) {
          return with->of->compute_together(n, i, *with->into, me, width);
        }));
      } else if (nodes[n].may_answer || nodes[n].loop_first >= 0) {
        made.push_back(g.node(name, compute));
      } else {
        made.push_back(g.node(name, [compute](std::size_t i) { compute(i); }));
      }
      if (taste_.has_hints) made.back().cost(std::chrono::nanoseconds(nodes[n].cost));
      if (nodes[n].pin != no_pin) made.back().pin(nodes[n].pin);
      if (nodes[n].cost % 7 == 0)
        made.back().keep_near(made[static_cast<std::size_t>(nodes[n].cost) % made.size()]);
    }
    for (std::size_t n = 0; n < nodes.size(); ++n) {
      for (const edge& each : nodes[n].in) {
        const graph_node from = made[static_cast<std::size_t>(each.from)];
        if (each.kind == 0) g.edge(from, made[n]);
        if (each.kind == 1) g.edge_if(from, made[n]);
        if (each.kind == 2) g.edge_unless(from, made[n]);
      }
      for (const delay& each : nodes[n].feedback) {
        g.feedback(made[static_cast<std::size_t>(each.from)], made[n],
                   static_cast<std::size_t>(each.by));
      }
      if (nodes[n].loop_first >= 0) {
        g.repeat_while(made[n], made[static_cast<std::size_t>(nodes[n].loop_first)]);
      }
    }
    if (!overlaps) return g;
    g.overlap();
    for (std::size_t n = 0; n < nodes.size(); ++n) {
      for (const edge& each : nodes[n].in) {
        g.feedback(made[n], made[static_cast<std::size_t>(each.from)],
                   1 + static_cast<std::size_t>(nodes[n].cost) % 5);
      }
    }
    return g;
  }

  std::vector<node> nodes;
  bool overlaps = false;

 private:
  int pick(int below) {
    return static_cast<int>(std::uniform_int_distribution<int>(0, below - 1)(random_));
  }

  int add_node() {
    nodes.emplace_back();
    node& made = nodes.back();
    made.may_answer = pick(3) == 0;
    made.cost = pick(20000);  // so that members are worth waking up
    if (taste_.most_width > 1 && pick(4) == 0) {
      made.width = 1 + static_cast<std::size_t>(pick(static_cast<int>(taste_.most_width)));
      made.may_answer = true;
    } else if (taste_.pins > 0 && pick(4) == 0) {
      made.pin = static_cast<std::size_t>(pick(static_cast<int>(taste_.pins)));
    }
    return static_cast<int>(nodes.size()) - 1;
  }
  bool has_edge(int from, int to) const {
    for (const edge& each : nodes[static_cast<std::size_t>(to)].in) {
      if (each.from == from) return true;
    }
    return false;
  }
  void add_edge(int from, int to, bool may_ask) {
    if (from >= to || has_edge(from, to)) return;
    int kind = 0;
    if (may_ask && taste_.has_conditions && nodes[static_cast<std::size_t>(from)].may_answer) {
      kind = pick(3);
      // After a loop its test is false: a node that runs only if it is true is never reached.
      if (kind == 1 && nodes[static_cast<std::size_t>(from)].loop_first >= 0) kind = 2;
    }
    nodes[static_cast<std::size_t>(to)].in.push_back({from, to, kind});
  }
  /// Edges from nodes before `end` to those from `first` on.
  void add_edges(int begin, int first, int end) {
    if (begin == first) return;
    for (int left = pick(3); left > 0; --left) {
      add_edge(begin + pick(first - begin), first + pick(end - first), true);
    }
  }

  void add_item(int begin) {
    const int first = static_cast<int>(nodes.size());
    if (taste_.has_loops && depth_ < 3 && pick(4) == 0) {
      add_loop();
    } else {
      add_node();
    }
    add_edges(begin, first, static_cast<int>(nodes.size()));
  }
  void add_loop() {
    ++depth_;
    const int first = add_node();
    for (int left = pick(5); left > 0; --left) add_item(first);
    const int last =
        pick(6) == 0 && first + 1 == static_cast<int>(nodes.size()) ? first : add_node();
    for (int n = first + 1; n <= last; ++n) {
      bool is_reached = false;
      for (const edge& each : nodes[static_cast<std::size_t>(n)].in) {
        is_reached |= each.from >= first;
      }
      if (!is_reached) add_edge(first, n, n != last);
    }
    for (int n = first; n < last; ++n) {
      bool goes_on = false;
      for (int to = n + 1; to <= last; ++to) goes_on |= has_edge(n, to);
      if (!goes_on) add_edge(n, last, false);
    }
    node& decides = nodes[static_cast<std::size_t>(last)];
    if (decides.loop_first < 0) {
      decides.loop_first = first;
    }
    --depth_;
  }
  void add_delays() {
    const int count = static_cast<int>(nodes.size());
    for (int left = 1 + pick(4); left > 0; --left) {
      const int from = pick(count), to = pick(count), by = pick(taste_.most_delay + 1);
      if (by == 0 && from >= to) continue;
      if (by == 0) continue;  // an edge: those may change what is in a loop
      nodes[static_cast<std::size_t>(to)].feedback.push_back({from, to, by});
    }
  }

  std::mt19937_64 random_;
  graph_taste taste_;
  int depth_ = 0;
};

}  // namespace lockstep::test
