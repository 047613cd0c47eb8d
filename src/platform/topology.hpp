// SPDX-License-Identifier: MIT
// src/platform/topology.hpp -- where the CPUs of this process are, on whatever system (layer: platform)
//
// On systems without a reader here each CPU is a core of its own, and all share one cache and one node.
#ifndef LOCKSTEP_SRC_PLATFORM_TOPOLOGY_HPP
#define LOCKSTEP_SRC_PLATFORM_TOPOLOGY_HPP

#include <cstddef>
#include <vector>

#include <lockstep/topology.hpp>

#include "cpus.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// What the system tells about `cpus`; asks it each time. A CPU that it tells nothing about is a core of its own.
cpu_topology read_topology(const std::vector<unsigned>& cpus);

// For the readers of each system. Pure functions.

/// Replaces each number of that kind by its rank among the different numbers: 7, 3, 7 become 1, 0, 1.
void number_anew(cpu_topology& places, unsigned cpu_place::* number);

/// Numbers everything anew, and the siblings of each core from 0, in the order of the entries. CPUs of a package and
/// node whose cache is `unknown_cache` share one.
constexpr unsigned unknown_cache = ~0u;
void finish_topology(cpu_topology& places);

/// The lowest value of the faster kind. The largest ratio between neighbouring values parts the kinds. 0 if there is
/// one kind, that is, each ratio is below 5/4: cores of one kind differ by up to a tenth (favoured cores, a larger
/// cache). A value of 0 means that it is not known, and does not count.
unsigned fast_from(std::vector<unsigned> values);

// Linux: topology_linux.cpp. It is compiled on all systems; without /sys nothing is known.
namespace sysfs {

/// What the system tells about `cpus`; reads it each time. `root` is a directory put before every path, for tests.
cpu_topology read(const std::vector<unsigned>& cpus, const char* root = "");

/// Reads a mask as Linux writes it, in groups of 32 bits, the highest first: "3,00000001" are CPUs 0, 32 and 33. False,
/// and `cpus` is empty, if the text is no such mask, or names no CPU, or one from `max_cpus` on.
bool parse_cpu_mask(const char* text, std::vector<unsigned>& cpus);

}  // namespace sysfs

// GetLogicalProcessorInformationEx gives a list of records. Each names a core, a cache, a node or a package, and the
// CPUs that share it. The code reads the records at their offsets. So it needs no windows.h, and is tested on any
// system with records that the test writes. The function is looked up by name, because windows.h may declare it.
//
// CPUs have the number 64 * group + number in the group. Kinds come from the efficiency class of the cores: the highest
// class is the fast kind, all others are the efficient one. If there is one class only, the kind is not known.
namespace windows_records {

/// The CPUs of `size` bytes of records, ascending. A mask has `word` bytes, the size of a pointer of the system that
/// wrote the records. Empty if the records are broken, or name no core.
cpu_topology read(const unsigned char* records, std::size_t size, std::size_t word = sizeof(void*));

}  // namespace windows_records

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_PLATFORM_TOPOLOGY_HPP
