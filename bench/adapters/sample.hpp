// SPDX-License-Identifier: MIT
// One sample: microseconds and CPU microseconds of an operation, as the median of ten rows.
#pragma once
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>

inline double cpu_microseconds() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto of = [](timeval time) {
    return 1e6 * static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec);
  };
  return of(used.ru_utime) + of(used.ru_stime);
}

/// Prints both. `milliseconds`: how long to measure; as long again is spent before, to warm up.
template <class Function>
void print_sample(double milliseconds, Function&& f) {
  using clock = std::chrono::steady_clock;
  const auto since = [](clock::time_point start) {
    return std::chrono::duration<double, std::micro>(clock::now() - start).count();
  };
  const auto warm = clock::now();
  int calls = 0;
  for (; since(warm) < 1000 * milliseconds; ++calls) f();
  const int row = std::max(calls / 10, 1);
  std::array<double, 10> times{};
  const double cpu = cpu_microseconds();
  for (double& each : times) {
    const auto start = clock::now();
    for (int i = 0; i < row; ++i) f();
    each = since(start) / row;
  }
  std::sort(times.begin(), times.end());
  std::printf("%.2f %.2f\n", times[5], (cpu_microseconds() - cpu) / (10.0 * row));
}
