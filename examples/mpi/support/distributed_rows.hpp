// SPDX-License-Identifier: MIT
// examples/mpi/support/distributed_rows.hpp -- the rows of a system, spread over ranks
//
// A rank has the rows that reduce_range(world, ...) asks it for, and of the vector that A is multiplied with the entries
// of the same numbers. What its rows need beside these, other ranks have: see exchanged_vector.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <lockstep/mpi.hpp>
#include <vector>

#include "support/linear_system.hpp"

namespace examples {

struct distributed_rows {
  /// Columns are places in an exchanged_vector: from 0 on those of this rank's rows, then those in `needed`.
  linear_system own;
  std::size_t first = 0;              // the number of the first own row
  std::size_t unknowns = 0;           // of the whole system
  std::vector<std::uint32_t> needed;  // columns that other ranks have, ascending
  std::vector<std::size_t> inner;     // own rows that need none of these, ascending
  std::vector<unsigned char> is_inner;
  double scale = 1;  // norm_scale() of the whole right side
};

/// Pure: rows [first, last) of a system, as the rank that has them sees them.
[[nodiscard]] distributed_rows rows_of(const linear_system& whole, std::size_t first,
                                       std::size_t last);

/// Each rank's rows of a system that rank 0 has; `whole` is read there only. Collective. Throws input_error, or
/// failed_elsewhere, where the system has fewer rows than there are ranks.
[[nodiscard]] distributed_rows distribute(lockstep::mpi::world& world, const linear_system& whole);

/// The entries of all ranks' rows, one after the other: on rank 0; empty on the others. Collective.
[[nodiscard]] std::vector<double> collect(lockstep::mpi::world& world, std::size_t unknowns,
                                          const std::vector<double>& own);

}  // namespace examples
