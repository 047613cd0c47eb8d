// SPDX-License-Identifier: MIT
// examples/jacobi/solver.hpp -- Jacobi's iteration, serial and on a team
//
// Both give the same bits for every team size: each x[i] is computed by the same operations, and
// the norm of the residual is added up over blocks of rows whose limits depend on the matrix alone,
// then over the blocks in ascending order. A sum per member would change with the team.
#pragma once

#include <lockstep/lockstep.hpp>

#include "support/linear_system.hpp"
#include "support/solution.hpp"

namespace examples {

/// Both begin with x = 0 and throw input_error if the numbers grow beyond the range of double.
[[nodiscard]] solution solve_serial(const linear_system& system, const stopping_rule& rule);
[[nodiscard]] solution solve_on_team(const linear_system& system, const stopping_rule& rule,
                                     lockstep::team& team);

}  // namespace examples
