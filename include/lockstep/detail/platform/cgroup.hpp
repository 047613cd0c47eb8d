// SPDX-License-Identifier: MIT
// lockstep/detail/platform/cgroup.hpp -- how many CPUs' worth of time a container grants (layer: platform)
//
// Reads the CPU quota of control groups version 1 and 2 for the calling process: every group from its
// own up to the mount is looked at, the smallest quota counts. Mount points come from mountinfo, so
// systems that mount elsewhere, or bind-mount a sub-tree into a container, are read rightly.
//
// The text functions are pure; `root` is a directory put before every path, for tests.
// Source [CGROUP-V1], [CGROUP-V2]
#ifndef LOCKSTEP_DETAIL_PLATFORM_CGROUP_HPP
#define LOCKSTEP_DETAIL_PLATFORM_CGROUP_HPP

#include <cstddef>
#include <string>

#include "config.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {
namespace cgroup {

/// The next part of `text` between separators from `at` on, empty at the end; moves `at` behind it.
LOCKSTEP_COLD std::string next_part(const std::string& text, std::size_t& at,
                                    const char* separators);
LOCKSTEP_COLD std::string next_word(const std::string& text, std::size_t& at);
LOCKSTEP_COLD std::string next_line(const std::string& text, std::size_t& at);

/// CPUs granted per unit of time; `unlimited` means no quota.
constexpr double unlimited = -1.0;

/// quota / period, or `unlimited` where either is not a positive number.
LOCKSTEP_COLD double ratio(const std::string& quota, const std::string& period);

/// The content of a version 2 `cpu.max` file: "max 100000" or "150000 100000".
LOCKSTEP_COLD double parse_cpu_max(const std::string& text);

/// The tighter of two quotas.
LOCKSTEP_COLD double tighter(double a, double b);

LOCKSTEP_COLD bool has_word(const std::string& list, const std::string& word);

/// The group of the process in /proc/self/cgroup's text: version 2 has an empty controller list.
LOCKSTEP_COLD std::string find_group(const std::string& cgroup_text, bool version_2);

/// One mounted hierarchy: where it is, and which group its top directory shows.
struct mount {
  std::string point;
  std::string shown_group;
  bool version_2 = false;
};

/// mountinfo writes blank, tab, newline and backslash as a backslash and three octal digits.
LOCKSTEP_COLD std::string decode_octal(const std::string& text);

/// Reads one line of mountinfo; false if it is no hierarchy with CPU quotas.
LOCKSTEP_COLD bool parse_mount(const std::string& line, mount& result);

/// `group` as seen below a mount whose top directory is `shown`.
LOCKSTEP_COLD std::string relative_group(const std::string& group, const std::string& shown);

LOCKSTEP_COLD std::string read_file(const std::string& path);

LOCKSTEP_COLD double quota_of_directory(const std::string& directory, bool version_2);

/// The tightest quota from the process's group up to the top of one mounted hierarchy.
LOCKSTEP_COLD double quota_of_mount(const std::string& root, const mount& where,
                                    const std::string& cgroup_text);

/// The quota in force for the calling process, in CPUs, or `unlimited`.
LOCKSTEP_COLD double quota(const std::string& root = std::string());

}  // namespace cgroup
}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#if LOCKSTEP_HAS_BODIES
#include "cgroup.ipp"
#endif

#endif  // LOCKSTEP_DETAIL_PLATFORM_CGROUP_HPP
