// SPDX-License-Identifier: MIT
// src/platform/cpus.cpp -- the bodies of cpus.hpp (layer: platform)
#include "cpus.hpp"

#include <algorithm>

#include "native_system.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

LOCKSTEP_INLINE bool parse_cpu_list(const char* text, std::vector<unsigned>& cpus) {
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

LOCKSTEP_INLINE void append_ranges(std::string& text, const std::vector<unsigned>& numbers,
                                   const char* between) {
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    append(text, "%s%u", i == 0 ? "" : between, numbers[i]);
    if (last > i) append(text, "%s%u", last > i + 1 ? "-" : between, numbers[last]);
    i = last + 1;
  }
}

LOCKSTEP_INLINE void sort_once(std::vector<unsigned>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}
LOCKSTEP_INLINE std::size_t find_sorted(const std::vector<unsigned>& values,
                                        unsigned value) noexcept {
  const auto at = std::lower_bound(values.begin(), values.end(), value);
  const bool is_there = at != values.end() && *at == value;
  return is_there ? static_cast<std::size_t>(at - values.begin()) : values.size();
}

LOCKSTEP_INLINE unsigned read_affinity(std::vector<unsigned>* cpus) {
  return native_system::read_affinity(cpus);
}
LOCKSTEP_INLINE bool pin_this_thread(unsigned cpu) noexcept { return native_system::pin(cpu); }

LOCKSTEP_INLINE std::vector<unsigned> affinity() {
  std::vector<unsigned> cpus;
  read_affinity(&cpus);
  return cpus;
}

LOCKSTEP_INLINE unsigned count_affine_cpus() noexcept {
  const unsigned count = read_affinity(nullptr);
  return count > 0 ? count : 2;
}

LOCKSTEP_INLINE unsigned count_usable_cpus() {
  unsigned count = read_affinity(nullptr);
  const long online = count == 0 ? native_system::count_cpus() : 0;
  if (online > 0) count = static_cast<unsigned>(online);
  const double quota = native_system::quota();
  if (quota >= 0 && quota < count) {
    const unsigned whole = static_cast<unsigned>(quota);
    count = quota > whole ? whole + 1 : whole;
  }
  return count > 0 ? count : 1;
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
