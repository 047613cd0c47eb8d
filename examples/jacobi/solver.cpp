// SPDX-License-Identifier: MIT
#include "jacobi/solver.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "support/error.hpp"

namespace examples {
namespace {

/// Small enough that a few hundred rows are shared evenly; large enough that adding up the blocks,
/// which every member does by itself, is little work beside its rows.
constexpr std::size_t rows_per_block = 32;

/// One iteration is two half steps. First r = b - A x, reading all of x: each member its blocks.
/// Then x += r / diagonal, each member its rows. Between half steps the members synchronise.
class iteration {
 public:
  /// The members of the team write their rows first: on a machine with several memory nodes they lie there.
  iteration(const linear_system& system, const stopping_rule& rule, lockstep::team& team)
      : system_(system),
        rule_(rule),
        scale_(norm_scale(system.right_side)),
        x_(team, system.unknowns(), 0.0),
        r_(team, system.unknowns(), 0.0),
        block_sums_(block_count(), 0.0) {
    for (std::size_t block = 0; block < block_count(); ++block) {
      block_sums_[block] = sum_of_squares(system.right_side, block);
    }
    right_side_norm_ = combined_norm();
  }

  [[nodiscard]] std::size_t block_count() const {
    return (system_.unknowns() + rows_per_block - 1) / rows_per_block;
  }
  [[nodiscard]] std::size_t unknowns() const { return system_.unknowns(); }

  void compute_residual(std::size_t first_block, std::size_t last_block) {
    for (std::size_t block = first_block; block < last_block; ++block) {
      for (std::size_t row = first_row(block); row < first_row(block + 1); ++row) {
        r_[row] = residual_of_row(system_, x_, row);
      }
      block_sums_[block] = sum_of_squares(r_, block);
    }
  }

  void update_solution(std::size_t first, std::size_t last) {
    for (std::size_t row = first; row < last; ++row) x_[row] += r_[row] / system_.diagonal[row];
  }

  /// Reads what all members wrote in compute_residual; every member gets the same bits.
  [[nodiscard]] double relative_residual() const {
    const double norm = combined_norm();
    return right_side_norm_ > 0 ? norm / right_side_norm_ : norm;
  }

  [[nodiscard]] bool is_finished(double residual, std::size_t iterations) const {
    return rule_.is_finished(residual, iterations);
  }

  [[nodiscard]] solution result(std::size_t iterations) const {
    const double residual = relative_residual();
    if (!std::isfinite(residual)) {
      throw input_error("the residual is not finite: the numbers of the system are too large");
    }
    return {std::vector<double>(x_.begin(), x_.end()), iterations, residual,
            residual <= rule_.tolerance};
  }

 private:
  [[nodiscard]] std::size_t first_row(std::size_t block) const {
    return std::min(block * rows_per_block, system_.unknowns());
  }

  template <class Values>
  [[nodiscard]] double sum_of_squares(const Values& values, std::size_t block) const {
    double sum = 0;
    for (std::size_t row = first_row(block); row < first_row(block + 1); ++row) {
      const double scaled = values[row] * scale_;
      sum += scaled * scaled;
    }
    return sum;
  }

  [[nodiscard]] double combined_norm() const {
    double sum = 0;
    for (const double block_sum : block_sums_) sum += block_sum;
    return std::sqrt(sum);
  }

  const linear_system& system_;
  const stopping_rule& rule_;
  double scale_;
  lockstep::first_touch_array<double> x_;
  lockstep::first_touch_array<double> r_;
  std::vector<double> block_sums_;
  double right_side_norm_ = 0;
};

}  // namespace

solution solve_serial(const linear_system& system, const stopping_rule& rule) {
  lockstep::team alone(1);
  iteration steps(system, rule, alone);
  std::size_t iterations = 0;
  while (true) {
    steps.compute_residual(0, steps.block_count());
    if (steps.is_finished(steps.relative_residual(), iterations)) break;
    steps.update_solution(0, steps.unknowns());
    ++iterations;
  }
  return steps.result(iterations);
}

solution solve_on_team(const linear_system& system, const stopping_rule& rule,
                       lockstep::team& team) {
  iteration steps(system, rule, team);
  std::size_t total = 0;
  team.run([&](lockstep::member& me) {
    std::size_t iterations = 0;
    while (true) {
      const auto residual = [&](std::size_t first, std::size_t last) {
        steps.compute_residual(first, last);
      };
      if (!me.for_range(0, steps.block_count(), residual)) return;
      // All members come to the same decision, so all leave in the same iteration.
      if (steps.is_finished(steps.relative_residual(), iterations)) break;
      const auto update = [&](std::size_t first, std::size_t last) {
        steps.update_solution(first, last);
      };
      if (!me.for_range(0, steps.unknowns(), update)) return;
      ++iterations;
    }
    if (me.rank() == 0) total = iterations;
  });
  return steps.result(total);
}

}  // namespace examples
