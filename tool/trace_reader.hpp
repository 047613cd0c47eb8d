// SPDX-License-Identifier: MIT
// tool/trace_reader.hpp -- a trace from the text of a Trace Event file
//
// Read are the events X (slices), i (marks), C (counters), s and f (arrows) and M (names); others are counted. Events
// may come in any order.
#pragma once

#include <stdexcept>
#include <string_view>

#include "tool/trace.hpp"

namespace tool {

/// The file cannot be used: what() is one line that gives the cause, and what to do about it.
struct bad_trace : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// `name` is that of the file, for messages. Throws bad_trace.
[[nodiscard]] trace read_trace(std::string_view text, std::string_view name);

}  // namespace tool
