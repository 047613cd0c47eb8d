// SPDX-License-Identifier: MIT
// examples/support/matrix_market.hpp -- real matrices in Matrix Market files [MM]
//
// Read: coordinate and array format, field real or integer, symmetry general or symmetric.
// Rejected, each with its line: other kinds of matrix, numbers that are not finite, sizes the file
// is too short for, indices outside the matrix or (symmetric) above the diagonal, duplicate
// entries, and anything but white space after the data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace examples {

struct matrix_entry {
  std::uint32_t row = 0;  // from 0
  std::uint32_t column = 0;
  double value = 0;
  std::size_t line = 0;  // where it stands, for messages about it
};

/// Row and column, by which entries are sorted.
[[nodiscard]] inline std::pair<std::uint32_t, std::uint32_t> place(const matrix_entry& entry) {
  return {entry.row, entry.column};
}

struct market_matrix {
  std::string name;
  bool is_array = false;
  bool is_symmetric = false;  // then entries has the lower triangle only
  std::uint32_t rows = 0;
  std::uint32_t columns = 0;
  std::size_t size_line = 0;
  std::vector<matrix_entry> entries;  // in the order of the file
};

/// Pure: returns the matrix or throws input_error (or std::bad_alloc, within some 24 bytes for
/// every 2 bytes of text). `name` is used in messages.
[[nodiscard]] market_matrix parse_matrix_market(std::string_view text, std::string_view name);

/// A column vector as an array file; every number is read back as the same bits.
[[nodiscard]] std::string to_matrix_market(std::span<const double> vector,
                                           std::string_view comment);

}  // namespace examples
