// SPDX-License-Identifier: MIT
// lockstep/detail/platform/usable_cpus.hpp -- how many CPUs this process may really use (layer: platform)
//
// The CPUs of the affinity mask, cut by the control group's quota (rounded down, at least one): a
// container with a quota of 2 CPUs on a machine of 64 has 2. More runnable threads than that are
// *crowded*: spinning then takes time from the very thread one waits for.
#ifndef LOCKSTEP_DETAIL_PLATFORM_USABLE_CPUS_HPP
#define LOCKSTEP_DETAIL_PLATFORM_USABLE_CPUS_HPP

#include <cstddef>
#include <thread>
#include <vector>

#include "cgroup.hpp"

#if defined(__linux__)
#include <sched.h>
#endif

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// The numbers of the CPUs in the affinity mask of the calling thread, ascending; empty if unknown.
inline std::vector<unsigned> affinity() {
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

/// How many CPUs the affinity mask of the calling thread has; 2 if unknown: a guess that may be wrong. Fails
/// never, allocates nothing, reads no file.
inline unsigned count_affine_cpus() noexcept {
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

/// Looks afresh; about 100 us.
inline unsigned count_usable_cpus() {
  unsigned count = static_cast<unsigned>(affinity().size());
  if (count == 0) count = std::thread::hardware_concurrency();
#if defined(__linux__)
  const double quota = cgroup::quota();
  if (quota >= 0 && quota < count) count = static_cast<unsigned>(quota);
#endif
  return count > 0 ? count : 1;
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_PLATFORM_USABLE_CPUS_HPP
