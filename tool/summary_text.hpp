// SPDX-License-Identifier: MIT
// tool/summary_text.hpp -- a trace in tables
#pragma once

#include <string>

#include "tool/figures.hpp"

namespace tool {

[[nodiscard]] std::string summary_text(const trace& of, const figures& in_numbers);

}  // namespace tool
