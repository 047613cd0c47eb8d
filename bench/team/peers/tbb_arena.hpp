// SPDX-License-Identifier: MIT
// bench/team/peers/tbb_arena.hpp -- oneTBB: parallel_for with the static partitioner
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
    using range = tbb::blocked_range<std::size_t>;
    arena_.execute([&] {
      tbb::parallel_for(
          range(first, last), [&f](const range& part) { f(part.begin(), part.end()); },
          tbb::static_partitioner());
    });
  }

  template <class Function>
  double sum(std::size_t first, std::size_t last, const Function& f) {
    using range = tbb::blocked_range<std::size_t>;
    return arena_.execute([&] {
      return tbb::parallel_reduce(
          range(first, last), 0.0,
          [&f](const range& part, double so_far) { return so_far + f(part.begin(), part.end()); },
          std::plus<double>(), tbb::static_partitioner());
    });
  }

 private:
  std::size_t size_;
  tbb::global_control most_;
  tbb::task_arena arena_;
};

}  // namespace team_bench
