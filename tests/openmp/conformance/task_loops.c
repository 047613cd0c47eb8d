// SPDX-License-Identifier: MIT
// task_loops.c -- taskloop: every iteration once, in chunks as large as asked for; lastprivate, reductions, collapse
#include <limits.h>
#include <omp.h>

#include "check.h"

enum { most = 3000 };
static int runs[most];
static int chunks;

static void begin(void) {
  memset(runs, 0, sizeof runs);
  chunks = 0;
}
static void check_runs(int count) {
  for (int i = 0; i < most; ++i) CHECK(runs[i] == (i < count));
}

#define LOOP(CLAUSES, COUNT)                            \
  do {                                                  \
    begin();                                            \
    int in_chunk = 0;                                   \
    PRAGMA(omp parallel)                                \
    PRAGMA(omp single)                                  \
    PRAGMA(omp taskloop firstprivate(in_chunk) CLAUSES) \
    for (int i = 0; i < (COUNT); ++i) {                 \
      add(&runs[i], 1);                                 \
      if (in_chunk++ == 0) add(&chunks, 1);             \
    }                                                   \
    check_runs(COUNT);                                  \
  } while (0)

static void chunk_counts(void) {
  LOOP(grainsize(10), 95);
  CHECK(chunks == 9);
  LOOP(grainsize(strict : 10), 95);
#ifndef __clang__  // whose version 19 takes no notice of 'strict'
  CHECK(chunks == 10);
#endif
  LOOP(grainsize(1000), 95);
  CHECK(chunks == 1);
  LOOP(num_tasks(7), 95);
  CHECK(chunks == 7);
  LOOP(num_tasks(strict : 5), 95);
  CHECK(chunks == 5);
  LOOP(num_tasks(500), 95);
  CHECK(chunks == 95);
  LOOP(if (chunks > 0) num_tasks(9), 95);
  CHECK(chunks == 9);
  LOOP(num_tasks(600), most);
  CHECK(chunks == 600);
  LOOP(, 0);
  CHECK(chunks == 0);
  LOOP(nogroup, 1);
  printf("chunks are as asked for\n");
}

static void directions(void) {
  long sum = 0;
  int last = 0;
  unsigned long long big = 0;
#pragma omp parallel
#pragma omp single
  {
#pragma omp taskloop reduction(+ : sum) lastprivate(last) grainsize(4)
    for (int i = 100; i > -100; i -= 7) {
      sum += i;
      last = i;
    }
    CHECK(sum == 29 * 100 - 7 * 28 * 29 / 2 && last == -96);
#pragma omp taskloop reduction(+ : big) num_tasks(5)
    for (unsigned long long i = ULLONG_MAX - 40; i < ULLONG_MAX - 3; i += 3) big += ULLONG_MAX - i;
    CHECK(big == 13 * 40 - 3 * 12 * 13 / 2);
    big = 0;
#pragma omp taskloop reduction(+ : big) grainsize(2)
    for (unsigned long long i = 1ull << 63; i > (1ull << 63) - 100; i -= 9) ++big;
    CHECK(big == 12);
    sum = 0;
#pragma omp taskloop collapse(2) reduction(+ : sum) lastprivate(last)
    for (int i = 0; i < 13; ++i) {
      for (int j = 0; j < 17; ++j) {
        sum += i * j;
        last = i * 100 + j;
      }
    }
    CHECK(sum == 78 * 136 && last == 1216);
    // Nothing to do: what was there stays.
#pragma omp taskloop reduction(+ : sum)
    for (int i = 5; i < 5; ++i) sum += 1000;
    CHECK(sum == 78 * 136);
  }
  printf("sums: %ld %llu\n", sum, big);
}

static void in_reduction(int threads) {
  int sum = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
#pragma omp taskgroup task_reduction(+ : sum)
  {
#pragma omp taskloop in_reduction(+ : sum) nogroup
    for (int i = 0; i < 100; ++i) sum += i;
#pragma omp task in_reduction(+ : sum)
    {
#pragma omp taskloop in_reduction(+ : sum) num_tasks(3)
      for (int i = 0; i < 10; ++i) ++sum;
    }
  }
  CHECK(sum == 4960);
}

int main(void) {
  chunk_counts();
  directions();
  for (int i = 0; i < 30; ++i) in_reduction(1 + i % 5);
  omp_set_num_threads(1);
  chunk_counts();
  directions();
  return result();
}
