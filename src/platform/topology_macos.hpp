// SPDX-License-Identifier: MIT
// src/platform/topology_macos.hpp -- where CPUs are, as macOS tells it (layer: platform)
//
// macOS tells how many CPUs of each kind there are, and how many of them share a cache, but gives CPUs no numbers that
// a program could use, and binds no threads. So the numbers here are ours: the fast kind first. What a program can
// learn from them is how many there are of what.
//
//   hw.perflevelN.*    from macOS 12 on, N = 0 is the fast kind: physicalcpu, logicalcpu, cpusperl3, cpusperl2. Apple's
//                      processors have no L3: the last cache of a cluster is its L2. Intel's have one kind, and packages
//   without these      hw.physicalcpu, hw.logicalcpu, hw.packages; hw.cacheconfig: CPUs per memory, L1, L2, L3
#ifndef LOCKSTEP_SRC_PLATFORM_TOPOLOGY_MACOS_HPP
#define LOCKSTEP_SRC_PLATFORM_TOPOLOGY_MACOS_HPP

#include <cstddef>
#include <cstdint>
#include <vector>

#include <lockstep/detail/platform/config.hpp>
#include "topology.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// CPUs of one kind, as macOS counts them.
struct cpu_level {
  unsigned cpus;            ///< logical
  unsigned cores;           ///< physical
  unsigned packages;        ///< over which they are dealt evenly; 1 where there are kinds
  unsigned cpus_per_cache;  ///< logical CPUs that share the last level; 0: not known
};

/// The fastest level first. Empty if a number cannot be.
cpu_topology topology_of_levels(const std::vector<cpu_level>& levels);

/// As sysctlbyname(name, value, size, nullptr, 0): 0, or -1 where there is no such number or `size` is too small for it.
using macos_numbers = int (*)(const char* name, void* value, std::size_t* size);

/// All CPUs of the machine that tells these numbers; empty where it does not tell.
cpu_topology topology_of_numbers(macos_numbers ask);

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_PLATFORM_TOPOLOGY_MACOS_HPP
