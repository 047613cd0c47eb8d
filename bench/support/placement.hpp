// SPDX-License-Identifier: MIT
// bench/support/placement.hpp -- where the threads of a measurement run
#pragma once

#include <sched.h>

#include <cstddef>
#include <vector>

namespace bench {

/// free      where the system puts them: new threads may share a CPU for many milliseconds
/// dealt     dealt out over the CPUs when they begin, then free
/// spread    bound to CPUs, dealt out by rank
/// one_cpu   all bound to the first CPU
enum class placement { free, dealt, spread, one_cpu };

/// The CPUs that the calling thread may run on, in ascending order.
inline std::vector<unsigned> affinity() {
  std::vector<unsigned> cpus;
  cpu_set_t mask;
  if (sched_getaffinity(0, sizeof mask, &mask) != 0) return cpus;
  for (unsigned cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &mask)) cpus.push_back(cpu);
  }
  return cpus;
}

inline void bind_this_thread(unsigned cpu) {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  CPU_SET(cpu, &mask);
  sched_setaffinity(0, sizeof mask, &mask);
}

/// Moves the calling thread.
inline void place(placement where, std::size_t rank) {
  // Looked up once and before anybody is bound: a bound thread sees its own CPU only.
  static const std::vector<unsigned> cpus = affinity();
  if (where == placement::free || cpus.empty()) return;
  cpu_set_t before;
  const bool gets_back =
      where == placement::dealt && sched_getaffinity(0, sizeof before, &before) == 0;
  if (where == placement::dealt && !gets_back) return;
  bind_this_thread(cpus[where == placement::one_cpu ? 0 : rank % cpus.size()]);
  if (gets_back) sched_setaffinity(0, sizeof before, &before);
}

}  // namespace bench
