// SPDX-License-Identifier: MIT
#include "support/linear_system.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "support/error.hpp"

namespace examples {
namespace {

bool comes_before(const matrix_entry& a, const matrix_entry& b) { return place(a) < place(b); }

void check_shape(const market_matrix& matrix) {
  const std::uint32_t rows = matrix.rows;
  if (rows != matrix.columns) {
    throw error_at_line(matrix.name, matrix.size_line,
                        fmt::format("the matrix is not square: {} x {}", rows, matrix.columns));
  }
  // Tested before anything of this size is allocated.
  if (matrix.entries.size() < rows) {
    throw error_at_line(matrix.name, matrix.size_line,
                        fmt::format("{} entries for {} rows: the diagonal is not complete",
                                    matrix.entries.size(), rows));
  }
}

/// Both triangles, row by row, without zeros beside the diagonal.
std::vector<matrix_entry> all_entries_sorted(const market_matrix& matrix) {
  std::vector<matrix_entry> entries;
  for (const matrix_entry& entry : matrix.entries) {
    const bool is_on_diagonal = entry.row == entry.column;
    if (entry.value == 0 && !is_on_diagonal) continue;
    entries.push_back(entry);
    if (matrix.is_symmetric && !is_on_diagonal) {
      entries.push_back({entry.column, entry.row, entry.value, entry.line});
    }
  }
  std::sort(entries.begin(), entries.end(), comes_before);
  return entries;
}

void check_symmetry(const std::vector<matrix_entry>& entries, const market_matrix& matrix) {
  for (const matrix_entry& entry : entries) {
    const matrix_entry mirrored{entry.column, entry.row, 0, 0};
    const auto found = std::lower_bound(entries.begin(), entries.end(), mirrored, comes_before);
    const bool is_present = found != entries.end() && place(*found) == place(mirrored);
    const double opposite = is_present ? found->value : 0;
    if (opposite == entry.value) continue;
    throw error_at_line(matrix.name, entry.line,
                        fmt::format("the matrix is not symmetric: entry ({}, {}) is {}, but "
                                    "entry ({}, {}) is {}",
                                    entry.row + 1, entry.column + 1, entry.value, entry.column + 1,
                                    entry.row + 1, opposite));
  }
}

void check_diagonal_entry(const matrix_entry& entry, const market_matrix& matrix) {
  if (entry.value > 0) return;
  const std::string_view what = entry.value == 0 ? "zero" : "negative";
  throw error_at_line(matrix.name, entry.line,
                      fmt::format("the diagonal entry of row {} is {}", entry.row + 1, what));
}

/// The matrix with the line of each diagonal entry, which messages about a row point to.
struct assembly {
  linear_system system;
  std::vector<std::size_t> diagonal_line;
};

assembly assemble(const std::vector<matrix_entry>& entries, const market_matrix& matrix) {
  assembly result;
  linear_system& system = result.system;
  system.diagonal.assign(matrix.rows, 0);
  system.row_begin.assign(matrix.rows + std::size_t{1}, 0);
  result.diagonal_line.assign(matrix.rows, 0);
  for (const matrix_entry& entry : entries) {
    if (entry.row == entry.column) {
      check_diagonal_entry(entry, matrix);
      system.diagonal[entry.row] = entry.value;
      result.diagonal_line[entry.row] = entry.line;
    } else {
      system.column.push_back(entry.column);
      system.value.push_back(entry.value);
    }
    system.row_begin[entry.row + std::size_t{1}] = system.value.size();
  }
  const auto missing = std::find(system.diagonal.begin(), system.diagonal.end(), 0.0);
  if (missing != system.diagonal.end()) {
    throw error_at_line(matrix.name, matrix.size_line,
                        fmt::format("the diagonal entry of row {} is missing",
                                    missing - system.diagonal.begin() + 1));
  }
  return result;
}

double sum_beside_diagonal(const linear_system& system, std::size_t row) {
  double sum = 0;
  for (std::size_t k = system.row_begin[row]; k < system.row_begin[row + 1]; ++k) {
    sum += std::abs(system.value[k]);
  }
  return sum;
}

/// Spreads from the rows in `reached` to all rows connected with them.
void spread(const linear_system& system, std::vector<bool>& is_reached,
            std::vector<std::size_t> reached) {
  while (!reached.empty()) {
    const std::size_t row = reached.back();
    reached.pop_back();
    for (std::size_t k = system.row_begin[row]; k < system.row_begin[row + 1]; ++k) {
      const std::size_t neighbour = system.column[k];
      if (is_reached[neighbour]) continue;
      is_reached[neighbour] = true;
      reached.push_back(neighbour);
    }
  }
}

void check_dominance(const assembly& assembled, const market_matrix& matrix) {
  const linear_system& system = assembled.system;
  std::vector<bool> is_reached(system.unknowns(), false);
  std::vector<std::size_t> strict_rows;
  for (std::size_t row = 0; row < system.unknowns(); ++row) {
    const double sum = sum_beside_diagonal(system, row);
    if (!(system.diagonal[row] >= sum)) {
      throw error_at_line(matrix.name, assembled.diagonal_line[row],
                          fmt::format("the matrix is not diagonally dominant: the diagonal entry "
                                      "of row {} is {}, the magnitudes beside it add up to {}",
                                      row + 1, system.diagonal[row], sum));
    }
    if (system.diagonal[row] > sum) {
      is_reached[row] = true;
      strict_rows.push_back(row);
    }
  }
  spread(system, is_reached, std::move(strict_rows));
  const auto left_out = std::find(is_reached.begin(), is_reached.end(), false);
  if (left_out == is_reached.end()) return;
  const auto row = static_cast<std::size_t>(left_out - is_reached.begin());
  throw error_at_line(matrix.name, assembled.diagonal_line[row],
                      fmt::format("row {} is connected with no strictly diagonally dominant row: "
                                  "the matrix may be singular",
                                  row + 1));
}

std::vector<double> row_sums(const assembly& assembled, const market_matrix& matrix) {
  const linear_system& system = assembled.system;
  std::vector<double> sums = system.diagonal;
  for (std::size_t row = 0; row < sums.size(); ++row) {
    for (std::size_t k = system.row_begin[row]; k < system.row_begin[row + 1]; ++k) {
      sums[row] += system.value[k];
    }
    if (std::isfinite(sums[row])) continue;
    throw error_at_line(matrix.name, assembled.diagonal_line[row],
                        fmt::format("the sum of row {} is too large", row + 1));
  }
  return sums;
}

std::vector<double> values_of(const market_matrix& right_side, std::size_t unknowns) {
  if (!right_side.is_array || right_side.columns != 1 || right_side.rows != unknowns) {
    throw error_at_line(
        right_side.name, right_side.size_line,
        fmt::format("the right-hand side has to be an array of {} x 1, not {} of "
                    "{} x {}",
                    unknowns, right_side.is_array ? "an array" : "a coordinate matrix",
                    right_side.rows, right_side.columns));
  }
  std::vector<double> values;
  for (const matrix_entry& entry : right_side.entries) values.push_back(entry.value);
  return values;
}

}  // namespace

double norm_scale(const std::vector<double>& values) {
  double largest = 0;
  for (const double value : values) largest = std::max(largest, std::abs(value));
  return largest > 0 ? std::ldexp(1.0, -std::clamp(std::ilogb(largest), -1022, 1022)) : 1;
}

linear_system make_linear_system(const market_matrix& matrix,
                                 const std::optional<market_matrix>& right_side,
                                 iteration_kind suited_for) {
  check_shape(matrix);
  const std::vector<matrix_entry> entries = all_entries_sorted(matrix);
  if (!matrix.is_symmetric) check_symmetry(entries, matrix);
  assembly assembled = assemble(entries, matrix);
  if (suited_for == iteration_kind::jacobi) check_dominance(assembled, matrix);
  assembled.system.right_side =
      right_side ? values_of(*right_side, matrix.rows) : row_sums(assembled, matrix);
  return std::move(assembled.system);
}

}  // namespace examples
