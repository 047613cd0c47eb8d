// SPDX-License-Identifier: MIT
// bench/support/stopwatch.hpp -- wall-clock time and the CPU time of all threads of the process
#pragma once

#include <time.h>

#include <chrono>

namespace bench {

struct elapsed_time {
  double wall_seconds = 0;
  double cpu_seconds = 0;
};

class stopwatch {
 public:
  stopwatch() : cpu_start_(process_cpu_seconds()), start_(std::chrono::steady_clock::now()) {}

  [[nodiscard]] double wall_seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

  [[nodiscard]] elapsed_time elapsed() const {
    // The wall clock is read first and last: the slower look at the CPU clock stays outside.
    const double wall = wall_seconds();
    return {wall, process_cpu_seconds() - cpu_start_};
  }

 private:
  static double process_cpu_seconds() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
  }

  double cpu_start_;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace bench
