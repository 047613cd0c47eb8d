// SPDX-License-Identifier: MIT
// examples/filter5x5/image.hpp -- a picture in memory
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
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

/// The most samples of a picture that is read, with the border of 2 pixels around it. The program holds some
/// 24 bytes for each of them: three filters have each a float and a result. That is 2.4 GB. A file that
/// announces more is refused.
constexpr std::uint64_t most_samples = 100'000'000;

/// Empty, or a message that names size and limit, if such a picture is larger than that.
[[nodiscard]] std::string why_too_large(std::uint64_t width, std::uint64_t height,
                                        std::uint64_t channels);

}  // namespace examples
