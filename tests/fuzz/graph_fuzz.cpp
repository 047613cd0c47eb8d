// SPDX-License-Identifier: MIT
// tests/fuzz/graph_fuzz.cpp -- the input is calls that build a graph, good ones and misuse; then it is planned and run
//
// What is refused must be refused in words. What is accepted must compute what an interpreter says, which takes the
// edges as the graph has them, and knows nothing of plans (GRAPH-1 to GRAPH-6).
#include <lockstep/plan.hpp>

#include <algorithm>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "fuzz/harness.hpp"
#include "graph/graph_model.hpp"

namespace {

using lockstep::graph;
using lockstep::graph_block;
using lockstep::graph_node;
using lockstep::member;
using lockstep::plan;
using lockstep::team;
using lockstep::detail::edge_kind;
using lockstep::detail::graph_model;
using lockstep::detail::model_edge;
using lockstep::detail::model_feedback;
using lockstep::test::require;

constexpr std::size_t most_nodes = 24, most_calls = 80, most_ends = 12, most_members = 4;

/// The bytes, and zeros after their end.
class bytes {
 public:
  bytes(const std::uint8_t* data, std::size_t size) : at_(data), left_(size) {}

  bool empty() const { return left_ == 0; }
  unsigned next() {
    if (left_ == 0) return 0;
    --left_;
    return *at_++;
  }
  /// One of so many: a byte with the highest bit set is for misuse, where there is any.
  std::size_t below(std::size_t count) { return next() % count; }

 private:
  const std::uint8_t* at_;
  std::size_t left_;
};

/// What the nodes compute: from their own last value, and from all that they come after.
struct results {
  std::vector<std::vector<std::uint64_t>> value, runs;

  results(std::size_t nodes, std::size_t iterations)
      : value(nodes, std::vector<std::uint64_t>(iterations, 0)), runs(value) {}
  bool operator==(const results& other) const { return value == other.value && runs == other.runs; }
};

std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  a = (a ^ b) * 0x9e3779b97f4a7c15u;
  return a ^ (a >> 29);
}

/// The graph as data, in a form that is quick to ask.
struct shape {
  struct loop {
    std::size_t from, to;
    std::vector<bool> body;
    std::size_t size = 0;
  };

  explicit shape(const graph_model& of)
      : in(of.nodes.size()), delayed(of.nodes.size()), overlaps(of.overlaps) {
    for (const model_edge& each : of.edges) in[each.to].push_back(each);
    for (const model_feedback& each : of.feedbacks) {
      if (each.is_loop()) {
        loops.push_back(loop{each.from, each.to, {}, 0});
      } else {
        delayed[each.to].push_back(each);
      }
    }
  }

  std::size_t size() const { return in.size(); }

