// SPDX-License-Identifier: MIT
// llvm_loops.c -- worksharing as compilers of LLVM call it: each iteration is given out once, and one member has the
// last one, whatever the type, the bounds, the step and the schedule are. The calls are written here as compilers make
// them, since no source can name these bounds. After them come loops of all clauses.
#include <limits.h>
#include <omp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../conformance/check.h"

typedef struct {
  int reserved_1, flags, reserved_2, reserved_3;
  const char* place;
} ident;
static ident at = {0, 2, 0, 0, ";llvm_loops.c;main;1;1;;"};

enum { most = 300 };
static int given[most], last_ones;

static void give(long long index, int is_last, long long count) {
  if (index < 0 || index >= count) {
    CHECK(index >= 0 && index < count);
    return;
  }
  __atomic_add_fetch(&given[index], 1, __ATOMIC_RELAXED);
  if (is_last) __atomic_add_fetch(&last_ones, 1, __ATOMIC_RELAXED);
}

static void check_all(const char* what, int schedule, int chunk, int count, int lasts) {
  int wrong = 0;
  for (int i = 0; i < count; ++i) wrong += given[i] != 1;
  if (wrong != 0 || last_ones != lasts)
    printf("%s, schedule %d, chunk %d, %d iterations: %d wrong, %d last ones\n", what, schedule, chunk,
           count, wrong, last_ones);
  CHECK(wrong == 0 && last_ones == lasts);
  memset(given, 0, sizeof given);
  last_ones = 0;
}

