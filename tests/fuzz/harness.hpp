// SPDX-License-Identifier: MIT
// tests/fuzz/harness.hpp -- what the harnesses share
//
// A harness defines LLVMFuzzerTestOneInput and holds no state between calls. It reads the bytes as a
// user's file and aborts when a property is broken; sanitizers see the rest. scripts/run/fuzz.sh links it
// with libFuzzer, tests with replay.cpp, which calls it for each file of the corpus.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace lockstep::test {

/// Ends the program when a property does not hold.
inline void require(bool holds, const char* property) {
  if (holds) return;
  std::fprintf(stderr, "broken property: %s\n", property);
  std::abort();
}

[[nodiscard]] inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

/// The parts of `text` between separators: always `count`, those that are not there are empty.
[[nodiscard]] inline std::vector<std::string_view> parts_of(std::string_view text, char separator,
                                                            std::size_t count) {
  std::vector<std::string_view> parts;
  while (parts.size() + 1 < count) {
    const std::size_t end = text.find(separator) < text.size() ? text.find(separator) : text.size();
    parts.push_back(text.substr(0, end));
    text.remove_prefix(end < text.size() ? end + 1 : end);
  }
  parts.push_back(text);
  return parts;
}

/// One line that begins as expected: what the user reads when input is refused.
inline void require_message(std::string_view message, std::string_view beginning) {
  require(message.substr(0, beginning.size()) == beginning, "a message says what it is about");
  require(message.size() > beginning.size() + 3, "a message says what is wrong");
  for (const char c : message) {
    const bool is_control = static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
    require(!is_control, "a message is one line");
  }
}

}  // namespace lockstep::test
