// SPDX-License-Identifier: MIT
// bench/graph/peers/taskflow_tasks.hpp -- Taskflow: a task for each node, run_n() for iterations, a condition for loops
//
// Its caller sleeps meanwhile: the executor has as many threads of its own as others have with the caller.
#pragma once

#include <cstddef>
#include <memory>
#include <taskflow/taskflow.hpp>
#include <vector>

#include "graph/node_work.hpp"
#include "graph/shapes.hpp"
#include "support/placement.hpp"
#include "team/catalogue.hpp"

namespace graph_bench {

struct dealt_workers : tf::WorkerInterface {
  void scheduler_prologue(tf::Worker& worker) override {
    bench::place(bench::placement::dealt, worker.id());
  }
  void scheduler_epilogue(tf::Worker&, std::exception_ptr) override {}
};

template <class Node>
class taskflow_graph {
 public:
  template <class Make>
  taskflow_graph(const team_bench::request& wanted, const shape& of, Make make)
      : executor_(wanted.threads, std::make_shared<dealt_workers>()) {
    std::vector<tf::Task> tasks;
    for (std::size_t i = 0; i < of.size(); ++i) tasks.push_back(flow_.emplace(make(i)));
    for (const auto& [from, to] : of.edges()) tasks[from].precede(tasks[to]);
  }

  void run(std::size_t iterations) { executor_.run_n(flow_, iterations).wait(); }
  [[nodiscard]] std::size_t runs_before() const { return 0; }

 private:
  tf::Executor executor_;
  tf::Taskflow flow_;
};

class taskflow_loop {
 public:
  taskflow_loop(const team_bench::request& wanted, loop_side left, loop_side right, loop_test again)
      : executor_(wanted.threads, std::make_shared<dealt_workers>()) {
    tf::Task begin = flow_.emplace([] {});
    tf::Task head = flow_.emplace([] {});
    tf::Task first = flow_.emplace(left), second = flow_.emplace(right);
    tf::Task test = flow_.emplace([again] { return again() ? 0 : 1; });
    tf::Task end = flow_.emplace([] {});
    begin.precede(head);
    head.precede(first, second);
    test.succeed(first, second);
    test.precede(head, end);
  }

  void run() { executor_.run(flow_).wait(); }

 private:
  tf::Executor executor_;
  tf::Taskflow flow_;
};

}  // namespace graph_bench
