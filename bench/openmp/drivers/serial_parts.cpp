// SPDX-License-Identifier: MIT
// bench/openmp/drivers/serial_parts.cpp -- a program whose parallel loops have serial parts between them.
//
// The loop takes about 100 us on one thread. Its wall time is that of the loop alone; the CPU time is that of the step,
// serial part and loop, since threads that wait burn it during the serial part too.
#include <array>
#include <cmath>

#include "openmp_case.hpp"

namespace {

constexpr int size = 20000;

void serial_part(double us) {
  const double start = openmp_case::microseconds(CLOCK_MONOTONIC);
  while (openmp_case::microseconds(CLOCK_MONOTONIC) - start < us) {
  }
}

void loop(std::vector<double>& numbers) {
#pragma omp parallel for schedule(static)
  for (int i = 0; i < size; ++i) {
    const auto k = static_cast<std::size_t>(i);
    numbers[k] = std::sqrt(numbers[k] * 1.0001 + 1.0);
  }
}

void measure(double serial_us) {
  constexpr double seconds = 0.2;
  const int steps = static_cast<int>(seconds * 1e6 / (serial_us + 100));
  constexpr int warming = 5;
  std::vector<double> numbers(size, 1.0);
  double loop_us = 0;
  openmp_case::times start{};
  for (int i = -warming; i < steps; ++i) {
    if (i == 0) {
      loop_us = 0;
      start = openmp_case::now();
    }
    serial_part(serial_us);
    const double before = openmp_case::microseconds(CLOCK_MONOTONIC);
    loop(numbers);
    loop_us += openmp_case::microseconds(CLOCK_MONOTONIC) - before;
  }
  const double cpu_us = openmp_case::since(start, steps).cpu_us;
  char name[64];
  std::snprintf(name, sizeof name, "serial parts of %g ms", serial_us / 1000);
  openmp_case::print(name, openmp_case::bits_of(numbers), {loop_us / steps, cpu_us});
}

}  // namespace

int main() {
  for (const double us : {0.0, 50.0, 500.0, 1000.0, 3000.0}) measure(us);
  openmp_case::print_runtime();
}
