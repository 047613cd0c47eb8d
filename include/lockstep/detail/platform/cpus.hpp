// SPDX-License-Identifier: MIT
// lockstep/detail/platform/cpus.hpp -- how many CPUs there are for this process, and what they are (layer: platform)
//
// What is usable is the affinity mask, cut by the quota of control groups (rounded down, at least one): a container
// with a quota of 2 CPUs on a machine of 64 has 2. More runnable threads than that are *crowded*: spinning then takes
// time from the very thread one waits for.
// `root` is a directory put before every path, for tests.
// Source [SYSFS-CPU]
#ifndef LOCKSTEP_DETAIL_PLATFORM_CPUS_HPP
#define LOCKSTEP_DETAIL_PLATFORM_CPUS_HPP

#include <cstddef>
#include <string>
#include <vector>

#include "binding.hpp"
#include "config.hpp"
#include "process.hpp"
#include "system_texts.hpp"

#if LOCKSTEP_HAS_BODIES
#include <cstdlib>
#if defined(__unix__) || defined(__APPLE__)
#include <unistd.h>
#elif !defined(_WIN32)
#include <thread>
#endif

#include "made_once.hpp"
#endif

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

// Lists of CPUs as text, "0,2,4-7,8-14:2": the form in which Linux writes sets of CPUs, and users write where threads
// shall run; a range may have a stride. Strict: what is not wholly right is refused, and no text makes a list of more
// than `max_cpus`, however it is written. Independent of the locale.

/// Reads a list, in the order of the text; blanks may stand around each part. False, and `cpus` empty,
/// if the text is no list, names no CPU, names a CPU from `max_cpus` on, or more than that many.
LOCKSTEP_COLD bool parse_cpu_list(const char* text, std::vector<unsigned>& cpus);

/// Appends the list as text, neighbours that ascend by one joined: {0, 1, 2, 5} is "0-2,5".
LOCKSTEP_COLD void append_cpu_list(std::string& text, const std::vector<unsigned>& cpus);

/// In ascending order, each value once. The sort of <algorithm> costs ten times as much to compile.
LOCKSTEP_COLD void sort_once(std::vector<unsigned>& values);

/// The place of `value` in what sort_once() has sorted; its size if it is not there.
LOCKSTEP_COLD std::size_t find_sorted(const std::vector<unsigned>& values, unsigned value) noexcept;

/// The numbers of the CPUs in the affinity mask of the calling thread, ascending; empty if unknown.
LOCKSTEP_COLD std::vector<unsigned> affinity();

/// How many CPUs the affinity mask of the calling thread has; 2 if unknown: a guess that may be wrong. Fails
/// never, allocates nothing, reads no file.
LOCKSTEP_COLD unsigned count_affine_cpus() noexcept;

/// Looks afresh; about 100 us.
LOCKSTEP_COLD unsigned count_usable_cpus();

// Which core and package each usable CPU belongs to.
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

/// In the order of preference: what is not told stands between.
enum class core_kind : unsigned char { performance, unknown, efficiency };

LOCKSTEP_COLD const char* text_of(core_kind kind) noexcept;

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

/// The number in a file of a CPU; `otherwise` if it holds none, or one above 2^32 - 1.
LOCKSTEP_COLD unsigned number_in(const char* root, unsigned cpu, const char* file,
                                 unsigned otherwise);

/// The lowest CPU of the core that `cpu` is on.
LOCKSTEP_COLD unsigned first_of_core(const char* root, unsigned cpu);

/// Replaces each number of that kind by its place among the different ones: 7, 3, 7 become 1, 0, 1.
LOCKSTEP_COLD void number_anew(cpu_topology& places, unsigned cpu_place::* number);

/// The lowest value of the faster kind, where the largest step between `values` parts them; 0 if they
/// are all alike. A value of 0 is not known and says nothing.
LOCKSTEP_COLD unsigned fast_from(std::vector<unsigned> values);

/// By the lists of Intel's hybrids; false if there are none.
LOCKSTEP_COLD bool set_kinds_by_list(const char* root, cpu_topology& places);

/// By a number that each CPU has in `file`; false if that does not tell them apart.
LOCKSTEP_COLD bool set_kinds_by_number(const char* root, const char* file, cpu_topology& places);

}  // namespace topology

/// What the system tells about `cpus`; looks afresh.
LOCKSTEP_COLD cpu_topology read_topology(const std::vector<unsigned>& cpus, const char* root = "");

/// The topology of the CPUs that the thread that asked first might run on. Kept: that thread may be
/// bound to one of them later.
LOCKSTEP_COLD const cpu_topology& usable_topology();

#if LOCKSTEP_HAS_BODIES

LOCKSTEP_COLD bool parse_cpu_list(const char* text, std::vector<unsigned>& cpus) {
  cpus.clear();
  for (const char* at = text;; ++at) {
    unsigned long long first = 0, last = 0, stride = 1;
    at = skip_blanks(at);
    bool is_right = read_number(at, max_cpus - 1, first);
    last = first;
    if (is_right && *at == '-') {
      is_right = read_number(++at, max_cpus - 1, last);
      if (is_right && *at == ':') is_right = read_number(++at, max_cpus, stride) && stride > 0;
    }
    at = skip_blanks(at);
    is_right = is_right && (*at == ',' || *at == 0) && last >= first &&
               (last - first) / stride + 1 <= max_cpus - cpus.size();
    if (!is_right) {
      cpus.clear();
      return false;
    }
    for (; first <= last; first += stride) {
      const unsigned cpu = static_cast<unsigned>(first);
      cpus.push_back(cpu);
    }
    if (*at == 0) return true;
  }
}

