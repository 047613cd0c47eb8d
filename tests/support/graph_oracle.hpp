// SPDX-License-Identifier: MIT
// tests/support/graph_oracle.hpp -- what the nodes of a graph compute, and an interpreter that says what is right
//
// Every node computes a number from its own last one, from the numbers of all that it comes after, and of its
// feedback; it reads and writes plain memory. So a missing order is a race that ThreadSanitizer sees, or a wrong
// number. The interpreter takes the edges as the graph has them, and knows nothing of plans (GRAPH-1 to GRAPH-6).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <lockstep/member.hpp>

#include "graph/graph_model.hpp"

namespace lockstep::test {

inline std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  a = (a ^ b) * 0x9e3779b97f4a7c15u;
  return a ^ (a >> 29);
}

/// The last number of each node in each iteration, and how often it ran.
struct graph_results {
  std::vector<std::vector<std::uint64_t>> value, runs;

  explicit graph_results(std::size_t nodes = 0, std::size_t iterations = 0)
      : value(nodes, std::vector<std::uint64_t>(iterations, 0)), runs(value) {}
  bool operator==(const graph_results&) const = default;
};

/// The graph as data, in a form that is quick to ask.
struct graph_shape {
  struct loop {
    std::size_t from, to;
    std::vector<bool> body;
    std::size_t size = 0;
  };

  /// A node that decides a loop has it run again for `most_turns` times at most.
  explicit graph_shape(const detail::graph_model& of, std::size_t most_turns = 1)
      : in(of.nodes.size()),
        delayed(of.nodes.size()),
        overlaps(of.overlaps),
        most_turns_(most_turns) {
    for (const detail::model_edge& each : of.edges) in[each.to].push_back(each);
    for (const detail::model_feedback& each : of.feedbacks) {
      if (each.is_loop()) {
        loops.push_back(loop{each.from, each.to, {}, 0});
      } else {
        delayed[each.to].push_back(each);
      }
    }
  }

  std::size_t size() const { return in.size(); }

  bool compute(std::size_t n, std::size_t i, graph_results& with) const {
    return write(n, i, with, read(n, i, with));
  }
  /// On each of so many members; the number does not depend on how many they are.
  bool compute_together(std::size_t n, std::size_t i, graph_results& with, member& me,
                        std::size_t members) const {
    const std::uint64_t h = read(n, i, with);
    std::uint64_t missing = me.sync_sum(mix(h, me.rank()));
    if (me.rank() != 0) return false;
    for (std::size_t rank = 0; rank < members; ++rank) missing -= mix(h, rank);
    return write(n, i, with, h + missing);
  }
  /// What a node says that has computed `h` in its `turn`th run.
  bool answer(std::size_t n, std::uint64_t h, std::uint64_t turn) const {
    for (const loop& each : loops) {
      if (each.from == n) return turn % (2 + n % most_turns_) != 0 && (h >> 40 & 3) != 0;
    }
    return (h >> 40 & 1) != 0;
  }

  std::vector<std::vector<detail::model_edge>> in;
  std::vector<std::vector<detail::model_feedback>> delayed;
  std::vector<loop> loops;
  bool overlaps;

 private:
  std::uint64_t read(std::size_t n, std::size_t i, const graph_results& from) const {
    std::uint64_t h = mix(mix(n + 1, i), from.runs[n][i]);
    for (const detail::model_edge& each : in[n]) h = mix(h, from.value[each.from][i]);
    for (const detail::model_feedback& each : delayed[n]) {
      if (i >= each.delay) h = mix(h, from.value[each.from][i - each.delay]);
    }
    for (const loop& each : loops) {
      if (each.to == n) h = mix(h, from.value[each.from][i]);
    }
    if (i == 0) return h;
    h = mix(h, from.value[n][i - 1]);
    if (overlaps || !in[n].empty()) return h;
    for (const std::vector<std::uint64_t>& each : from.value) h = mix(h, each[i - 1]);
    return h;
  }
  bool write(std::size_t n, std::size_t i, graph_results& into, std::uint64_t h) const {
    into.value[n][i] = h;
    return answer(n, h, ++into.runs[n][i]);
  }

  std::size_t most_turns_;
};

/// Runs the nodes one after the other.
class graph_interpreter {
 public:
  /// Requires a graph that is accepted.
  explicit graph_interpreter(const graph_shape& of)
      : of_(of), again_(of.size(), no_place), largest_loop_(of.size()) {
    for (graph_shape::loop& each : of_.loops) find_body(each);
    put_in_order(std::vector<bool>(of_.size(), true), of_.size() + 1);
  }

