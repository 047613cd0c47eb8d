// SPDX-License-Identifier: MIT
// examples/mpi/cg/cg.cpp -- mpirun -n R mpi_cg --matrix A.mtx: conjugate gradients on R ranks
#include "mpi/cg/cg_on_ranks.hpp"
#include "mpi/support/solver_program.hpp"

int main(int argc, char** argv) {
  return examples::solve_as_program(
      {"conjugate gradients",
       "Solves A x = b by conjugate gradients, on the ranks of mpirun with a team each. A has to "
       "be symmetric, with\n"
       "a positive diagonal, and positive definite. Files are in Matrix Market format: coordinate "
       "or array, real or\n"
       "integer, general or symmetric; rank 0 reads and writes them. Without --rhs, b is A * (1, "
       "..., 1).\n"
       "The result is the same, bit for bit, for every number of ranks and members.\n"
       "Exit status: 0 done, 1 the check failed, 2 bad arguments or input, 3 stopped by "
       "--max-iterations (the\n"
       "solution is written all the same).",
       examples::iteration_kind::conjugate_gradients, examples::solve_cg_serially,
       examples::solve_cg_on_ranks},
      argc, argv);
}
