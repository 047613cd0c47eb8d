// SPDX-License-Identifier: MIT
// lockstep/detail/platform/cpu_list.hpp -- numbers and lists of CPUs as text: "0,2,4-7,8-14:2" (layer: platform)
//
// The form in which Linux writes sets of CPUs, and users write where threads shall run; a range may have
// a stride. Strict: what is not wholly right is refused, and no text makes a list of more than
// `max_cpus`, however it is written. Independent of the locale.
#ifndef LOCKSTEP_DETAIL_PLATFORM_CPU_LIST_HPP
#define LOCKSTEP_DETAIL_PLATFORM_CPU_LIST_HPP

#include <cstddef>
#include <string>
#include <vector>

#include "config.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// The most CPUs of a list, and above the highest number of one.
constexpr unsigned max_cpus = 65536;

/// `text` without the blanks around it.
inline std::string without_blanks(const std::string& text) {
  const char* const blanks = " \t\r\n\v\f";
  const std::size_t begin = text.find_first_not_of(blanks);
  if (begin == std::string::npos) return std::string();
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

/// Reads a number of decimal digits only, at most `most`; false, and `result` unchanged, for all else.
inline bool parse_number(const std::string& text, unsigned long long most,
                         unsigned long long& result) {
  if (text.empty()) return false;
  unsigned long long value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return false;
    const unsigned digit = static_cast<unsigned>(c - '0');
    if (digit > most || value > (most - digit) / 10) return false;
    value = value * 10 + digit;
  }
  result = value;
  return true;
}

/// Appends what one part of a list names: "3", "4-7" or "8-14:2".
inline bool parse_cpu_range(const std::string& text, std::vector<unsigned>& cpus) {
  const std::size_t colon = text.find(':');
  const std::string range = text.substr(0, colon);
  const std::size_t dash = range.find('-');
  unsigned long long first = 0, last = 0, stride = 1;
  if (!parse_number(range.substr(0, dash), max_cpus - 1, first)) return false;
  last = first;
  if (dash != std::string::npos && !parse_number(range.substr(dash + 1), max_cpus - 1, last)) {
    return false;
  }
  const bool has_stride = colon != std::string::npos;
  if (has_stride && (dash == std::string::npos ||
                     !parse_number(text.substr(colon + 1), max_cpus, stride) || stride == 0)) {
    return false;
  }
  if (last < first || (last - first) / stride + 1 > max_cpus - cpus.size()) return false;
  for (unsigned long long cpu = first; cpu <= last; cpu += stride) {
    cpus.push_back(static_cast<unsigned>(cpu));
  }
  return true;
}

/// Reads a list, in the order of the text; blanks may stand around each part. False, and `cpus` empty,
/// if the text is no list, names no CPU, names a CPU from `max_cpus` on, or more than that many.
inline bool parse_cpu_list(const std::string& text, std::vector<unsigned>& cpus) {
  cpus.clear();
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = text.find(',', at);
    const std::size_t end = comma == std::string::npos ? text.size() : comma;
    if (!parse_cpu_range(without_blanks(text.substr(at, end - at)), cpus)) {
      cpus.clear();
      return false;
    }
    at = end + 1;
  }
  return true;
}

/// The list as text, neighbours that ascend by one joined: {0, 1, 2, 5} is "0-2,5"; empty for none.
inline std::string cpu_list_text(const std::vector<unsigned>& cpus) {
  std::string text;
  for (std::size_t i = 0; i < cpus.size();) {
    std::size_t last = i;
    while (last + 1 < cpus.size() && cpus[last + 1] == cpus[last] + 1) ++last;
    if (!text.empty()) text += ',';
    text += std::to_string(cpus[i]);
    if (last > i) text.append(last > i + 1 ? "-" : ",").append(std::to_string(cpus[last]));
    i = last + 1;
  }
  return text;
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_PLATFORM_CPU_LIST_HPP
