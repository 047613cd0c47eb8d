// SPDX-License-Identifier: MIT
// examples/openmp/constructs.hpp -- what both sides of docs/coming-from-openmp.md have in common
//
// Each side is a program: openmp_side.cpp and lockstep_side.cpp. Each construct is a function. It runs the code that
// the page shows, which stands between two marks with the construct's name, and returns a number. On both sides the
// number must be the one given here, so the two columns of the page do the same.
#pragma once

#include <cstddef>
#include <cstdio>
#include <cstring>
#include <vector>

namespace constructs {

constexpr std::size_t n = 1000;

/// The right result of each construct, on both sides.
struct known_result {
  const char* name;
  double value;
};
constexpr known_result known[] = {
    {"parallel", 4 * 4},           // each member sees all members
    {"num_threads", 2},            //
    {"parallel_for", 499500},      // the sum of 0 to 999, wherever a loop stands
    {"for", 499500},               //
    {"schedules", 4 * 499500.0},   //
    {"runtime_schedule", 499500},  //
    {"if", 499500},                //
    {"blocks", 499500},            //
    {"nowait", 2 * 499500.0},      //
    {"collapse", 30 * 40 + 5 * 6 * 7},
    {"single", 1 + 1 + 1},
    {"copyprivate", 4 * 42},
    {"critical", 4 + 4},
    {"atomic", 1000},
    {"barrier", 4 * (1 + 2 + 3 + 4)},
    {"ordered", 999},  // numbers that came after a smaller one
    {"sections", 1 + 2 + 3},
    {"parallel_sections", 1 + 2 + 3},
    {"reduction", 499500},
    {"reduction_inside", 499500},
    {"reduction_max", 998},
    {"reduction_of_members", 4 * (1 + 2 + 3 + 4)},
    {"scan", 499500},
    {"private", 499500 + 999},
    {"flush", 4},
    {"threadprivate", 4 * 7},
    {"cancel", 700},
    {"nested", 4 * 2},
    {"lock", 4},
    {"simd", 499500},
};

struct construct {
  const char* name;
  double (*run)();
};

/// The vector 0, 1, ..., n - 1.
inline std::vector<double> numbers() {
  std::vector<double> x(n);
  for (std::size_t i = 0; i < n; ++i) x[i] = static_cast<double>(i);
  return x;
}

template <class Values>
double sum_of(const Values& values) {
  double sum = 0;
  for (const auto& value : values) sum += static_cast<double>(value);
  return sum;
}

/// Whether `value` is the right result of the construct of that name.
inline bool is_right(const char* name, double value) {
  for (const known_result& right : known) {
    if (std::strcmp(right.name, name) == 0) return right.value == value;
  }
  return false;
}

/// Runs all constructs and prints their results. Returns the status of the program.
template <std::size_t Count>
int run_all(const construct (&all)[Count]) {
  int status = Count == sizeof known / sizeof known[0] ? 0 : 1;
  if (status != 0) std::fprintf(stderr, "a construct is missing, or has no known result\n");
  for (const construct& each : all) {
    const double result = each.run();
    std::printf("%s %.17g\n", each.name, result);
    if (is_right(each.name, result)) continue;
    std::fprintf(stderr, "%s: %.17g is wrong\n", each.name, result);
    status = 1;
  }
  return status;
}

}  // namespace constructs
