// SPDX-License-Identifier: MIT
// src/platform/system_texts.hpp -- reads the system's files: numbers, CPU quotas (layer: platform)
//
// Of control groups, version 1 and 2, every group from the process's own up to the mount is looked at, and the smallest
// quota counts. Mount points come from mountinfo, so systems that mount elsewhere, or bind-mount a sub-tree into a
// container, are read rightly.
//
// Texts are read in place with the functions of C: those of std::string cost several times as much to compile. `root`
// is a directory put before every path, for tests.
// Source [CGROUP-V1], [CGROUP-V2]
#ifndef LOCKSTEP_SRC_PLATFORM_SYSTEM_TEXTS_HPP
#define LOCKSTEP_SRC_PLATFORM_SYSTEM_TEXTS_HPP

#include <cstddef>
#include <string>

#include <lockstep/detail/platform/config.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// Appends what std::printf would print, at most 500 characters.
void append(std::string& text, const char* format, ...) LOCKSTEP_PRINTS(2);

/// The content of a file, whose path is what std::printf would print; empty if it cannot be read.
std::string file_text(const char* path, ...) LOCKSTEP_PRINTS(1);

/// The text after its leading blanks.
const char* skip_blanks(const char* text) noexcept;

/// A name for one line of a message: without control characters, which could end the line or change the terminal.
std::string one_line(const char* text);
/// Whether the value of a variable means no: 0 or false, in capital or small letters, with blanks around it or not.
bool is_switched_off(const char* text) noexcept;

/// Reads all decimal digits at `at`, and moves behind them. False, and nothing changed, if there is no digit, or if the
/// number is above `most`.
bool read_number(const char*& at, unsigned long long most, unsigned long long& result) noexcept;

namespace cgroup {

/// CPUs granted per unit of time; `unlimited` means no quota.
constexpr double unlimited = -1.0;

/// The next part of `text` between separators, cut out by a zero byte; empty at the end. `at` moves behind it.
char* next_part(char*& at, const char* separators) noexcept;

/// quota / period, or `unlimited` where either is not a positive number.
double ratio(const char* quota, const char* period) noexcept;

/// The content of a version 2 `cpu.max` file: "max 100000" or "150000 100000".
double parse_cpu_max(const char* text) noexcept;

/// The tighter of two quotas.
double tighter(double a, double b) noexcept;

/// Whether "cpu" is one of the words parted by commas in the `size` characters of the list.
bool has_cpu(const char* list, std::size_t size) noexcept;

/// The group of the process in /proc/self/cgroup's text: version 2 has an empty controller list.
std::string find_group(const char* text, bool version_2);

/// One mounted hierarchy: where it is, and which group its top directory shows. The texts are parts of the line.
struct mount {
  const char* point = "";
  const char* shown_group = "";
  bool version_2 = false;
};

/// mountinfo writes blank, tab, newline and backslash as a backslash and three octal digits: decodes it in place.
char* decode_octal(char* text) noexcept;

/// Reads one line of mountinfo, and cuts it to pieces; false if it is no hierarchy with CPU quotas.
bool parse_mount(char* line, mount& result) noexcept;

/// `group` as seen below a mount whose top directory is `shown`: its last part, perhaps nothing.
char* relative_group(char* group, const char* shown) noexcept;

/// The tightest quota from the process's group up to the top of one mounted hierarchy.
double quota_of_mount(const char* root, const mount& where, const char* groups);

/// The quota in force for the calling process, in CPUs, or `unlimited`.
double quota(const char* root = "");

}  // namespace cgroup

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_PLATFORM_SYSTEM_TEXTS_HPP
