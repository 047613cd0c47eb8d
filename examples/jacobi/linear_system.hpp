// SPDX-License-Identifier: MIT
// examples/jacobi/linear_system.hpp -- a system A x = b on which Jacobi's iteration converges
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "jacobi/matrix_market.hpp"

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

/// Checks and converts; without `right_side`, b = A * (1, ..., 1), so that the solution is known.
///
/// Throws input_error unless A is square, symmetric, has a positive diagonal and is diagonally
/// dominant, strictly in at least one row of every connected part. That makes A positive definite
/// and the iteration convergent [Saad03, theorem 4.9].
[[nodiscard]] linear_system make_linear_system(const market_matrix& matrix,
                                               const std::optional<market_matrix>& right_side);

}  // namespace examples
