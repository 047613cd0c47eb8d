// SPDX-License-Identifier: MIT
// tests/fuzz/picture.hpp -- what holds for every picture that a reader accepts
#pragma once

#include <algorithm>

#include "filter5x5/image.hpp"
#include "fuzz/harness.hpp"

namespace lockstep::test {

inline void require_picture(const examples::image& picture) {
  constexpr std::size_t largest = 0x7fffffff;
  require(picture.width >= 1 && picture.width <= largest, "width in range");
  require(picture.height >= 1 && picture.height <= largest, "height in range");
  require(picture.channels == 1 || picture.channels == 3, "grey or colour");
  require(picture.max_value >= 1 && picture.max_value <= 65535, "maxval in range");
  require(picture.samples.size() == picture.row_samples() * picture.height, "complete");
  require(std::all_of(picture.samples.begin(), picture.samples.end(),
                      [&](std::uint16_t sample) { return sample <= picture.max_value; }),
          "no sample above maxval");
}

inline void require_same(const examples::image& a, const examples::image& b) {
  require(a.width == b.width && a.height == b.height && a.channels == b.channels &&
              a.max_value == b.max_value,
          "same shape again");
  require(a.samples == b.samples, "same samples again");
}

}  // namespace lockstep::test
