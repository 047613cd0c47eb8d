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

std::string counted(std::uint64_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string share_text(double share) { return fmt::format("{:.0f} %", share * 100); }

std::string plain_text(const std::string& name) {
  std::string plain;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const auto code = static_cast<unsigned char>(name[i]);
    const auto next = static_cast<unsigned char>(i + 1 < name.size() ? name[i + 1] : 0);
    if (code == '\n') {
      plain += "\\n";
    } else if (code < 0x20 || code == 0x7f) {
      plain += fmt::format("\\x{:02x}", code);
    } else if (code == 0xc2 && next >= 0x80 && next < 0xa0) {  // the same with a set bit, in UTF-8
      plain += fmt::format("\\x{:02x}", next);
      ++i;
    } else {
      plain += name[i];
    }
  }
  return plain;
}

}  // namespace tool
