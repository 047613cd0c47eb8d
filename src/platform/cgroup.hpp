// SPDX-License-Identifier: MIT
// src/platform/cgroup.hpp -- the quotas of CPU time of Linux's control groups (layer: platform)
//
// The smallest quota of all control groups counts, from the process's own group up to the mount, in version 1 and 2.
// Mount points come from mountinfo. So they may be anywhere, and a container may have only a part of the tree. `root`
// is a directory put before every path, for tests.
// Source [CGROUP-V1], [CGROUP-V2]
#ifndef LOCKSTEP_SRC_PLATFORM_CGROUP_HPP
#define LOCKSTEP_SRC_PLATFORM_CGROUP_HPP

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string>

#include <lockstep/detail/platform/config.hpp>

#include "system_texts.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {
namespace cgroup {

/// CPUs granted per unit of time; `unlimited` means no quota.
constexpr double unlimited = -1.0;

/// The first number of a text by the second: "150000 100000" is 1.5. Unlimited if one of them is not a positive number,
/// as in "max 100000".
inline double parse_quota(const std::string& text) noexcept {
  char* period_at = nullptr;
  const double quota = std::strtod(text.c_str(), &period_at);
  const double period = std::strtod(period_at, nullptr);
  // The limit excludes infinity, which strtod() reads as well.
  constexpr double most = 1e18;
  const bool are_numbers = quota > 0 && quota <= most && period > 0 && period <= most;
  return are_numbers ? quota / period : unlimited;
}

/// The tighter of two quotas.
inline double tighter(double a, double b) noexcept { return a < 0 || (b >= 0 && b < a) ? b : a; }

/// Whether "cpu" is one of the words of the list, which has commas between them.
inline bool has_cpu(const std::string& list) {
  return ("," + list + ",").find(",cpu,") != std::string::npos;
}

/// The line that begins at `at`, which moves behind it.
inline std::string next_line(const std::string& text, std::size_t& at) {
  const std::size_t begin = at, end = (std::min)(text.find('\n', at), text.size());
  at = end + 1;
  return text.substr(begin, end - begin);
}

/// The group of the process, in the text of /proc/self/cgroup. The line of version 2 has an empty list of controllers.
inline std::string find_group(const std::string& text, bool version_2) {
  for (std::size_t at = 0; at < text.size();) {
    const std::string line = next_line(text, at);  // "number:controllers:group"
    const std::size_t first = line.find(':') + 1, second = line.find(':', first);
    if (first == 0 || second == std::string::npos) continue;
    const std::string controllers = line.substr(first, second - first);
    if (version_2 ? controllers.empty() : has_cpu(controllers)) return line.substr(second + 1);
  }
  return std::string();
}

/// Decodes what mountinfo writes as a backslash and three octal digits: blank, tab, newline and backslash.
inline std::string decode_octal(const std::string& text) {
  std::string result;
  for (std::size_t at = 0; at < text.size(); ++at) {
    unsigned code = 0, digits = 0;
    while (text[at] == '\\' && digits < 3 && text[at + digits + 1] >= '0' &&
           text[at + digits + 1] <= '7') {
      code = code * 8 + static_cast<unsigned>(text[at + ++digits] - '0');
    }
    const bool is_code = digits == 3 && code != 0;
    result += is_code ? static_cast<char>(code) : text[at];
    if (is_code) at += 3;
  }
  return result;
}

/// One mounted hierarchy: where it is, and which group its top directory shows.
struct mount {
  std::string point, shown_group;
  bool version_2 = false;
};

/// Reads one line of mountinfo. False if it is not a hierarchy with CPU quotas.
inline bool parse_mount(const std::string& line, mount& result) {
  char shown[4096], point[4096], type[16], options[4096];
  const std::size_t separator = line.find(" - ");
  if (separator == std::string::npos) return false;
  const std::string left = line.substr(0, separator), right = line.substr(separator + 3);
  if (std::sscanf(left.c_str(), "%*s %*s %*s %4095s %4095s", shown, point) != 2) return false;
  const int found = std::sscanf(right.c_str(), "%15s %*s %4095s", type, options);
  result.shown_group = decode_octal(shown);
  result.point = decode_octal(point);
  result.version_2 = found >= 1 && std::strcmp(type, "cgroup2") == 0;
  return result.version_2 || (found == 2 && std::strcmp(type, "cgroup") == 0 && has_cpu(options));
}

/// The path of `group` below a mount that shows the group `shown` at its top: the last part of `group`, or "".
inline std::string relative_group(const std::string& group, const std::string& shown) {
  const std::size_t length = shown == "/" ? 0 : shown.size();
  const bool is_below = group.compare(0, length, shown, 0, length) == 0 &&
                        (length == 0 || length == group.size() || group[length] == '/');
  const std::string below = is_below ? group.substr(length) : std::string();
  return below == "/" ? std::string() : below;
}

/// The smallest quota from the process's group up to the top of one mounted hierarchy.
inline double quota_of_mount(const char* root, const mount& where, const std::string& groups) {
  std::string below = relative_group(find_group(groups, where.version_2), where.shown_group);
  const auto text_of = [&](const char* file) {
    return file_text("%s%s%s/%s", root, where.point.c_str(), below.c_str(), file);
  };
  for (double result = unlimited;;) {
    const std::string text = where.version_2
                                 ? text_of("cpu.max")
                                 : text_of("cpu.cfs_quota_us") + " " + text_of("cpu.cfs_period_us");
    result = tighter(result, parse_quota(text));
    const std::size_t slash = below.rfind('/');
    if (slash == std::string::npos) return result;
    below.resize(slash);
  }
}

/// The quota in force for the calling process, in CPUs, or `unlimited`.
inline double quota(const char* root = "") {
  const std::string groups = file_text("%s/proc/self/cgroup", root);
  const std::string mounts = file_text("%s/proc/self/mountinfo", root);
  double result = unlimited;
  for (std::size_t at = 0; at < mounts.size();) {
    mount where;
    if (parse_mount(next_line(mounts, at), where)) {
      result = tighter(result, quota_of_mount(root, where, groups));
    }
  }
  return result;
}

}  // namespace cgroup
}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_PLATFORM_CGROUP_HPP
