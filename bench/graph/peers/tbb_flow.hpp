// SPDX-License-Identifier: MIT
// bench/graph/peers/tbb_flow.hpp -- oneTBB's flow graph: a continue_node for each node
//
// With the policy `lightweight` a node runs in the thread that finished the last one before it, without a task.
#pragma once

#include <tbb/flow_graph.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/partitioner.h>
#include <tbb/task_arena.h>

#include <cstddef>
#include <deque>
#include <optional>
#include <vector>

#include "graph/node_work.hpp"
#include "graph/shapes.hpp"
#include "support/placement.hpp"
#include "team/catalogue.hpp"

namespace graph_bench {

class tbb_threads {
 public:
  explicit tbb_threads(std::size_t threads)
      : most_(tbb::global_control::max_allowed_parallelism, threads),
        arena_(static_cast<int>(threads)) {
    arena_.execute([threads] {
      tbb::parallel_for(
          std::size_t{0}, threads,
          [](std::size_t rank) { bench::place(bench::placement::dealt, rank); },
          tbb::static_partitioner());
    });
  }

  tbb::task_arena& arena() { return arena_; }

 private:
  tbb::global_control most_;
  tbb::task_arena arena_;
};

template <class Node, class Policy>
class tbb_graph {
 public:
  template <class Make>
  tbb_graph(const team_bench::request& wanted, const shape& of, Make make)
      : threads_(wanted.threads) {
    threads_.arena().execute([&] {
      graph_.emplace();
      for (std::size_t i = 0; i < of.size(); ++i) {
        const Node node = make(i);
        nodes_.emplace_back(*graph_, [node](const message&) { node(); });
        if (of.before(i).size() == 0) beginnings_.push_back(&nodes_.back());
      }
      for (const auto& [from, to] : of.edges()) tbb::flow::make_edge(nodes_[from], nodes_[to]);
    });
  }

  void run(std::size_t iterations) {
    threads_.arena().execute([&] {
      for (std::size_t i = 0; i < iterations; ++i) {
        for (flow_node* each : beginnings_) each->try_put(message());
        graph_->wait_for_all();
      }
    });
  }
  [[nodiscard]] std::size_t runs_before() const { return 0; }

 private:
  using message = tbb::flow::continue_msg;
  using flow_node = tbb::flow::continue_node<message, Policy>;

  tbb_threads threads_;
  std::optional<tbb::flow::graph> graph_;  // belongs to the arena that it is made in
  std::deque<flow_node> nodes_;
  std::vector<flow_node*> beginnings_;
};

template <class Node>
using tbb_tasks = tbb_graph<Node, tbb::flow::queueing>;
template <class Node>
using tbb_lightweight = tbb_graph<Node, tbb::flow::lightweight>;

/// The node that decides sends the next message itself.
class tbb_loop {
 public:
  tbb_loop(const team_bench::request& wanted, loop_side left, loop_side right, loop_test again)
      : threads_(wanted.threads) {
    threads_.arena().execute([&] {
      graph_.emplace();
      head_.emplace(*graph_);
      left_.emplace(*graph_, [left](const message&) { left(); });
      right_.emplace(*graph_, [right](const message&) { right(); });
      again_.emplace(*graph_, [this, again](const message&) {
        if (again()) head_->try_put(message());
      });
      tbb::flow::make_edge(*head_, *left_);
      tbb::flow::make_edge(*head_, *right_);
      tbb::flow::make_edge(*left_, *again_);
      tbb::flow::make_edge(*right_, *again_);
    });
  }

  void run() {
    threads_.arena().execute([this] {
      head_->try_put(message());
      graph_->wait_for_all();
    });
  }

 private:
  using message = tbb::flow::continue_msg;
  using flow_node = tbb::flow::continue_node<message>;

  tbb_threads threads_;
  std::optional<tbb::flow::graph> graph_;
  std::optional<tbb::flow::broadcast_node<message>> head_;
  std::optional<flow_node> left_, right_, again_;
};

}  // namespace graph_bench
