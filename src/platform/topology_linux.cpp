// SPDX-License-Identifier: MIT
// src/platform/topology_linux.cpp -- where CPUs are, read from /sys (layer: platform)
//
// It never fails. If nothing can be read about a CPU, it is a core of its own, in the first package and node, of
// unknown kind. It reads some four small files for each CPU, and some nine more for each last-level cache, 20 us each.
// So it is for programs that place threads, not for every program.
//
//   core     topology/core_cpus_list, or thread_siblings_list of older systems
//   package  topology/physical_package_id. Where that is -1, as in partitions of POWER and older z: the first package.
//            What such systems call siblings of a package is a core (POWER) or a chip (z)
//   node     the node whose cpulist has the CPU
//   cache    the cache in cache/index*/ of the highest level that is not for instructions alone. Many virtual machines
//            lack that directory: then all CPUs of a package and node share one
//   kind     from the first of these that tells CPUs apart:
//            1. Intel's hybrids list them: /sys/devices/cpu_core, cpu_atom, cpu_lowpower
//            2. cpu_capacity, as ARM has it   3. the highest clock rate
//            2 and 3 part the CPUs where the ratio between two neighbouring values is largest (fast_from)
//
// If a list is missing, the mask beside it is read. Linux before 2.6.26 has masks only, and on POWER caches had only
// masks for years longer. A list or mask that does not name the CPU itself is ignored.
// Source [SYSFS-CPU]
#include <cstring>
#include <string>
#include <vector>

