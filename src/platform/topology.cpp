// SPDX-License-Identifier: MIT
// src/platform/topology.cpp -- the bodies of topology.hpp (layer: platform)
#include "topology.hpp"

#include "native_system.hpp"
#include "once.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

LOCKSTEP_INLINE void number_anew(cpu_topology& places, unsigned cpu_place::* number) {
  std::vector<unsigned> numbers;
  for (const cpu_place& place : places) numbers.push_back(place.*number);
  sort_once(numbers);
  for (cpu_place& place : places) {
    place.*number = static_cast<unsigned>(find_sorted(numbers, place.*number));
  }
}

LOCKSTEP_INLINE void finish_topology(cpu_topology& places) {
  number_anew(places, &cpu_place::core);
  number_anew(places, &cpu_place::package);
  number_anew(places, &cpu_place::node);
  const unsigned count = static_cast<unsigned>(places.size());
  for (cpu_place& place : places) {
    if (place.cache == unknown_cache) place.cache = max_cpus + place.package * count + place.node;
  }
  number_anew(places, &cpu_place::cache);
  std::vector<unsigned> siblings(places.size());
  for (cpu_place& place : places) place.sibling = siblings[place.core]++;
}

LOCKSTEP_INLINE unsigned fast_from(std::vector<unsigned> values) {
  sort_once(values);
  double largest = 1.25;
  unsigned result = 0;
  for (std::size_t i = 1; i < values.size(); ++i) {
    if (values[i - 1] == 0) continue;
    const double step = static_cast<double>(values[i]) / values[i - 1];
    if (step < largest) continue;
    largest = step;
    result = values[i];
  }
  return result;
}

LOCKSTEP_INLINE cpu_topology read_topology(const std::vector<unsigned>& cpus) {
  const cpu_topology all = native_system::read_machine();
  if (all.empty()) return sysfs::read(cpus);
  cpu_topology result;
  for (const unsigned cpu : cpus) {
    // A CPU that the machine does not know is a core of its own.
    cpu_place found = {cpu, max_cpus + cpu, 0, 0, core_kind::unknown, 0, unknown_cache};
    for (const cpu_place& place : all) {
      if (place.cpu == cpu) found = place;
    }
    result.push_back(found);
  }
  finish_topology(result);
  return result;
}

LOCKSTEP_INLINE cpu_topology read_topology() {
  std::vector<unsigned> cpus = affinity();
  if (cpus.empty()) {
    cpu_topology all = native_system::read_machine();
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
