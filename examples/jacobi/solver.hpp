// SPDX-License-Identifier: MIT
// examples/jacobi/solver.hpp -- Jacobi's iteration, serial and on a team
//
// Both give the same bits for every team size: each x[i] is computed by the same operations, and
// the norm of the residual is added up over blocks of rows whose limits depend on the matrix alone,
// then over the blocks in ascending order. A sum per member would change with the team.
#pragma once

#include <cstddef>
#include <lockstep/lockstep.hpp>
#include <vector>

#include "support/linear_system.hpp"

namespace examples {

struct stopping_rule {
  double tolerance = 1e-10;  // of |b - A x| / |b|, Euclidean norm
  std::size_t most_iterations = 100'000;
};

struct solution {
  std::vector<double> x;
  std::size_t iterations = 0;
  double residual = 0;  // of x, relative
  bool has_converged = false;
};

/// Both begin with x = 0 and throw input_error if the numbers grow beyond the range of double.
[[nodiscard]] solution solve_serial(const linear_system& system, const stopping_rule& rule);
[[nodiscard]] solution solve_on_team(const linear_system& system, const stopping_rule& rule,
                                     lockstep::team& team);

/// Whether all members of the two are the same, bit for bit.
[[nodiscard]] bool are_identical(const solution& a, const solution& b);

}  // namespace examples
