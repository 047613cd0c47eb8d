// SPDX-License-Identifier: MIT
#include "support/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace examples {

input_error::input_error(std::string_view message) : std::runtime_error(one_line(message)) {}

input_error error_at_line(std::string_view name, std::size_t line, std::string_view message) {
  return input_error(fmt::format("{}:{}: {}", name, line, message));
}

input_error error_at_byte(std::string_view name, std::size_t offset, std::string_view message) {
  return input_error(fmt::format("{}: byte {}: {}", name, offset, message));
}

std::string one_line(std::string_view text) {
  std::string line(text);
  const auto is_control = [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) == 0x7f;
  };
  std::replace_if(line.begin(), line.end(), is_control, '?');
  return line;
}

std::string in_quotes(std::string_view token) {
  constexpr std::size_t longest = 40;
  std::string shown(token.substr(0, longest));
  // Bytes beyond ASCII may be half of a character or not text at all.
  const auto is_foreign = [](char c) { return static_cast<unsigned char>(c) >= 0x80; };
  std::replace_if(shown.begin(), shown.end(), is_foreign, '?');
  return fmt::format("'{}{}'", one_line(shown), token.size() > longest ? "..." : "");
}

}  // namespace examples
