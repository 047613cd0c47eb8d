// SPDX-License-Identifier: MIT
// bench/graph/peers/openmp_tasks.hpp -- a task with dependences for each node: which runtime depends on the compiler
//
// One region for all iterations, whose tasks one thread makes; a taskwait after each iteration.
#pragma once

#include <omp.h>

#include <cstddef>
#include <vector>

#include "graph/node_work.hpp"
#include "graph/shapes.hpp"
#include "support/placement.hpp"
#include "team/catalogue.hpp"

namespace graph_bench {

inline void deal_out_openmp(int threads) {
#pragma omp parallel num_threads(threads)
  bench::place(bench::placement::dealt, static_cast<std::size_t>(omp_get_thread_num()));
}

template <class Node>
class openmp_graph {
 public:
  template <class Make>
  openmp_graph(const team_bench::request& wanted, const shape& of, Make make)
      : threads_(static_cast<int>(wanted.threads)), of_(of), tokens_(of.size()) {
    for (std::size_t i = 0; i < of.size(); ++i) nodes_.push_back(make(i));
    deal_out_openmp(threads_);
  }

  void run(std::size_t iterations) {
#pragma omp parallel num_threads(threads_)
#pragma omp single
    for (std::size_t i = 0; i < iterations; ++i) {
      for (std::size_t node = 0; node < nodes_.size(); ++node) make_task(node);
#pragma omp taskwait
    }
  }
  [[nodiscard]] std::size_t runs_before() const { return 0; }

 private:
  /// Without an iterator where few words are waited for: it costs less.
  void make_task(std::size_t number) {
    const Node node = nodes_[number];
    char* const tokens = tokens_.data();
    const shape::numbers before = of_.before(number);
    const node_number* const first = before.first;
    const int count = static_cast<int>(before.size());
    if (count == 0) {
#pragma omp task firstprivate(node) depend(out : tokens[number])
      node();
    } else if (count == 1) {
#pragma omp task firstprivate(node) depend(in : tokens[first[0]]) depend(out : tokens[number])
      node();
    } else if (count == 2) {
#pragma omp task firstprivate(node) depend(in : tokens[first[0]], tokens[first[1]]) \
    depend(out : tokens[number])
      node();
    } else {
#pragma omp task firstprivate(node) depend(iterator(int k = 0 : count), in : tokens[first[k]]) \
    depend(out : tokens[number])
      node();
    }
  }

  int threads_;
  const shape& of_;
  std::vector<char> tokens_;  // only their addresses count
  std::vector<Node> nodes_;
};

class openmp_loop {
 public:
  openmp_loop(const team_bench::request& wanted, loop_side left, loop_side right, loop_test again)
      : threads_(static_cast<int>(wanted.threads)), left_(left), right_(right), again_(again) {
    deal_out_openmp(threads_);
  }

  void run() {
    const loop_side left = left_, right = right_;
#pragma omp parallel num_threads(threads_)
#pragma omp single
    do {
#pragma omp task firstprivate(right)
      right();
      left();
#pragma omp taskwait
    } while (again_());
  }

 private:
  int threads_;
  loop_side left_, right_;
  loop_test again_;
};

}  // namespace graph_bench
