// SPDX-License-Identifier: MIT
// tests/fuzz/graph_fuzz.cpp -- the input is calls that build a graph, good ones and misuse; then it is planned and run
//
// What is refused must be refused in words. What is accepted must compute what an interpreter says (GRAPH-1 to GRAPH-6).
#include <lockstep/plan.hpp>

#include <algorithm>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "fuzz/harness.hpp"
#include "support/graph_oracle.hpp"

namespace {

using lockstep::graph;
using lockstep::graph_block;
using lockstep::graph_node;
using lockstep::member;
using lockstep::plan;
using lockstep::team;
using lockstep::detail::graph_model;
using lockstep::test::graph_computation;
using lockstep::test::graph_interpreter;
using lockstep::test::graph_results;
using lockstep::test::graph_shape;
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

/// Reads calls from the input, and makes them.
class builder {
 public:
  builder(bytes& input, graph& of, const graph_computation& with)
      : input_(input), g_(of), with_(with) {}

  void build() {
    for (std::size_t call = 0; call < most_calls && !input_.empty(); ++call) {
      try {
        make_call();
      } catch (const std::invalid_argument& refusal) {
        lockstep::test::require_message(refusal.what(), "lockstep::graph");
      }
    }
  }

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
    if (cost % 4 != 0) nodes_.back().cost(std::chrono::nanoseconds(cost * 100));
    remember(nodes_.back(), 1);
  }

  void add_wide_node(unsigned what) {
    if (g_.size() >= most_nodes) return;
    const std::size_t n = g_.size();
    const unsigned width = input_.next();
    // The width of a node is another in a region of one member.
    nodes_.push_back(g_.node("n" + std::to_string(n),
                             width == 255 ? 70000 : width % (most_members + 1),
                             [n, with = &with_](member& me, std::size_t i) -> bool {
                               return with->of->compute_together(n, i, *with->into, me, me.size());
                             }));
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
  const graph_computation& with_;
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
  graph_computation with;
  builder calls(input, g, with);
  calls.build();
  const std::string problem = g.validate();
  team& on = team_of(members);
  const std::unique_ptr<plan> flow = planned(g, on, problem);
  if (!flow) return 0;
  require(planned(g, on, problem)->text() == flow->text(), "the same graph gives the same plan");
  look(g, *flow);

  const auto& body = lockstep::detail::graph_access::body_of(g);
  const graph_shape of(body.model);
  const graph_interpreter oracle(of);
  require(oracle.has_order(), "what is accepted has an order");
  graph_results right(of.size(), iterations);
  oracle.run(iterations, [&](std::size_t n, std::size_t i) {
    return body.functions[n] && of.compute(n, i, right);
  });
  with.of = &of;
  const auto compare = [&](const char* property, auto run) {
    graph_results found(of.size(), iterations);
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
