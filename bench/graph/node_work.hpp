// SPDX-License-Identifier: MIT
// bench/graph/node_work.hpp -- what a node does, and whether all nodes ran in an order that their edges allow
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "graph/shapes.hpp"
#include "team/kernels.hpp"

namespace graph_bench {

/// A node that takes some time, or none.
struct working_node {
  std::size_t rounds;  ///< of delay(); 0: nothing to do

  void operator()() const {
    if (rounds == 0) {
      asm volatile("" ::: "memory");
    } else {
      team_bench::delay(rounds);
    }
  }
};

/// Counts how often each node ran. Plain words: an edge that is not kept is a data race as well.
class run_log {
 public:
  explicit run_log(const shape& of) : of_(of), runs_(of.size()) {}

  void note(std::size_t node) {
    const std::uint64_t before = runs_[node]++;
    for (const node_number each : of_.before(node)) {
      if (runs_[each] != before + 1) is_wrong_.store(true, std::memory_order_relaxed);
    }
  }

  /// Throws std::runtime_error unless each node ran so often, after all that come before it.
  void check(std::uint64_t runs, const std::string& who) const {
    bool is_wrong = is_wrong_.load(std::memory_order_relaxed);
    for (const std::uint64_t each : runs_) is_wrong = is_wrong || each != runs;
    if (is_wrong) throw std::runtime_error(who + " does not keep to the graph");
  }

 private:
  const shape& of_;
  std::vector<std::uint64_t> runs_;
  std::atomic<bool> is_wrong_{false};
};

struct checked_node {
  run_log* log;
  std::size_t node;

  void operator()() const { log->note(node); }
};

/// What the nodes of a loop share.
struct loop_counts {
  std::size_t turns = 0, left = 0, right = 0, tested = 0;
};

struct loop_side {
  working_node work;
  std::size_t* count;

  void operator()() const {
    work();
    ++*count;
  }
};

struct loop_test {
  loop_counts* all;

  bool operator()() const { return ++all->tested < all->turns; }
};

}  // namespace graph_bench
