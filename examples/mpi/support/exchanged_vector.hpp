// SPDX-License-Identifier: MIT
// examples/mpi/support/exchanged_vector.hpp -- a vector over ranks, each with the entries that it needs
#pragma once

#include <cstddef>
#include <cstdint>
#include <lockstep/mpi.hpp>
#include <vector>

#include "mpi/support/distributed_rows.hpp"

namespace examples {

/// A rank's own entries, and copies of those that its rows need and other ranks have; no others are sent. Zeros at first.
/// Its requests are persistent: made once, started in every iteration.
class exchanged_vector {
 public:
  /// Collective: the ranks tell each other what they need.
  exchanged_vector(lockstep::mpi::world& world, const distributed_rows& rows);
  ~exchanged_vector();
  exchanged_vector(const exchanged_vector&) = delete;
  exchanged_vector& operator=(const exchanged_vector&) = delete;

  /// Own entries first, then those of distributed_rows::needed.
  double& operator[](std::size_t place) { return values_[place]; }
  const double& operator[](std::size_t place) const { return values_[place]; }

  /// Sends what others need. One thread of each rank calls it, when the own entries are complete. Until finish() these may
  /// be read but not changed, and the copies must not be read.
  void start();
  /// Blocks until the copies are there.
  void finish();

 private:
  struct span_of_rank {
    std::size_t rank, first, count;
  };
  void make_requests(MPI_Comm comm);

  std::vector<double> values_;
  std::size_t own_ = 0;
  std::vector<span_of_rank> from_, to_;  // in the copies; in what is sent
  std::vector<std::uint32_t> sent_;      // places of own entries
  std::vector<double> packed_;
  std::vector<MPI_Request> requests_;
};

}  // namespace examples
