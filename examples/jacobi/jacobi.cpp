// SPDX-License-Identifier: MIT
// examples/jacobi/jacobi.cpp -- solves A x = b from Matrix Market files on a team and checks the
// result against the serial run, bit for bit
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "jacobi/solver.hpp"
#include "support/error.hpp"
#include "support/files.hpp"
#include "support/linear_system.hpp"
#include "support/matrix_market.hpp"
#include "support/program.hpp"
#include "support/timing.hpp"

namespace examples {
namespace {

constexpr const char* about =
    "Solves A x = b by Jacobi's iteration. A has to be symmetric, with a positive diagonal, and\n"
    "diagonally dominant. Files are in Matrix Market format: coordinate or array, real or "
    "integer,\n"
    "general or symmetric; duplicate entries are rejected. Without --rhs, b is A * (1, ..., 1).\n"
    "The iteration runs once serially and once on a team, and the results are compared bit for "
    "bit.\n"
    "Exit status: 0 done, 1 the comparison failed, 2 bad arguments or input, 3 stopped by\n"
    "--max-iterations (files are written all the same).";

struct jacobi_options {
  common_options common;
  std::string matrix;
  std::string right_side;
  double tolerance = 1e-10;
  unsigned most_iterations = 100'000;
};

struct measurement {
  solution answer;
  bool is_checked = false;
  double serial_seconds = 0;
  double team_seconds = 0;
};

market_matrix read_matrix(const std::string& path) {
  return parse_matrix_market(read_file(path), path);
}

linear_system read_system(const jacobi_options& options) {
  const market_matrix matrix = read_matrix(options.matrix);
  std::optional<market_matrix> right_side;
  if (!options.right_side.empty()) right_side = read_matrix(options.right_side);
  return make_linear_system(matrix, right_side);
}

measurement measure(const linear_system& system, const jacobi_options& options) {
  const stopping_rule rule{options.tolerance, options.most_iterations};
  lockstep::team team(options.common.members, options.common.policy);
  solution serial;
  measurement result;
  result.is_checked = true;
  const auto [serial_seconds, team_seconds] = median_seconds<2>(
      options.common.repeat,
      {[&] { serial = solve_serial(system, rule); },
       [&] { result.answer = solve_on_team(system, rule, team); }},
      [&] { result.is_checked = result.is_checked && are_identical(serial, result.answer); });
  result.serial_seconds = serial_seconds;
  result.team_seconds = team_seconds;
  return result;
}

/// How far a generated right-hand side's answer is from its known solution (1, ..., 1).
double largest_error(const solution& answer) {
  double largest = 0;
  for (const double x : answer.x) largest = std::max(largest, std::abs(x - 1));
  return largest;
}

void describe(const measurement& result, const jacobi_options& options,
              nlohmann::ordered_json& record) {
  const solution& answer = result.answer;
  const double speed_up = result.serial_seconds / result.team_seconds;
  fmt::print("iterations: {} ({})\n", answer.iterations,
             answer.has_converged ? "converged" : "NOT converged");
  fmt::print("relative residual: {:.3e}\n", answer.residual);
  if (options.right_side.empty()) {
    fmt::print("largest error: {:.3e} (the solution is known)\n", largest_error(answer));
  }
  fmt::print("time: serial {:.3f} ms, {} members {:.3f} ms, speed-up {:.2f}\n",
             result.serial_seconds * 1e3, options.common.members, result.team_seconds * 1e3,
             speed_up);
  record["tolerance"] = options.tolerance;
  record["iterations"] = answer.iterations;
  record["converged"] = answer.has_converged;
  record["relative_residual"] = answer.residual;
  record["serial_seconds"] = result.serial_seconds;
  record["team_seconds"] = result.team_seconds;
  record["speed_up"] = speed_up;
}

exit_status run(const jacobi_options& options) {
  if (options.tolerance < 0 || options.tolerance >= 1) {
    throw input_error("--tolerance: has to be at least 0 and below 1");
  }
  run_outputs outputs(options.common);
  const linear_system system = read_system(options);
  nlohmann::ordered_json record = begin_record("jacobi", options.common);
  record["matrix"] = options.matrix;
  record["right_side"] = options.right_side.empty() ? "generated" : options.right_side;
  record["unknowns"] = system.unknowns();
  record["nonzeros"] = system.nonzeros();
  fmt::print("system: {}, {} unknowns, {} nonzeros\n", one_line(options.matrix), system.unknowns(),
             system.nonzeros());
  const measurement result = measure(system, options);
  describe(result, options, record);
  const exit_status status = report_check(result.is_checked, record);
  outputs.publish(status, to_matrix_market(result.answer.x, "solution by jacobi"), record);
  const bool is_done = status != exit_status::success || result.answer.has_converged;
  return is_done ? status : exit_status::not_converged;
}

}  // namespace
}  // namespace examples

int main(int argc, char** argv) {
  examples::jacobi_options options;
  const auto add_options = [&](CLI::App& app) {
    examples::add_needed_file(app, "--matrix", options.matrix, "the matrix A");
    examples::add_file(app, "--rhs", options.right_side,
                       "the right-hand side b, an array of one column");
    examples::add_real(app, "--tolerance", options.tolerance,
                       "stop at this norm of b - A x relative to that of b");
    examples::add_count(app, "--max-iterations", options.most_iterations, 0,
                        std::numeric_limits<unsigned>::max(), "stop after so many iterations");
    examples::add_common_options(app, options.common, "write the solution, a Matrix Market array");
  };
  return examples::run_program(examples::about, argc, argv, add_options,
                               [&] { return examples::run(options); });
}
