// SPDX-License-Identifier: MIT
// lockstep/detail/platform/cgroup.ipp -- the bodies of cgroup.hpp (layer: platform)
#ifndef LOCKSTEP_DETAIL_PLATFORM_CGROUP_IPP
#define LOCKSTEP_DETAIL_PLATFORM_CGROUP_IPP

#include <cstdio>
#include <cstdlib>

#include "cgroup.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {
namespace cgroup {

// The streams of the standard library would double what this file costs to compile.

LOCKSTEP_COLD std::string next_part(const std::string& text, std::size_t& at,
                                    const char* separators) {
  const std::size_t begin = text.find_first_not_of(separators, at);
  const std::size_t end =
      begin == std::string::npos ? begin : text.find_first_of(separators, begin);
  at = end;
  return begin == std::string::npos ? std::string() : text.substr(begin, end - begin);
}

LOCKSTEP_COLD std::string next_word(const std::string& text, std::size_t& at) {
  return next_part(text, at, " \t\n");
}
LOCKSTEP_COLD std::string next_line(const std::string& text, std::size_t& at) {
  return next_part(text, at, "\n");
}

LOCKSTEP_COLD double ratio(const std::string& quota, const std::string& period) {
  const double numerator = std::strtod(quota.c_str(), nullptr);
  const double denominator = std::strtod(period.c_str(), nullptr);
  // Beyond that stands infinity, which strtod() reads as well.
  constexpr double most = 1e18;
  const bool are_numbers =
      numerator > 0 && numerator <= most && denominator > 0 && denominator <= most;
  return are_numbers ? numerator / denominator : unlimited;
}

LOCKSTEP_COLD double parse_cpu_max(const std::string& text) {
  std::size_t at = 0;
  const std::string quota = next_word(text, at);
  return ratio(quota, next_word(text, at));
}

LOCKSTEP_COLD double tighter(double a, double b) { return a < 0 || (b >= 0 && b < a) ? b : a; }

LOCKSTEP_COLD bool has_word(const std::string& list, const std::string& word) {
  return ("," + list + ",").find("," + word + ",") != std::string::npos;
}

LOCKSTEP_COLD std::string find_group(const std::string& cgroup_text, bool version_2) {
  for (std::size_t at = 0; at < cgroup_text.size();) {
    const std::string line = next_line(cgroup_text, at);
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (version_2 ? controllers.empty() : has_word(controllers, "cpu")) {
      return line.substr(second + 1);
    }
  }
  return std::string();
}

LOCKSTEP_COLD std::string decode_octal(const std::string& text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string digits = text.substr(i + 1 < text.size() ? i + 1 : text.size(), 3);
    const bool is_code = text[i] == '\\' && digits.size() == 3 &&
                         digits.find_first_not_of("01234567") == std::string::npos;
    result += is_code ? static_cast<char>(std::strtol(digits.c_str(), nullptr, 8)) : text[i];
    if (is_code) i += 3;
  }
  return result;
}

LOCKSTEP_COLD bool parse_mount(const std::string& line, mount& result) {
  const std::size_t separator = line.find(" - ");
  if (separator == std::string::npos) return false;
  const std::string left = line.substr(0, separator), right = line.substr(separator + 3);
  std::size_t at = 0;
  for (int skipped = 0; skipped < 3; ++skipped) next_word(left, at);  // numbers
  result.shown_group = decode_octal(next_word(left, at));
  result.point = decode_octal(next_word(left, at));
  at = 0;
  const std::string type = next_word(right, at);
  next_word(right, at);  // the source
  const std::string options = next_word(right, at);
  result.version_2 = type == "cgroup2";
  return result.version_2 || (type == "cgroup" && has_word(options, "cpu"));
}

LOCKSTEP_COLD std::string relative_group(const std::string& group, const std::string& shown) {
  if (shown == "/" || shown.empty()) return group == "/" ? std::string() : group;
  const bool is_below = group.compare(0, shown.size(), shown) == 0 &&
                        (group.size() == shown.size() || group[shown.size()] == '/');
  return is_below ? group.substr(shown.size()) : std::string();
}

LOCKSTEP_COLD std::string read_file(const std::string& path) {
  std::string text;
  std::FILE* const file = std::fopen(path.c_str(), "r");
  if (file == nullptr) return text;
  char part[4096];
  for (std::size_t size = 0; (size = std::fread(part, 1, sizeof part, file)) > 0;) {
    text.append(part, size);
  }
  std::fclose(file);
  return text;
}

LOCKSTEP_COLD double quota_of_directory(const std::string& directory, bool version_2) {
  if (version_2) return parse_cpu_max(read_file(directory + "/cpu.max"));
  return ratio(read_file(directory + "/cpu.cfs_quota_us"),
               read_file(directory + "/cpu.cfs_period_us"));
}

LOCKSTEP_COLD double quota_of_mount(const std::string& root, const mount& where,
                                    const std::string& cgroup_text) {
  std::string group = relative_group(find_group(cgroup_text, where.version_2), where.shown_group);
  double result = unlimited;
  while (true) {
    result = tighter(result, quota_of_directory(root + where.point + group, where.version_2));
    const std::size_t slash = group.rfind('/');
    if (slash == std::string::npos) return result;
    group.resize(slash);
  }
}

LOCKSTEP_COLD double quota(const std::string& root) {
  const std::string groups = read_file(root + "/proc/self/cgroup");
  const std::string mounts = read_file(root + "/proc/self/mountinfo");
  double result = unlimited;
  for (std::size_t at = 0; at < mounts.size();) {
    mount where;
    if (parse_mount(next_line(mounts, at), where))
      result = tighter(result, quota_of_mount(root, where, groups));
  }
  return result;
}

}  // namespace cgroup
}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_PLATFORM_CGROUP_IPP