LOCKSTEP_COLD void append_cpu_list(std::string& text, const std::vector<unsigned>& cpus) {
  for (std::size_t i = 0; i < cpus.size();) {
    std::size_t last = i;
    while (last + 1 < cpus.size() && cpus[last + 1] == cpus[last] + 1) ++last;
    append(text, i == 0 ? "%u" : ",%u", cpus[i]);
    if (last > i) append(text, last > i + 1 ? "-%u" : ",%u", cpus[last]);
    i = last + 1;
  }
}

LOCKSTEP_COLD int compare_numbers(const void* a, const void* b) noexcept {
  const unsigned left = *static_cast<const unsigned*>(a), right = *static_cast<const unsigned*>(b);
  return left < right ? -1 : left > right ? 1 : 0;
}
LOCKSTEP_COLD void sort_once(std::vector<unsigned>& values) {
  if (values.empty()) return;
  std::qsort(values.data(), values.size(), sizeof(unsigned), compare_numbers);
  std::size_t kept = 1;
  for (const unsigned value : values) {
    if (value != values[kept - 1]) values[kept++] = value;
  }
  while (values.size() > kept) values.pop_back();
}
LOCKSTEP_COLD std::size_t find_sorted(const std::vector<unsigned>& values,
                                      unsigned value) noexcept {
  if (values.empty()) return 0;
  const void* const at =
      std::bsearch(&value, values.data(), values.size(), sizeof value, compare_numbers);
  if (at == nullptr) return values.size();
  return static_cast<std::size_t>(static_cast<const unsigned*>(at) - values.data());
}

LOCKSTEP_COLD std::vector<unsigned> affinity() {
  std::vector<unsigned> cpus;
  read_affinity(&cpus);
  return cpus;
}

LOCKSTEP_COLD unsigned count_affine_cpus() noexcept {
  const unsigned count = read_affinity(nullptr);
  return count > 0 ? count : 2;
}

LOCKSTEP_COLD unsigned count_usable_cpus() {
  unsigned count = read_affinity(nullptr);
#if defined(__unix__) || defined(__APPLE__)
  if (count == 0) count = static_cast<unsigned>(sysconf(_SC_NPROCESSORS_ONLN));
#elif !defined(_WIN32)
  if (count == 0) count = std::thread::hardware_concurrency();
#endif
#if defined(__linux__)
  const double quota = cgroup::quota();
  if (quota >= 0 && quota < count) count = static_cast<unsigned>(quota);
#endif
  return count > 0 ? count : 1;
}

LOCKSTEP_COLD const char* text_of(core_kind kind) noexcept {
  return kind == core_kind::performance  ? "performance"
         : kind == core_kind::efficiency ? "efficiency"
                                         : "unknown";
}

namespace topology {

LOCKSTEP_COLD unsigned number_in(const char* root, unsigned cpu, const char* file,
                                 unsigned otherwise) {
  const std::string text = file_text("%s/sys/devices/system/cpu/cpu%u/%s", root, cpu, file);
  const char* at = skip_blanks(text.c_str());
  unsigned long long number = 0;
  return read_number(at, 0xffffffffu, number) && *skip_blanks(at) == 0
             ? static_cast<unsigned>(number)
             : otherwise;
}

LOCKSTEP_COLD unsigned first_of_core(const char* root, unsigned cpu) {
  // The first name is that of newer systems.
  static const char* const files[] = {"core_cpus_list", "thread_siblings_list"};
  for (const char* file : files) {
    std::vector<unsigned> siblings;
    parse_cpu_list(
        file_text("%s/sys/devices/system/cpu/cpu%u/topology/%s", root, cpu, file).c_str(),
        siblings);
    sort_once(siblings);
    if (find_sorted(siblings, cpu) < siblings.size()) return siblings[0];
  }
  return cpu;
}

LOCKSTEP_COLD void number_anew(cpu_topology& places, unsigned cpu_place::* number) {
  std::vector<unsigned> numbers;
  for (const cpu_place& place : places) numbers.push_back(place.*number);
  sort_once(numbers);
  for (cpu_place& place : places) {
    place.*number = static_cast<unsigned>(find_sorted(numbers, place.*number));
  }
}

LOCKSTEP_COLD unsigned fast_from(std::vector<unsigned> values) {
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

LOCKSTEP_COLD bool set_kinds_by_list(const char* root, cpu_topology& places) {
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

LOCKSTEP_COLD bool set_kinds_by_number(const char* root, const char* file, cpu_topology& places) {
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

}  // namespace topology

LOCKSTEP_COLD cpu_topology read_topology(const std::vector<unsigned>& cpus, const char* root) {
  cpu_topology result(cpus.size());
  for (std::size_t i = 0; i < cpus.size(); ++i) {
    // Where the system does not know it says -1, which is no number here.
    const unsigned package = topology::number_in(root, cpus[i], "topology/physical_package_id", 0);
    result[i] = {cpus[i], topology::first_of_core(root, cpus[i]), package, 0, core_kind::unknown};
  }
  topology::number_anew(result, &cpu_place::core);
  topology::number_anew(result, &cpu_place::package);
  std::vector<unsigned> siblings(cpus.size());
  for (cpu_place& place : result) place.sibling = siblings[place.core]++;
  if (!topology::set_kinds_by_list(root, result) &&
      !topology::set_kinds_by_number(root, "cpu_capacity", result)) {
    topology::set_kinds_by_number(root, "cpufreq/cpuinfo_max_freq", result);
  }
  return result;
}

LOCKSTEP_COLD const cpu_topology& usable_topology() {
  static made_once<cpu_topology> known;
  return known.get([] { return read_topology(affinity()); });
}

#endif

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_PLATFORM_CPUS_HPP
