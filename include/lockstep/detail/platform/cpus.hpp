// SPDX-License-Identifier: MIT
// lockstep/detail/platform/cpus.hpp -- how many CPUs there are for this process, and lists of them (layer: platform)
//
// What is usable is the affinity mask, cut by the quota of control groups: a container with a quota of 2 CPUs on a machine
// of 64 has 2. A quota is rounded up: so many threads run at once until it is used up. Two members on 1.1, 1.25 and
// 1.5 CPUs do 1.1, 1.25 and 1.5 times the work of one. More runnable threads than that are *crowded*: spinning then takes
// time from the very thread one waits for. What the CPUs are: topology.hpp.
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
  const long online = count == 0 ? sysconf(_SC_NPROCESSORS_ONLN) : 0;
  if (online > 0) count = static_cast<unsigned>(online);  // -1: refused
#elif !defined(_WIN32)
  if (count == 0) count = std::thread::hardware_concurrency();
#endif
#if defined(__linux__)
  const double quota = cgroup::quota();
  if (quota >= 0 && quota < count) {
    const unsigned whole = static_cast<unsigned>(quota);
    count = quota > whole ? whole + 1 : whole;
  }
#endif
  return count > 0 ? count : 1;
}

#endif

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_PLATFORM_CPUS_HPP
