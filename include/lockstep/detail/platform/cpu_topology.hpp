// SPDX-License-Identifier: MIT
// lockstep/detail/platform/cpu_topology.hpp -- which core and package each usable CPU belongs to (layer: platform)
//
// Never fails: a CPU of which nothing can be read is a core of its own, in the first package, of unknown
// kind; so is every CPU where the system has no /sys. Reads some six small files for each CPU, 20 us
// each: for those who place threads, not for every program.
//
// Kinds of core come from the first of these that tells CPUs apart:
//   1. Intel's hybrids list them: /sys/devices/cpu_core, cpu_atom, cpu_lowpower
//   2. cpu_capacity, as ARM has it   3. the highest clock rate
// In 2 and 3 the CPUs are parted where the ratio between two neighbouring values is largest, if that is
// 5/4 at least: cores of one kind differ by up to a tenth (favoured cores, a larger cache).
//
// `root` is a directory put before every path, for tests.
// Source [SYSFS-CPU]
#ifndef LOCKSTEP_DETAIL_PLATFORM_CPU_TOPOLOGY_HPP
#define LOCKSTEP_DETAIL_PLATFORM_CPU_TOPOLOGY_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cgroup.hpp"
#include "cpu_list.hpp"
#include "made_once.hpp"
#include "usable_cpus.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// In the order of preference: what is not told stands between.
enum class core_kind : unsigned char { performance, unknown, efficiency };

inline const char* text_of(core_kind kind) noexcept {
  return kind == core_kind::performance  ? "performance"
         : kind == core_kind::efficiency ? "efficiency"
                                         : "unknown";
}

/// Cores and packages are numbered from 0, those only that have a usable CPU, by the lowest number that
/// the system gives them. Siblings are the usable CPUs of one core, numbered from 0.
struct cpu_place {
  unsigned cpu;
  unsigned core;
  unsigned package;
  unsigned sibling;
  core_kind kind;
};

/// One entry for each CPU, in the order in which they were asked for.
using cpu_topology = std::vector<cpu_place>;

