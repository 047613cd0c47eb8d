// SPDX-License-Identifier: MIT
// examples/support/linear_system.hpp -- a system A x = b for iterations that read A row by row
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "support/matrix_market.hpp"

namespace examples {

/// A = diagonal + the rest, the rest in compressed rows: the entries of row i are those from
/// row_begin[i] up to row_begin[i + 1], by ascending column.
struct linear_system {
  std::vector<double> diagonal;
  std::vector<std::size_t> row_begin;
  std::vector<std::uint32_t> column;
  std::vector<double> value;
  std::vector<double> right_side;

  [[nodiscard]] std::size_t unknowns() const { return diagonal.size(); }
  [[nodiscard]] std::size_t nonzeros() const { return diagonal.size() + value.size(); }
};

/// Row `row` of b - A x, always by the same operations in the same order.
template <class Vector>
[[nodiscard]] double residual_of_row(const linear_system& system, const Vector& x,
                                     std::size_t row) {
  double r = system.right_side[row] - system.diagonal[row] * x[row];
  for (std::size_t k = system.row_begin[row]; k < system.row_begin[row + 1]; ++k) {
    r -= system.value[k] * x[system.column[k]];
  }
  return r;
}
/// Row `row` of A x, in the same way.
template <class Vector>
[[nodiscard]] double product_of_row(const linear_system& system, const Vector& x, std::size_t row) {
  double sum = system.diagonal[row] * x[row];
  for (std::size_t k = system.row_begin[row]; k < system.row_begin[row + 1]; ++k) {
    sum += system.value[k] * x[system.column[k]];
  }
  return sum;
}

/// A power of two that brings the largest of the values near 1, so that its square neither overflows nor vanishes.
[[nodiscard]] double norm_scale(const std::vector<double>& values);

/// What A is to be suited for, beyond being square, symmetric and with a positive diagonal.
enum class iteration_kind {
  jacobi,              // diagonally dominant, strictly in at least one row of every connected part
  conjugate_gradients  // positive definite, which the iteration finds out
};

/// Checks and converts; without `right_side`, b = A * (1, ..., 1), so that the solution is known.
///
/// Throws input_error unless A is square, symmetric, has a positive diagonal and is suited for the iteration. For
/// Jacobi's: diagonally dominant, strictly in at least one row of every connected part. That makes A positive definite
/// and the iteration convergent [Saad03, theorem 4.9].
[[nodiscard]] linear_system make_linear_system(const market_matrix& matrix,
                                               const std::optional<market_matrix>& right_side,
                                               iteration_kind suited_for = iteration_kind::jacobi);

}  // namespace examples
