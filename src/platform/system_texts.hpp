// SPDX-License-Identifier: MIT
// src/platform/system_texts.hpp -- texts for messages, and what is in the system's files (layer: platform)
#ifndef LOCKSTEP_SRC_PLATFORM_SYSTEM_TEXTS_HPP
#define LOCKSTEP_SRC_PLATFORM_SYSTEM_TEXTS_HPP

#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <new>
#include <string>

#include <lockstep/detail/platform/config.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// Appends what std::printf would print, at most 500 characters.
inline void append(std::string& text, const char* format, ...) LOCKSTEP_PRINTS(2);
inline void append(std::string& text, const char* format, ...) {
  char buffer[501];
  std::va_list arguments;
  va_start(arguments, format);
  const int length = std::vsnprintf(buffer, sizeof buffer, format, arguments);
  va_end(arguments);
  if (length > 0) text.append(buffer);
}

/// "1 member", "2 members".
inline std::string counted(std::uint64_t count, const char* what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

/// The content of a file; empty if it cannot be read. The path is what std::printf would print.
inline std::string file_text(const char* path, ...) LOCKSTEP_PRINTS(1);
inline std::string file_text(const char* path, ...) {
  char part[4096];  // no path is longer
  std::va_list arguments;
  va_start(arguments, path);
  const int length = std::vsnprintf(part, sizeof part, path, arguments);
  va_end(arguments);
  std::string text;
  std::FILE* const file =
      length > 0 && length < static_cast<int>(sizeof part) ? std::fopen(part, "r") : nullptr;
  if (file == nullptr) return text;
  for (std::size_t size = 0; (size = std::fread(part, 1, sizeof part, file)) > 0;) {
    text.append(part, size);
  }
  std::fclose(file);
  return text;
}

/// Calls f(). False if it threw std::bad_alloc: for what destructors and threads of the library print.
template <class Function>
bool has_memory_for(Function f) {
#if LOCKSTEP_HAS_EXCEPTIONS
  try {
    f();
  } catch (const std::bad_alloc&) {
    return false;
  }
#else
  f();
#endif
  return true;
}

/// The text after its leading blanks.
inline const char* skip_blanks(const char* text) noexcept {
  return text + std::strspn(text, " \t\r\n\v\f");
}

/// A text for one line of a message, without control characters: these could end the line or change the terminal.
inline std::string one_line(const char* text) {
  std::string line = text;
  for (char& each : line) {
    if (static_cast<unsigned char>(each) < 0x20 || each == 0x7f) each = '?';
  }
  return line;
}
/// In quotes, for one line of a message: shortened.
inline std::string quoted_text(const char* of) {
  constexpr std::size_t longest = 60;
  std::string text = one_line(of);
  if (text.size() > longest) text.replace(longest, text.npos, "...");
  return "'" + text + "'";
}
/// The value of a variable, without the blanks around it, in small letters of ASCII whatever the locale. It may be null.
inline std::string plain_word(const char* value) {
  std::string word = skip_blanks(value != nullptr ? value : "");
  while (!word.empty() && *skip_blanks(&word.back()) == 0) word.pop_back();
  for (char& each : word) {
    if (each >= 'A' && each <= 'Z') each = static_cast<char>(each - 'A' + 'a');
  }
  return word;
}
/// Whether the value of a variable means no: 0 or false, in capital or small letters. Blanks may stand around it.
inline bool is_switched_off(const char* text) noexcept {
  text = skip_blanks(text);
  if (*text == '0') return *skip_blanks(text + 1) == 0;
  const char* letter = "false";
  for (; *letter != 0 && (*text | 0x20) == *letter; ++letter) ++text;
  return *letter == 0 && *skip_blanks(text) == 0;
}

/// Reads all decimal digits at `at`, and moves behind them. If there is no digit, or the number is above `most`,
/// returns false and changes nothing.
inline bool read_number(const char*& at, unsigned long long most,
                        unsigned long long& result) noexcept {
  const char* digit = at;
  unsigned long long value = 0;
  for (; *digit >= '0' && *digit <= '9'; ++digit) {
    const unsigned next = static_cast<unsigned>(*digit - '0');
    if (next > most || value > (most - next) / 10) return false;
    value = value * 10 + next;
  }
  if (digit == at) return false;
  at = digit;
  result = value;
  return true;
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_PLATFORM_SYSTEM_TEXTS_HPP
