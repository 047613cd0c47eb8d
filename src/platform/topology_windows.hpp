// SPDX-License-Identifier: MIT
// src/platform/topology_windows.hpp -- where CPUs are, as Windows tells it (layer: platform)
//
// GetLogicalProcessorInformationEx gives a list of records, each of which names a core, a cache, a node or a package,
// and the CPUs that share it. The records are read at their offsets: the code needs no windows.h, and is tested on any
// system with records that the test writes. The function is looked up by name: it cannot be declared twice, here
// and in windows.h.
//
// CPUs have the number 64 * group + number in the group. Kinds come from the efficiency class of the cores: the highest
// class that there is is the fast kind, all others the efficient one; one class alone says nothing.
#ifndef LOCKSTEP_SRC_PLATFORM_TOPOLOGY_WINDOWS_HPP
#define LOCKSTEP_SRC_PLATFORM_TOPOLOGY_WINDOWS_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include <lockstep/detail/platform/config.hpp>
#include "topology.hpp"
#include "windows.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {
namespace windows_records {

/// The CPUs of `size` bytes of records, whose masks have `word` bytes: the size of a pointer of the system that wrote
/// them. Ascending. Empty if the records are broken, or name no core.
cpu_topology read(const unsigned char* records, std::size_t size, std::size_t word = sizeof(void*));

}  // namespace windows_records

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_PLATFORM_TOPOLOGY_WINDOWS_HPP
