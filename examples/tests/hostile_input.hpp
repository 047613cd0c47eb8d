// SPDX-License-Identifier: MIT
// examples/tests/hostile_input.hpp -- what every reader has to survive
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <random>
#include <string>
#include <string_view>

#include "program_runner.hpp"
#include "support/error.hpp"

namespace examples::testing {

/// "" if `parse` took the input, else the message; any other exception ends the test.
template <class Parse>
[[nodiscard]] std::string refusal(const Parse& parse, std::string_view input) {
  try {
    static_cast<void>(parse(input, "input"));
  } catch (const input_error& error) {
    return error.what();
  }
  return "";
}

/// One line that begins with the name of the input and goes on with a place in it.
inline void expect_place(const std::string& message, std::string_view input) {
  EXPECT_TRUE(matches(message, "^input:([0-9]+| byte [0-9]+): .+$") &&
              message.find('\n') == std::string::npos)
      << '\'' << message << "' for " << ::testing::PrintToString(std::string(input));
}

/// Every proper beginning of `good` is refused, up to the last `spared` bytes of it.
template <class Parse>
void expect_truncations_refused(const Parse& parse, std::string_view good, std::size_t spared) {
  ASSERT_EQ(refusal(parse, good), "");
  for (std::size_t size = 0; size + spared < good.size(); ++size) {
    expect_place(refusal(parse, good.substr(0, size)), good.substr(0, size));
  }
}

/// Changes single bytes: each result is read or refused with its place, whatever the change is.
template <class Parse>
void expect_changes_survived(const Parse& parse, const std::string& good, unsigned changes) {
  std::mt19937 random(1);  // NOLINT: the same changes in every run
  std::size_t refused = 0;
  for (unsigned i = 0; i < changes; ++i) {
    std::string changed = good;
    changed[random() % changed.size()] = static_cast<char>(random());
    const std::string message = refusal(parse, changed);
    if (message.empty()) continue;
    expect_place(message, changed);
    ++refused;
  }
  EXPECT_GT(refused, 0u) << "the changes reach nothing that is checked";
}

}  // namespace examples::testing
