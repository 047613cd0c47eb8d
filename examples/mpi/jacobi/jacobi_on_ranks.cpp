// SPDX-License-Identifier: MIT
#include "mpi/jacobi/jacobi_on_ranks.hpp"

#include <cmath>
#include <cstddef>
#include <functional>
#include <vector>

#include "mpi/support/exchanged_vector.hpp"
#include "mpi/support/norms.hpp"

namespace examples {

solution solve_jacobi_serially(const linear_system& system, const stopping_rule& rule) {
  const std::size_t n = system.unknowns();
  const double scale = norm_scale(system.right_side);
  solution answer;
  answer.x.assign(n, 0.0);
  std::vector<double> r(n, 0.0);
  const double norm_of_right_side =
      serial_norm(n, [&](std::size_t i) { return system.right_side[i] * scale; });
  for (;; ++answer.iterations) {
    for (std::size_t row = 0; row < n; ++row) r[row] = residual_of_row(system, answer.x, row);
    answer.residual =
        relative(serial_norm(n, [&](std::size_t i) { return r[i] * scale; }), norm_of_right_side);
    if (rule.is_finished(answer.residual, answer.iterations)) break;
    for (std::size_t row = 0; row < n; ++row) answer.x[row] += r[row] / system.diagonal[row];
  }
  return checked_solution(std::move(answer), rule);
}

solution solve_jacobi_on_ranks(lockstep::mpi::world& world, lockstep::team& team,
                               const distributed_rows& rows, const stopping_rule& rule) {
  const linear_system& own = rows.own;
  const std::size_t first = rows.first;
  exchanged_vector x(world, rows);
  std::vector<double> r(own.unknowns(), 0.0);
  solution answer;
  // The square of a value, which is scaled so that it neither overflows nor vanishes.
  const auto square_of = [&](double value) { return value * rows.scale * (value * rows.scale); };
  world.run(team, [&](lockstep::member& me) {
    const double norm_of_right_side = std::sqrt(world.reduce_each(
        me, 0, rows.unknowns, 0.0,
        [&](std::size_t i) { return square_of(own.right_side[i - first]); }, std::plus<>()));
    for (std::size_t iterations = 0;; ++iterations) {
      // Inner rows are computed while the entries of other ranks are on their way.
      if (me.rank() == 0) x.start();
      me.for_each(lockstep::nowait, 0, rows.inner.size(), [&](std::size_t k) {
        r[rows.inner[k]] = residual_of_row(own, x, rows.inner[k]);
      });
      if (me.rank() == 0) x.finish();
      me.sync_threads();
      const double sum = world.reduce_each(
          me, 0, rows.unknowns, 0.0,
          [&](std::size_t i) {
            const std::size_t row = i - first;
            if (rows.is_inner[row] == 0) r[row] = residual_of_row(own, x, row);
            return square_of(r[row]);
          },
          std::plus<>());
      const double residual = relative(std::sqrt(sum), norm_of_right_side);
      // All members of all ranks have the same bits, so all leave in the same iteration.
      if (rule.is_finished(residual, iterations)) {
        me.masked([&] {
          answer.iterations = iterations;
          answer.residual = residual;
        });
        return;
      }
      me.for_range(0, own.unknowns(), [&](std::size_t from, std::size_t to) {
        for (std::size_t row = from; row < to; ++row) x[row] += r[row] / own.diagonal[row];
      });
    }
  });
  answer.x.assign(&x[0], &x[0] + own.unknowns());
  return checked_solution(std::move(answer), rule);
}

}  // namespace examples
