// SPDX-License-Identifier: MIT
// ordered.c -- ordered regions in loops of every schedule, and loops with depend(sink) and depend(source)
#include <limits.h>
#include <omp.h>

#include "check.h"

typedef unsigned long long ull;
enum { most = 2000 };
// Not static: GCC takes posts of doacross loops for calls that cannot look at what is.
long sequence[most];
int length;

static int is_sequence(long from, long step, int count) {
  int good = length == count;
  for (int i = 0; i < count && good; ++i) good = sequence[i] == from + i * step;
  length = 0;
  return good;
}

// Plain writes: only their order makes them right.
#define ORDERED(NAME, ...)                                      \
  static void ordered_##NAME(int chunk) {                       \
    (void)chunk;                                                \
    PRAGMA(omp parallel for ordered schedule(__VA_ARGS__))      \
    for (int i = 0; i < 150; ++i) {                             \
      PRAGMA(omp ordered)                                       \
      sequence[length++] = i;                                   \
    }                                                           \
    CHECK(is_sequence(0, 1, 150));                              \
    PRAGMA(omp parallel) {                                      \
      PRAGMA(omp for ordered schedule(__VA_ARGS__) nowait)      \
      for (ull i = ULLONG_MAX; i > ULLONG_MAX - 180; i -= 2) {  \
        if (i % 3 == 0) {                                       \
          PRAGMA(omp ordered threads)                           \
          sequence[length++] = (long)((ULLONG_MAX - i) / 6);    \
        }                                                       \
      }                                                         \
      PRAGMA(omp barrier)                                       \
      PRAGMA(omp single)                                        \
      CHECK(is_sequence(0, 1, 30));                             \
      PRAGMA(omp for ordered schedule(__VA_ARGS__) collapse(2)) \
      for (int i = 0; i < 9; ++i)                               \
        for (int j = 0; j < 11; ++j) {                          \
          PRAGMA(omp ordered)                                   \
          sequence[length++] = i * 11 + j;                      \
        }                                                       \
    }                                                           \
    CHECK(is_sequence(0, 1, 99));                               \
  }
ORDERED(static_blocks, static)
ORDERED(static_chunks, static, chunk)
ORDERED(dynamic, dynamic, chunk)
ORDERED(guided, guided, chunk)
ORDERED(runtime, runtime)
ORDERED(automatic, auto)

static void without_turn(void) {
  // Nobody enters the ordered region of most iterations: turns pass anyway.
  int entered = 0, sum = 0;
#pragma omp parallel for ordered schedule(dynamic) reduction(+ : sum)
  for (int i = 0; i < 300; ++i) {
    sum += i;
    if (i == 7 || i == 299) {
#pragma omp ordered
      ++entered;
    }
  }
  CHECK(entered == 2 && sum == 44850);
#pragma omp parallel
  for (int round = 0; round < 30; ++round) {
#pragma omp for ordered schedule(static, 1) nowait
    for (int i = 0; i < 10; ++i) {
#pragma omp ordered
      sequence[length++] = i;
    }
#pragma omp barrier
#pragma omp master
    CHECK(is_sequence(0, 1, 10));
#pragma omp barrier
  }
#pragma omp for ordered schedule(dynamic)
  for (int i = 0; i < 5; ++i) {
#pragma omp ordered
    sequence[length++] = i;
  }
  CHECK(is_sequence(0, 1, 5));
  printf("turns that nobody takes: %d\n", entered);
}

long cells[20][24], cube[9][10][11], line[most];

