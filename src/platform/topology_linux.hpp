// SPDX-License-Identifier: MIT
// src/platform/topology_linux.hpp -- where CPUs are, read from /sys (layer: platform)
//
// Never fails: a CPU of which nothing can be read is a core of its own, in the first package and node, of unknown
// kind; so is every CPU where there is no /sys. Reads some nine small files for each CPU and last-level cache, and some
// four for each other CPU, 20 us each: for those who place threads, not for every program.
//
//   core     topology/core_cpus_list, or thread_siblings_list of older systems
//   package  topology/physical_package_id; where that says -1, as on POWER's and older z's partitions, the first one. What
//            such systems call siblings of a package is a core (POWER) or a chip (z)
//   node     the node whose cpulist has the CPU; nodes without CPUs (memory only) have none
//   cache    of cache/index*/ the one of the highest level that is not for instructions alone. Where that directory
//            is missing, as in many virtual machines: all CPUs of a package and node
//   kind     from the first of these that tells CPUs apart:
//            1. Intel's hybrids list them: /sys/devices/cpu_core, cpu_atom, cpu_lowpower
//            2. cpu_capacity, as ARM has it   3. the highest clock rate
//            In 2 and 3 the CPUs are parted where the ratio between two neighbouring values is largest (fast_from).
//
// Where a list is missing, the mask beside it is read: Linux before 2.6.26 has masks only, and that of POWER told caches
// by masks for years longer. A list or mask that does not name the CPU itself is not believed. `root` is a directory put before every path, for tests.
// Compiled on all systems: where there is no /sys, nothing is known.
// Source [SYSFS-CPU]
#ifndef LOCKSTEP_SRC_PLATFORM_TOPOLOGY_LINUX_HPP
#define LOCKSTEP_SRC_PLATFORM_TOPOLOGY_LINUX_HPP

#include <cstddef>
#include <string>
#include <vector>

#include <lockstep/detail/platform/config.hpp>
#include "cpus.hpp"
#include "system_texts.hpp"
#include "topology.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {
namespace sysfs {

/// The number in a file of a CPU; `otherwise` if it holds none, or one above 2^32 - 1.
unsigned number_in(const char* root, unsigned cpu, const char* file, unsigned otherwise);

/// Reads a mask as Linux writes it, 32 bits to a group, the highest first: "3,00000001" are CPUs 0, 32 and 33. False, and
/// `cpus` empty, if the text is no such mask, has no CPU, or one from `max_cpus` on.
bool parse_cpu_mask(const char* text, std::vector<unsigned>& cpus);

/// The CPUs in a file of `cpu`, ascending; `parse` reads its text. False, and `cpus` empty, if they have not `cpu` itself
/// among them.
using cpus_parser = bool (*)(const char* text, std::vector<unsigned>& cpus);
bool read_sharing(const char* root, unsigned cpu, const char* file, cpus_parser parse,
                  std::vector<unsigned>& cpus);

/// The lowest CPU of the core that `cpu` is on.
unsigned first_of_core(const char* root, unsigned cpu);

/// The CPUs that share the last-level cache of `cpu`; false if it is not known.
bool read_last_cache(const char* root, unsigned cpu, std::vector<unsigned>& cpus);

void set_caches(const char* root, cpu_topology& places);
void set_nodes(const char* root, cpu_topology& places);

/// By the lists of Intel's hybrids; false if there are none.
bool set_kinds_by_list(const char* root, cpu_topology& places);

/// By a number that each CPU has in `file`; false if that does not tell them apart.
bool set_kinds_by_number(const char* root, const char* file, cpu_topology& places);

/// What the system tells about `cpus`; looks afresh.
cpu_topology read(const std::vector<unsigned>& cpus, const char* root = "");

}  // namespace sysfs
}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_PLATFORM_TOPOLOGY_LINUX_HPP
