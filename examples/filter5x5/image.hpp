// SPDX-License-Identifier: MIT
// examples/filter5x5/image.hpp -- a picture in memory
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace examples {

struct image {
  std::size_t width = 0;
  std::size_t height = 0;
  std::size_t channels = 1;       // 1 grey or 3 colour, interleaved
  std::uint32_t max_value = 255;  // of a sample, at most 65535
  std::vector<std::uint16_t> samples;

  [[nodiscard]] std::size_t row_samples() const { return width * channels; }
};

}  // namespace examples
