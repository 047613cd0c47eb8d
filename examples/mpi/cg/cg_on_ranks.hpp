// SPDX-License-Identifier: MIT
// examples/mpi/cg/cg_on_ranks.hpp -- conjugate gradients on the members of all ranks [Saad03, algorithm 6.18]
//
// The same bits for every number of ranks and members: each entry is computed by one member by the same operations, and
// the two scalar products of an iteration are added up along the tree of reduce_range.
#pragma once

#include <lockstep/mpi.hpp>

#include "mpi/support/distributed_rows.hpp"
#include "support/solution.hpp"

namespace examples {

/// By one thread. Both begin with x = 0. The iteration ends by the residual that it carries along; the answer has the true
/// one, b - A x. They throw input_error if A is not positive definite, or the numbers grow beyond the range of double.
[[nodiscard]] solution solve_cg_serially(const linear_system& system, const stopping_rule& rule);
/// The answer's x has this rank's rows. Collective.
[[nodiscard]] solution solve_cg_on_ranks(lockstep::mpi::world& world, lockstep::team& team,
                                         const distributed_rows& rows, const stopping_rule& rule);

}  // namespace examples