#define DOACROSS(NAME, ...)                                                                 \
  static void doacross_##NAME(int chunk) {                                                  \
    (void)chunk;                                                                            \
    PRAGMA(omp parallel) {                                                                  \
      PRAGMA(omp for ordered(1) schedule(__VA_ARGS__))                                      \
      for (int i = 0; i < 80; ++i) {                                                        \
        PRAGMA(omp ordered depend(sink : i - 1) depend(sink : i - 3))                       \
        line[i] = i < 3 ? 1 : (line[i - 1] + line[i - 3]) % 1000003;                        \
        PRAGMA(omp ordered depend(source))                                                  \
      }                                                                                     \
    }                                                                                       \
    long a = 1, b = 1, c = 1;                                                               \
    for (int i = 3; i < 80; ++i) {                                                          \
      const long d = (c + a) % 1000003;                                                     \
      a = b, b = c, c = d;                                                                  \
    }                                                                                       \
    CHECK(line[79] == c);                                                                   \
    PRAGMA(omp parallel for ordered(2) schedule(__VA_ARGS__))                               \
    for (int i = 0; i < 20; ++i)                                                            \
      for (int j = 0; j < 24; ++j) {                                                        \
        PRAGMA(omp ordered depend(sink : i - 1, j) depend(sink : i, j - 1)                  \
                   depend(sink : i - 1, j + 1))                                             \
        cells[i][j] = i == 0 || j == 0 ? 1 : (cells[i - 1][j] + cells[i][j - 1]) % 1000003; \
        PRAGMA(omp ordered depend(source))                                                  \
      }                                                                                     \
    static long expected[20][24];                                                           \
    for (int i = 0; i < 20; ++i)                                                            \
      for (int j = 0; j < 24; ++j)                                                          \
        expected[i][j] =                                                                    \
            i == 0 || j == 0 ? 1 : (expected[i - 1][j] + expected[i][j - 1]) % 1000003;     \
    CHECK(memcmp(cells, expected, sizeof cells) == 0);                                      \
    memset(cells, 0, sizeof cells);                                                         \
    PRAGMA(omp parallel for ordered(3) collapse(2) schedule(__VA_ARGS__))                   \
    for (int i = 8; i >= 0; --i)                                                            \
      for (int j = 0; j < 20; j += 2)                                                       \
        for (long k = 10; k > -1; --k) {                                                    \
          PRAGMA(omp ordered depend(sink : i + 1, j, k) depend(sink : i, j - 2, k + 1))     \
          cube[i][j / 2][k] = 1 + (i == 8 ? 0 : cube[i + 1][j / 2][k]);                     \
          cube[i][j / 2][k] += j == 0 || k == 10 ? 0 : cube[i][j / 2 - 1][k + 1];           \
          PRAGMA(omp ordered depend(source))                                                \
        }                                                                                   \
    sum += line[79] + cells[19][23] + cube[0][9][0];                                        \
    static long corner[9][10][11];                                                          \
    for (int i = 8; i >= 0; --i)                                                            \
      for (int j = 0; j < 10; ++j)                                                          \
        for (int k = 10; k >= 0; --k)                                                       \
          corner[i][j][k] = 1 + (i == 8 ? 0 : corner[i + 1][j][k]) +                        \
                            (j == 0 || k == 10 ? 0 : corner[i][j - 1][k + 1]);              \
    CHECK(memcmp(cube, corner, sizeof cube) == 0);                                          \
    memset(cube, 0, sizeof cube);                                                           \
    PRAGMA(omp parallel for ordered(1) schedule(__VA_ARGS__))                               \
    for (ull i = ULLONG_MAX - 120; i < ULLONG_MAX; i += 3) {                                \
      PRAGMA(omp ordered depend(sink : i - 3))                                              \
      sequence[length++] = (long)(ULLONG_MAX - i);                                          \
      PRAGMA(omp ordered depend(source))                                                    \
    }                                                                                       \
    CHECK(is_sequence(120, -3, 40));                                                        \
    PRAGMA(omp parallel for ordered(2) schedule(__VA_ARGS__))                               \
    for (int i = 0; i < 10; ++i)                                                            \
      for (int j = 0; j < 0; ++j) {                                                         \
        PRAGMA(omp ordered depend(sink : i - 1, j))                                         \
        ++length;                                                                           \
        PRAGMA(omp ordered depend(source))                                                  \
      }                                                                                     \
    CHECK(length == 0);                                                                     \
  }
static long sum;
DOACROSS(static_blocks, static)
DOACROSS(static_chunks, static, chunk)
DOACROSS(dynamic, dynamic, chunk)
DOACROSS(guided, guided, chunk)
DOACROSS(runtime, runtime)
DOACROSS(automatic, auto)

static void doacross_with_clauses(void) {
  // Steps that run ahead of each other, with a reduction, last values, and the next loop without a barrier.
  int total = 0, last = 0;
#pragma omp parallel
  for (int round = 0; round < 20; ++round) {
#pragma omp for ordered(1) schedule(dynamic, 2) reduction(+ : total) lastprivate(last)
    for (int i = 0; i < 60; ++i) {
      total += i;
      last = i;
#pragma omp ordered depend(sink : i - 4)
      line[i] = i < 4 ? round : line[i - 4] + 1;
#pragma omp ordered depend(source)
    }
#pragma omp for ordered(1) nowait
    for (int i = 59; i > 0; --i) {
#pragma omp ordered depend(sink : i + 1)
      sequence[i] = line[i];
#pragma omp ordered depend(source)
    }
#pragma omp barrier
#pragma omp single
    CHECK(sequence[59] == round + 14 && last == 59);
  }
  CHECK(total == 20 * 1770);
  printf("doacross with clauses: %d %d\n", total, last);
}

int main(void) {
  for (int chunk = 1; chunk <= 8; chunk += 7) {
    ordered_static_blocks(chunk);
    ordered_static_chunks(chunk);
    ordered_dynamic(chunk);
    ordered_guided(chunk);
    ordered_automatic(chunk);
    doacross_static_blocks(chunk);
    doacross_static_chunks(chunk);
    doacross_dynamic(chunk);
    doacross_guided(chunk);
    doacross_automatic(chunk);
    static const omp_sched_t kinds[] = {omp_sched_static, omp_sched_dynamic, omp_sched_guided,
                                        omp_sched_auto};
    for (int k = 0; k < 4; ++k) {
      omp_set_schedule(kinds[k], k == 0 ? 0 : chunk);
      ordered_runtime(chunk);
      doacross_runtime(chunk);
    }
    omp_set_schedule(omp_sched_static, chunk);
    ordered_runtime(chunk);
    doacross_runtime(chunk);
    printf("chunks of %d: %ld\n", chunk, sum);
  }
  without_turn();
  doacross_with_clauses();
  return result();
}
