// SPDX-License-Identifier: MIT
// bench/support/verdict.hpp -- a figure against its target (pure)
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace bench {

/// A figure that the project is to reach.
struct verdict {
  std::string what;
  std::string unit;
  std::optional<double> figure;
  double target = 0;
  bool is_upper_limit = false;  // else the figure has to be at least the target
  std::string why_unclear{};    // where there is no figure

  [[nodiscard]] bool met() const {
    return figure && (is_upper_limit ? *figure <= target : *figure >= target);
  }
};

/// A line for each.
[[nodiscard]] std::string to_text(const std::vector<verdict>& verdicts);

[[nodiscard]] nlohmann::ordered_json to_json(const std::vector<verdict>& verdicts);

}  // namespace bench
