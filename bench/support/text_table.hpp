// SPDX-License-Identifier: MIT
// bench/support/text_table.hpp -- a table for the eye that is Markdown as well
#pragma once

#include <string>
#include <vector>

namespace bench {

class text_table {
 public:
  enum class align { left, right };
  struct column {
    std::string title;
    align side;
  };

  explicit text_table(std::vector<column> columns) : columns_(std::move(columns)) {}

  /// Requires one cell for each column.
  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }

  [[nodiscard]] std::string to_string() const;

 private:
  std::vector<column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

/// With four significant digits and without an exponent.
[[nodiscard]] std::string four_digits(double value);

}  // namespace bench
