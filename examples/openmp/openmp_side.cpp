// SPDX-License-Identifier: MIT
// examples/openmp/openmp_side.cpp -- the left side of docs/coming-from-openmp.md
//
// What stands between [name] and [/name] is on the page, word for word: scripts/check/openmp_page.py.
#include <omp.h>

#include <algorithm>
#include <vector>

#include "constructs.hpp"

namespace {

using constructs::n;
using constructs::numbers;
using constructs::sum_of;

double parallel() {
  int seen[4] = {};
// [parallel]
#pragma omp parallel num_threads(4)
  {
    seen[omp_get_thread_num()] = omp_get_num_threads();
  }
  // [/parallel]
  return sum_of(seen);
}

double num_threads() {
  int size = 0;
// [num_threads]
#pragma omp parallel num_threads(2)
  {
#pragma omp single
    size = omp_get_num_threads();
  }
  // [/num_threads]
  return size;
}

double parallel_for() {
  const std::vector<double> x = numbers();
  std::vector<double> y(n);
// [parallel_for]
#pragma omp parallel for
  for (std::size_t i = 0; i < n; ++i) y[i] += x[i];
  // [/parallel_for]
  return sum_of(y);
}

double for_loop() {
  const std::vector<double> x = numbers();
  std::vector<double> y(n);
#pragma omp parallel
  {
// [for]
#pragma omp for
    for (std::size_t i = 0; i < n; ++i) y[i] += x[i];
    // [/for]
  }
  return sum_of(y);
}

double schedules() {
  const std::vector<double> x = numbers();
  std::vector<double> y(n);
#pragma omp parallel
  {
// [schedules]
#pragma omp for schedule(static)
    for (std::size_t i = 0; i < n; ++i) y[i] += x[i];
#pragma omp for schedule(static, 16)
    for (std::size_t i = 0; i < n; ++i) y[i] += x[i];
#pragma omp for schedule(dynamic, 8)
    for (std::size_t i = 0; i < n; ++i) y[i] += x[i];
#pragma omp for schedule(guided, 4)
    for (std::size_t i = 0; i < n; ++i) y[i] += x[i];
    // [/schedules]
  }
  return sum_of(y);
}

double runtime_schedule() {
  const std::vector<double> x = numbers();
  std::vector<double> y(n);
  // [runtime_schedule]
  omp_set_schedule(omp_sched_dynamic, 8);  // or OMP_SCHEDULE=dynamic,8
#pragma omp parallel for schedule(runtime)
  for (std::size_t i = 0; i < n; ++i) y[i] += x[i];
  // [/runtime_schedule]
  return sum_of(y);
}

double if_clause() {
  const std::vector<double> x = numbers();
  std::vector<double> y(n);
// [if]
#pragma omp parallel for if (n > 500)
  for (std::size_t i = 0; i < n; ++i) y[i] += x[i];
  // [/if]
  return sum_of(y);
}

double blocks() {
  const std::vector<double> x = numbers();
  std::vector<double> y(n);
// [blocks]
#pragma omp parallel
  {
    const auto size = static_cast<std::size_t>(omp_get_num_threads());
    const auto rank = static_cast<std::size_t>(omp_get_thread_num());
    const std::size_t first = n * rank / size;
    const std::size_t last = n * (rank + 1) / size;
    std::copy(&x[first], &x[0] + last, &y[first]);
  }
  // [/blocks]
  return sum_of(y);
}

double no_wait() {
  const std::vector<double> x = numbers();
  std::vector<double> y(n), z(n);
#pragma omp parallel
  {
// [nowait]
#pragma omp for nowait
    for (std::size_t i = 0; i < n; ++i) y[i] = x[i];
#pragma omp for
    for (std::size_t i = 0; i < n; ++i) z[i] = x[i];
    // [/nowait]
  }
  return sum_of(y) + sum_of(z);
}

double collapse() {
  std::vector<double> a(30 * 40), b(5 * 6 * 7);
#pragma omp parallel
  {
// [collapse]
#pragma omp for collapse(2)
    for (std::size_t i = 0; i < 30; ++i)
      for (std::size_t j = 0; j < 40; ++j) a[40 * i + j] = 1;
#pragma omp for collapse(3) schedule(dynamic)
    for (std::size_t i = 0; i < 5; ++i)
      for (std::size_t j = 0; j < 6; ++j)
        for (std::size_t k = 0; k < 7; ++k) b[(6 * i + j) * 7 + k] = 1;
    // [/collapse]
  }
  return sum_of(a) + sum_of(b);
}

double single() {
  int once = 0, first = 0, mine = 0;
#pragma omp parallel num_threads(4)
  {
// [single]
#pragma omp single
    ++once;
#pragma omp single nowait
    ++first;
#pragma omp master  // masked in OpenMP 5.1
    ++mine;
    // [/single]
  }
  return once + first + mine;
}

double copyprivate() {
  int seen[4] = {};
#pragma omp parallel num_threads(4)
  {
    // [copyprivate]
    int value;
#pragma omp single copyprivate(value)
    value = 42;
    seen[omp_get_thread_num()] = value;
    // [/copyprivate]
  }
  return sum_of(seen);
}

double critical() {
  int count = 0, lines = 0;
#pragma omp parallel num_threads(4)
  {
// [critical]
#pragma omp critical
    ++count;
#pragma omp critical(log_file)
    ++lines;
    // [/critical]
  }
  return count + lines;
}

double atomic() {
  // [atomic]
  int count = 0;
#pragma omp parallel for
  for (std::size_t i = 0; i < n; ++i) {
#pragma omp atomic
    ++count;
  }
  // [/atomic]
  return count;
}

double barrier() {
  int mine[4] = {}, seen[4] = {};
#pragma omp parallel num_threads(4)
  {
    const int rank = omp_get_thread_num();
    // [barrier]
    mine[rank] = rank + 1;
#pragma omp barrier
    for (const int each : mine) seen[rank] += each;
    // [/barrier]
  }
  return sum_of(seen);
}

double ordered() {
  std::vector<double> out;
#pragma omp parallel
  {
// [ordered]
#pragma omp for ordered schedule(static, 1)
    for (std::size_t i = 0; i < n; ++i) {
      const double value = static_cast<double>(i) * 2;
#pragma omp ordered
      out.push_back(value);
    }
    // [/ordered]
  }
  double rises = 0;
  for (std::size_t i = 1; i < out.size(); ++i) rises += out[i - 1] < out[i] ? 1 : 0;
  return rises;
}

double sections() {
  int a = 0, b = 0, c = 0;
#pragma omp parallel
  {
// [sections]
#pragma omp sections
    {
#pragma omp section
      a = 1;
#pragma omp section
      b = 2;
#pragma omp section
      c = 3;
    }
    // [/sections]
  }
  return a + b + c;
}

double parallel_sections() {
  int a = 0, b = 0, c = 0;
// [parallel_sections]
#pragma omp parallel sections
  {
#pragma omp section
    a = 1;
#pragma omp section
    b = 2;
#pragma omp section
    c = 3;
  }
  // [/parallel_sections]
  return a + b + c;
}

double reduction() {
  const std::vector<double> x = numbers();
  // [reduction]
  double sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (std::size_t i = 0; i < n; ++i) sum += x[i];
  // [/reduction]
  return sum;
}

double reduction_inside() {
  const std::vector<double> x = numbers();
  // [reduction_inside]
  double sum = 0;
#pragma omp parallel
  {
#pragma omp for reduction(+ : sum)
    for (std::size_t i = 0; i < n; ++i) sum += x[i];
    // from here on all threads see the sum
  }
  // [/reduction_inside]
  return sum;
}

double reduction_max() {
  const std::vector<double> x = numbers();
  // [reduction_max]
  double most = 0;
#pragma omp parallel for reduction(max : most)
  for (std::size_t i = 0; i < n - 1; ++i) most = std::max(most, x[i]);
  // [/reduction_max]
  return most;
}

double reduction_of_members() {
  double seen[4] = {};
  // [reduction_of_members]
  double sum = 0;
#pragma omp parallel num_threads(4)
  {
    const int rank = omp_get_thread_num();
#pragma omp atomic
    sum += rank + 1;
#pragma omp barrier
    seen[rank] = sum;
  }
  // [/reduction_of_members]
  return sum_of(seen);
}

double scan() {
  const std::vector<double> x = numbers();
  std::vector<double> y(n);
  // [scan]
  double sum = 0;
#pragma omp parallel for reduction(inscan, + : sum)
  for (std::size_t i = 0; i < n; ++i) {
    sum += x[i];
#pragma omp scan inclusive(sum)
    y[i] = sum;
  }
  // [/scan]
  return y[n - 1];
}

double private_values() {
  const std::vector<double> x = numbers();
  std::vector<double> y(n);
  // [private]
  double factor = 1, square, last = 0;
#pragma omp parallel for firstprivate(factor) private(square) lastprivate(last)
  for (std::size_t i = 0; i < n; ++i) {
    square = x[i] * x[i];
    y[i] = factor * square / std::max(x[i], 1.0);
    last = x[i];
  }
  // [/private]
  return sum_of(y) + last;
}

double flush() {
  // [flush]
  int step = 0;
#pragma omp parallel num_threads(4)
  {
    const int rank = omp_get_thread_num();
    int seen = 0;
    while (seen < rank) {
#pragma omp atomic read seq_cst
      seen = step;
    }
    // after the parts of all threads before
#pragma omp atomic write seq_cst
    step = rank + 1;
  }
  // [/flush]
  return step;
}

// [threadprivate]
int scratch = 7;
#pragma omp threadprivate(scratch)
// [/threadprivate]

double threadprivate() {
  int seen[4] = {};
#pragma omp parallel num_threads(4)
  {
    seen[omp_get_thread_num()] = scratch;
  }
  return sum_of(seen);
}

double cancel() {
  const std::vector<double> x = numbers();
  // [cancel]
  double found = -1;
#pragma omp parallel
  {
#pragma omp for schedule(dynamic, 16)
    for (std::size_t i = 0; i < n; ++i) {
      if (x[i] == 700) {
        found = x[i];
#pragma omp cancel for  // heeded with OMP_CANCELLATION=true
      }
    }
  }
  // [/cancel]
  return found;
}

double nested() {
  int sizes[4] = {};
  // [nested]
  omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
  {
    const int half = omp_get_thread_num();
#pragma omp parallel num_threads(2)
    {
      sizes[2 * half + omp_get_thread_num()] = omp_get_num_threads();
    }
  }
  // [/nested]
  return sum_of(sizes);
}

double lock() {
  int count = 0;
  // [lock]
  omp_lock_t lock;
  omp_init_lock(&lock);
#pragma omp parallel num_threads(4)
  {
    omp_set_lock(&lock);
    ++count;
    omp_unset_lock(&lock);
  }
  omp_destroy_lock(&lock);
  // [/lock]
  return count;
}

double simd() {
  const std::vector<double> x = numbers();
  std::vector<double> y(n);
// [simd]
#pragma omp parallel for simd
  for (std::size_t i = 0; i < n; ++i) y[i] += x[i];
  // [/simd]
  return sum_of(y);
}

constexpr constructs::construct all[] = {
    {"parallel", parallel},
    {"num_threads", num_threads},
    {"parallel_for", parallel_for},
    {"for", for_loop},
    {"schedules", schedules},
    {"runtime_schedule", runtime_schedule},
    {"if", if_clause},
    {"blocks", blocks},
    {"nowait", no_wait},
    {"collapse", collapse},
    {"single", single},
    {"copyprivate", copyprivate},
    {"critical", critical},
    {"atomic", atomic},
    {"barrier", barrier},
    {"ordered", ordered},
    {"sections", sections},
    {"parallel_sections", parallel_sections},
    {"reduction", reduction},
    {"reduction_inside", reduction_inside},
    {"reduction_max", reduction_max},
    {"reduction_of_members", reduction_of_members},
    {"scan", scan},
    {"private", private_values},
    {"flush", flush},
    {"threadprivate", threadprivate},
    {"cancel", cancel},
    {"nested", nested},
    {"lock", lock},
    {"simd", simd},
};

}  // namespace

int main() { return constructs::run_all(all); }
