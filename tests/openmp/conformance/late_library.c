// SPDX-License-Identifier: MIT
// late_library.c -- what threads.cpp loads: a library that uses OpenMP
#include <omp.h>

static int own;
#pragma omp threadprivate(own)

int late_work(int size) {
  int sum = 0;
#pragma omp parallel num_threads(size) reduction(+ : sum)
  {
    own = 100;
#pragma omp barrier
#pragma omp for schedule(dynamic, 4) nowait
    for (int i = 0; i < 100; ++i) sum += i;
    sum += own;
  }
  return sum;
}
