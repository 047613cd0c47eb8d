// SPDX-License-Identifier: MIT
// examples/mpi/jacobi/jacobi.cpp -- mpirun -n R mpi_jacobi --matrix A.mtx: Jacobi's iteration on R ranks
#include "mpi/jacobi/jacobi_on_ranks.hpp"
#include "mpi/support/solver_program.hpp"

int main(int argc, char** argv) {
  return examples::solve_as_program(
      {"jacobi",
       "Solves A x = b by Jacobi's iteration, on the ranks of mpirun with a team each. A has to be "
       "symmetric, with\n"
       "a positive diagonal, and diagonally dominant. Files are in Matrix Market format: "
       "coordinate or array, real or\n"
       "integer, general or symmetric; rank 0 reads and writes them. Without --rhs, b is A * (1, "
       "..., 1).\n"
       "The result is the same, bit for bit, for every number of ranks and members.\n"
       "Exit status: 0 done, 1 the check failed, 2 bad arguments or input, 3 stopped by "
       "--max-iterations (the\n"
       "solution is written all the same).",
       examples::iteration_kind::jacobi, examples::solve_jacobi_serially,
       examples::solve_jacobi_on_ranks},
      argc, argv);
}
