// SPDX-License-Identifier: MIT
// bench/graph/peers/lockstep_plan.hpp -- lockstep::plan behind the benchmarks' interface
#pragma once

#include <chrono>
#include <cstddef>
#include <lockstep/lockstep.hpp>
#include <lockstep/plan.hpp>
#include <optional>
#include <string>
#include <vector>

#include "graph/node_work.hpp"
#include "graph/shapes.hpp"
#include "support/placement.hpp"
#include "team/catalogue.hpp"

namespace graph_bench {

/// unhinted   the plan takes each node for 1 us, as it does by default
/// measured   it is made anew with the times that it has measured
enum class costs { unhinted, measured };
/// one        run(iterations)
/// one_each   run() for each iteration
enum class calls { one, one_each };

inline void deal_out(lockstep::team& team) {
  team.run([](lockstep::member& me) { bench::place(bench::placement::dealt, me.rank()); });
}

inline constexpr int learning_runs = 5;

inline void learn(lockstep::plan& of) {
  for (int i = 0; i < learning_runs; ++i) of.measure(1);
  of.refine();
}

inline void connect(lockstep::graph& in, const shape& of,
                    const std::vector<lockstep::graph_node>& nodes) {
  for (const auto& [from, to] : of.edges()) in.edge(nodes[from], nodes[to]);
  if (of.pinned_over == 0) return;
  for (std::size_t i = 0; i < nodes.size(); ++i) nodes[i].pin(i % of.pinned_over);
}

template <class Node, costs Costs, calls Calls>
class lockstep_plan {
 public:
  template <class Make>
  lockstep_plan(const team_bench::request& wanted, const shape& of, Make make)
      : team_(wanted.threads) {
    std::vector<lockstep::graph_node> nodes;
    for (std::size_t i = 0; i < of.size(); ++i)
      nodes.push_back(graph_.node(std::to_string(i), make(i)));
    connect(graph_, of, nodes);
    plan_.emplace(graph_, team_);
    deal_out(team_);
    if (Costs == costs::measured) learn(*plan_);
  }

  void run(std::size_t iterations) {
    if (Calls == calls::one) {
      plan_->run(iterations);
    } else {
      for (std::size_t i = 0; i < iterations; ++i) plan_->run();
    }
  }
  /// Already done by the constructor.
  [[nodiscard]] std::size_t runs_before() const {
    return Costs == costs::measured ? learning_runs : 0;
  }

 private:
  lockstep::team team_;
  lockstep::graph graph_;
  std::optional<lockstep::plan> plan_;
};

template <class Node>
using default_plan = lockstep_plan<Node, costs::unhinted, calls::one>;
template <class Node>
using measured_plan = lockstep_plan<Node, costs::measured, calls::one>;
template <class Node>
using stepwise_plan = lockstep_plan<Node, costs::measured, calls::one_each>;

template <costs Costs>
class lockstep_loop {
 public:
  lockstep_loop(const team_bench::request& wanted, loop_side left, loop_side right, loop_test again)
      : team_(wanted.threads) {
    graph_.loop(
        graph_.series(graph_.parallel(graph_.node("left", left), graph_.node("right", right)),
                      graph_.node("again", again)));
    plan_.emplace(graph_, team_);
    deal_out(team_);
    if (Costs == costs::measured) learn(*plan_);
  }

  void run() { plan_->run(); }

 private:
  lockstep::team team_;
  lockstep::graph graph_;
  std::optional<lockstep::plan> plan_;
};

}  // namespace graph_bench
