// SPDX-License-Identifier: MIT
// tests/support/random_graph.hpp -- graphs at random, what they compute, and an interpreter that says what is right
//
// Every node computes a number from its own last one, from the numbers of all that it comes after, and of its
// feedback; it reads and writes plain memory. So a missing order is a race that ThreadSanitizer sees, or a wrong
// number. The interpreter knows nothing of the library: nodes are numbered so that edges go forward, and a loop is a
// range of numbers.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <lockstep/graph.hpp>
#include <lockstep/member.hpp>

#include "graph/graph_model.hpp"

namespace lockstep::test {

/// What may be in a graph.
struct graph_taste {
  int most_nodes = 14;
  int most_delay = 3;
  bool has_loops = true;
  bool has_conditions = true;
  bool has_delays = true;
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
    int most_turns = 0;
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

  /// As an oracle, or for the nodes of a graph to write to.
  struct results {
    std::vector<std::vector<std::uint64_t>> value, runs;
    std::vector<std::vector<char>> answer;  ///< 0 skipped, 1 false, 2 true; for the interpreter

    bool operator==(const results& other) const {
      return value == other.value && runs == other.runs;
    }
  };
  results empty_results(std::size_t iterations) const {
    results made;
    made.value.assign(nodes.size(), std::vector<std::uint64_t>(iterations, 0));
    made.runs = made.value;
    made.answer.assign(nodes.size(), std::vector<char>(iterations, 0));
    return made;
  }

  /// What is right.
  results interpret(std::size_t iterations) const {
    results made = empty_results(iterations);
    for (std::size_t i = 0; i < iterations; ++i) {
      std::vector<char> said(nodes.size(), 0);
      for (std::size_t n = 0; n < nodes.size();) {
        said[n] = 0;
        if (!is_skipped(n, said)) {
          bool result;
          if (nodes[n].width == 0) {
            result = compute(n, i, made);
          } else {
            std::uint64_t sum = 0;
            for (std::size_t rank = 0; rank < nodes[n].width; ++rank) {
              sum += part_of(n, i, made, rank);
            }
            result = end_wide(n, i, made, sum);
          }
          said[n] = result ? 2 : 1;
        }
        n = nodes[n].loop_first >= 0 && said[n] == 2 ? static_cast<std::size_t>(nodes[n].loop_first)
                                                     : n + 1;
      }
    }
    return made;
  }

  /// A graph whose nodes write to `into`, which must outlive it.
  graph build(results& into) const {
    graph g;
    std::vector<graph_node> made;
    for (std::size_t n = 0; n < nodes.size(); ++n) {
      const std::string name = "n" + std::to_string(n);
      if (nodes[n].width > 0) {
        made.push_back(g.node(name, nodes[n].width, [this, n, &into](member& me, std::size_t i) {
          const std::uint64_t sum = me.sync_sum(part_of(n, i, into, me.rank()));
          return me.rank() == 0 ? end_wide(n, i, into, sum) : false;
        }));
      } else if (nodes[n].may_answer || nodes[n].loop_first >= 0) {
        made.push_back(
            g.node(name, [this, n, &into](std::size_t i) { return compute(n, i, into); }));
      } else {
        made.push_back(g.node(name, [this, n, &into](std::size_t i) { compute(n, i, into); }));
      }
      made.back().cost(std::chrono::nanoseconds(nodes[n].cost));
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

  static std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
    a = (a ^ b) * 0x9e3779b97f4a7c15u;
    return a ^ (a >> 29);
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
      decides.most_turns = 1 + pick(3);
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

  bool is_skipped(std::size_t n, const std::vector<char>& said) const {
    bool one_ran = nodes[n].in.empty();
    for (const edge& each : nodes[n].in) {
      const char from = said[static_cast<std::size_t>(each.from)];
      one_ran |= from != 0;
      if (each.kind == 1 && from != 2) return true;
      if (each.kind == 2 && from != 1) return true;
    }
    return !one_ran;
  }

  std::uint64_t read(std::size_t n, std::size_t i, const results& from) const {
    std::uint64_t h = mix(n + 1, i);
    h = mix(h, from.runs[n][i]);
    for (const edge& each : nodes[n].in) {
      h = mix(h, from.value[static_cast<std::size_t>(each.from)][i]);
    }
    for (const delay& each : nodes[n].feedback) {
      const std::size_t by = static_cast<std::size_t>(each.by);
      if (i >= by) h = mix(h, from.value[static_cast<std::size_t>(each.from)][i - by]);
    }
    for (std::size_t last = n; last < nodes.size(); ++last) {
      if (nodes[last].loop_first == static_cast<int>(n)) h = mix(h, from.value[last][i]);
    }
    if (i == 0) return h;
    h = mix(h, from.value[n][i - 1]);
    if (overlaps || !nodes[n].in.empty()) return h;
    for (const std::vector<std::uint64_t>& each : from.value) h = mix(h, each[i - 1]);
    return h;
  }
  bool write(std::size_t n, std::size_t i, results& into, std::uint64_t h) const {
    into.value[n][i] = h;
    const std::uint64_t turn = ++into.runs[n][i];
    if (nodes[n].loop_first < 0) return (h >> 40 & 1) != 0;
    return static_cast<int>(turn % static_cast<std::uint64_t>(nodes[n].most_turns + 1)) != 0 &&
           (h >> 40 & 3) != 0;
  }
  bool compute(std::size_t n, std::size_t i, results& with) const {
    return write(n, i, with, read(n, i, with));
  }
  std::uint64_t part_of(std::size_t n, std::size_t i, const results& from, std::size_t rank) const {
    return mix(read(n, i, from), rank);
  }
  bool end_wide(std::size_t n, std::size_t i, results& into, std::uint64_t sum) const {
    return write(n, i, into, mix(sum, n));
  }

  std::mt19937_64 random_;
  graph_taste taste_;
  int depth_ = 0;
};

}  // namespace lockstep::test
