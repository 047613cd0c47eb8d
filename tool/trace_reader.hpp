// SPDX-License-Identifier: MIT
// tool/trace_reader.hpp -- a trace from the text of a Trace Event file
//
// It reads the events X (slices), i (marks), C (counters), s and f (arrows) and M (names), and counts all others.
// Events may come in any order. The text is read piece by piece, so memory is needed only for what the trace says. It has a
// limit.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <stdexcept>
#include <string>
#include <string_view>

#include "tool/trace.hpp"

namespace tool {

/// The file cannot be used: what() is one line that gives the cause, and what to do about it.
struct bad_trace : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The most bytes for what a trace says. A file of 150 MB has 10^6 records, which take about 100 MB.
constexpr std::uint64_t most_trace_memory = std::uint64_t{4} << 30;

/// `name` is that of the file, for messages. Throws bad_trace.
[[nodiscard]] trace read_trace(const std::string& text, std::string_view name,
                               std::uint64_t most_memory = most_trace_memory);
/// Requires: the stream can go back to its beginning.
[[nodiscard]] trace read_trace(std::istream& from, std::string_view name,
                               std::uint64_t most_memory = most_trace_memory);

}  // namespace tool
