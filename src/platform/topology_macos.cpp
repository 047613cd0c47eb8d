// SPDX-License-Identifier: MIT
// src/platform/topology_macos.cpp -- where CPUs are, as macOS tells it (layer: platform)
#include "topology.hpp"

#include <cstdio>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

LOCKSTEP_INLINE cpu_topology topology_of_levels(const std::vector<cpu_level>& levels) {
  cpu_topology result;
  unsigned cores = 0;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const cpu_level& level = levels[i];
    const unsigned first = static_cast<unsigned>(result.size());
    if (level.cores == 0 || level.cpus < level.cores || level.packages == 0 ||
        level.packages > level.cpus || level.cpus > max_cpus - first) {
      return cpu_topology();
    }
    const core_kind kind = levels.size() == 1 ? core_kind::unknown
                           : i == 0           ? core_kind::performance
                                              : core_kind::efficiency;
    const unsigned threads = level.cpus / level.cores;
    const unsigned in_package = (level.cpus + level.packages - 1) / level.packages;
    for (unsigned k = 0; k < level.cpus; ++k) {
      const unsigned core = k / threads < level.cores ? k / threads : level.cores - 1;
      const unsigned cache =
          level.cpus_per_cache == 0 ? unknown_cache : first + k / level.cpus_per_cache;
      result.push_back({first + k, cores + core, k / in_package, 0, kind, 0, cache});
    }
    cores += level.cores;
  }
  finish_topology(result);
  return result;
}

LOCKSTEP_INLINE unsigned macos_number(macos_numbers ask, const char* name) {
  int value = 0;
  std::size_t size = sizeof value;
  return ask(name, &value, &size) == 0 && size == sizeof value && value > 0
             ? static_cast<unsigned>(value)
             : 0;
}
LOCKSTEP_INLINE unsigned macos_number(macos_numbers ask, unsigned level, const char* name) {
  char whole[64];
  std::snprintf(whole, sizeof whole, "hw.perflevel%u.%s", level, name);
  return macos_number(ask, whole);
}

LOCKSTEP_INLINE cpu_topology topology_of_numbers(macos_numbers ask) {
  std::vector<cpu_level> levels;
  const unsigned kinds = macos_number(ask, "hw.nperflevels");
  const unsigned counted = macos_number(ask, "hw.packages"), packages = counted > 0 ? counted : 1;
  for (unsigned i = 0; i < kinds; ++i) {
    const unsigned third = macos_number(ask, i, "cpusperl3");
    levels.push_back({macos_number(ask, i, "logicalcpu"), macos_number(ask, i, "physicalcpu"),
                      kinds == 1 ? packages : 1,
                      third > 0 ? third : macos_number(ask, i, "cpusperl2")});
  }
  if (levels.empty()) {
    // Of memory, L1, L2, ...: ten numbers. The system gives none of them to who has less room.
    std::uint64_t sharing[32] = {};
    std::size_t size = sizeof sharing;
    unsigned last = 0;
    if (ask("hw.cacheconfig", sharing, &size) == 0) {
      for (std::size_t i = 1; i < size / sizeof sharing[0]; ++i) {
        if (sharing[i] != 0) last = static_cast<unsigned>(sharing[i]);
      }
    }
    levels.push_back(
        {macos_number(ask, "hw.logicalcpu"), macos_number(ask, "hw.physicalcpu"), packages, last});
  }
  return topology_of_levels(levels);
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
