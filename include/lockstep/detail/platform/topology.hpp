// SPDX-License-Identifier: MIT
// lockstep/detail/platform/topology.hpp -- where the CPUs of this process are, on whatever system (layer: platform)
//
// Linux: topology_linux.hpp. Windows: topology_windows.hpp. macOS: topology_macos.hpp. On others each CPU is a core of
// its own, and all share one cache and one node.
#ifndef LOCKSTEP_DETAIL_PLATFORM_TOPOLOGY_HPP
#define LOCKSTEP_DETAIL_PLATFORM_TOPOLOGY_HPP

#include <vector>

#include <lockstep/detail/platform/config.hpp>
#include <lockstep/detail/platform/cpu_place.hpp>
#include <lockstep/detail/platform/cpus.hpp>
#include <lockstep/detail/platform/topology_linux.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// What the system tells about `cpus`; looks afresh. A CPU of which it tells nothing is a core of its own.
cpu_topology read_topology(const std::vector<unsigned>& cpus);

/// What the system tells about the CPUs that the calling thread may run on; about all, where it does not tell which
/// these are; as many as there are, where it tells no more. Looks afresh.
cpu_topology read_topology();

/// The topology of the CPUs that the thread that asked first might run on; empty where those have no numbers. Kept: that
/// thread may be bound to one of them later.
const cpu_topology& usable_topology();

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_PLATFORM_TOPOLOGY_HPP
