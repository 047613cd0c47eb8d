// SPDX-License-Identifier: MIT
// tests/fuzz/matrix_market_fuzz.cpp -- the input is a Matrix Market file
//
// What is accepted is a matrix as matrix_market.hpp describes it, and reads the same when written
// again; values pass through to_matrix_market() without a bit changed.
#include "support/matrix_market.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <string>

#include "fuzz/harness.hpp"
#include "support/error.hpp"

namespace {

using examples::market_matrix;
using examples::matrix_entry;
using lockstep::test::require;

bool same_bits(double a, double b) { return std::memcmp(&a, &b, sizeof a) == 0; }

bool same_entry(const matrix_entry& a, const matrix_entry& b) {
  return place(a) == place(b) && same_bits(a.value, b.value);
}

void check_sizes(const market_matrix& matrix, std::size_t bytes) {
  constexpr std::uint32_t largest = std::numeric_limits<std::int32_t>::max();
  const std::uint64_t rows = matrix.rows, columns = matrix.columns;
  require(rows >= 1 && rows <= largest && columns >= 1 && columns <= largest, "sizes in range");
  require(!matrix.is_symmetric || rows == columns, "a symmetric matrix is square");
  require(matrix.entries.size() <= bytes / 2, "an entry takes two bytes of text or more");
  const std::uint64_t most = matrix.is_symmetric ? rows * (rows + 1) / 2 : rows * columns;
  const std::uint64_t count = matrix.entries.size();
  require(matrix.is_array ? count == most : count <= most, "as many entries as there are places");
}

void check_entries(const market_matrix& matrix) {
  std::size_t line = matrix.size_line;
  for (const matrix_entry& entry : matrix.entries) {
    require(entry.row < matrix.rows && entry.column < matrix.columns, "inside the matrix");
    require(!matrix.is_symmetric || entry.row >= entry.column, "in the lower triangle");
    require(std::isfinite(entry.value), "values are finite");
    require(entry.line > line, "one entry on a line, in the order of the file");
    line = entry.line;
  }
  std::vector<matrix_entry> sorted = matrix.entries;
  std::sort(sorted.begin(), sorted.end(),
            [](const matrix_entry& a, const matrix_entry& b) { return place(a) < place(b); });
  require(std::adjacent_find(sorted.begin(), sorted.end(),
                             [](const matrix_entry& a, const matrix_entry& b) {
                               return place(a) == place(b);
                             }) == sorted.end(),
          "no place is given twice");
}

std::string coordinate_text(const market_matrix& matrix) {
  std::string text = fmt::format("%%MatrixMarket matrix coordinate real {}\n{} {} {}\n",
                                 matrix.is_symmetric ? "symmetric" : "general", matrix.rows,
                                 matrix.columns, matrix.entries.size());
  for (const matrix_entry& entry : matrix.entries) {
    fmt::format_to(std::back_inserter(text), "{} {} {}\n", entry.row + 1, entry.column + 1,
                   entry.value);
  }
  return text;
}

void check_written_again(const market_matrix& matrix) {
  const market_matrix again = examples::parse_matrix_market(coordinate_text(matrix), "again");
  require(again.rows == matrix.rows && again.columns == matrix.columns, "same sizes again");
  require(std::equal(again.entries.begin(), again.entries.end(), matrix.entries.begin(),
                     matrix.entries.end(), same_entry),
          "same entries again");
}

void check_vector(const market_matrix& matrix, std::string_view comment) {
  std::vector<double> values;
  for (const matrix_entry& entry : matrix.entries) values.push_back(entry.value);
  if (values.empty()) return;  // the format has no vector without elements
  const std::string text = examples::to_matrix_market(values, comment);
  const market_matrix vector = examples::parse_matrix_market(text, "vector");
  require(vector.is_array && vector.columns == 1, "a vector is an array of one column");
  require(std::equal(vector.entries.begin(), vector.entries.end(), values.begin(), values.end(),
                     [](const matrix_entry& a, double b) { return same_bits(a.value, b); }),
          "same values again");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = lockstep::test::text_of(data, size);
  const auto matrix = lockstep::test::accepted<examples::input_error>(
      [&] { return examples::parse_matrix_market(text, "input"); }, "input:");
  if (!matrix) return 0;
  check_sizes(*matrix, size);
  check_entries(*matrix);
  check_written_again(*matrix);
  check_vector(*matrix, text.substr(0, 64));
  return 0;
}
