// SPDX-License-Identifier: MIT
// src/platform/cpus.hpp -- how many CPUs this process has, lists of CPUs, and binding to them (layer: platform)
//
// The usable CPUs are those of the affinity mask, cut by the quota of control groups: a container with a quota of 2
// CPUs on a machine of 64 has 2. A quota is rounded up, because so many threads run at once until it is used up. Two
// members on 1.1, 1.25 and 1.5 CPUs do 1.1, 1.25 and 1.5 times the work of one. With more runnable threads than that
// the process is *crowded*: a thread that spins takes time from the one that it waits for. What CPUs are: topology.hpp.
//
// Binding is a wish: where the system has no such call, or refuses, these return false and nothing changes.
//   Linux    sched_setaffinity
//   Windows  CPU n of processor group g is 64 g + n. The CPUs of a thread are in one group, so a process counts at most
//            64, as Windows itself does.
//   FreeBSD  cpuset_setaffinity, for binding only: move_off_cpu() does nothing
// macOS, OpenBSD, NetBSD and WebAssembly do not let a program bind its threads.
#ifndef LOCKSTEP_SRC_PLATFORM_CPUS_HPP
#define LOCKSTEP_SRC_PLATFORM_CPUS_HPP

#include <cstddef>
#include <vector>

#include <lockstep/topology.hpp>

#include "system_texts.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// The most CPUs of a list. The numbers of CPUs are below it.
constexpr unsigned max_cpus = 65536;

/// Counts the CPUs of the affinity mask of the calling thread, and appends them to the list, if there is one. 0 if
/// they are not known.
unsigned read_affinity(std::vector<unsigned>* cpus);

/// Whether more threads want to run on the machine than it has CPUs, so that no CPU is free.
enum class machine_load : unsigned char { unknown, has_room, full };

/// Binds the calling thread to one CPU.
bool pin_this_thread(unsigned cpu) noexcept;

// Lists of CPUs as text, "0,2,4-7,8-14:2": Linux writes sets of CPUs in this form, and users name CPUs in it. A range
// may have a stride. A text with any mistake is refused, and so is a list of more than `max_cpus`. Independent of the
// locale.

/// Reads a list, in the order of the text. Blanks may stand around each part. False, and `cpus` is empty, if the text
/// is no list, names no CPU, a CPU from `max_cpus` on, or more than `max_cpus` of them.
bool parse_cpu_list(const char* text, std::vector<unsigned>& cpus);

/// In ascending order, each value once.
void sort_once(std::vector<unsigned>& values);

/// The place of `value` in `values`, which sort_once() has sorted; values.size() if it is not there.
std::size_t find_sorted(const std::vector<unsigned>& values, unsigned value) noexcept;

/// What the library uses and this system does not give, separated by commas; "nothing" if it gives all. Programs run
/// without it, only slower or with less to see. The text lives for ever.
const char* text_of_missing();

/// As usable_cpus(), but asks the system each time: about 100 us.
unsigned count_usable_cpus();

/// How many CPUs the affinity mask of the calling thread has; 2, a guess, if that is not known. Never fails, allocates
/// nothing, reads no file.
unsigned count_affine_cpus() noexcept;

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_PLATFORM_CPUS_HPP
