// SPDX-License-Identifier: MIT
// src/platform/cpus.hpp -- how many CPUs there are for this process, lists of them, and binding to them (layer: platform)
//
// What is usable is the affinity mask, cut by the quota of control groups: a container with a quota of 2 CPUs on a machine
// of 64 has 2. A quota is rounded up: so many threads run at once until it is used up. Two members on 1.1, 1.25 and
// 1.5 CPUs do 1.1, 1.25 and 1.5 times the work of one. More runnable threads than that are *crowded*: spinning then takes
// time from the very thread one waits for. What the CPUs are: topology.hpp.
//
// Binding is a wish: where the system has no such call, or refuses, these return false and nothing changes.
//   Linux    sched_setaffinity
//   Windows  of processor groups, CPU n of group g is 64 g + n. A thread's CPUs are in one group, so a process counts at
//            most 64, as Windows itself does.
//   FreeBSD  cpuset_setaffinity; a thread does not leave its CPU for a moment there
// macOS, OpenBSD, NetBSD and WebAssembly do not let a program bind its threads.
#ifndef LOCKSTEP_SRC_PLATFORM_CPUS_HPP
#define LOCKSTEP_SRC_PLATFORM_CPUS_HPP

#include <cstddef>
#include <string>
#include <vector>

#include <lockstep/detail/platform/system.hpp>
#include <lockstep/topology.hpp>

#include "system_texts.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// The most CPUs of a list, and above the highest number of one.
constexpr unsigned max_cpus = 65536;

/// Counts the CPUs of the affinity mask of the calling thread, and appends them to the list, if there is one. 0 if
/// they are not known.
unsigned read_affinity(std::vector<unsigned>* cpus);

/// Binds the calling thread to one CPU.
bool pin_this_thread(unsigned cpu) noexcept;

// Lists of CPUs as text, "0,2,4-7,8-14:2": the form in which Linux writes sets of CPUs, and users write where threads
// shall run; a range may have a stride. Strict: what is not wholly right is refused, and no text makes a list of more
// than `max_cpus`, however it is written. Independent of the locale.

/// Reads a list, in the order of the text; blanks may stand around each part. False, and `cpus` empty,
/// if the text is no list, names no CPU, names a CPU from `max_cpus` on, or more than that many.
bool parse_cpu_list(const char* text, std::vector<unsigned>& cpus);

/// In ascending order, each value once.
void sort_once(std::vector<unsigned>& values);

/// The place of `value` in what sort_once() has sorted; its size if it is not there.
std::size_t find_sorted(const std::vector<unsigned>& values, unsigned value) noexcept;

/// What this system does not give, separated by commas; "nothing" if there is all. All of it is a wish of the library: without
/// it programs run, slower or with less to see. The text lives for ever.
const char* text_of_missing();

/// How many CPUs the affinity mask of the calling thread has; 2 if unknown: a guess that may be wrong. Fails
/// never, allocates nothing, reads no file.
unsigned count_affine_cpus() noexcept;

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_PLATFORM_CPUS_HPP
