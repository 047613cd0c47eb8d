// SPDX-License-Identifier: MIT
// lockstep/detail/platform/cpus.ipp -- the bodies of cpus.hpp (layer: platform)
#ifndef LOCKSTEP_DETAIL_PLATFORM_CPUS_IPP
#define LOCKSTEP_DETAIL_PLATFORM_CPUS_IPP

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "cpus.hpp"
#include "process.hpp"

#if defined(__linux__)
#include <sched.h>
#endif

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

LOCKSTEP_COLD void append(std::string& text, const char* format, ...) {
  char buffer[501];
  std::va_list arguments;
  va_start(arguments, format);
  const int length = std::vsnprintf(buffer, sizeof buffer, format, arguments);
  va_end(arguments);
  if (length > 0) text.append(buffer);
}

LOCKSTEP_COLD std::string without_blanks(const std::string& text) {
  const char* const blanks = " \t\r\n\v\f";
  const std::size_t begin = text.find_first_not_of(blanks);
  if (begin == std::string::npos) return std::string();
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

LOCKSTEP_COLD bool parse_number(const std::string& text, unsigned long long most,
                                unsigned long long& result) {
  if (text.empty()) return false;
  unsigned long long value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return false;
    const unsigned digit = static_cast<unsigned>(c - '0');
    if (digit > most || value > (most - digit) / 10) return false;
    value = value * 10 + digit;
  }
  result = value;
  return true;
}

LOCKSTEP_COLD bool parse_cpu_range(const std::string& text, std::vector<unsigned>& cpus) {
  const std::size_t colon = text.find(':');
  const std::string range = text.substr(0, colon);
  const std::size_t dash = range.find('-');
  unsigned long long first = 0, last = 0, stride = 1;
  if (!parse_number(range.substr(0, dash), max_cpus - 1, first)) return false;
  last = first;
  if (dash != std::string::npos && !parse_number(range.substr(dash + 1), max_cpus - 1, last))
    return false;
  const bool has_stride = colon != std::string::npos;
  if (has_stride && (dash == std::string::npos ||
                     !parse_number(text.substr(colon + 1), max_cpus, stride) || stride == 0)) {
    return false;
  }
  if (last < first || (last - first) / stride + 1 > max_cpus - cpus.size()) return false;
  for (unsigned long long cpu = first; cpu <= last; cpu += stride) {
    cpus.push_back(static_cast<unsigned>(cpu));
  }
  return true;
}

LOCKSTEP_COLD bool parse_cpu_list(const std::string& text, std::vector<unsigned>& cpus) {
  cpus.clear();
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = text.find(',', at);
    const std::size_t end = comma == std::string::npos ? text.size() : comma;
    if (!parse_cpu_range(without_blanks(text.substr(at, end - at)), cpus)) {
      cpus.clear();
      return false;
    }
    at = end + 1;
  }
  return true;
}

LOCKSTEP_COLD std::string cpu_list_text(const std::vector<unsigned>& cpus) {
  std::string text;
  for (std::size_t i = 0; i < cpus.size();) {
    std::size_t last = i;
    while (last + 1 < cpus.size() && cpus[last + 1] == cpus[last] + 1) ++last;
    append(text, text.empty() ? "%u" : ",%u", cpus[i]);
    if (last > i) append(text, last > i + 1 ? "-%u" : ",%u", cpus[last]);
    i = last + 1;
  }
  return text;
}

LOCKSTEP_COLD std::vector<unsigned> affinity() {
  std::vector<unsigned> cpus;
#if defined(__linux__)
  // The kernel refuses a mask smaller than its own, hence the growth.
  for (std::size_t limit = 1024; limit <= std::size_t{1} << 20; limit *= 4) {
    cpu_set_t* const mask = CPU_ALLOC(limit);
    if (mask == nullptr) break;
    const std::size_t size = CPU_ALLOC_SIZE(limit);
    const bool known = sched_getaffinity(0, size, mask) == 0;
    for (std::size_t cpu = 0; known && cpu < limit; ++cpu) {
      if (CPU_ISSET_S(cpu, size, mask)) cpus.push_back(static_cast<unsigned>(cpu));
    }
    CPU_FREE(mask);
    if (known) break;
  }
#endif
  return cpus;
}