#include "system_texts.hpp"
#include "topology.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {
namespace sysfs {

/// The number in a file of a CPU; `otherwise` if the file holds no number, or one above 2^32 - 1.
LOCKSTEP_INLINE unsigned number_in(const char* root, unsigned cpu, const char* file,
                                   unsigned otherwise) {
  const std::string text = file_text("%s/sys/devices/system/cpu/cpu%u/%s", root, cpu, file);
  const char* at = skip_blanks(text.c_str());
  unsigned long long number = 0;
  return read_number(at, 0xffffffffu, number) && *skip_blanks(at) == 0
             ? static_cast<unsigned>(number)
             : otherwise;
}

LOCKSTEP_INLINE bool parse_cpu_mask(const char* text, std::vector<unsigned>& cpus) {
  static const char* const digits = "0123456789abcdef";
  constexpr std::size_t group = 9;  // 8 digits and a comma before them
  cpus.clear();
  text = skip_blanks(text);
  const std::size_t size = std::strspn(text, "0123456789abcdef,");
  bool is_right = *skip_blanks(text + size) == 0 && size % group != 0;
  // Begins with the lowest digit, which is the last.
  for (std::size_t i = 0; is_right && i < size; ++i) {
    const char each = text[size - 1 - i];
    is_right = (each == ',') == (i % group == group - 1);
    if (!is_right || each == ',' || each == '0') continue;
    const std::size_t value = static_cast<std::size_t>(std::strchr(digits, each) - digits);
    const std::size_t first = (i - i / group) * 4;
    is_right = first < max_cpus;
    for (unsigned bit = 0; is_right && bit < 4; ++bit) {
      if ((value >> bit & 1u) != 0) cpus.push_back(static_cast<unsigned>(first) + bit);
    }
  }
  if (!is_right) cpus.clear();
  return !cpus.empty();
}

/// The CPUs in a file of `cpu`, ascending; `parse` reads its text. False, and `cpus` is empty, if `cpu` itself is not
/// among them.
using cpus_parser = bool (*)(const char* text, std::vector<unsigned>& cpus);
LOCKSTEP_INLINE bool read_sharing(const char* root, unsigned cpu, const char* file,
                                  cpus_parser parse, std::vector<unsigned>& cpus) {
  const std::string text = file_text("%s/sys/devices/system/cpu/cpu%u/%s", root, cpu, file);
  parse(text.c_str(), cpus);
  sort_once(cpus);
  if (find_sorted(cpus, cpu) < cpus.size()) return true;
  cpus.clear();
  return false;
}

/// The lowest CPU of the core that `cpu` is on.
LOCKSTEP_INLINE unsigned first_of_core(const char* root, unsigned cpu) {
  // From newer systems to older ones.
  static const struct {
    const char* file;
    cpus_parser parse;
  } sources[] = {{"topology/core_cpus_list", parse_cpu_list},
                 {"topology/thread_siblings_list", parse_cpu_list},
                 {"topology/thread_siblings", parse_cpu_mask}};
  for (const auto& source : sources) {
    std::vector<unsigned> siblings;
    if (read_sharing(root, cpu, source.file, source.parse, siblings)) return siblings[0];
  }
  return cpu;
}

/// The CPUs that share the last-level cache of `cpu`; false if it is not known.
LOCKSTEP_INLINE bool read_last_cache(const char* root, unsigned cpu, std::vector<unsigned>& cpus) {
  constexpr unsigned most_caches = 16;  // no CPU has more than five
  unsigned highest = 0, last = 0;
  for (unsigned index = 0; index < most_caches; ++index) {
    std::string file;
    append(file, "cache/index%u/level", index);
    const unsigned level = number_in(root, cpu, file.c_str(), 0);
    if (level == 0) break;
    if (level <= highest) continue;
    const std::string type =
        file_text("%s/sys/devices/system/cpu/cpu%u/cache/index%u/type", root, cpu, index);
    if (type[0] == 'I') continue;  // Instruction
    highest = level;
    last = index;
  }
  if (highest == 0) return false;
  std::string list, mask;
  append(list, "cache/index%u/shared_cpu_list", last);
  append(mask, "cache/index%u/shared_cpu_map", last);
  return read_sharing(root, cpu, list.c_str(), parse_cpu_list, cpus) ||
         read_sharing(root, cpu, mask.c_str(), parse_cpu_mask, cpus);
}

LOCKSTEP_INLINE void set_caches(const char* root, cpu_topology& places) {
  std::vector<unsigned> sharing;
  for (cpu_place& place : places) {
    // The first CPU of a cache reads about it for all its CPUs.
    if (place.cache != unknown_cache || !read_last_cache(root, place.cpu, sharing)) continue;
    for (cpu_place& each : places) {
      const bool is_shared = find_sorted(sharing, each.cpu) < sharing.size();
      if (is_shared && each.cache == unknown_cache) each.cache = sharing[0];
    }
  }
}

LOCKSTEP_INLINE void set_nodes(const char* root, cpu_topology& places) {
  std::vector<unsigned> nodes, cpus;
  parse_cpu_list(file_text("%s/sys/devices/system/node/online", root).c_str(), nodes);
  for (const unsigned node : nodes) {
    const std::string list = file_text("%s/sys/devices/system/node/node%u/cpulist", root, node);
    const std::string mask = file_text("%s/sys/devices/system/node/node%u/cpumap", root, node);
    if (!parse_cpu_list(list.c_str(), cpus) && !parse_cpu_mask(mask.c_str(), cpus))
      continue;  // memory only
    sort_once(cpus);
    for (cpu_place& place : places) {
      if (find_sorted(cpus, place.cpu) < cpus.size()) place.node = node;
    }
  }
}

/// Sets the kinds by the lists of Intel's hybrids; false if there are none.
LOCKSTEP_INLINE bool set_kinds_by_list(const char* root, cpu_topology& places) {
  static const struct {
    const char* file;
    core_kind kind;
  } lists[] = {{"lowpower", core_kind::efficiency},
               {"atom", core_kind::efficiency},
               {"core", core_kind::performance}};
  bool is_known = false;
  for (const auto& list : lists) {
    std::vector<unsigned> cpus;
    if (!parse_cpu_list(file_text("%s/sys/devices/cpu_%s/cpus", root, list.file).c_str(), cpus))
      continue;
    is_known = true;
    sort_once(cpus);
    for (cpu_place& place : places) {
      if (find_sorted(cpus, place.cpu) < cpus.size()) place.kind = list.kind;
    }
  }
  return is_known;
}

/// Sets the kinds by a number that each CPU has in `file`; false if that does not tell them apart.
LOCKSTEP_INLINE bool set_kinds_by_number(const char* root, const char* file, cpu_topology& places) {
  std::vector<unsigned> values;
  for (const cpu_place& place : places) {
    const unsigned value = number_in(root, place.cpu, file, 0);
    values.push_back(value);
  }
  const unsigned fast = fast_from(values);
  for (std::size_t i = 0; fast != 0 && i < values.size(); ++i) {
    if (values[i] == 0) continue;
    places[i].kind = values[i] >= fast ? core_kind::performance : core_kind::efficiency;
  }
  return fast != 0;
}

LOCKSTEP_INLINE cpu_topology read(const std::vector<unsigned>& cpus, const char* root) {
  cpu_topology result(cpus.size());
  for (std::size_t i = 0; i < cpus.size(); ++i) {
    // A system that does not know the package says -1, which number_in() takes for no number.
    const unsigned package = number_in(root, cpus[i], "topology/physical_package_id", 0);
    const unsigned core = first_of_core(root, cpus[i]);
    result[i] = {cpus[i], core, package, 0, core_kind::unknown, 0, unknown_cache};
  }
  set_nodes(root, result);
  set_caches(root, result);
  finish_topology(result);
  if (!set_kinds_by_list(root, result) && !set_kinds_by_number(root, "cpu_capacity", result)) {
    set_kinds_by_number(root, "cpufreq/cpuinfo_max_freq", result);
  }
  return result;
}

}  // namespace sysfs
}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