  /// Else it is no graph that may be accepted.
  bool has_order() const { return line_.size() == of_.size(); }

  /// Calls compute(n, i) for each node that is not skipped, which says what is told to those that ask.
  template <class Compute>
  void run(std::size_t iterations, Compute compute) const {
    for (std::size_t i = 0; i < iterations; ++i) {
      std::vector<char> said(of_.size(), skipped);
      for (std::size_t at = 0; at < line_.size();) {
        const std::size_t n = line_[at];
        said[n] = skipped;
        if (!is_skipped(n, said)) {
          said[n] = compute(n, i) ? said_true : said_false;
        }
        at = again_[at] != no_place && said[n] == said_true ? again_[at] : at + 1;
      }
    }
  }

 private:
  static constexpr std::size_t no_place = ~std::size_t{0};
  static constexpr char skipped = 0, said_false = 1, said_true = 2;

  /// The nodes on the ways from `to` to `from`.
  void find_body(graph_shape::loop& of) {
    std::vector<bool> ahead(of_.size(), false), behind(of_.size(), false);
    ahead[of.to] = behind[of.from] = true;
    for (std::size_t round = 0; round < of_.size(); ++round) {
      for (std::size_t n = 0; n < of_.size(); ++n) {
        for (const detail::model_edge& each : of_.in[n]) {
          if (ahead[each.from]) ahead[n] = true;
          if (behind[n]) behind[each.from] = true;
        }
      }
    }
    of.body.assign(of_.size(), false);
    for (std::size_t n = 0; n < of_.size(); ++n) {
      of.body[n] = ahead[n] && behind[n];
      of.size += of.body[n];
    }
  }

  /// Appends these nodes to the line, each loop among them in one piece.
  void put_in_order(const std::vector<bool>& nodes, std::size_t smaller_than) {
    // Each node belongs to the largest loop that it is in, or to itself.
    std::vector<std::size_t> group(of_.size(), no_place);
    for (std::size_t n = 0; n < of_.size(); ++n) {
      if (!nodes[n]) continue;
      group[n] = n;
      std::size_t largest = 0;
      for (const graph_shape::loop& each : of_.loops) {
        if (!each.body[n] || each.size >= smaller_than || each.size <= largest) continue;
        largest = each.size;
        group[n] = each.to;
        largest_loop_[n] = &each;
      }
      if (largest == 0) largest_loop_[n] = nullptr;
    }
    std::vector<bool> done(of_.size(), false);
    for (bool goes_on = true; goes_on;) {
      goes_on = false;
      for (std::size_t n = 0; n < of_.size(); ++n) {
        if (!nodes[n] || done[n] || !is_next(nodes, group, done, n)) continue;
        goes_on = true;
        for (std::size_t other = 0; other < of_.size(); ++other) {
          if (nodes[other] && group[other] == group[n]) done[other] = true;
        }
        const graph_shape::loop* const loop = largest_loop_[n];
        if (loop == nullptr) {
          line_.push_back(n);
          continue;
        }
        const std::size_t begin = line_.size();
        put_in_order(loop->body, loop->size);
        for (std::size_t at = begin; at < line_.size(); ++at) {
          if (line_[at] == loop->from) again_[at] = begin;
        }
      }
    }
  }
  /// Whether all that comes before a node's group is done.
  bool is_next(const std::vector<bool>& nodes, const std::vector<std::size_t>& group,
               const std::vector<bool>& done, std::size_t n) const {
    for (std::size_t other = 0; other < of_.size(); ++other) {
      if (!nodes[other] || group[other] != group[n]) continue;
      for (const detail::model_edge& each : of_.in[other]) {
        if (nodes[each.from] && group[each.from] != group[n] && !done[each.from]) return false;
      }
    }
    return true;
  }

  bool is_skipped(std::size_t n, const std::vector<char>& said) const {
    bool one_ran = of_.in[n].empty();
    for (const detail::model_edge& each : of_.in[n]) {
      const char from = said[each.from];
      one_ran |= from != skipped;
      if (each.kind == detail::edge_kind::if_true && from != said_true) return true;
      if (each.kind == detail::edge_kind::if_false && from != said_false) return true;
    }
    return !one_ran;
  }

  graph_shape of_;
  std::vector<std::size_t> line_, again_;
  std::vector<const graph_shape::loop*> largest_loop_;
};

/// What a function of a node needs, wherever it is called from.
struct graph_computation {
  const graph_shape* of = nullptr;
  graph_results* into = nullptr;
};

}  // namespace lockstep::test
