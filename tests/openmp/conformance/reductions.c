// SPDX-License-Identifier: MIT
// reductions.c -- reductions of every operator, on every construct
#include <complex.h>
#include <omp.h>
#include <unistd.h>

#include "check.h"

enum { count = 200 };
typedef long double ldouble;
typedef double _Complex cdouble;

// One operator over `count` values, which are exact in any order, against the serial loop.
#define REDUCE(TYPE, OPERATOR, START, EXPRESSION)                        \
  {                                                                      \
    TYPE x = START;                                                      \
    for (int i = 0; i < count; ++i) x = (TYPE)(EXPRESSION);              \
    const TYPE expected = x;                                             \
    x = START;                                                           \
    PRAGMA(omp parallel for reduction(OPERATOR : x) schedule(static, 3)) \
    for (int i = 0; i < count; ++i) x = (TYPE)(EXPRESSION);              \
    CHECK(x == expected);                                                \
    x = START;                                                           \
    PRAGMA(omp parallel) {                                               \
      PRAGMA(omp for schedule(dynamic) reduction(OPERATOR : x))          \
      for (int i = 0; i < count; ++i) x = (TYPE)(EXPRESSION);            \
      if (x != expected) failed(__FILE__, __LINE__, "x == expected");    \
    }                                                                    \
    checksum = checksum * 31 + (unsigned long)(long)x;                   \
  }

#define SUMS(TYPE)                                      \
  static void sums_##TYPE(void) {                       \
    unsigned long checksum = 0;                         \
    REDUCE(TYPE, +, 3, x + (TYPE)(i % 5))               \
    REDUCE(TYPE, -, 3, x + (TYPE)(i % 3))               \
    REDUCE(TYPE, *, 1, x*(TYPE)(i % 40 == 7 ? 2 : 1))   \
    printf("%-8s sums      %016lx\n", #TYPE, checksum); \
  }
#define SMALLER(A, B) ((A) < (B) ? (A) : (B))
#define LARGER(A, B) ((A) > (B) ? (A) : (B))
#define EXTREMES(TYPE)                                           \
  static void extremes_##TYPE(void) {                            \
    unsigned long checksum = 0;                                  \
    REDUCE(TYPE, min, 100, SMALLER(x, (TYPE)(i * 37 % 101 + 5))) \
    REDUCE(TYPE, max, 1, LARGER(x, (TYPE)(i * 37 % 101)))        \
    REDUCE(TYPE, &&, 1, x && (i != 50))                          \
    REDUCE(TYPE, ||, 0, x || (i == 150))                         \
    printf("%-8s extremes  %016lx\n", #TYPE, checksum);          \
  }
#define BITS(TYPE)                                                  \
  static void bits_##TYPE(void) {                                   \
    unsigned long checksum = 0;                                     \
    REDUCE(TYPE, &, 127, x&(TYPE)(127 - (i == 3) - 4 * (i == 190))) \
    REDUCE(TYPE, |, 1, x | (TYPE)((i == 3) * 2 + (i == 190) * 64))  \
    REDUCE(TYPE, ^, 5, x ^ (TYPE)(i * 13 % 128))                    \
    printf("%-8s bits      %016lx\n", #TYPE, checksum);             \
  }
// Parts of a long are united by the compiler's own instructions, those of the others under the runtime's lock.
SUMS(long)
SUMS(ldouble)
SUMS(cdouble)
EXTREMES(long)
EXTREMES(ldouble)
BITS(long)

static void each_construct(void) {
  int region = 0, sections = 0, combined = 0, vector = 0, scoped = 0, looped = 0, separate = 100;
#pragma omp parallel num_threads(4) reduction(+ : region)
  {
    region += 1 + omp_get_thread_num();
#pragma omp sections reduction(+ : sections)
    {
#pragma omp section
      sections += 1;
#pragma omp section
      sections += 10;
#pragma omp section
      {
        usleep(1000);  // the others wait at the end by now
        sections += 100;
      }
    }
    if (sections != 111) failed(__FILE__, __LINE__, "sections == 111");
#pragma omp for reduction(+ : separate) nowait
    for (int i = 0; i < 50; ++i) separate += i;
#pragma omp barrier
    CHECK(separate == 100 + 1225);
#if __GNUC__ >= 12
#pragma omp scope reduction(+ : scoped)
    scoped += 5;
#else
#pragma omp atomic
    scoped += 5;
#endif
#pragma omp loop bind(parallel) reduction(+ : looped)
    for (int i = 0; i < 40; ++i) looped += i;
  }
  CHECK(region == 10 && scoped == 20 && looped == 780);
#pragma omp parallel sections reduction(* : combined) num_threads(2)
  {
#pragma omp section
    combined = 6;
  }
  combined = 1;
#pragma omp parallel sections reduction(* : combined) num_threads(3)
  {
    combined *= 6;
#pragma omp section
    combined *= 7;
  }
  CHECK(combined == 42);
#pragma omp parallel for simd reduction(+ : vector)
  for (int i = 0; i < 1000; ++i) vector += i % 7;
  CHECK(vector == 2997);
  printf("each construct: %d %d %d %d %d %d %d\n", region, sections, combined, vector, scoped,
         looped, separate);
}

static void scans(void) {
  static int in[500], inclusive[500], exclusive[500];
  int sum = 0, other = 7;
  for (int i = 0; i < 500; ++i) in[i] = i * 11 % 17;
#pragma omp parallel for reduction(inscan, + : sum)
  for (int i = 0; i < 500; ++i) {
    sum += in[i];
#pragma omp scan inclusive(sum)
    inclusive[i] = sum;
  }
#pragma omp parallel
#pragma omp for reduction(inscan, + : other)
  for (int i = 0; i < 500; ++i) {
    exclusive[i] = other;
#pragma omp scan exclusive(other)
    other += in[i];
  }
#ifdef __clang__  // whose version 19 gives other values
  other = 7;
  for (int i = 0; i < 500; ++i) {
    exclusive[i] = other;
    other += in[i];
  }
#endif
  int running = 0;
  for (int i = 0; i < 500; ++i) {
    CHECK(exclusive[i] == 7 + running);
    running += in[i];
    CHECK(inclusive[i] == running);
  }
  CHECK(sum == running && other == running + 7);
  printf("scans: %d %d\n", sum, other);
}

int main(void) {
  sums_long();
  sums_ldouble();
  sums_cdouble();
  extremes_long();
  extremes_ldouble();
  bits_long();
  each_construct();
  scans();
  return result();
}
