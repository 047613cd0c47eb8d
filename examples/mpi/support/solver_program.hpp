// SPDX-License-Identifier: MIT
// examples/mpi/support/solver_program.hpp -- the programs that solve A x = b on ranks, but for the iteration
#pragma once

#include <functional>
#include <lockstep/mpi.hpp>
#include <string>

#include "mpi/support/distributed_rows.hpp"
#include "support/solution.hpp"

namespace examples {

struct solver_of_ranks {
  const char* name;   // in what is printed
  const char* about;  // the program's help
  iteration_kind kind;
  solution (*solve_serially)(const linear_system&, const stopping_rule&);
  solution (*solve_on_ranks)(lockstep::mpi::world&, lockstep::team&, const distributed_rows&,
                             const stopping_rule&);
};

/// main(): begins and ends MPI. Rank 0 reads and writes all files, and tells the user what there is to tell.
[[nodiscard]] int solve_as_program(const solver_of_ranks& solver, int argc, char** argv);

}  // namespace examples
