// SPDX-License-Identifier: MIT
// tool/page.hpp -- the HTML page that shows a trace: one file, which loads nothing
#pragma once

#include <string>
#include <string_view>

#include "tool/packed_trace.hpp"

namespace tool {

/// `title` names the trace.
[[nodiscard]] std::string make_page(const packed_trace& of, std::string_view title);

}  // namespace tool
