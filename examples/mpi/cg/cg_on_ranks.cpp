// SPDX-License-Identifier: MIT
#include "mpi/cg/cg_on_ranks.hpp"

#include <cmath>
#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

#include "mpi/support/exchanged_vector.hpp"
#include "support/error.hpp"

namespace examples {
namespace {

/// The sum of value(i) over [0, n), along the tree of reduce_range, by the calling thread.
template <class Value>
double serial_sum(std::size_t n, const Value& value) {
  static thread_local lockstep::team alone(1);
  return alone.reduce_each(std::size_t{0}, n, 0.0, value, std::plus<>());
}
template <class Value>
double serial_norm(std::size_t n, const Value& value) {
  return std::sqrt(serial_sum(n, [&](std::size_t i) { return value(i) * value(i); }));
}

/// A norm relative to that of the right side; itself where that is 0.
double relative(double norm, double norm_of_right_side) {
  return norm_of_right_side > 0 ? norm / norm_of_right_side : norm;
}

/// An answer whose residual is a number. Throws input_error if it is not.
solution checked_solution(solution answer, const stopping_rule& rule) {
  if (!std::isfinite(answer.residual)) {
    throw input_error("the residual is not finite: the numbers of the system are too large");
  }
  answer.has_converged = answer.residual <= rule.tolerance;
  return answer;
}

/// How an iteration went: all members of all ranks have the same bits of it.
struct progress {
  std::size_t iterations = 0;
  double norm_of_right_side = 0;
  double squares = 0;    // of the residual that is carried along, scaled
  double curvature = 1;  // p * A p, scaled

  [[nodiscard]] bool is_finished(const stopping_rule& rule) const {
    return rule.is_finished(relative(std::sqrt(squares), norm_of_right_side), iterations);
  }
  /// False also where it is not a number.
  [[nodiscard]] bool has_curvature() const { return curvature > 0; }
};

/// `residual`: the true one.
solution answer_of(const progress& last, std::vector<double> x, double residual,
                   const stopping_rule& rule) {
  if (!last.has_curvature() && std::isfinite(last.curvature)) {
    throw input_error(
        "the matrix is not positive definite: conjugate gradients need a direction p with p * A p "
        "> 0");
  }
  solution answer{std::move(x), last.iterations, residual, false};
  answer = checked_solution(std::move(answer), rule);
  answer.has_converged =
      relative(std::sqrt(last.squares), last.norm_of_right_side) <= rule.tolerance;
  return answer;
}

}  // namespace

solution solve_cg_serially(const linear_system& system, const stopping_rule& rule) {
  const std::size_t n = system.unknowns();
  const double scale = norm_scale(system.right_side);
  std::vector<double> x(n, 0.0), r = system.right_side, p = r, q(n, 0.0);
  const auto square_of_r = [&](std::size_t i) { return r[i] * scale * (r[i] * scale); };
  progress now;
  now.squares = serial_sum(n, square_of_r);
  now.norm_of_right_side = std::sqrt(now.squares);
  while (!now.is_finished(rule)) {
    for (std::size_t row = 0; row < n; ++row) q[row] = product_of_row(system, p, row);
    now.curvature = serial_sum(n, [&](std::size_t i) { return p[i] * scale * (q[i] * scale); });
    if (!now.has_curvature()) break;
    const double step = now.squares / now.curvature;
    for (std::size_t i = 0; i < n; ++i) {
      x[i] += step * p[i];
      r[i] -= step * q[i];
    }
    const double before = std::exchange(now.squares, serial_sum(n, square_of_r));
    for (std::size_t i = 0; i < n; ++i) p[i] = r[i] + now.squares / before * p[i];
    ++now.iterations;
  }
  const double residual =
      serial_norm(n, [&](std::size_t i) { return residual_of_row(system, x, i) * scale; });
  return answer_of(now, std::move(x), relative(residual, now.norm_of_right_side), rule);
}

solution solve_cg_on_ranks(lockstep::mpi::world& world, lockstep::team& team,
                           const distributed_rows& rows, const stopping_rule& rule) {
  const linear_system& own = rows.own;
  const std::size_t first = rows.first, count = own.unknowns();
  const double scale = rows.scale;
  std::vector<double> x(count, 0.0), r = own.right_side, q(count, 0.0);
  exchanged_vector p(world, rows);
  for (std::size_t row = 0; row < count; ++row) p[row] = r[row];
  progress last;
  double residual = 0;
  world.run(team, [&](lockstep::member& me) {
    /// The sum of value(row) over all rows of all ranks.
    const auto sum = [&](const auto& value) {
      return world.reduce_each(
          me, 0, rows.unknowns, 0.0, [&](std::size_t i) { return value(i - first); },
          std::plus<>());
    };
    progress now;
    now.squares = sum([&](std::size_t row) { return r[row] * scale * (r[row] * scale); });
    now.norm_of_right_side = std::sqrt(now.squares);
    while (!now.is_finished(rule)) {
      // Inner rows are computed while the entries of other ranks are on their way.
      if (me.rank() == 0) p.start();
      me.for_each(lockstep::nowait, 0, rows.inner.size(),
                  [&](std::size_t k) { q[rows.inner[k]] = product_of_row(own, p, rows.inner[k]); });
      if (me.rank() == 0) p.finish();
      me.sync_threads();
      now.curvature = sum([&](std::size_t row) {
        if (rows.is_inner[row] == 0) q[row] = product_of_row(own, p, row);
        return p[row] * scale * (q[row] * scale);
      });
      if (!now.has_curvature()) break;
      const double step = now.squares / now.curvature;
      const double before = now.squares;
      now.squares = sum([&](std::size_t row) {
        x[row] += step * p[row];
        r[row] -= step * q[row];
        return r[row] * scale * (r[row] * scale);
      });
      me.for_range(0, count, [&](std::size_t from, std::size_t to) {
        for (std::size_t row = from; row < to; ++row) {
          p[row] = r[row] + now.squares / before * p[row];
        }
      });
      ++now.iterations;
    }
    // The true residual needs x where p was.
    if (me.rank() == 0) {
      for (std::size_t row = 0; row < count; ++row) p[row] = x[row];
      p.start();
      p.finish();
      last = now;
    }
    me.sync_threads();
    const double norm = std::sqrt(sum([&](std::size_t row) {
      const double value = residual_of_row(own, p, row) * scale;
      return value * value;
    }));
    me.masked([&] { residual = relative(norm, now.norm_of_right_side); });
  });
  return answer_of(last, std::move(x), residual, rule);
}

}  // namespace examples
