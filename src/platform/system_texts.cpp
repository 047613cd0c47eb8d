// SPDX-License-Identifier: MIT
// src/platform/system_texts.cpp -- the bodies of system_texts.hpp (layer: platform)
#include "system_texts.hpp"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

LOCKSTEP_INLINE void append(std::string& text, const char* format, ...) {
  char buffer[501];
  std::va_list arguments;
  va_start(arguments, format);
  const int length = std::vsnprintf(buffer, sizeof buffer, format, arguments);
  va_end(arguments);
  if (length > 0) text.append(buffer);
}

LOCKSTEP_INLINE std::string file_text(const char* path, ...) {
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

LOCKSTEP_INLINE const char* skip_blanks(const char* text) noexcept {
  return text + std::strspn(text, " \t\r\n\v\f");
}

LOCKSTEP_INLINE std::string one_line(const char* text) {
  std::string line = text;
  for (char& each : line) {
    if (static_cast<unsigned char>(each) < 0x20 || each == 0x7f) each = '?';
  }
  return line;
}

LOCKSTEP_INLINE bool is_switched_off(const char* text) noexcept {
  text = skip_blanks(text);
  if (*text == '0') return *skip_blanks(text + 1) == 0;
  const char* letter = "false";
  for (; *letter != 0 && (*text | 0x20) == *letter; ++letter) ++text;
  return *letter == 0 && *skip_blanks(text) == 0;
}

LOCKSTEP_INLINE bool read_number(const char*& at, unsigned long long most,
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

namespace cgroup {

LOCKSTEP_INLINE char* next_part(char*& at, const char* separators) noexcept {
  char* const part = at + std::strspn(at, separators);
  at = part + std::strcspn(part, separators);
  if (*at != 0) *at++ = 0;
  return part;
}

LOCKSTEP_INLINE double ratio(const char* quota, const char* period) noexcept {
  const double numerator = std::strtod(quota, nullptr);
  const double denominator = std::strtod(period, nullptr);
  // The limit excludes infinity, which strtod() reads as well.
  constexpr double most = 1e18;
  const bool are_numbers =
      numerator > 0 && numerator <= most && denominator > 0 && denominator <= most;
  return are_numbers ? numerator / denominator : unlimited;
}

LOCKSTEP_INLINE double parse_cpu_max(const char* text) noexcept {
  const char* const period = skip_blanks(text);
  return ratio(text, period + std::strcspn(period, " \t\n"));
}

LOCKSTEP_INLINE double tighter(double a, double b) noexcept {
  return a < 0 || (b >= 0 && b < a) ? b : a;
}

LOCKSTEP_INLINE bool has_cpu(const char* list, std::size_t size) noexcept {
  for (const char *word = list, *at = list;; ++at) {
    const bool is_end = at == list + size;
    if (!is_end && *at != ',') continue;
    if (at - word == 3 && std::memcmp(word, "cpu", 3) == 0) return true;
    if (is_end) return false;
    word = at + 1;
  }
}

LOCKSTEP_INLINE std::string find_group(const char* text, bool version_2) {
  std::string group;
  while (*text != 0) {
    // "number:controllers:group"
    const std::size_t length = std::strcspn(text, "\n"), first = std::strcspn(text, ":\n");
    const std::size_t second =
        first < length ? first + 1 + std::strcspn(text + first + 1, ":\n") : length;
    const std::size_t size = second - first - 1;
    if (second < length && (version_2 ? size == 0 : has_cpu(text + first + 1, size))) {
      group.assign(text + second + 1, length - second - 1);
      break;
    }
    text += length;
    if (*text != 0) ++text;
  }
  return group;
}

LOCKSTEP_INLINE char* decode_octal(char* text) noexcept {
  char* to = text;
  for (const char* at = text; *at != 0; ++at) {
    unsigned code = 0, digits = 0;
    while (*at == '\\' && digits < 3 && at[digits + 1] >= '0' && at[digits + 1] <= '7') {
      code = code * 8 + static_cast<unsigned>(at[++digits] - '0');
    }
    const bool is_code = digits == 3 && code != 0;
    *to++ = is_code ? static_cast<char>(code) : *at;
    if (is_code) at += 3;
  }
  *to = 0;
  return text;
}

LOCKSTEP_INLINE bool parse_mount(char* line, mount& result) noexcept {
  const char* const blanks = " \t\n";
  char* right = std::strstr(line, " - ");
  if (right == nullptr) return false;
  *right = 0;
  right += 3;
  for (int skipped = 0; skipped < 3; ++skipped) next_part(line, blanks);  // numbers
  result.shown_group = decode_octal(next_part(line, blanks));
  result.point = decode_octal(next_part(line, blanks));
  const char* const type = next_part(right, blanks);
  next_part(right, blanks);  // the source
  const char* const options = next_part(right, blanks);
  result.version_2 = std::strcmp(type, "cgroup2") == 0;
  return result.version_2 ||
         (std::strcmp(type, "cgroup") == 0 && has_cpu(options, std::strlen(options)));
}

LOCKSTEP_INLINE char* relative_group(char* group, const char* shown) noexcept {
  const std::size_t length = std::strcmp(shown, "/") == 0 ? 0 : std::strlen(shown);
  const bool is_below = std::strncmp(group, shown, length) == 0 &&
                        (length == 0 || group[length] == 0 || group[length] == '/');
  return is_below && std::strcmp(group + length, "/") != 0 ? group + length
                                                           : group + std::strlen(group);
}

LOCKSTEP_INLINE double quota_of_mount(const char* root, const mount& where, const char* groups) {
  std::string group = find_group(groups, where.version_2);
  char* const below = relative_group(&group[0], where.shown_group);
  double result = unlimited;
  while (true) {
    const char* const file = where.version_2 ? "cpu.max" : "cpu.cfs_quota_us";
    const std::string quota = file_text("%s%s%s/%s", root, where.point, below, file);
    const std::string period =
        where.version_2 ? std::string()
                        : file_text("%s%s%s/cpu.cfs_period_us", root, where.point, below);
    result = tighter(result, where.version_2 ? parse_cpu_max(quota.c_str())
                                             : ratio(quota.c_str(), period.c_str()));
    char* const slash = std::strrchr(below, '/');
    if (slash == nullptr) return result;
    *slash = 0;
  }
}

LOCKSTEP_INLINE double quota(const char* root) {
  const std::string groups = file_text("%s/proc/self/cgroup", root);
  std::string mounts = file_text("%s/proc/self/mountinfo", root);
  double result = unlimited;
  for (char* at = &mounts[0]; *at != 0;) {
    mount where;
    if (parse_mount(next_part(at, "\n"), where)) {
      result = tighter(result, quota_of_mount(root, where, groups.c_str()));
    }
  }
  return result;
}

}  // namespace cgroup

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
