// SPDX-License-Identifier: MIT
// tests/fuzz/linear_system_fuzz.cpp -- the input is a matrix file, and a right-hand side behind a '~'
//
// What is accepted is a system on which Jacobi's iteration converges, as linear_system.hpp says.
#include "support/linear_system.hpp"

#include <cmath>
#include <optional>

#include "fuzz/harness.hpp"
#include "support/error.hpp"

namespace {

using examples::linear_system;
using examples::market_matrix;
using lockstep::test::require;

std::optional<market_matrix> read_matrix(std::string_view text) {
  return lockstep::test::accepted<examples::input_error>(
      [&] { return examples::parse_matrix_market(text, "input"); }, "input:");
}

void check_layout(const linear_system& system) {
  const std::size_t size = system.unknowns();
  require(size > 0 && system.row_begin.size() == size + 1 && system.right_side.size() == size,
          "one row of everything for each unknown");
  require(system.row_begin.front() == 0 && system.row_begin.back() == system.value.size() &&
              system.column.size() == system.value.size(),
          "the rows cover all values");
  for (std::size_t row = 0; row < size; ++row) {
    require(system.row_begin[row] <= system.row_begin[row + 1], "rows follow each other");
    for (std::size_t k = system.row_begin[row]; k < system.row_begin[row + 1]; ++k) {
      require(system.column[k] < size && system.column[k] != row, "beside the diagonal");
      require(k == system.row_begin[row] || system.column[k - 1] < system.column[k], "ascending");
      require(system.value[k] != 0, "no zeros are kept");
    }
  }
}

double value_at(const linear_system& system, std::size_t row, std::size_t column) {
  for (std::size_t k = system.row_begin[row]; k < system.row_begin[row + 1]; ++k) {
    if (system.column[k] == column) return system.value[k];
  }
  return 0;
}

void check_symmetry(const linear_system& system) {
  for (std::size_t row = 0; row < system.unknowns(); ++row) {
    for (std::size_t k = system.row_begin[row]; k < system.row_begin[row + 1]; ++k) {
      require(value_at(system, system.column[k], row) == system.value[k], "symmetric");
    }
  }
}

void check_dominance(const linear_system& system) {
  bool is_strict_somewhere = false;
  for (std::size_t row = 0; row < system.unknowns(); ++row) {
    double sum = 0;
    for (std::size_t k = system.row_begin[row]; k < system.row_begin[row + 1]; ++k) {
      sum += std::abs(system.value[k]);
    }
    require(system.diagonal[row] > 0 && system.diagonal[row] >= sum, "diagonally dominant");
    is_strict_somewhere = is_strict_somewhere || system.diagonal[row] > sum;
    require(std::isfinite(system.right_side[row]), "the right-hand side is finite");
  }
  require(is_strict_somewhere, "strictly in at least one row");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto parts = lockstep::test::parts_of(lockstep::test::text_of(data, size), '~', 2);
  const std::optional<market_matrix> matrix = read_matrix(parts[0]);
  if (!matrix) return 0;
  const auto right_side = parts[1].empty() ? std::nullopt : read_matrix(parts[1]);
  const auto system = lockstep::test::accepted<examples::input_error>(
      [&] { return examples::make_linear_system(*matrix, right_side); }, "input:");
  if (!system) return 0;
  require(system->unknowns() == matrix->rows, "an unknown for each row");
  check_layout(*system);
  check_symmetry(*system);
  check_dominance(*system);
  return 0;
}