LOCKSTEP_COLD unsigned count_affine_cpus() noexcept {
  unsigned count = 0;
#if defined(__linux__)
  // The kernel refuses a mask smaller than its own: this is enough for 65536 CPUs.
  unsigned char mask[8192] = {};
  if (sched_getaffinity(0, sizeof mask, reinterpret_cast<cpu_set_t*>(mask)) == 0) {
    for (unsigned bits : mask) {
      for (; bits != 0; bits &= bits - 1) ++count;
    }
  }
#endif
  return count > 0 ? count : 2;
}

LOCKSTEP_COLD unsigned count_usable_cpus() {
  unsigned count = static_cast<unsigned>(affinity().size());
  if (count == 0) count = std::thread::hardware_concurrency();
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
  values.resize(kept);
}

namespace topology {

LOCKSTEP_COLD std::string directory_of(const std::string& root, unsigned cpu) {
  std::string directory = root;
  append(directory, "/sys/devices/system/cpu/cpu%u", cpu);
  return directory;
}

LOCKSTEP_COLD std::uint32_t number_in(const std::string& path, std::uint32_t otherwise) {
  unsigned long long number = 0;
  const bool known = parse_number(without_blanks(cgroup::read_file(path)), 0xffffffffu, number);
  return known ? static_cast<std::uint32_t>(number) : otherwise;
}

LOCKSTEP_COLD std::vector<unsigned> list_in(const std::string& path) {
  std::vector<unsigned> cpus;
  parse_cpu_list(cgroup::read_file(path), cpus);
  return cpus;
}

LOCKSTEP_COLD bool contains(const std::vector<unsigned>& cpus, unsigned cpu) {
  for (const unsigned each : cpus) {
    if (each == cpu) return true;
  }
  return false;
}

LOCKSTEP_COLD unsigned first_of_core(const std::string& root, unsigned cpu) {
  // The first name is that of newer systems.
  for (const char* file : {"/topology/core_cpus_list", "/topology/thread_siblings_list"}) {
    const std::vector<unsigned> siblings = list_in(directory_of(root, cpu) + file);
    if (!contains(siblings, cpu)) continue;
    unsigned first = cpu;
    for (const unsigned each : siblings) first = each < first ? each : first;
    return first;
  }
  return cpu;
}

LOCKSTEP_COLD std::vector<unsigned> dense(const std::vector<std::uint32_t>& values) {
  std::vector<std::uint32_t> sorted(values);
  sort_once(sorted);
  std::vector<unsigned> places;
  places.reserve(values.size());
  for (const std::uint32_t value : values) {
    const void* const at =
        std::bsearch(&value, sorted.data(), sorted.size(), sizeof value, compare_numbers);
    places.push_back(static_cast<unsigned>(static_cast<const std::uint32_t*>(at) - sorted.data()));
  }
  return places;
}

LOCKSTEP_COLD std::uint32_t fast_from(std::vector<std::uint32_t> values) {
  sort_once(values);
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

LOCKSTEP_COLD bool kinds_by_number(const std::string& root, const char* file,
                                   const std::vector<unsigned>& cpus,
                                   std::vector<core_kind>& kinds) {
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

LOCKSTEP_COLD bool kinds_by_list(const std::string& root, const std::vector<unsigned>& cpus,
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

LOCKSTEP_COLD std::vector<core_kind> kinds_of(const std::string& root,
                                              const std::vector<unsigned>& cpus) {
  std::vector<core_kind> kinds(cpus.size(), core_kind::unknown);
  if (!kinds_by_list(root, cpus, kinds) && !kinds_by_number(root, "/cpu_capacity", cpus, kinds)) {
    kinds_by_number(root, "/cpufreq/cpuinfo_max_freq", cpus, kinds);
  }
  return kinds;
}

}  // namespace topology

LOCKSTEP_COLD cpu_topology read_topology(const std::vector<unsigned>& cpus,
                                         const std::string& root) {
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
  for (std::size_t i = 0; i < cpus.size(); ++i)
    result.push_back({cpus[i], core[i], package[i], siblings[core[i]]++, kinds[i]});
  return result;
}

LOCKSTEP_COLD const cpu_topology& usable_topology() {
  static made_once<cpu_topology> known;
  return known.get([] { return read_topology(affinity()); });
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_PLATFORM_CPUS_IPP
