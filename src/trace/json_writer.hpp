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

/// Collects text for a file, or for taken() if the file is null. It does not use printf, because a million records must
/// take less than a second.
class json_writer {
 public:
  explicit json_writer(std::FILE* to) noexcept : to_(to) {}
  json_writer(const json_writer&) = delete;
  json_writer& operator=(const json_writer&) = delete;

  json_writer& put(const char* text) { return put(text, std::strlen(text)); }
  json_writer& put(const char* text, std::size_t length) {
    if (length > text_.size() - used_) make_room(length);
    std::memcpy(&text_[used_], text, length);
    used_ += length;
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

  /// The name of a value in an object. The value follows. The name has at most 60 characters.
  json_writer& field(const char* name) {
    if (text_.size() - used_ < most_name) make_room(most_name);
    char* at = &text_[used_];
    if (used_ == 0 || at[-1] != '{') *at++ = ',';
    *at++ = '"';
    while (*name != 0) *at++ = *name++;
    *at++ = '"';
    *at++ = ':';
    used_ = static_cast<std::size_t>(at - text_.data());
    return *this;
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

  bool flush() {
    is_good_ = std::fwrite(text_.data(), 1, used_, to_) == used_ && is_good_;
    used_ = 0;
    return is_good_;
  }
  std::string& taken() {
    text_.resize(used_);
    return text_;
  }

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

  /// The last character stays in the text, because field() looks at it.
  void make_room(std::size_t length) {
    if (to_ != nullptr && used_ > 0) {
      const char last = text_[--used_];
      flush();
      text_[used_++] = last;
    }
    if (length > text_.size() - used_) text_.resize(text_.size() + length + most_);
  }

  std::FILE* const to_;
  static constexpr std::size_t most_ = std::size_t{1} << 16, most_name = 64;
  bool is_good_ = true;
  std::size_t used_ = 0;  ///< of the text
  std::string text_;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_TRACE_JSON_WRITER_HPP
