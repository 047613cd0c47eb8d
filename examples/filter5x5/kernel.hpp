// SPDX-License-Identifier: MIT
// examples/filter5x5/kernel.hpp -- the weights of a 5x5 filter
#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace examples {

/// sample = scale * (sum of weight * neighbour) + bias, then rounded and cut to the sample range.
struct kernel5x5 {
  std::array<float, 25> weights{};  // row by row, from top left
  float scale = 1;
  float bias = 0;
};

/// Arguments of the command line: `text` is blur, sharpen, edge, or 25 numbers parted by commas.
/// Without `scale` that of the named kernel is taken, 1 for numbers.
/// Throws input_error, also when a result could leave the range of float.
[[nodiscard]] kernel5x5 parse_kernel(std::string_view text, std::optional<double> scale,
                                     double bias);

}  // namespace examples
