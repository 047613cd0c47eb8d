// SPDX-License-Identifier: MIT
// examples/mpi/cg/cg.cpp -- mpirun -n R mpi_cg --matrix A.mtx: conjugate gradients on R ranks. Rank 0 reads and writes all
// files, and tells the user what there is to tell.
#include "mpi/cg/cg_on_ranks.hpp"

#include <fmt/format.h>

#include <chrono>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "mpi/support/program_of_ranks.hpp"
#include "mpi/support/ranks.hpp"
#include "support/error.hpp"
#include "support/files.hpp"
#include "support/matrix_market.hpp"

namespace examples {
namespace {

constexpr const char* about =
    "Solves A x = b by conjugate gradients, on the ranks of mpirun with a team each. A has to "
    "be symmetric, with\n"
    "a positive diagonal, and positive definite. Files are in Matrix Market format: coordinate "
    "or array, real or\n"
    "integer, general or symmetric; rank 0 reads and writes them. Without --rhs, b is A * (1, "
    "..., 1).\n"
    "The result is the same, bit for bit, for every number of ranks and members.\n"
    "Exit status: 0 done, 1 the check failed, 2 bad arguments or input, 3 stopped by "
    "--max-iterations (the\n"
    "solution is written all the same).";

struct solver_options {
  std::string matrix;
  std::string right_side;
  std::string output;
  double tolerance = 1e-10;
  unsigned most_iterations = 100'000;
  unsigned members = 0;  // 0: as many as leave each member a CPU
  bool compares = false;
};

market_matrix read_matrix(const std::string& path) {
  return parse_matrix_market(read_file(path), path);
}

linear_system read_system(const solver_options& options) {
  const market_matrix matrix = read_matrix(options.matrix);
  std::optional<market_matrix> right_side;
  if (!options.right_side.empty()) right_side = read_matrix(options.right_side);
  return make_linear_system(matrix, right_side, iteration_kind::conjugate_gradients);
}

void describe(const solution& answer, double seconds, const lockstep::mpi::world& world,
              const lockstep::team& team) {
  fmt::print("iterations: {} ({})\n", answer.iterations,
             answer.has_converged ? "converged" : "NOT converged");
  fmt::print("relative residual: {:.3e}\n", answer.residual);
  fmt::print("time: {} ranks x {} members {:.3f} ms\n", world.size(), team.size(), seconds * 1e3);
}

/// Compares with the serial run, where that was asked for.
exit_status check(const linear_system& whole, const stopping_rule& rule, const solution& answer,
                  const solver_options& options) {
  if (!options.compares) return exit_status::success;
  const bool is_identical = are_identical(solve_cg_serially(whole, rule), answer);
  fmt::print("check: {}\n", is_identical ? "ok" : "FAILED");
  return is_identical ? exit_status::success : exit_status::check_failed;
}

exit_status run(lockstep::mpi::world& world, const solver_options& options) {
  std::optional<output_file> output;
  linear_system whole;  // on rank 0
  first_rank_does(world, [&] {
    if (options.tolerance < 0 || options.tolerance >= 1) {
      throw input_error("--tolerance: has to be at least 0 and below 1");
    }
    output.emplace(options.output);
    whole = read_system(options);
    fmt::print("system: {}, {} unknowns, {} nonzeros\n", one_line(options.matrix), whole.unknowns(),
               whole.nonzeros());
  });
  const distributed_rows rows = distribute(world, whole);
  if (!options.compares) whole = linear_system();
  lockstep::team_options team_options = world.options();
  if (options.members != 0) team_options.members(options.members);
  lockstep::team team(team_options);
  const stopping_rule rule{options.tolerance, options.most_iterations};
  world.sync();
  const auto begin = std::chrono::steady_clock::now();
  solution answer = solve_cg_on_ranks(world, team, rows, rule);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  answer.x = collect(world, rows.unknowns, answer.x);
  exit_status status = exit_status::success;
  first_rank_does(world, [&] {
    describe(answer, seconds.count(), world, team);
    status = check(whole, rule, answer, options);
    if (status == exit_status::check_failed) return;
    output->write(to_matrix_market(answer.x, "solution by conjugate gradients"));
    commit_all({&*output});
    if (!answer.has_converged) status = exit_status::not_converged;
  });
  return world.broadcast(0, status);
}

}  // namespace
}  // namespace examples

int main(int argc, char** argv) {
  lockstep::mpi::world world(argc, argv);
  examples::solver_options options;
  CLI::App app(examples::about);
  app.add_option("--matrix", options.matrix, "the matrix A")->required()->type_name("FILE");
  app.add_option("--rhs", options.right_side, "the right-hand side b, an array of one column")
      ->type_name("FILE");
  examples::add_real(app, "--tolerance", options.tolerance,
                     "stop at this norm of b - A x relative to that of b");
  examples::add_count(app, "--max-iterations", options.most_iterations, 0,
                      std::numeric_limits<unsigned>::max(), "stop after so many iterations");
  examples::add_count(
      app, "--members", options.members, 0, 1024,
      "members of each rank's team; 0: so many that the ranks of a node share its CPUs");
  app.add_flag(
      "--check", options.compares,
      "rank 0 solves the system once more by one thread, and compares the results bit for bit");
  app.add_option("--output", options.output, "write the solution, a Matrix Market array")
      ->type_name("FILE");
  return examples::run_on_ranks(world, app, argc, argv,
                                [&] { return examples::run(world, options); });
}