  std::uint64_t read(std::size_t n, std::size_t i, const results& from) const {
    std::uint64_t h = mix(mix(n + 1, i), from.runs[n][i]);
    for (const model_edge& each : in[n]) h = mix(h, from.value[each.from][i]);
    for (const model_feedback& each : delayed[n]) {
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
  bool write(std::size_t n, std::size_t i, results& into, std::uint64_t h) const {
    into.value[n][i] = h;
    const std::uint64_t turn = ++into.runs[n][i];
    for (const loop& each : loops) {
      if (each.from == n) return turn % 2 != 0 && (h >> 40 & 3) != 0;
    }
    return (h >> 40 & 1) != 0;
  }
  bool compute(std::size_t n, std::size_t i, results& with) const {
    return write(n, i, with, read(n, i, with));
  }

  std::vector<std::vector<model_edge>> in;
  std::vector<std::vector<model_feedback>> delayed;
  std::vector<loop> loops;
  bool overlaps;
};

/// Runs the nodes one after the other.
class interpreter {
 public:
  /// Requires a graph that is accepted.
  interpreter(shape& of, const std::vector<bool>& has_function)
      : of_(of), has_function_(has_function), again_(of.size(), no_place) {
    for (shape::loop& each : of_.loops) find_body(each);
    put_in_order(std::vector<bool>(of_.size(), true), of_.size() + 1);
    require(line_.size() == of_.size(), "what is accepted has an order");
  }

  results run(std::size_t iterations) const {
    results made(of_.size(), iterations);
    for (std::size_t i = 0; i < iterations; ++i) {
      std::vector<char> said(of_.size(), skipped);
      for (std::size_t at = 0; at < line_.size();) {
        const std::size_t n = line_[at];
        said[n] = skipped;
        if (!is_skipped(n, said)) {
          said[n] = has_function_[n] && of_.compute(n, i, made) ? said_true : said_false;
        }
        at = again_[at] != no_place && said[n] == said_true ? again_[at] : at + 1;
      }
    }
    return made;
  }

 private:
  static constexpr std::size_t no_place = ~std::size_t{0};
  static constexpr char skipped = 0, said_false = 1, said_true = 2;

  /// The nodes on the ways from `to` to `from`.
  void find_body(shape::loop& of) {
    std::vector<bool> ahead(of_.size(), false), behind(of_.size(), false);
    ahead[of.to] = behind[of.from] = true;
    for (std::size_t round = 0; round < of_.size(); ++round) {
      for (std::size_t n = 0; n < of_.size(); ++n) {
        for (const model_edge& each : of_.in[n]) {
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
      for (const shape::loop& each : of_.loops) {
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
        const shape::loop* const loop = largest_loop_[n];
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
      for (const model_edge& each : of_.in[other]) {
        if (nodes[each.from] && group[each.from] != group[n] && !done[each.from]) return false;
      }
    }
    return true;
  }

  bool is_skipped(std::size_t n, const std::vector<char>& said) const {
    bool one_ran = of_.in[n].empty();
    for (const model_edge& each : of_.in[n]) {
      const char from = said[each.from];
      one_ran |= from != skipped;
      if (each.kind == edge_kind::if_true && from != said_true) return true;
      if (each.kind == edge_kind::if_false && from != said_false) return true;
    }
    return !one_ran;
  }

  shape& of_;
  const std::vector<bool>& has_function_;
  std::vector<std::size_t> line_, again_;
  std::vector<const shape::loop*> largest_loop_ = std::vector<const shape::loop*>(most_nodes * 2);
};

/// What a function of a node needs, wherever it is called from.
struct computation {
  const shape* of = nullptr;
  results* into = nullptr;
};

/// Reads calls from the input, and makes them.
class builder {
 public:
  builder(bytes& input, graph& of, const computation& with) : input_(input), g_(of), with_(with) {}

  void build() {
    for (std::size_t call = 0; call < most_calls && !input_.empty(); ++call) {
      try {
        make_call();
      } catch (const std::invalid_argument& refusal) {
        lockstep::test::require_message(refusal.what(), "lockstep::graph");
      }
    }
    has_function.resize(g_.size(), false);
  }

  std::vector<bool> has_function;

 private:
  void make_call() {
    const unsigned what = input_.next();
    switch (what % 16) {
      case 0:
      case 1:
      case 2:
      case 3: return add_node(what);
      case 4: return add_wide_node(what);
      case 5:
      case 6: g_.edge(block(), block()); return;
      case 7: g_.edge_if(node(), block()); return;
      case 8: g_.edge_unless(node(), block()); return;
      case 9: g_.repeat_while(node(), node()); return;
      case 10: {
        const graph_node from = node(), to = node();
        const unsigned delay = input_.next();
        if (delay >= 64) g_.overlap();
        g_.feedback(from, to, delay == 255 ? 2000000 : delay % 5);
        return;
      }
      case 11: return add_block(false);
      case 12: return add_block(true);
      case 13: {
        const std::size_t of = place();
        if (g_.size() < most_nodes) remember(g_.loop(blocks_[of]), 1);
        return;
      }
      case 14: {
        const graph_node which = node();
        const unsigned rank = input_.next();
        if (rank >= 192 && rank < 255) {
          which.keep_near(node());
        } else {
          which.pin(rank == 255 ? 70000 : rank % most_members);
        }
        return;
      }
      default: return misuse();
    }
  }

  graph_node node() { return nodes_.empty() ? graph_node() : nodes_[input_.below(nodes_.size())]; }
  std::size_t place() {
    if (blocks_.empty()) remember(graph_block(), 0);
    return input_.below(blocks_.size());
  }
  graph_block block() { return blocks_[place()]; }
  void remember(const graph_block& which, std::size_t ends) {
    blocks_.push_back(which);
    ends_.push_back(ends);
  }

  void add_node(unsigned what) {
    if (g_.size() >= most_nodes) return;
    const std::size_t n = g_.size();
    const unsigned cost = input_.next();
    const std::string name = cost == 255 ? "n0" : "n" + std::to_string(n);
    has_function.resize(n, false);
    if (what % 4 == 3) {
      nodes_.push_back(g_.node(name));
    } else if (what % 4 == 0) {
      nodes_.push_back(g_.node(
          name, [n, with = &with_](std::size_t i) { with->of->compute(n, i, *with->into); }));
    } else {
      nodes_.push_back(g_.node(name, [n, with = &with_](std::size_t i) -> bool {
        return with->of->compute(n, i, *with->into);
      }));
    }
    has_function.push_back(what % 4 != 3);
    if (cost % 4 != 0) nodes_.back().cost(std::chrono::nanoseconds(cost * 100));
    remember(nodes_.back(), 1);
  }

  void add_wide_node(unsigned what) {
    if (g_.size() >= most_nodes) return;
    const std::size_t n = g_.size();
    const unsigned width = input_.next();
    has_function.resize(n, false);
    // The width of a node is another in a region of one member: its value must not depend on it.
    nodes_.push_back(
        g_.node("n" + std::to_string(n), width == 255 ? 70000 : width % (most_members + 1),
                [n, with = &with_](member& me, std::size_t i) -> bool {
                  const std::uint64_t h = me.sync_max(with->of->read(n, i, *with->into));
                  return me.rank() == 0 && with->of->write(n, i, *with->into, h);
                }));
    has_function.push_back(true);
    if (what >= 128) nodes_.back().cost(std::chrono::microseconds(30));
    remember(nodes_.back(), 1);
  }

  void add_block(bool in_parallel) {
    std::vector<graph_block> parts;
    std::size_t ends = 0, most = 0;
    for (std::size_t left = input_.below(4); left > 0; --left) {
      const std::size_t at = place();
      parts.push_back(blocks_[at]);
      ends += ends_[at];
      most = std::max(most, ends_[at]);
    }
    if ((in_parallel ? ends : most) > most_ends) return;
    remember(in_parallel ? g_.parallel(parts) : g_.series(parts), in_parallel ? ends : most);
  }

  /// What must be refused, and change nothing.
  void misuse() {
    graph other;
    const graph_node strange = input_.next() % 2 == 0 ? graph_node() : other.node("strange");
    const std::size_t edges = model().edges.size(), back = model().feedbacks.size();
    const unsigned what = input_.next() % 10;
    try {
      if (what == 0) g_.edge(strange, block());
      if (what == 1) g_.edge(block(), strange);
      if (what == 2) g_.edge_if(strange, block());
      if (what == 3) g_.repeat_while(strange, node());
      if (what == 4) g_.feedback(node(), strange, 1);
      if (what == 5) g_.loop(strange);
      if (what == 6) g_.series(block(), block(), strange);
      if (what == 7) {
        const graph_node self = node();
        g_.edge(g_.parallel(block(), self), g_.parallel(block(), self));
      }
      if (what == 8) graph_node().pin(0);
      if (what == 9) graph_node().keep_near(strange).cost(std::chrono::nanoseconds(1));
    } catch (const std::invalid_argument&) {
      require(model().edges.size() == edges && model().feedbacks.size() == back,
              "what is refused changes nothing");
      throw;
    }
    require(false, "misuse is refused");
  }
  const graph_model& model() const { return lockstep::detail::graph_access::body_of(g_).model; }

  bytes& input_;
  graph& g_;
  const computation& with_;
  std::vector<graph_node> nodes_;
  std::vector<graph_block> blocks_;
  std::vector<std::size_t> ends_;
};

/// A plan, or null if it was refused.
std::unique_ptr<plan> planned(const graph& g, team& on, const std::string& problem) {
  try {
    std::unique_ptr<plan> made = std::make_unique<plan>(g, on);
    require(problem.empty(), "what validate() finds is refused");
    return made;
  } catch (const std::invalid_argument& refusal) {
    const std::string text = refusal.what();
    lockstep::test::require_message(text, "lockstep::plan: ");
    const bool needs_more =
        text.find("pinned to") != std::string::npos || text.find("team-wide") != std::string::npos;
    require(problem.empty() ? needs_more : text == "lockstep::plan: " + problem,
            "a plan is refused for what validate() says, or for too few members");
    return nullptr;
  }
}

void look(const graph& g, const plan& at) {
  require(!g.dot().empty() && !at.dot().empty() && !at.report().empty(), "it can be looked at");
  require(at.critical_path() <= at.serial_time() + std::chrono::nanoseconds(1),
          "a way is no longer than all nodes");
}

team& team_of(std::size_t members) {
  static std::vector<std::unique_ptr<team>> teams(most_members + 1);
  if (!teams[members]) teams[members] = std::make_unique<team>(members);
  return *teams[members];
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  bytes input(data, size);
  const std::size_t members = 1 + input.below(most_members);
  const std::size_t iterations = 1 + input.below(4);

  graph g;
  computation with;
  builder calls(input, g, with);
  calls.build();
  const std::string problem = g.validate();
  team& on = team_of(members);
  const std::unique_ptr<plan> flow = planned(g, on, problem);
  if (!flow) return 0;
  require(planned(g, on, problem)->text() == flow->text(), "the same graph gives the same plan");
  look(g, *flow);

  shape of(lockstep::detail::graph_access::body_of(g).model);
  const interpreter oracle(of, calls.has_function);
  const results right = oracle.run(iterations);
  with.of = &of;
  const auto compare = [&](const char* property, auto run) {
    results found(of.size(), iterations);
    with.into = &found;
    run();
    require(found == right, property);
  };
  compare("a run is right", [&] { require(flow->run(iterations), "it is complete"); });
  compare("a run that is measured is right", [&] { flow->measure(iterations); });
  compare("a run until the caller says so is right", [&] {
    std::size_t asked = 0;
    flow->run_until([&] { return asked++ == iterations; });
  });
  compare("a run inside a region is right",
          [&] { on.run([&](member& me) { me.masked([&] { flow->run(iterations); }); }); });
  flow->refine();
  compare("a run of a plan that was made anew is right", [&] { flow->run(iterations); });
  return 0;
}
