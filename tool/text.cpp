// SPDX-License-Identifier: MIT
#include "tool/text.hpp"

#include <fmt/format.h>

namespace tool {

std::string time_text(nanoseconds time) {
  struct unit {
    double size;
    const char* name;
  };
  constexpr unit units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}};
  const auto amount = static_cast<double>(time);
  for (const unit& each : units) {
    if (amount < each.size) continue;
    const double in_unit = amount / each.size;
    const int decimals = in_unit < 9.995 ? 2 : in_unit < 99.95 ? 1 : 0;
    return fmt::format("{:.{}f} {}", in_unit, decimals, each.name);
  }
  return fmt::format("{} ns", time);
}

std::string share_text(double share) { return fmt::format("{:.0f} %", share * 100); }

}  // namespace tool
