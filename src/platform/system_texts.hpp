// SPDX-License-Identifier: MIT
// src/platform/system_texts.hpp -- reads the system's files: numbers, CPU quotas (layer: platform)
//
// The smallest quota of all control groups counts, from the process's own group up to the mount, in version 1 and 2.
// Mount points come from mountinfo. So they may be anywhere, and a container may have only a part of the tree.
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

/// The content of a file; empty if it cannot be read. The path is what std::printf would print.
std::string file_text(const char* path, ...) LOCKSTEP_PRINTS(1);

/// The text after its leading blanks.
const char* skip_blanks(const char* text) noexcept;

/// A text for one line of a message, without control characters: these could end the line or change the terminal.
std::string one_line(const char* text);
/// Whether the value of a variable means no: 0 or false, in capital or small letters. Blanks may stand around it.
bool is_switched_off(const char* text) noexcept;

/// Reads all decimal digits at `at`, and moves behind them. If there is no digit, or the number is above `most`,
/// returns false and changes nothing.
bool read_number(const char*& at, unsigned long long most, unsigned long long& result) noexcept;

namespace cgroup {

/// CPUs granted per unit of time; `unlimited` means no quota.
constexpr double unlimited = -1.0;

/// The next part of the text at `at`, up to a separator, which becomes a zero byte; empty at the end. Moves `at` on.
char* next_part(char*& at, const char* separators) noexcept;

/// quota / period, or `unlimited` if one of them is not a positive number.
double ratio(const char* quota, const char* period) noexcept;

/// The content of a version 2 `cpu.max` file: "max 100000" or "150000 100000".
double parse_cpu_max(const char* text) noexcept;

/// The tighter of two quotas.
double tighter(double a, double b) noexcept;

/// Whether "cpu" is one of the words of the list, which has `size` characters and commas between the words.
bool has_cpu(const char* list, std::size_t size) noexcept;

/// The group of the process, in the text of /proc/self/cgroup. The line of version 2 has an empty list of controllers.
std::string find_group(const char* text, bool version_2);

/// One mounted hierarchy: where it is, and which group its top directory shows. The texts are parts of the line.
struct mount {
  const char* point = "";
  const char* shown_group = "";
  bool version_2 = false;
};

/// Decodes in place what mountinfo writes as a backslash and three octal digits: blank, tab, newline and backslash.
char* decode_octal(char* text) noexcept;

/// Reads one line of mountinfo, and cuts it into parts. False if it is not a hierarchy with CPU quotas.
bool parse_mount(char* line, mount& result) noexcept;

/// The path of `group` below a mount that shows the group `shown` at its top: the last part of `group`, or "".
char* relative_group(char* group, const char* shown) noexcept;

/// The smallest quota from the process's group up to the top of one mounted hierarchy.
double quota_of_mount(const char* root, const mount& where, const char* groups);

/// The quota in force for the calling process, in CPUs, or `unlimited`.
double quota(const char* root = "");

}  // namespace cgroup

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_PLATFORM_SYSTEM_TEXTS_HPP
