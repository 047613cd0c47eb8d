// SPDX-License-Identifier: MIT
// tool/text.hpp -- times and shares for the eye
#pragma once

#include <cstdint>
#include <string>

#include "tool/trace.hpp"

namespace tool {

/// "12.3 us": three significant digits, in a unit that suits.
[[nodiscard]] std::string time_text(nanoseconds time);

/// "1 slice", "2 slices".
[[nodiscard]] std::string counted(std::uint64_t count, const char* what);

/// "12 %"; a share between 0 and 1.
[[nodiscard]] std::string share_text(double share);

/// A name for a terminal. Characters that move its cursor or change its colours are escaped.
[[nodiscard]] std::string plain_text(const std::string& name);

}  // namespace tool
