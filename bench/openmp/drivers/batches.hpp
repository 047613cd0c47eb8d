// SPDX-License-Identifier: MIT
// bench/openmp/drivers/batches.hpp -- the time of what takes less than a clock can tell: the median of 11 batches
#pragma once

#include <algorithm>
#include <vector>

#include "openmp_case.hpp"

namespace openmp_case {

// Each delay begins with what the thread's last one left, so that neither the compiler nor the processor overlaps them.
inline thread_local double carried = 0.5;

/// About 0.1 us.
[[gnu::noinline]] inline double delay() {
  double x = carried;
  for (int i = 0; i < 45; ++i) x = x * 0.5 + 0.25;
  carried = x;
  return x;
}

/// What a thread counts, on lines of its own.
struct alignas(128) slot {
  long count = 0;
};

/// How many repetitions make a batch of 1.5 ms: a multiple of `least`.
template <class Repeat>
int repetitions_for(Repeat repeat, int least) {
  constexpr double batch_us = 1500;
  for (int repetitions = least;; repetitions *= 2) {
    const times start = now();
    repeat(repetitions);
    const double took = since(start, 1).wall_us;
    if (took >= batch_us / 2 || repetitions >= 1 << 20) {
      const int fitting = static_cast<int>(repetitions * batch_us / std::max(took, 1.0));
      return std::max(least, fitting / least * least);
    }
  }
}

/// Prints the case: the time of a repetition, and "right" if repeat(repetitions) said so each time.
template <class Repeat>
void measure(const char* name, Repeat repeat, int least) {
  constexpr std::size_t batches = 11;
  const int repetitions = repetitions_for(repeat, least);
  std::vector<double> wall(batches), cpu(batches);
  bool right = true;
  for (std::size_t i = 0; i < batches; ++i) {
    const times start = now();
    right = repeat(repetitions) && right;
    const times each = since(start, repetitions);
    wall[i] = each.wall_us;
    cpu[i] = each.cpu_us;
  }
  std::sort(wall.begin(), wall.end());
  std::sort(cpu.begin(), cpu.end());
  print(name, right ? "right" : "wrong", {wall[batches / 2], cpu[batches / 2]});
}

}  // namespace openmp_case
