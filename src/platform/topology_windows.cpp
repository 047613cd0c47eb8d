// SPDX-License-Identifier: MIT
// src/platform/topology_windows.cpp -- where CPUs are, as Windows tells it (layer: platform)
#include "topology.hpp"

#include <cstring>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {
namespace windows_records {

// The fields of SYSTEM_LOGICAL_PROCESSOR_INFORMATION_EX, by offset. The first eight bytes are the same in all records.
enum : std::size_t {
  at_relation = 0,
  at_size = 4,
  at_efficiency = 9,
  at_groups_of_core = 30,  // also of a package and a node
  at_masks_of_core = 32,
  at_cache_level = 8,
  at_cache_type = 16,
  at_groups_of_cache = 38,
  at_masks_of_cache = 40
};
enum : std::uint32_t {
  core_relation = 0,
  node_relation = 1,
  cache_relation = 2,
  package_relation = 3
};
enum : std::uint32_t { instruction_cache = 1 };

template <class Number>
Number number_at(const unsigned char* record, std::size_t offset) noexcept {
  Number result;
  std::memcpy(&result, record + offset, sizeof result);
  return result;
}

/// The CPUs that a record names, ascending if its groups ascend. False if the masks would lie outside of the record.
LOCKSTEP_INLINE bool read_masks(const unsigned char* record, std::size_t size,
                                std::size_t groups_at, std::size_t masks_at, std::size_t word,
                                std::vector<unsigned>& cpus) {
  cpus.clear();
  if (size < masks_at) return false;
  // Older systems have one group for each node and cache, but say 0.
  std::size_t groups = number_at<std::uint16_t>(record, groups_at);
  if (groups == 0) groups = 1;
  const std::size_t each = word + 8;  // mask, number, three reserved numbers
  if (groups > (size - masks_at) / each) return false;
  for (std::size_t i = 0; i < groups; ++i) {
    const unsigned char* const at = record + masks_at + i * each;
    const std::uint64_t mask =
        word == 8 ? number_at<std::uint64_t>(at, 0) : number_at<std::uint32_t>(at, 0);
    const unsigned group = number_at<std::uint16_t>(at, word);
    for (unsigned bit = 0; bit < 64; ++bit) {
      if ((mask >> bit & 1u) == 0) continue;
      const unsigned cpu = 64 * group + bit;
      if (cpu < max_cpus) cpus.push_back(cpu);
    }
  }
  return true;
}

LOCKSTEP_INLINE cpu_topology read(const unsigned char* records, std::size_t size,
                                  std::size_t word) {
  struct found {
    unsigned core, package, node, cache, level, efficiency;
    bool is_known;
  };
  std::vector<found> all;
  std::vector<unsigned> cpus;
  unsigned highest = 0, lowest = 255;
  for (std::size_t at = 0; at < size;) {
    if (size - at < 8) return cpu_topology();
    const unsigned char* const record = records + at;
    const std::size_t length = number_at<std::uint32_t>(record, at_size);
    if (length < 8 || length > size - at) return cpu_topology();
    at += length;
    const std::uint32_t relation = number_at<std::uint32_t>(record, at_relation);
    if (relation > package_relation) continue;
    const bool is_cache = relation == cache_relation;
    if (!read_masks(record, length, is_cache ? at_groups_of_cache : at_groups_of_core,
                    is_cache ? at_masks_of_cache : at_masks_of_core, word, cpus)) {
      return cpu_topology();
    }
    if (cpus.empty()) continue;
    const unsigned efficiency = record[at_efficiency], level = record[at_cache_level];
    if (is_cache && number_at<std::uint32_t>(record, at_cache_type) == instruction_cache) continue;
    for (const unsigned cpu : cpus) {
      while (all.size() <= cpu) all.push_back({0, 0, 0, unknown_cache, 0, 0, false});
      found& place = all[cpu];
      if (relation == core_relation) {
        place.core = cpus[0];
        place.efficiency = efficiency;
        place.is_known = true;
        highest = efficiency > highest ? efficiency : highest;
        lowest = efficiency < lowest ? efficiency : lowest;
      } else if (relation == package_relation) {
        place.package = cpus[0];
      } else if (relation == node_relation) {
        place.node = cpus[0];
      } else if (level > place.level) {
        place.level = level;
        place.cache = cpus[0];
      }
    }
  }
  cpu_topology result;
  for (unsigned cpu = 0; cpu < all.size(); ++cpu) {
    const found& place = all[cpu];
    if (!place.is_known) continue;
    const core_kind kind = highest == lowest             ? core_kind::unknown
                           : place.efficiency == highest ? core_kind::performance
                                                         : core_kind::efficiency;
    result.push_back({cpu, place.core, place.package, 0, kind, place.node, place.cache});
  }
  finish_topology(result);
  return result;
}

}  // namespace windows_records
}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