namespace topology {

inline std::string directory_of(const std::string& root, unsigned cpu) {
  return root + "/sys/devices/system/cpu/cpu" + std::to_string(cpu);
}

/// The number a file holds; `otherwise` if it holds none, or one above 2^32 - 1.
inline std::uint32_t number_in(const std::string& path, std::uint32_t otherwise) {
  unsigned long long number = 0;
  const bool known = parse_number(without_blanks(cgroup::read_file(path)), 0xffffffffu, number);
  return known ? static_cast<std::uint32_t>(number) : otherwise;
}

/// The CPUs a file lists; none if it is no list.
inline std::vector<unsigned> list_in(const std::string& path) {
  std::vector<unsigned> cpus;
  parse_cpu_list(cgroup::read_file(path), cpus);
  return cpus;
}

inline bool contains(const std::vector<unsigned>& cpus, unsigned cpu) {
  return std::find(cpus.begin(), cpus.end(), cpu) != cpus.end();
}

/// The lowest CPU of the core that `cpu` is on.
inline unsigned first_of_core(const std::string& root, unsigned cpu) {
  // The first name is that of newer systems.
  for (const char* file : {"/topology/core_cpus_list", "/topology/thread_siblings_list"}) {
    const std::vector<unsigned> siblings = list_in(directory_of(root, cpu) + file);
    if (contains(siblings, cpu)) return *std::min_element(siblings.begin(), siblings.end());
  }
  return cpu;
}

/// Each value's place among the different values: {7, 3, 7} becomes {1, 0, 1}.
inline std::vector<unsigned> dense(const std::vector<std::uint32_t>& values) {
  std::vector<std::uint32_t> sorted(values);
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  std::vector<unsigned> places;
  places.reserve(values.size());
  for (const std::uint32_t value : values) {
    const auto at = std::lower_bound(sorted.begin(), sorted.end(), value);
    places.push_back(static_cast<unsigned>(at - sorted.begin()));
  }
  return places;
}

/// The lowest value of the faster kind, where the largest step between `values` parts them; 0 if they
/// are all alike. A value of 0 is not known and says nothing.
inline std::uint32_t fast_from(std::vector<std::uint32_t> values) {
  std::sort(values.begin(), values.end());
  double largest = 1.25;
  std::uint32_t result = 0;
  for (std::size_t i = 1; i < values.size(); ++i) {
    if (values[i - 1] == 0) continue;
    const double step = static_cast<double>(values[i]) / values[i - 1];
    if (step < largest) continue;
    largest = step;
    result = values[i];
  }
  return result;
}

/// By a number that each CPU has in `file`; false if that does not tell them apart.
inline bool kinds_by_number(const std::string& root, const char* file,
                            const std::vector<unsigned>& cpus, std::vector<core_kind>& kinds) {
  std::vector<std::uint32_t> values;
  for (const unsigned cpu : cpus) values.push_back(number_in(directory_of(root, cpu) + file, 0));
  const std::uint32_t fast = fast_from(values);
  for (std::size_t i = 0; fast != 0 && i < cpus.size(); ++i) {
    kinds[i] = values[i] == 0      ? core_kind::unknown
               : values[i] >= fast ? core_kind::performance
                                   : core_kind::efficiency;
  }
  return fast != 0;
}

/// By the lists of Intel's hybrids; false if there are none.
inline bool kinds_by_list(const std::string& root, const std::vector<unsigned>& cpus,
                          std::vector<core_kind>& kinds) {
  const std::string devices = root + "/sys/devices/";
  const std::vector<unsigned> fast = list_in(devices + "cpu_core/cpus"),
                              efficient = list_in(devices + "cpu_atom/cpus"),
                              tiny = list_in(devices + "cpu_lowpower/cpus");
  for (std::size_t i = 0; i < cpus.size(); ++i) {
    kinds[i] = contains(fast, cpus[i])                                   ? core_kind::performance
               : contains(efficient, cpus[i]) || contains(tiny, cpus[i]) ? core_kind::efficiency
                                                                         : core_kind::unknown;
  }
  return !fast.empty() || !efficient.empty() || !tiny.empty();
}

inline std::vector<core_kind> kinds_of(const std::string& root, const std::vector<unsigned>& cpus) {
  std::vector<core_kind> kinds(cpus.size(), core_kind::unknown);
  if (!kinds_by_list(root, cpus, kinds) && !kinds_by_number(root, "/cpu_capacity", cpus, kinds)) {
    kinds_by_number(root, "/cpufreq/cpuinfo_max_freq", cpus, kinds);
  }
  return kinds;
}

}  // namespace topology

/// What the system tells about `cpus`; looks afresh.
inline cpu_topology read_topology(const std::vector<unsigned>& cpus,
                                  const std::string& root = std::string()) {
  std::vector<std::uint32_t> cores, packages;
  for (const unsigned cpu : cpus) {
    cores.push_back(topology::first_of_core(root, cpu));
    // Where the system does not know it says -1, which is no number here.
    packages.push_back(topology::number_in(
        topology::directory_of(root, cpu) + "/topology/physical_package_id", 0));
  }
  const std::vector<unsigned> core = topology::dense(cores), package = topology::dense(packages);
  const std::vector<core_kind> kinds = topology::kinds_of(root, cpus);
  std::vector<unsigned> siblings(cpus.size(), 0);
  cpu_topology result;
  result.reserve(cpus.size());
  for (std::size_t i = 0; i < cpus.size(); ++i) {
    result.push_back({cpus[i], core[i], package[i], siblings[core[i]]++, kinds[i]});
  }
  return result;
}

/// The topology of the CPUs that the thread that asked first might run on. Kept: that thread may be
/// bound to one of them later.
inline const cpu_topology& usable_topology() {
  static made_once<cpu_topology> known;
  return known.get([] { return read_topology(affinity()); });
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_PLATFORM_CPU_TOPOLOGY_HPP
