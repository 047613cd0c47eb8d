// SPDX-License-Identifier: MIT
// examples/filter5x5/png.hpp -- PNG pictures, decoded and encoded by stb
//
// The chunks are checked here first: stb knows neither offsets nor check sums, and would allocate
// whatever a header announces. Samples of 16 bit are read; an alpha channel is dropped.
#pragma once

#include <string>
#include <string_view>

#include "filter5x5/image.hpp"

namespace examples {

/// Whether the bytes begin as a PNG file does.
[[nodiscard]] bool is_png(std::string_view bytes);

/// Pure: returns the picture or throws input_error (or std::bad_alloc). `name` is used in messages.
[[nodiscard]] image parse_png(std::string_view bytes, std::string_view name);

/// 8 bit samples only: throws input_error unless max_value is 255.
[[nodiscard]] std::string to_png(const image& picture);

}  // namespace examples
