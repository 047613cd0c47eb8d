// SPDX-License-Identifier: MIT
// bench/mpi/peers/openmp.hpp -- MPI + OpenMP: one parallel region for many steps, MPI by its master
//
// A sum is a slot for each thread, a barrier, MPI_Allreduce by the master, a barrier: faster than the clause `reduction`,
// which would need a region or a loop for each sum.
#pragma once

#include <mpi.h>
#include <omp.h>

#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

#include "mpi/row_exchange.hpp"

namespace mpi_bench {

class peer {
  struct alignas(128) slot {
    double value = 0;
  };
  struct shared {
    MPI_Comm comm;
    std::vector<slot> parts;
    alignas(128) double total = 0;
  };

 public:
  using exchange = row_exchange;
  static constexpr bool has_fixed_sum = false;

  class crew {
   public:
    explicit crew(shared& own)
        : shared_(own), member_(static_cast<std::size_t>(omp_get_thread_num())) {}
    [[nodiscard]] std::size_t member() const { return member_; }
    [[nodiscard]] std::size_t members() const { return shared_.parts.size(); }
    void sync() {
#pragma omp barrier
    }
    double sum(double own) {
      shared_.parts[member_].value = own;
#pragma omp barrier
      if (member_ == 0) {
        double rank_sum = 0;
        for (const slot& part : shared_.parts) rank_sum += part.value;
        MPI_Allreduce(&rank_sum, &shared_.total, 1, MPI_DOUBLE, MPI_SUM, shared_.comm);
      }
#pragma omp barrier
      return shared_.total;
    }

   private:
    shared& shared_;
    std::size_t member_;
  };

  peer(int& argc, char**& argv, std::size_t threads) {
    int provided = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    if (provided < MPI_THREAD_FUNNELED) throw std::runtime_error("this MPI allows no threads");
    shared_.comm = MPI_COMM_WORLD;
    shared_.parts.resize(threads);
  }
  peer(const peer&) = delete;
  peer& operator=(const peer&) = delete;
  ~peer() { MPI_Finalize(); }

  [[nodiscard]] MPI_Comm comm() const { return shared_.comm; }
  /// Of all ranks, by one thread of each.
  void meet() { MPI_Barrier(comm()); }
  static std::string runtime() { return "OpenMP " + std::to_string(_OPENMP); }

  template <class Body>
  void region(Body&& body) {
#pragma omp parallel num_threads(static_cast<int>(shared_.parts.size()))
    {
      if (static_cast<std::size_t>(omp_get_num_threads()) != shared_.parts.size()) {
        MPI_Abort(shared_.comm, 1);
      }
      crew own(shared_);
      body(own);
    }
  }

 private:
  shared shared_;
};

}  // namespace mpi_bench