// LAST: from the index of an iteration, whether it is the loop's last one.
#define OF_TYPE(SUFFIX, NUMBER, STEP)                                                                      \
  void __kmpc_for_static_init_##SUFFIX(ident*, int, int, int*, NUMBER*, NUMBER*, STEP*, STEP, STEP);       \
  void __kmpc_dist_for_static_init_##SUFFIX(ident*, int, int, int*, NUMBER*, NUMBER*, NUMBER*, STEP*,      \
                                            STEP, STEP);                                                   \
  void __kmpc_dispatch_init_##SUFFIX(ident*, int, int, NUMBER, NUMBER, STEP, STEP);                        \
  int __kmpc_dispatch_next_##SUFFIX(ident*, int, int*, NUMBER*, NUMBER*, STEP*);                           \
  void __kmpc_dispatch_fini_##SUFFIX(ident*, int);                                                         \
  static long long index_##SUFFIX(NUMBER first, STEP step, NUMBER value) {                                 \
    return step > 0 ? (long long)(((uint64_t)value - (uint64_t)first) / (uint64_t)step)                    \
                    : (long long)(((uint64_t)first - (uint64_t)value) / (0 - (uint64_t)step));             \
  }                                                                                                        \
  static void give_from_##SUFFIX(NUMBER first, STEP step, NUMBER lower, NUMBER upper, int is_last,         \
                                 int count) {                                                              \
    const long long from = index_##SUFFIX(first, step, lower), to = index_##SUFFIX(first, step, upper);    \
    for (long long i = from; i <= to; ++i) give(i, is_last && i == count - 1, count);                      \
  }                                                                                                        \
  /* A share is a first chunk, and a stride to each of the next. */                                        \
  static void take_shares_##SUFFIX(int schedule, NUMBER first, NUMBER end, STEP step, STEP chunk,          \
                                   int count) {                                                            \
    NUMBER lower = first, upper = end;                                                                     \
    STEP stride = 1;                                                                                       \
    int last = 0;                                                                                          \
    __kmpc_for_static_init_##SUFFIX(&at, 0, schedule, &last, &lower, &upper, &stride, step, chunk);        \
    if (step > 0 ? lower > upper : lower < upper) return;                                                  \
    const long long size = index_##SUFFIX(lower, step, upper) + 1;                                         \
    const long long between =                                                                              \
        step > 0 ? (long long)stride / step : (long long)(0 - (uint64_t)stride) / -(long long)step;        \
    for (long long i = index_##SUFFIX(first, step, lower); i < count; i += between) {                      \
      const long long behind = i + size < count ? i + size : count;                                        \
      for (long long k = i; k < behind; ++k) give(k, last && k == count - 1, count);                       \
      if (between <= 0 || schedule != 33) break;                                                           \
    }                                                                                                      \
  }                                                                                                        \
  static void fetch_chunks_##SUFFIX(int schedule, NUMBER first, NUMBER end, STEP step, STEP chunk,         \
                                    int count) {                                                           \
    NUMBER lower, upper;                                                                                   \
    STEP stride = 0;                                                                                       \
    int last = 7;                                                                                          \
    __kmpc_dispatch_init_##SUFFIX(&at, 0, schedule, first, end, step, chunk);                              \
    while (__kmpc_dispatch_next_##SUFFIX(&at, 0, &last, &lower, &upper, &stride)) {                        \
      give_from_##SUFFIX(first, step, lower, upper, last, count);                                          \
      CHECK(stride == step && (last == 0 || last == 1));                                                  \
    }                                                                                                      \
  }                                                                                                        \
  static void loops_##SUFFIX(NUMBER first, NUMBER end, STEP step) {                                        \
    static const int shared[] = {33, 34, 45, 40, 41}, fetched[] = {33, 34, 35, 36, 37, 38, 39, 42, 43, 44, \
        46, 47, 65, 66, 67, 68, 69, 70, 161, 162, 163, 164, 195, 35 | 1 << 29, 35 | 1 << 30, 36 | 1 << 30, \
        37 | 1 << 30};                                                                                     \
    static const int chunks[] = {0, 1, 2, 7, 64, 1000};                                                    \
    const int empty = step > 0 ? end < first : first < end;                                                \
    const int count = empty ? 0 : (int)index_##SUFFIX(first, step, end) + 1;                               \
    for (unsigned c = 0; c < sizeof chunks / sizeof *chunks; ++c) {                                        \
      /* No stride can say how far it is between chunks that numbers of this size do not hold. */          \
      const __int128 stride = (__int128)chunks[c] * threads * step;                                         \
      const int fits = stride == (STEP)stride;                                                              \
      for (unsigned s = 0; fits && s < sizeof shared / sizeof *shared; ++s) {                              \
        _Pragma("omp parallel num_threads(threads)")                                                       \
            take_shares_##SUFFIX(shared[s], first, end, step, (STEP)chunks[c], count);                     \
        check_all("shares of " #SUFFIX, shared[s], chunks[c], count, count != 0);                          \
      }                                                                                                    \
      for (unsigned s = 0; s < sizeof fetched / sizeof *fetched; ++s) {                                    \
        _Pragma("omp parallel num_threads(threads)")                                                       \
            fetch_chunks_##SUFFIX(fetched[s], first, end, step, (STEP)chunks[c], count);                   \
        check_all("chunks of " #SUFFIX, fetched[s], chunks[c], count, count != 0);                         \
      }                                                                                                    \
    }                                                                                                      \
  }

static int threads;
OF_TYPE(4, int32_t, int32_t)
OF_TYPE(4u, uint32_t, int32_t)
OF_TYPE(8, int64_t, int64_t)
OF_TYPE(8u, uint64_t, int64_t)

static void at_the_ends(void) {
  loops_4(0, 99, 1);
  loops_4(0, 0, 1);
  loops_4(5, 4, 1);
  loops_4(4, 5, -1);
  loops_4(INT_MAX - 100, INT_MAX, 1);
  loops_4(INT_MAX, INT_MIN, -16777216);
  loops_4(INT_MIN, INT_MAX, 33554431);
  loops_4u(0, UINT_MAX, 16777216);
  loops_4u(UINT_MAX - 9, UINT_MAX, 1);
  loops_4u(UINT_MAX, 3, -16777216);
  loops_4u(9, 0, -1);
  loops_8(LLONG_MIN, LLONG_MAX, LLONG_MAX / 64);
  loops_8(LLONG_MAX, LLONG_MAX - 250, -1);
  loops_8u(0, ULLONG_MAX, 1LL << 57);
  loops_8u(ULLONG_MAX - 5, ULLONG_MAX, 1);
  loops_8u(ULLONG_MAX, 0, LLONG_MIN);
}

int __kmpc_sections_init(ident*, int);
int __kmpc_next_section(ident*, int, int);
void __kmpc_end_sections(ident*, int);

static void sections(void) {
  for (int count = 1; count <= 17; count += 4) {
    _Pragma("omp parallel num_threads(threads)")
    for (int round = 0; round < 3; ++round) {
      if (__kmpc_sections_init(&at, 0)) {
        int next;
        while ((next = __kmpc_next_section(&at, 0, count)) != count) give(next, 0, count);
      } else {
        for (int i = 0; i < count; ++i) give(i, 0, count);
      }
      __kmpc_end_sections(&at, 0);
    }
    for (int i = 0; i < count; ++i) {
      CHECK(given[i] == 3);
      given[i] = 1;
    }
    check_all("sections", 0, 0, count, 0);
  }
}

// What distribute has for a team, and parallel for of that for a member.
static void teams(void) {
  static const int schedules[] = {33, 34};
  for (int s = 0; s < 2; ++s) {
    for (int count = 1; count < 120; count += 23) {
#pragma omp teams num_teams(3)
#pragma omp parallel num_threads(threads)
      {
        int32_t lower = 0, upper = count - 1, team_upper = 0, stride = 0;
        int last = 0;
        __kmpc_dist_for_static_init_4(&at, 0, schedules[s], &last, &lower, &upper, &team_upper, &stride, 1, 4);
        for (; lower <= team_upper; lower += stride, upper += stride) {
          for (int i = lower; i <= upper && i <= team_upper; ++i) give(i, last && i == count - 1, count);
          if (schedules[s] == 34) break;
        }
      }
      check_all("teams", schedules[s], 4, count, 1);
#pragma omp teams distribute parallel for num_teams(4) dist_schedule(static, 3) schedule(dynamic, 2)
      for (int i = 0; i < count; ++i) give(i, i == count - 1, count);
      check_all("distribute", 0, 3, count, 1);
    }
  }
}

static void waiting_iterations(void) {
  static unsigned cells[40][30];
#define WAITING(CLAUSES)                                                             \
  memset(cells, 0, sizeof cells);                                                    \
  PRAGMA(omp parallel for ordered(2) num_threads(threads) CLAUSES)                   \
  for (int i = 1; i < 40; ++i)                                                       \
    for (int j = 28; j >= 0; --j) {                                                  \
      PRAGMA(omp ordered depend(sink : i - 1, j) depend(sink : i - 1, j - 1) depend(sink : i, j + 1)) \
      cells[i][j] = 1 + cells[i - 1][j] + cells[i][j + 1];                           \
      PRAGMA(omp ordered depend(source))                                             \
    }                                                                                \
  for (int i = 1; i < 40; ++i)                                                       \
    for (int j = 0; j < 29; ++j)                                                     \
      right += cells[i][j] == 1u + cells[i - 1][j] + cells[i][j + 1];      \
  CHECK(right == 39 * 29);                                                           \
  right = 0
  int right = 0;
  WAITING();
  WAITING(schedule(static));
  WAITING(schedule(static, 3));
  WAITING(schedule(dynamic));
  WAITING(schedule(dynamic, 4));
  WAITING(schedule(guided));
  WAITING(collapse(2));
  WAITING(collapse(2) schedule(dynamic, 3));
}

int main(void) {
  static const int sizes[] = {1, 2, 3, 8, 64};
  for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
    threads = sizes[i];
    if (threads < 64) at_the_ends();
    sections();
    teams();
    if (threads < 64) waiting_iterations();
  }
  return failures != 0;
}
