// SPDX-License-Identifier: MIT
// bench/openmp/drivers/openmp_case.hpp -- what the drivers print: a line of JSON for each case.
//
// A line has the case's name, its value (text that every runtime must reproduce), and the microseconds of wall and of
// CPU time that one repetition took. The last line says which file serves OpenMP in this process.
#pragma once

#include <dlfcn.h>
#include <omp.h>

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <string>
#include <vector>

namespace openmp_case {

struct times {
  double wall_us;
  double cpu_us;
};

inline double microseconds(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) * 1e-3;
}

inline times now() {
  return {microseconds(CLOCK_MONOTONIC), microseconds(CLOCK_PROCESS_CPUTIME_ID)};
}

inline times since(times start, double repetitions) {
  const times end = now();
  return {(end.wall_us - start.wall_us) / repetitions, (end.cpu_us - start.cpu_us) / repetitions};
}

inline void print(const std::string& name, const std::string& value, times each) {
  std::printf(R"({"case": "%s", "value": "%s", "wall_us": %.4f, "cpu_us": %.4f})"
              "\n",
              name.c_str(), value.c_str(), each.wall_us, each.cpu_us);
  std::fflush(stdout);
}

/// A repetition that does not count, then `repetitions` that do; their mean.
template <class Body>
times mean_of(int repetitions, Body body) {
  body();
  const times start = now();
  for (int i = 0; i < repetitions; ++i) body();
  return since(start, repetitions);
}

/// FNV-1a of the bits: equal only if every bit is.
template <class T>
std::string bits_of(const std::vector<T>& numbers) {
  std::vector<unsigned char> bytes(numbers.size() * sizeof(T));
  if (!bytes.empty()) std::memcpy(bytes.data(), numbers.data(), bytes.size());
  std::uint64_t hash = 14695981039346656037u;
  for (const unsigned char byte : bytes) hash = (hash ^ byte) * 1099511628211u;
  char text[17];
  std::snprintf(text, sizeof text, "%016" PRIx64, hash);
  return text;
}

inline void print_runtime() {
  Dl_info found{};
  void* const symbol = reinterpret_cast<void*>(&omp_get_thread_num);
  const char* file = dladdr(symbol, &found) != 0 ? found.dli_fname : "";
  std::printf(R"({"runtime": ["%s"]})"
              "\n",
              file);
}

}  // namespace openmp_case
