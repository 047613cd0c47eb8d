// SPDX-License-Identifier: MIT
// src/platform/topology.cpp -- the bodies of topology.hpp (layer: platform)
#include <lockstep/detail/platform/topology.hpp>

#if defined(_WIN32)
#include "topology_windows.hpp"
#elif defined(__APPLE__)
#include "topology_macos.hpp"
#endif

#include "made_once.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

#if defined(_WIN32) || defined(__APPLE__)
LOCKSTEP_INLINE cpu_topology read_topology_of_machine() {
#if defined(_WIN32)
  return read_windows_topology();
#else
  return read_macos_topology();
#endif
}
LOCKSTEP_INLINE cpu_topology read_topology(const std::vector<unsigned>& cpus) {
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
LOCKSTEP_INLINE cpu_topology read_topology_of_machine() { return cpu_topology(); }
LOCKSTEP_INLINE cpu_topology read_topology(const std::vector<unsigned>& cpus) {
  return sysfs::read(cpus);
}
#endif

LOCKSTEP_INLINE cpu_topology read_topology() {
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

LOCKSTEP_INLINE const cpu_topology& usable_topology() {
  static made_once<cpu_topology> known;
  return known.get([] { return read_topology(affinity()); });
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
