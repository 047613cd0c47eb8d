// SPDX-License-Identifier: MIT
// examples/filter5x5/convolve.hpp -- a 5x5 filter over a picture, row by row
//
// Border: neighbours outside the picture are those on its edge (clamp to edge).
//
// Scalar and vector code give the same bits: each sample is the same 25 products in float, added in
// the same order; a vector does that for four samples side by side. The files of this program are
// compiled without contraction (examples/CMakeLists.txt), because a compiler might join a product and
// a sum into one rounding in only one of the two loops: g++ 12 -O3 does so on a processor with FMA,
// and then convolve_test.cpp fails.
#pragma once

#include <cstddef>
#include <lockstep/team.hpp>
#include <vector>

#include "filter5x5/image.hpp"
#include "filter5x5/kernel.hpp"

namespace examples {

enum class simd { off, on };

/// Whether this compiler has the vectors that simd::on wants.
[[nodiscard]] bool has_simd();

class convolution {
 public:
  /// `source` and `kernel` have to stay. The result has the shape of `source` and is black.
  convolution(const image& source, const kernel5x5& kernel, simd mode);

  /// Step 1, rows [0, padded_rows()) in any order: copies a row as float with its borders.
  void pad_row(std::size_t padded_row);
  /// Step 2, rows [0, rows()) in any order: computes one row of the result.
  /// Requires: step 1 is complete.
  void filter_row(std::size_t row);
  /// Makes the result black again.
  void clear();

  [[nodiscard]] std::size_t padded_rows() const { return source_.height + 2 * border; }
  [[nodiscard]] std::size_t rows() const { return source_.height; }
  [[nodiscard]] const image& result() const { return result_; }

 private:
  static constexpr std::size_t border = 2;

  [[nodiscard]] float* padded_row_at(std::size_t row) { return &padded_[row * padded_stride_]; }

  const image& source_;
  const kernel5x5& kernel_;
  const simd mode_;
  const std::size_t padded_stride_;
  std::vector<float> padded_;
  image result_;
};

/// Both steps, all rows.
void filter_serially(convolution& filter);
void filter_on_team(convolution& filter, lockstep::team& team);

}  // namespace examples
