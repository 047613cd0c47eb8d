// SPDX-License-Identifier: MIT
// src/trace/json_writer.hpp -- writes JSON, to a file or a text, fast (layer: trace)
//
// put() writes a text as it is. field() writes a comma if it needs one, the name and a colon.
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

/// Collects text. It does not use printf, because a million records must take less than a second.
class json_writer {
 public:
  json_writer& put(const char* text) { return put(text, std::strlen(text)); }
  json_writer& put(const char* text, std::size_t length) {
    text_.append(text, length);
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
  json_writer& real(double value) {
    if (!(value - value == 0)) return put("null");  // JSON has no infinity
    char text[40];
    const int length = std::snprintf(text, sizeof text, "%.17g", value);
    for (int i = 0; i < length; ++i) {
      if (text[i] == ',') text[i] = '.';  // the locale may have chosen a comma
    }
    return put(text, static_cast<std::size_t>(length));
  }
  /// In quotes: EXPORT-1.
  json_writer& text(const char* of) { return put("\"").characters(of).put("\""); }

  /// The name of a value in an object. The value follows.
  json_writer& field(const char* name) {
    if (!text_.empty() && text_.back() != '{') text_ += ',';
    return put("\"").put(name).put("\":");
  }
  json_writer& field(const char* name, std::uint64_t value) { return field(name).number(value); }
  json_writer& field(const char* name, const char* value) { return field(name).text(value); }
  json_writer& time_field(const char* name, std::uint64_t value) { return field(name).time(value); }
  json_writer& address_field(const char* name, std::uint64_t value) {
    char text[24];
    std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
    return field(name, text);
  }
  json_writer& characters(const char* of) {
    while (*of != 0) {
      std::size_t plain = 0;
      while (const std::size_t more = plain_length(of + plain)) plain += more;
      put(of, plain);
      of += plain;
      if (plain > 0) continue;
      const unsigned char next = static_cast<unsigned char>(*of++);
      char escaped[8] = "\\ufffd";
      if (next == '"' || next == '\\') {
        std::snprintf(escaped, sizeof escaped, "\\%c", next);
      } else if (next < 0x20) {
        std::snprintf(escaped, sizeof escaped, "\\u%04x", static_cast<unsigned>(next));
      }
      put(escaped);
    }
    return *this;
  }

  /// Writes the text to a file, if it is as long as that or longer, and begins a new one. False if that fails. Requires:
  /// no field follows.
  bool flush(std::FILE* to, std::size_t least) {
    if (text_.size() < least) return true;
    const bool is_written = std::fwrite(text_.data(), 1, text_.size(), to) == text_.size();
    text_.clear();
    return is_written;
  }
  std::string& taken() noexcept { return text_; }

 private:
  /// The length in bytes of the character at `at`, if it is UTF-8 and needs no escape. Else 0.
  static std::size_t plain_length(const char* at) noexcept {
    const auto byte = [at](std::size_t i) { return static_cast<unsigned char>(at[i]); };
    const unsigned first = byte(0);
    if (first < 0x80) return first < 0x20 || first == '"' || first == '\\' ? 0 : 1;
    const std::size_t length = first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    if (length == 0 || first > 0xF4) return 0;
    std::uint32_t code = first & (0xFFu >> (length + 1));
    for (std::size_t i = 1; i < length; ++i) {
      if ((byte(i) & 0xC0) != 0x80) return 0;
      code = code << 6 | (byte(i) & 0x3Fu);
    }
    const bool is_short_enough = code >= (length == 2 ? 0x80u : length == 3 ? 0x800u : 0x10000u);
    return is_short_enough && code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF) ? length : 0;
  }

  std::string text_;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_TRACE_JSON_WRITER_HPP
