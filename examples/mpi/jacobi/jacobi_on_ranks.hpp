// SPDX-License-Identifier: MIT
// examples/mpi/jacobi/jacobi_on_ranks.hpp -- Jacobi's iteration on the members of all ranks
//
// The same bits for every number of ranks and members: each x[i] is computed by one member by the same operations, and the
// norm of the residual is added up along the tree of reduce_range.
#pragma once

#include <lockstep/mpi.hpp>

#include "mpi/support/distributed_rows.hpp"
#include "support/solution.hpp"

namespace examples {

/// By one thread. Both begin with x = 0 and throw input_error if the numbers grow beyond the range of double.
[[nodiscard]] solution solve_jacobi_serially(const linear_system& system,
                                             const stopping_rule& rule);
/// The answer's x has this rank's rows. Collective.
[[nodiscard]] solution solve_jacobi_on_ranks(lockstep::mpi::world& world, lockstep::team& team,
                                             const distributed_rows& rows,
                                             const stopping_rule& rule);

}  // namespace examples
