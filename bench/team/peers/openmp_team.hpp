// SPDX-License-Identifier: MIT
// bench/team/peers/openmp_team.hpp -- an OpenMP runtime: which one depends on the compiler
//
// Blocks are computed as schedule(static) has them, without a call of the runtime, and sums are one barrier
// over padded slots: never slower than the clauses, which the overheads measure by themselves.
#pragma once

#include <omp.h>

#include <cstddef>

#include "team/executors.hpp"

namespace team_bench {

class openmp_team : public loops_by_fork<openmp_team> {
 public:
  explicit openmp_team(std::size_t threads)
      : loops_by_fork(threads), threads_(static_cast<int>(threads)), sums_(threads) {}

  std::size_t size() const { return static_cast<std::size_t>(threads_); }

  template <class Function>
  void fork(const Function& f) {
#pragma omp parallel num_threads(threads_)
    f(static_cast<std::size_t>(omp_get_thread_num()));
  }

  class member {
   public:
    member(openmp_team& team, std::size_t rank) : team_(team), rank_(rank) {}
    std::size_t rank() const { return rank_; }
    std::size_t size() const { return team_.size(); }
    void barrier() {
#pragma omp barrier
    }
    double sum(double value) {
      return team_.sums_.sum(rank_, turn_++, value, [this] { barrier(); });
    }
    template <class Function>
    void claimed_loop(std::size_t first, std::size_t last, const Function& f) {
#pragma omp for schedule(dynamic, 1)
      for (std::size_t i = first; i < last; ++i) f(i, i + 1);
    }
    template <class Function>
    double claimed_sum(std::size_t first, std::size_t last, const Function& f) {
      double mine = 0;
#pragma omp for schedule(dynamic, 1) nowait
      for (std::size_t i = first; i < last; ++i) mine += f(i, i + 1);
      return sum(mine);
    }

   private:
    openmp_team& team_;
    std::size_t rank_;
    std::size_t turn_ = 0;
  };

  template <class Function>
  void region(const Function& f) {
    fork([this, &f](std::size_t rank) {
      member mine(*this, rank);
      f(mine);
    });
  }

 private:
  int threads_;
  sum_board sums_;
};

}  // namespace team_bench
