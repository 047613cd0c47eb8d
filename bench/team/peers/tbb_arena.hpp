// SPDX-License-Identifier: MIT
// bench/team/peers/tbb_arena.hpp -- oneTBB: parallel_for with its partitioners
//
// Not quite a fork: TBB promises that every part is done, not that every thread does one. Where its threads
// are late the caller does all, so that an empty fork is cheap and says little. Threads cannot meet inside.
#pragma once

#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_reduce.h>
#include <tbb/partitioner.h>
#include <tbb/task_arena.h>

#include <cstddef>
#include <functional>

namespace team_bench {

class tbb_arena {
 public:
  explicit tbb_arena(std::size_t threads)
      : size_(threads),
        most_(tbb::global_control::max_allowed_parallelism, threads),
        arena_(static_cast<int>(threads)) {}

  std::size_t size() const { return size_; }

  template <class Function>
  void fork(const Function& f) {
    arena_.execute([&] { tbb::parallel_for(std::size_t{0}, size_, f, tbb::static_partitioner()); });
  }

  template <class Function>
  void loop(std::size_t first, std::size_t last, const Function& f) {
    run_loop(first, last, f, tbb::static_partitioner());
  }
  template <class Function>
  double sum(std::size_t first, std::size_t last, const Function& f) {
    return run_sum(first, last, f, tbb::static_partitioner());
  }

 protected:
  using range = tbb::blocked_range<std::size_t>;

  template <class Function, class Partitioner>
  void run_loop(std::size_t first, std::size_t last, const Function& f, const Partitioner& how) {
    arena_.execute([&] {
      tbb::parallel_for(
          range(first, last), [&f](const range& part) { f(part.begin(), part.end()); }, how);
    });
  }
  template <class Function, class Partitioner>
  double run_sum(std::size_t first, std::size_t last, const Function& f, const Partitioner& how) {
    return arena_.execute([&] {
      return tbb::parallel_reduce(
          range(first, last), 0.0,
          [&f](const range& part, double so_far) { return so_far + f(part.begin(), part.end()); },
          std::plus<double>(), how);
    });
  }

 private:
  std::size_t size_;
  tbb::global_control most_;
  tbb::task_arena arena_;
};

/// Its threads take parts of a range from each other: of single indices with tbb::simple_partitioner, of as many as it
/// finds right with tbb::auto_partitioner.
template <class Partitioner>
class tbb_tasks : public tbb_arena {
 public:
  using tbb_arena::tbb_arena;

  template <class Function>
  void claimed_loop(std::size_t first, std::size_t last, const Function& f) {
    run_loop(first, last, f, Partitioner());
  }
  template <class Function>
  double claimed_sum(std::size_t first, std::size_t last, const Function& f) {
    return run_sum(first, last, f, Partitioner());
  }
};

}  // namespace team_bench
