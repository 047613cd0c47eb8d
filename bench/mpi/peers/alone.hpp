// SPDX-License-Identifier: MIT
// bench/mpi/peers/alone.hpp -- MPI only: each rank is one thread
#pragma once

#include <mpi.h>

#include <cstddef>
#include <stdexcept>
#include <string>

#include "mpi/row_exchange.hpp"

namespace mpi_bench {

class peer {
 public:
  using exchange = row_exchange;
  static constexpr bool has_fixed_sum = false;

  class crew {
   public:
    explicit crew(MPI_Comm comm) : comm_(comm) {}
    [[nodiscard]] std::size_t member() const { return 0; }
    [[nodiscard]] std::size_t members() const { return 1; }
    void sync() {}
    double sum(double own) {
      double all = 0;
      MPI_Allreduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, comm_);
      return all;
    }

   private:
    MPI_Comm comm_;
  };

  peer(int& argc, char**& argv, std::size_t threads) {
    if (threads != 1) throw std::invalid_argument("--threads: MPI only has one thread per rank");
    int provided = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SINGLE, &provided);
  }
  peer(const peer&) = delete;
  peer& operator=(const peer&) = delete;
  ~peer() { MPI_Finalize(); }

  [[nodiscard]] MPI_Comm comm() const { return MPI_COMM_WORLD; }
  /// Of all ranks, by one thread of each.
  void meet() { MPI_Barrier(comm()); }
  static std::string runtime() { return ""; }

  template <class Body>
  void region(Body&& body) {
    crew own(comm());
    body(own);
  }
};

}  // namespace mpi_bench
