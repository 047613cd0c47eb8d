// SPDX-License-Identifier: MIT
// tool/files.hpp -- traces in, pages out
#pragma once

#include <string>
#include <string_view>

#include "tool/figures.hpp"
#include "tool/text.hpp"
#include "tool/trace.hpp"

namespace tool {

/// Reads a trace, and prints to standard error what it lacks. Throws bad_trace.
[[nodiscard]] trace read_trace_file(const std::string& path);

/// Writes the whole file or nothing. Throws system_failure.
void write_file(const std::string& path, std::string_view text);

}  // namespace tool
