// SPDX-License-Identifier: MIT
// src/trace/json_writer.hpp -- writes JSON, to a file or a text, fast (layer: trace)
//
// Only for cold bodies.
#ifndef LOCKSTEP_SRC_TRACE_JSON_WRITER_HPP
#define LOCKSTEP_SRC_TRACE_JSON_WRITER_HPP

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>

#include <lockstep/detail/platform/config.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// Text on its way to a file, or, where that is null, to taken(). Not through printf: a million records are to take less than a second.
class json_writer {
 public:
  explicit json_writer(std::FILE* to) noexcept : to_(to) {}
  json_writer(const json_writer&) = delete;
  json_writer& operator=(const json_writer&) = delete;

  json_writer& put(const char* text) { return put(text, std::strlen(text)); }
  json_writer& put(const char* text, std::size_t length) {
    text_.append(text, length);
    if (to_ != nullptr && text_.size() > most_) flush();
    return *this;
  }
  json_writer& number(std::uint64_t value) {
    char digits[20];
    std::size_t at = sizeof digits;
    do {
      digits[--at] = static_cast<char>('0' + value % 10);
      value /= 10;
    } while (value != 0);
    return put(digits + at, sizeof digits - at);
  }
  /// Nanoseconds as microseconds.
  json_writer& time(std::uint64_t nanoseconds) {
    const unsigned rest = static_cast<unsigned>(nanoseconds % 1000);
    const char decimals[4] = {'.', static_cast<char>('0' + rest / 100),
                              static_cast<char>('0' + rest / 10 % 10),
                              static_cast<char>('0' + rest % 10)};
    return number(nanoseconds / 1000).put(decimals, 4);
  }
  json_writer& address(std::uint64_t value) {
    char text[24];
    return put(text, static_cast<std::size_t>(std::snprintf(
                         text, sizeof text, "\"0x%llx\"", static_cast<unsigned long long>(value))));
  }
  json_writer& real(double value) {
    if (!(value - value == 0)) return put("null");  // JSON has no infinity
    char text[40];
    const int length = std::snprintf(text, sizeof text, "%.17g", value);
    for (int i = 0; i < length; ++i) {
      if (text[i] == ',') text[i] = '.';  // of the locale
    }
    return put(text, static_cast<std::size_t>(length));
  }
  /// In quotes: EXPORT-1.
  json_writer& text(const char* before, const char* of) {
    put("\"").put(before);
    return characters(of).put("\"");
  }
  json_writer& text(const char* of) { return text("", of); }
  json_writer& characters(const char* of) {
    const char* at = of;
    while (*at != 0) {
      const std::size_t plain = plain_length(at);
      if (plain > 0) {
        put(at, plain);
        at += plain;
        continue;
      }
      const unsigned char next = static_cast<unsigned char>(*at++);
      if (next == '"' || next == '\\') {
        const char escaped[2] = {'\\', static_cast<char>(next)};
        put(escaped, 2);
      } else if (next < 0x20) {
        char escaped[8];
        std::snprintf(escaped, sizeof escaped, "\\u%04x", static_cast<unsigned>(next));
        put(escaped, 6);
      } else {
        put("\\ufffd", 6);
      }
    }
    return *this;
  }

  bool flush() {
    is_good_ = std::fwrite(text_.data(), 1, text_.size(), to_) == text_.size() && is_good_;
    text_.clear();
    return is_good_;
  }
  std::string& taken() noexcept { return text_; }

 private:
  /// How many bytes can stand as they are.
  static std::size_t plain_length(const char* at) noexcept {
    std::size_t length = 0;
    while (true) {
      const unsigned char next = static_cast<unsigned char>(at[length]);
      if (next < 0x20 || next == '"' || next == '\\') return length;
      if (next < 0x80) {
        ++length;
        continue;
      }
      const std::size_t more = next >= 0xC2 && next < 0xE0   ? 1
                               : next >= 0xE0 && next < 0xF0 ? 2
                               : next >= 0xF0 && next < 0xF5 ? 3
                                                             : 0;
      if (more == 0) return length;
      for (std::size_t i = 1; i <= more; ++i) {
        const unsigned char follows = static_cast<unsigned char>(at[length + i]);
        const bool is_first = i == 1;
        const unsigned char least = is_first && next == 0xE0   ? 0xA0
                                    : is_first && next == 0xF0 ? 0x90
                                                               : 0x80;
        const unsigned char most = is_first && next == 0xED   ? 0x9F
                                   : is_first && next == 0xF4 ? 0x8F
                                                              : 0xBF;
        if (follows < least || follows > most) return length;
      }
      length += more + 1;
    }
  }

  std::FILE* const to_;
  static constexpr std::size_t most_ = std::size_t{1} << 16;
  bool is_good_ = true;
  std::string text_;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_TRACE_JSON_WRITER_HPP
