// SPDX-License-Identifier: MIT
// examples/filter5x5/netpbm.hpp -- PGM and PPM pictures [Netpbm]
//
// Read: P2 and P3 (text), P5 and P6 (binary), samples of 8 and 16 bit (maxval up to 65535).
// Rejected: bitmaps and PAM, sizes the file is too short for, samples above maxval, anything after
// the picture (in text files other than white space). Messages give the line, and for binary
// samples the offset.
#pragma once

#include <string>
#include <string_view>

#include "filter5x5/image.hpp"

namespace examples {

/// Pure: returns the picture or throws input_error (or std::bad_alloc, within two bytes for every
/// byte of the file). `name` is used in messages.
[[nodiscard]] image parse_netpbm(std::string_view bytes, std::string_view name);

/// Binary: P5 for grey, P6 for colour.
[[nodiscard]] std::string to_netpbm(const image& picture);

}  // namespace examples
