// SPDX-License-Identifier: MIT
// lockstep/detail/platform/cpus.hpp -- how many CPUs there are for this process, and what they are (layer: platform)
#ifndef LOCKSTEP_DETAIL_PLATFORM_CPUS_HPP
#define LOCKSTEP_DETAIL_PLATFORM_CPUS_HPP

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cgroup.hpp"
#include "config.hpp"
#include "process.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

// Numbers and lists of CPUs as text: "0,2,4-7,8-14:2".
//
// The form in which Linux writes sets of CPUs, and users write where threads shall run; a range may have
// a stride. Strict: what is not wholly right is refused, and no text makes a list of more than
// `max_cpus`, however it is written. Independent of the locale.

/// The most CPUs of a list, and above the highest number of one.
constexpr unsigned max_cpus = 65536;

/// Appends what std::printf would print, at most 500 characters: adding up texts costs several times as much code.
LOCKSTEP_COLD void append(std::string& text, const char* format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;

/// `text` without the blanks around it.
LOCKSTEP_COLD std::string without_blanks(const std::string& text);

/// Reads a number of decimal digits only, at most `most`; false, and `result` unchanged, for all else.
LOCKSTEP_COLD bool parse_number(const std::string& text, unsigned long long most,
                                unsigned long long& result);

/// Appends what one part of a list names: "3", "4-7" or "8-14:2".
LOCKSTEP_COLD bool parse_cpu_range(const std::string& text, std::vector<unsigned>& cpus);

/// Reads a list, in the order of the text; blanks may stand around each part. False, and `cpus` empty,
/// if the text is no list, names no CPU, names a CPU from `max_cpus` on, or more than that many.
LOCKSTEP_COLD bool parse_cpu_list(const std::string& text, std::vector<unsigned>& cpus);

/// The list as text, neighbours that ascend by one joined: {0, 1, 2, 5} is "0-2,5"; empty for none.
LOCKSTEP_COLD std::string cpu_list_text(const std::vector<unsigned>& cpus);

// How many CPUs this process may really use.
//
// The CPUs of the affinity mask, cut by the control group's quota (rounded down, at least one): a
// container with a quota of 2 CPUs on a machine of 64 has 2. More runnable threads than that are
// *crowded*: spinning then takes time from the very thread one waits for.

/// The numbers of the CPUs in the affinity mask of the calling thread, ascending; empty if unknown.
LOCKSTEP_COLD std::vector<unsigned> affinity();

/// How many CPUs the affinity mask of the calling thread has; 2 if unknown: a guess that may be wrong. Fails
/// never, allocates nothing, reads no file.
LOCKSTEP_COLD unsigned count_affine_cpus() noexcept;

/// Looks afresh; about 100 us.
LOCKSTEP_COLD unsigned count_usable_cpus();

// Which core and package each usable CPU belongs to.
//
// Never fails: a CPU of which nothing can be read is a core of its own, in the first package, of unknown
// kind; so is every CPU where the system has no /sys. Reads some six small files for each CPU, 20 us
// each: for those who place threads, not for every program.
//
// Kinds of core come from the first of these that tells CPUs apart:
//   1. Intel's hybrids list them: /sys/devices/cpu_core, cpu_atom, cpu_lowpower
//   2. cpu_capacity, as ARM has it   3. the highest clock rate
// In 2 and 3 the CPUs are parted where the ratio between two neighbouring values is largest, if that is
// 5/4 at least: cores of one kind differ by up to a tenth (favoured cores, a larger cache).
//
// `root` is a directory put before every path, for tests.
// Source [SYSFS-CPU]

/// In the order of preference: what is not told stands between.
enum class core_kind : unsigned char { performance, unknown, efficiency };

LOCKSTEP_COLD const char* text_of(core_kind kind) noexcept;

/// Cores and packages are numbered from 0, those only that have a usable CPU, by the lowest number that
/// the system gives them. Siblings are the usable CPUs of one core, numbered from 0.
struct cpu_place {
  unsigned cpu;
  unsigned core;
  unsigned package;
  unsigned sibling;
  core_kind kind;
};

/// One entry for each CPU, in the order in which they were asked for.
using cpu_topology = std::vector<cpu_place>;

/// In ascending order, each value once. The sort of <algorithm> costs ten times as much to compile.
LOCKSTEP_COLD void sort_once(std::vector<unsigned>& values);

namespace topology {

LOCKSTEP_COLD std::string directory_of(const std::string& root, unsigned cpu);

/// The number a file holds; `otherwise` if it holds none, or one above 2^32 - 1.
LOCKSTEP_COLD std::uint32_t number_in(const std::string& path, std::uint32_t otherwise);

/// The CPUs a file lists; none if it is no list.
LOCKSTEP_COLD std::vector<unsigned> list_in(const std::string& path);

LOCKSTEP_COLD bool contains(const std::vector<unsigned>& cpus, unsigned cpu);

/// The lowest CPU of the core that `cpu` is on.
LOCKSTEP_COLD unsigned first_of_core(const std::string& root, unsigned cpu);

/// Each value's place among the different values: {7, 3, 7} becomes {1, 0, 1}.
LOCKSTEP_COLD std::vector<unsigned> dense(const std::vector<std::uint32_t>& values);

/// The lowest value of the faster kind, where the largest step between `values` parts them; 0 if they
/// are all alike. A value of 0 is not known and says nothing.
LOCKSTEP_COLD std::uint32_t fast_from(std::vector<std::uint32_t> values);

/// By a number that each CPU has in `file`; false if that does not tell them apart.
LOCKSTEP_COLD bool kinds_by_number(const std::string& root, const char* file,
                                   const std::vector<unsigned>& cpus,
                                   std::vector<core_kind>& kinds);

/// By the lists of Intel's hybrids; false if there are none.
LOCKSTEP_COLD bool kinds_by_list(const std::string& root, const std::vector<unsigned>& cpus,
                                 std::vector<core_kind>& kinds);

LOCKSTEP_COLD std::vector<core_kind> kinds_of(const std::string& root,
                                              const std::vector<unsigned>& cpus);

}  // namespace topology

/// What the system tells about `cpus`; looks afresh.
LOCKSTEP_COLD cpu_topology read_topology(const std::vector<unsigned>& cpus,
                                         const std::string& root = std::string());

/// The topology of the CPUs that the thread that asked first might run on. Kept: that thread may be
/// bound to one of them later.
LOCKSTEP_COLD const cpu_topology& usable_topology();

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#if LOCKSTEP_HAS_BODIES
#include "cpus.ipp"
#endif

#endif  // LOCKSTEP_DETAIL_PLATFORM_CPUS_HPP
