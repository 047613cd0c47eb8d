// SPDX-License-Identifier: MIT
// src/trace/json_file.hpp -- writes JSON to a file, fast (layer: trace)
//
// Only for cold bodies.
#ifndef LOCKSTEP_SRC_TRACE_JSON_FILE_HPP
#define LOCKSTEP_SRC_TRACE_JSON_FILE_HPP

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include <lockstep/detail/platform/config.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// Text on its way to a file. Not through printf: a million records are to take less than a second.
class json_file {
 public:
  explicit json_file(std::FILE* to) noexcept : to_(to) {}
  ~json_file() { flush(); }
  json_file(const json_file&) = delete;
  json_file& operator=(const json_file&) = delete;

  json_file& put(const char* text) { return put(text, std::strlen(text)); }
  json_file& put(const char* text, std::size_t length) {
    if (size_ + length > sizeof buffer_) flush();
    if (length > sizeof buffer_) {
      is_good_ = std::fwrite(text, 1, length, to_) == length && is_good_;
      return *this;
    }
    std::memcpy(buffer_ + size_, text, length);
    size_ += length;
    return *this;
  }
  json_file& number(std::uint64_t value) {
    char digits[20];
    std::size_t at = sizeof digits;
    do {
      digits[--at] = static_cast<char>('0' + value % 10);
      value /= 10;
    } while (value != 0);
    return put(digits + at, sizeof digits - at);
  }
  /// Nanoseconds as microseconds.
  json_file& time(std::uint64_t nanoseconds) {
    const unsigned rest = static_cast<unsigned>(nanoseconds % 1000);
    const char decimals[4] = {'.', static_cast<char>('0' + rest / 100),
                              static_cast<char>('0' + rest / 10 % 10),
                              static_cast<char>('0' + rest % 10)};
    return number(nanoseconds / 1000).put(decimals, 4);
  }
  json_file& address(std::uint64_t value) {
    char text[24];
    return put(text, static_cast<std::size_t>(std::snprintf(
                         text, sizeof text, "\"0x%llx\"", static_cast<unsigned long long>(value))));
  }
  json_file& real(double value) {
    if (!(value - value == 0)) return put("null");  // JSON has no infinity
    char text[40];
    const int length = std::snprintf(text, sizeof text, "%.17g", value);
    for (int i = 0; i < length; ++i) {
      if (text[i] == ',') text[i] = '.';  // of the locale
    }
    return put(text, static_cast<std::size_t>(length));
  }
  /// In quotes: EXPORT-1.
  json_file& text(const char* before, const char* of) {
    put("\"").put(before);
    return characters(of).put("\"");
  }
  json_file& text(const char* of) { return text("", of); }
  json_file& characters(const char* of) {
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
    is_good_ = std::fwrite(buffer_, 1, size_, to_) == size_ && is_good_;
    size_ = 0;
    return is_good_;
  }

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
  std::size_t size_ = 0;
  bool is_good_ = true;
  char buffer_[1 << 16];
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_TRACE_JSON_FILE_HPP
