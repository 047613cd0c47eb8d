// SPDX-License-Identifier: MIT
// lockstep/detail/platform/cpus.hpp -- how many CPUs there are for this process, and lists of them (layer: platform)
//
// What is usable is the affinity mask, cut by the quota of control groups: a container with a quota of 2 CPUs on a machine
// of 64 has 2. A quota is rounded up: so many threads run at once until it is used up. Two members on 1.1, 1.25 and
// 1.5 CPUs do 1.1, 1.25 and 1.5 times the work of one. More runnable threads than that are *crowded*: spinning then takes
// time from the very thread one waits for. What the CPUs are: topology.hpp.
#ifndef LOCKSTEP_DETAIL_PLATFORM_CPUS_HPP
#define LOCKSTEP_DETAIL_PLATFORM_CPUS_HPP

#include <cstddef>
#include <string>
#include <vector>

#include <lockstep/detail/platform/binding.hpp>
#include <lockstep/detail/platform/config.hpp>
#include <lockstep/detail/platform/process.hpp>
#include <lockstep/detail/platform/system_texts.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

// Lists of CPUs as text, "0,2,4-7,8-14:2": the form in which Linux writes sets of CPUs, and users write where threads
// shall run; a range may have a stride. Strict: what is not wholly right is refused, and no text makes a list of more
// than `max_cpus`, however it is written. Independent of the locale.

/// Reads a list, in the order of the text; blanks may stand around each part. False, and `cpus` empty,
/// if the text is no list, names no CPU, names a CPU from `max_cpus` on, or more than that many.
bool parse_cpu_list(const char* text, std::vector<unsigned>& cpus);

/// Appends the list as text, neighbours that ascend by one joined: {0, 1, 2, 5} is "0-2,5".
void append_cpu_list(std::string& text, const std::vector<unsigned>& cpus);

/// In ascending order, each value once. The sort of <algorithm> costs ten times as much to compile.
void sort_once(std::vector<unsigned>& values);

/// The place of `value` in what sort_once() has sorted; its size if it is not there.
std::size_t find_sorted(const std::vector<unsigned>& values, unsigned value) noexcept;

/// The numbers of the CPUs in the affinity mask of the calling thread, ascending; empty if unknown.
std::vector<unsigned> affinity();

/// How many CPUs the affinity mask of the calling thread has; 2 if unknown: a guess that may be wrong. Fails
/// never, allocates nothing, reads no file.
unsigned count_affine_cpus() noexcept;

/// Looks afresh; about 100 us.
unsigned count_usable_cpus();

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_PLATFORM_CPUS_HPP
