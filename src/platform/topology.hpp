// SPDX-License-Identifier: MIT
// src/platform/topology.hpp -- where the CPUs of this process are, on whatever system (layer: platform)
//
// Linux: topology_linux.hpp. Windows: topology_windows.hpp. macOS: topology_macos.hpp. On others each CPU is a core of
// its own, and all share one cache and one node.
#ifndef LOCKSTEP_SRC_PLATFORM_TOPOLOGY_HPP
#define LOCKSTEP_SRC_PLATFORM_TOPOLOGY_HPP

#include <cstddef>
#include <vector>

#include <lockstep/topology.hpp>

#include "cpus.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// All CPUs of the machine; empty where the system does not tell, or tells of each by itself (Linux).
cpu_topology read_topology_of_machine();

/// What the system tells about `cpus`; looks afresh. A CPU of which it tells nothing is a core of its own.
cpu_topology read_topology(const std::vector<unsigned>& cpus);

// For those who read it. Pure functions.

const char* text_of(core_kind kind) noexcept;

/// Replaces each number of that kind by its place among the different ones: 7, 3, 7 become 1, 0, 1.
void number_anew(cpu_topology& places, unsigned cpu_place::* number);

/// Numbers all anew, and the siblings of each core from 0, in the order of the entries. CPUs whose cache is
/// `unknown_cache` share one with all such of their package and node.
constexpr unsigned unknown_cache = ~0u;
void finish_topology(cpu_topology& places);

/// The lowest value of the faster kind, where the largest step between `values` parts them; 0 if they
/// are all alike, that is, each step is below 5/4: cores of one kind differ by up to a tenth (favoured cores, a larger
/// cache). A value of 0 is not known and says nothing.
unsigned fast_from(std::vector<unsigned> values);

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_PLATFORM_TOPOLOGY_HPP
