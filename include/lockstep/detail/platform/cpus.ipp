// SPDX-License-Identifier: MIT
// lockstep/detail/platform/cpus.ipp -- the bodies of cpus.hpp (layer: platform)
#ifndef LOCKSTEP_DETAIL_PLATFORM_CPUS_IPP
#define LOCKSTEP_DETAIL_PLATFORM_CPUS_IPP

#include <algorithm>
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
    if (!text.empty()) text += ',';
    text += std::to_string(cpus[i]);
    if (last > i) text.append(last > i + 1 ? "-" : ",").append(std::to_string(cpus[last]));
    i = last + 1;
  }
  return text;
}

namespace cgroup {

// The streams of the standard library would double what this file costs to compile.

LOCKSTEP_COLD std::string next_part(const std::string& text, std::size_t& at,
                                    const char* separators) {
  const std::size_t begin = text.find_first_not_of(separators, at);
  const std::size_t end =
      begin == std::string::npos ? begin : text.find_first_of(separators, begin);
  at = end;
  return begin == std::string::npos ? std::string() : text.substr(begin, end - begin);
}

LOCKSTEP_COLD std::string next_word(const std::string& text, std::size_t& at) {
  return next_part(text, at, " \t\n");
}
LOCKSTEP_COLD std::string next_line(const std::string& text, std::size_t& at) {
  return next_part(text, at, "\n");
}

LOCKSTEP_COLD double ratio(const std::string& quota, const std::string& period) {
  const double numerator = std::strtod(quota.c_str(), nullptr);
  const double denominator = std::strtod(period.c_str(), nullptr);
  // Beyond that stands infinity, which strtod() reads as well.
  constexpr double most = 1e18;
  const bool are_numbers =
      numerator > 0 && numerator <= most && denominator > 0 && denominator <= most;
  return are_numbers ? numerator / denominator : unlimited;
}

LOCKSTEP_COLD double parse_cpu_max(const std::string& text) {
  std::size_t at = 0;
  const std::string quota = next_word(text, at);
  return ratio(quota, next_word(text, at));
}

LOCKSTEP_COLD double tighter(double a, double b) { return a < 0 || (b >= 0 && b < a) ? b : a; }

LOCKSTEP_COLD bool has_word(const std::string& list, const std::string& word) {
  return ("," + list + ",").find("," + word + ",") != std::string::npos;
}

LOCKSTEP_COLD std::string find_group(const std::string& cgroup_text, bool version_2) {
  for (std::size_t at = 0; at < cgroup_text.size();) {
    const std::string line = next_line(cgroup_text, at);
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (version_2 ? controllers.empty() : has_word(controllers, "cpu")) {
      return line.substr(second + 1);
    }
  }
  return std::string();
}

LOCKSTEP_COLD std::string decode_octal(const std::string& text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string digits = text.substr(i + 1 < text.size() ? i + 1 : text.size(), 3);
    const bool is_code = text[i] == '\\' && digits.size() == 3 &&
                         digits.find_first_not_of("01234567") == std::string::npos;
    result += is_code ? static_cast<char>(std::strtol(digits.c_str(), nullptr, 8)) : text[i];
    if (is_code) i += 3;
  }
  return result;
}

LOCKSTEP_COLD bool parse_mount(const std::string& line, mount& result) {
  const std::size_t separator = line.find(" - ");
  if (separator == std::string::npos) return false;
  const std::string left = line.substr(0, separator), right = line.substr(separator + 3);
  std::size_t at = 0;
  for (int skipped = 0; skipped < 3; ++skipped) next_word(left, at);  // numbers
  result.shown_group = decode_octal(next_word(left, at));
  result.point = decode_octal(next_word(left, at));
  at = 0;
  const std::string type = next_word(right, at);
  next_word(right, at);  // the source
  const std::string options = next_word(right, at);
  result.version_2 = type == "cgroup2";
  return result.version_2 || (type == "cgroup" && has_word(options, "cpu"));
}

LOCKSTEP_COLD std::string relative_group(const std::string& group, const std::string& shown) {
  if (shown == "/" || shown.empty()) return group == "/" ? std::string() : group;
  const bool is_below = group.compare(0, shown.size(), shown) == 0 &&
                        (group.size() == shown.size() || group[shown.size()] == '/');
  return is_below ? group.substr(shown.size()) : std::string();
}

LOCKSTEP_COLD std::string read_file(const std::string& path) {
  std::string text;
  std::FILE* const file = std::fopen(path.c_str(), "r");
  if (file == nullptr) return text;
  char part[4096];
  for (std::size_t size = 0; (size = std::fread(part, 1, sizeof part, file)) > 0;) {
    text.append(part, size);
  }
  std::fclose(file);
  return text;
}

LOCKSTEP_COLD double quota_of_directory(const std::string& directory, bool version_2) {
  if (version_2) return parse_cpu_max(read_file(directory + "/cpu.max"));
  return ratio(read_file(directory + "/cpu.cfs_quota_us"),
               read_file(directory + "/cpu.cfs_period_us"));
}

LOCKSTEP_COLD double quota_of_mount(const std::string& root, const mount& where,
                                    const std::string& cgroup_text) {
  std::string group = relative_group(find_group(cgroup_text, where.version_2), where.shown_group);
  double result = unlimited;
  while (true) {
    result = tighter(result, quota_of_directory(root + where.point + group, where.version_2));
    const std::size_t slash = group.rfind('/');
    if (slash == std::string::npos) return result;
    group.resize(slash);
  }
}

LOCKSTEP_COLD double quota(const std::string& root) {
  const std::string groups = read_file(root + "/proc/self/cgroup");
  const std::string mounts = read_file(root + "/proc/self/mountinfo");
  double result = unlimited;
  for (std::size_t at = 0; at < mounts.size();) {
    mount where;
    if (parse_mount(next_line(mounts, at), where))
      result = tighter(result, quota_of_mount(root, where, groups));
  }
  return result;
}

}  // namespace cgroup

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

namespace topology {

LOCKSTEP_COLD std::string directory_of(const std::string& root, unsigned cpu) {
  return root + "/sys/devices/system/cpu/cpu" + std::to_string(cpu);
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
  return std::find(cpus.begin(), cpus.end(), cpu) != cpus.end();
}

LOCKSTEP_COLD unsigned first_of_core(const std::string& root, unsigned cpu) {
  // The first name is that of newer systems.
  for (const char* file : {"/topology/core_cpus_list", "/topology/thread_siblings_list"}) {
    const std::vector<unsigned> siblings = list_in(directory_of(root, cpu) + file);
    if (contains(siblings, cpu)) return *std::min_element(siblings.begin(), siblings.end());
  }
  return cpu;
}

LOCKSTEP_COLD std::vector<unsigned> dense(const std::vector<std::uint32_t>& values) {
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

LOCKSTEP_COLD std::uint32_t fast_from(std::vector<std::uint32_t> values) {
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
