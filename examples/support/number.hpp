// SPDX-License-Identifier: MIT
// examples/support/number.hpp -- numbers from text, independent of the locale
#pragma once

#include <charconv>
#include <cmath>
#include <string_view>
#include <system_error>
#include <type_traits>

namespace examples {

enum class number_fault { none, malformed, out_of_range, not_finite };

template <class Number>
struct parsed_number {
  Number value{};
  number_fault fault = number_fault::none;
};

/// Reads all of `token` as one number. A plus sign is accepted, infinities and NaN are not.
template <class Number>
[[nodiscard]] parsed_number<Number> parse_number(std::string_view token) {
  // std::from_chars knows no plus sign, but files written by other programs have them.
  if (token.size() > 1 && token[0] == '+' && token[1] != '-') token.remove_prefix(1);
  parsed_number<Number> result;
  const char* const last = token.data() + token.size();
  const std::from_chars_result scan = std::from_chars(token.data(), last, result.value);
  if (scan.ec == std::errc::invalid_argument || scan.ptr != last) {
    result.fault = number_fault::malformed;
  } else if (scan.ec == std::errc::result_out_of_range) {
    result.fault = number_fault::out_of_range;
  } else if constexpr (std::is_floating_point_v<Number>) {
    if (!std::isfinite(result.value)) result.fault = number_fault::not_finite;
  }
  return result;
}

/// The end of the sentence "'1e999' ...".
[[nodiscard]] constexpr std::string_view explain(number_fault fault) {
  switch (fault) {
    case number_fault::none: return "is a number";
    case number_fault::malformed: return "is not a number of the expected kind";
    case number_fault::out_of_range: return "is out of range";
    case number_fault::not_finite: return "is not finite";
  }
  return "";
}

}  // namespace examples
