// SPDX-License-Identifier: MIT
// lockstep/detail/platform/topology.hpp -- where the CPUs of this process are, on whatever system (layer: platform)
//
// Linux: topology_linux.hpp. Windows: topology_windows.hpp. macOS: topology_macos.hpp. On others each CPU is a core of
// its own, and all share one cache and one node.
#ifndef LOCKSTEP_DETAIL_PLATFORM_TOPOLOGY_HPP
#define LOCKSTEP_DETAIL_PLATFORM_TOPOLOGY_HPP

#include <vector>

#include "config.hpp"
#include "cpu_place.hpp"
#include "cpus.hpp"
#include "topology_linux.hpp"

#if LOCKSTEP_HAS_BODIES
#if defined(_WIN32)
#include "topology_windows.hpp"
#elif defined(__APPLE__)
#include "topology_macos.hpp"
#endif

#include "made_once.hpp"
#endif

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// What the system tells about `cpus`; looks afresh. A CPU of which it tells nothing is a core of its own.
LOCKSTEP_COLD cpu_topology read_topology(const std::vector<unsigned>& cpus);

/// What the system tells about the CPUs that the calling thread may run on; about all, where it does not tell which
/// these are; as many as there are, where it tells no more. Looks afresh.
LOCKSTEP_COLD cpu_topology read_topology();

/// The topology of the CPUs that the thread that asked first might run on; empty where those have no numbers. Kept: that
/// thread may be bound to one of them later.
LOCKSTEP_COLD const cpu_topology& usable_topology();

#if LOCKSTEP_HAS_BODIES

#if defined(_WIN32) || defined(__APPLE__)
LOCKSTEP_COLD cpu_topology read_topology_of_machine() {
#if defined(_WIN32)
  return read_windows_topology();
#else
  return read_macos_topology();
#endif
}
LOCKSTEP_COLD cpu_topology read_topology(const std::vector<unsigned>& cpus) {
  const cpu_topology all = read_topology_of_machine();
  cpu_topology result;
  for (const unsigned cpu : cpus) {
    // What the machine does not know gets numbers that nothing else has.
    cpu_place found = {cpu, max_cpus + cpu, 0, 0, core_kind::unknown, 0, unknown_cache};
    for (const cpu_place& place : all) {
      if (place.cpu == cpu) found = place;
    }
    result.push_back(found);
  }
  finish_topology(result);
  return result;
}
#else
LOCKSTEP_COLD cpu_topology read_topology_of_machine() { return cpu_topology(); }
LOCKSTEP_COLD cpu_topology read_topology(const std::vector<unsigned>& cpus) {
  return sysfs::read(cpus);
}
#endif

LOCKSTEP_COLD cpu_topology read_topology() {
  std::vector<unsigned> cpus = affinity();
  if (cpus.empty()) {
    cpu_topology all = read_topology_of_machine();
    if (!all.empty()) return all;
    const unsigned count = count_usable_cpus();
    for (unsigned cpu = 0; cpu < count; ++cpu) {
      cpus.push_back(cpu);
    }
  }
  return read_topology(cpus);
}

LOCKSTEP_COLD const cpu_topology& usable_topology() {
  static made_once<cpu_topology> known;
  return known.get([] { return read_topology(affinity()); });
}

#endif

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_PLATFORM_TOPOLOGY_HPP
