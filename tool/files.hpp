// SPDX-License-Identifier: MIT
// tool/files.hpp -- traces in, pages out
#pragma once

#include <string>
#include <string_view>

#include "tool/figures.hpp"
#include "tool/text.hpp"
#include "tool/trace.hpp"

namespace tool {

/// Says on standard error what the trace lacks. Throws bad_trace.
[[nodiscard]] trace read_trace_file(const std::string& path);

/// All of the file or nothing. Throws system_failure.
void write_file(const std::string& path, std::string_view text);

}  // namespace tool
