// SPDX-License-Identifier: MIT
// lockstep/detail/platform/cpu_place.hpp -- what a CPU shares with others: plain data, and pure functions on it (layer: platform)
//
// The readers of the systems fill it (topology_linux.hpp, topology_windows.hpp, topology_macos.hpp). For users:
// lockstep/topology.hpp.
#ifndef LOCKSTEP_DETAIL_PLATFORM_CPU_PLACE_HPP
#define LOCKSTEP_DETAIL_PLATFORM_CPU_PLACE_HPP

#include <cstddef>
#include <vector>

#include <lockstep/detail/platform/config.hpp>
#include <lockstep/detail/platform/cpus.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {

/// Whether a core is one of the big or of the little ones of its machine. In the order of preference: what is not
/// told stands between.
enum class core_kind : unsigned char { performance, unknown, efficiency };

/// Where a CPU is. All numbers but `cpu` count from 0, without gaps, what has a usable CPU, in the order of the numbers
/// that the system gives. A CPU is what the system puts a thread on: a core has one or several.
struct cpu_place {
  unsigned cpu;      ///< the system's number; on Windows 64 * group + number in the group
  unsigned core;     ///< equal: hyper-threads of one core
  unsigned package;  ///< equal: in one socket
  unsigned sibling;  ///< the place among the usable CPUs of one core
  core_kind kind;
  unsigned node;   ///< equal: at one NUMA node, so at the same memory
  unsigned cache;  ///< equal: they share the last level of cache
};

namespace detail {

/// One entry for each CPU, in the order in which they were asked for.
using cpu_topology = std::vector<cpu_place>;

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

#endif  // LOCKSTEP_DETAIL_PLATFORM_CPU_PLACE_HPP
