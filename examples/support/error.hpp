// SPDX-License-Identifier: MIT
// examples/support/error.hpp -- failures that the user can mend: one line on stderr, exit status 2
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>

namespace examples {

/// What a reader throws on bad input, and nothing else but std::bad_alloc; what() is one line.
class input_error : public std::runtime_error {
 public:
  explicit input_error(std::string_view message);
};

/// "name:line: message", lines counted from 1: for text.
[[nodiscard]] input_error error_at_line(std::string_view name, std::size_t line,
                                        std::string_view message);

/// "name: byte offset: message", offsets counted from 0: for binary data.
[[nodiscard]] input_error error_at_byte(std::string_view name, std::size_t offset,
                                        std::string_view message);

/// `text` with every control character replaced, so that a message stays on one line.
[[nodiscard]] std::string one_line(std::string_view text);

/// A piece of input between quotes, printable and cut to a length that fits into a message.
[[nodiscard]] std::string in_quotes(std::string_view token);

}  // namespace examples
