// SPDX-License-Identifier: MIT
#include "filter5x5/image.hpp"

#include <fmt/format.h>

namespace examples {

std::string why_too_large(std::uint64_t width, std::uint64_t height, std::uint64_t channels) {
  // Divisions, for the product of three may be beyond 64 bit.
  if (width + 4 <= most_samples / channels / (height + 4)) return {};
  return fmt::format(
      "too large: {} x {} pixels, {}; with a border of 2 around them up to {} samples are read",
      width, height, channels == 1 ? "grey" : "3 samples each", most_samples);
}

}  // namespace examples
