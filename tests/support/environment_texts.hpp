// SPDX-License-Identifier: MIT
// tests/support/environment_texts.hpp -- what src/team/environment.cpp writes, as texts that tests compare
#pragma once

#include "team/environment.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace lockstep::test {

/// What the user reads of the variables, line for line.
inline std::vector<std::string> descriptions(const detail::environment& of,
                                             bool only_ignored = false) {
  std::string text;
  of.describe(text, "", only_ignored);
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}
inline std::vector<std::string> complaints(const detail::environment& of) {
  return descriptions(of, true);
}

inline std::string text_of(wait_policy policy) { return detail::environment_text::text_of(policy); }
inline std::string text_of(const binding& where) {
  return detail::environment_text::text_of(where);
}

}  // namespace lockstep::test
