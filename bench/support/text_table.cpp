// SPDX-License-Identifier: MIT
#include "support/text_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace bench {

std::string text_table::to_string() const {
  std::string titles, rule;
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    std::size_t width = columns_[i].title.size();
    for (const auto& row : rows_) width = std::max(width, row[i].size());
    widths.push_back(width);
    const bool is_left = columns_[i].side == align::left;
    titles += fmt::format("| {:<{}} ", columns_[i].title, width);
    rule += fmt::format("|{}{:-<{}}{}", is_left ? ":" : "-", "", width, is_left ? "-" : ":");
  }
  std::string text = titles + "|\n" + rule + "|\n";
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      text += columns_[i].side == align::left ? fmt::format("| {:<{}} ", row[i], widths[i])
                                              : fmt::format("| {:>{}} ", row[i], widths[i]);
    }
    text += "|\n";
  }
  return text;
}

std::string four_digits(double value) {
  constexpr int digits = 4, most_decimals = 6;
  if (value == 0) return "0";
  const int before_point = static_cast<int>(std::floor(std::log10(std::abs(value)))) + 1;
  return fmt::format("{:.{}f}", value, std::clamp(digits - before_point, 0, most_decimals));
}

}  // namespace bench
