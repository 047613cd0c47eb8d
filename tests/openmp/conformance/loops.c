// SPDX-License-Identifier: MIT
// loops.c -- every schedule over long and unsigned long long, both directions, limits at the ends of the types
//
// Each iteration must run once. Where OpenMP promises more, that too: which thread runs what of static loops, chunks that stay
// together, increasing order on each thread of monotonic ones.
#include <limits.h>
#include <omp.h>

#include "check.h"

typedef unsigned long long ull;
enum { most = 1200, threads = 16 };

static int visits[most], owner[most], outside;
static int newest[threads];  // the newest iteration on each thread
static int steps_back;       // iterations that came after a later one on the same thread

static void visit(ull distance, ull step, int upwards) {
  const ull number = distance / step;
  const int self = omp_get_thread_num();
  if (distance % step != 0 || number >= most || self >= threads) {
    add(&outside, 1);
    return;
  }
  (void)upwards;
  add(&visits[number], 1);
  owner[number] = self;
  if ((int)number < newest[self]) add(&steps_back, 1);
  newest[self] = (int)number;
}

static void forget(void) {
  memset(visits, 0, sizeof visits);
  memset(newest, -1, sizeof newest);
  for (int i = 0; i < most; ++i) owner[i] = -1;
  outside = steps_back = 0;
}

// Four functions for each schedule: long and unsigned long long, upwards and downwards. The first member of a pair is a
// combined construct, the other a loop in a region; chunk is a variable, as the compiler must then pass it on.
#define LOOPS(NAME, ...)                                                              \
  static void NAME##_long_up(long from, long to, long step, int chunk) {              \
    (void)chunk;                                                                      \
    PRAGMA(omp parallel for schedule(__VA_ARGS__))                                    \
    for (long i = from; i < to; i += step) visit((ull)i - (ull)from, (ull)step, 1);   \
  }                                                                                   \
  static void NAME##_long_down(long from, long to, long step, int chunk) {            \
    (void)chunk;                                                                      \
    PRAGMA(omp parallel) {                                                            \
      PRAGMA(omp for schedule(__VA_ARGS__))                                           \
      for (long i = from; i > to; i -= step) visit((ull)from - (ull)i, (ull)step, 0); \
    }                                                                                 \
  }                                                                                   \
  static void NAME##_ull_up(ull from, ull to, ull step, int chunk) {                  \
    (void)chunk;                                                                      \
    PRAGMA(omp parallel) {                                                            \
      PRAGMA(omp for schedule(__VA_ARGS__) nowait)                                    \
      for (ull i = from; i < to; i += step) visit(i - from, step, 1);                 \
    }                                                                                 \
  }                                                                                   \
  static void NAME##_ull_down(ull from, ull to, ull step, int chunk) {                \
    (void)chunk;                                                                      \
    PRAGMA(omp parallel for schedule(__VA_ARGS__))                                    \
    for (ull i = from; i > to; i -= step) visit(from - i, step, 0);                   \
  }
LOOPS(static_blocks, static)
LOOPS(static_chunks, static, chunk)
LOOPS(dynamic, dynamic, chunk)
LOOPS(dynamic_monotonic, monotonic : dynamic, chunk)
LOOPS(dynamic_nonmonotonic, nonmonotonic : dynamic, chunk)
LOOPS(guided, guided, chunk)
LOOPS(guided_monotonic, monotonic : guided, chunk)
LOOPS(guided_nonmonotonic, nonmonotonic : guided, chunk)
LOOPS(automatic, auto)
LOOPS(runtime, runtime)
LOOPS(runtime_monotonic, monotonic : runtime)
LOOPS(runtime_nonmonotonic, nonmonotonic : runtime)

struct loops {
  const char* name;
  void (*long_up)(long, long, long, int);
  void (*long_down)(long, long, long, int);
  void (*ull_up)(ull, ull, ull, int);
  void (*ull_down)(ull, ull, ull, int);
  int is_monotonic, is_static,
      chunked;  // chunked: at least `chunk` iterations in a row are one thread's
};
#define ROW(NAME, ...) \
  {#NAME, NAME##_long_up, NAME##_long_down, NAME##_ull_up, NAME##_ull_down, __VA_ARGS__}
static const struct loops kinds[] = {
    ROW(static_blocks, 1, 1, 0),     ROW(static_chunks, 1, 1, 1),        ROW(dynamic, 0, 0, 1),
    ROW(dynamic_monotonic, 1, 0, 1), ROW(dynamic_nonmonotonic, 0, 0, 1), ROW(guided, 0, 0, 1),
    ROW(guided_monotonic, 1, 0, 1),  ROW(guided_nonmonotonic, 0, 0, 1),  ROW(automatic, 0, 0, 0),
};
static const struct loops at_run_time[] = {ROW(runtime, 0, 0, 0), ROW(runtime_monotonic, 1, 0, 0),
                                           ROW(runtime_nonmonotonic, 0, 0, 0)};

static int fine(const struct loops* kind, ull count, int chunk) {
  int good = outside == 0 && (!kind->is_monotonic || steps_back == 0);
  int row = 0;
  const int members = omp_get_max_threads();
  for (ull i = 0; i < most; ++i) good &= visits[i] == (i < count);
  for (ull i = 0; i < count && good; ++i) {
    if (kind->is_static && kind->chunked) good &= owner[i] == (int)(i / (ull)chunk % (ull)members);
    if (kind->is_static && !kind->chunked && i > 0) good &= owner[i] >= owner[i - 1];
    row = i > 0 && owner[i] == owner[i - 1] ? row + 1 : 1;
    if (kind->chunked && (i + 1 == count || owner[i + 1] != owner[i]))
      good &= row >= chunk || i + 1 == count;
  }
  return good;
}

// Runs the loop; prints and says where it was not as it should be.
#define TRY(FUNCTION, COUNT, FROM, TO, STEP)                                                    \
  do {                                                                                          \
    forget();                                                                                   \
    kind->FUNCTION(FROM, TO, STEP, chunk);                                                      \
    loops += 1;                                                                                 \
    iterations += (COUNT);                                                                      \
    if (!fine(kind, COUNT, chunk)) {                                                            \
      failed(__FILE__, __LINE__, "each iteration ran once, where it should");                   \
      printf("  %s_%s from " #FROM " to " #TO " by " #STEP ", chunk %d: %d back, %d outside\n", \
             kind->name, #FUNCTION, chunk, steps_back, outside);                                \
    }                                                                                           \
  } while (0)

static void ranges(const struct loops* kind, int chunk) {
  int loops = 0;
  ull iterations = 0;
  TRY(long_up, 1000, 0, 1000, 1);
  TRY(long_up, 148, -30, 1000, 7);
  TRY(long_up, 34, LONG_MAX - 102, LONG_MAX, 3);
  TRY(long_up, 12, LONG_MIN, LONG_MIN + 100, 9);
  TRY(long_up, 0, 5, 5, 1);
  TRY(long_up, 0, 5, -5, 2);
  TRY(long_down, 1020, 1000, -20, 1);
  TRY(long_down, 15, LONG_MIN + 105, LONG_MIN, 7);
  TRY(long_down, 10, LONG_MAX, LONG_MAX - 100, 11);
  TRY(long_down, 0, -5, 5, 3);
  TRY(ull_up, 700, 0, 700, 1);
  TRY(ull_up, 34, ULLONG_MAX - 102, ULLONG_MAX, 3);
  TRY(ull_up, 50, LLONG_MAX - 249ull, LLONG_MAX + 1ull, 5);
  TRY(ull_up, 3, 7, 10, 1);
  TRY(ull_up, 0, 9, 3, 1);
  TRY(ull_down, 333, 999, 0, 3);
  TRY(ull_down, 15, ULLONG_MAX, ULLONG_MAX - 100, 7);
  TRY(ull_down, 0, 3, 9, 1);
  if (chunk == 1) {  // else a chunk is longer than the type, which neither GCC nor libgomp looks at
    TRY(long_up, 3, -(LONG_MAX / 4), LONG_MAX / 4, LONG_MAX / 5);
    TRY(long_up, 1, 5, 6, LONG_MAX - 6);
    TRY(long_down, 3, LONG_MAX / 4, -(LONG_MAX / 4), LONG_MAX / 5);
    TRY(ull_up, 4, 0, ULLONG_MAX / 5 * 4 - 7, ULLONG_MAX / 5);
    TRY(ull_down, 4, ULLONG_MAX, ULLONG_MAX / 5 + 7, ULLONG_MAX / 5);
  }
  printf("%s, chunk %d: %d loops, %llu iterations\n", kind->name, chunk, loops, iterations);
}

static void schedules_at_run_time(void) {
  static const struct {
    omp_sched_t kind;
    const char* name;
    int is_static;
  } wanted[] = {{omp_sched_static, "static", 1},
                {omp_sched_dynamic, "dynamic", 0},
                {omp_sched_guided, "guided", 0},
                {omp_sched_auto, "auto", 0}};
  static const int chunks[] = {0, 1, 7, 500};
  for (unsigned k = 0; k < sizeof wanted / sizeof *wanted; ++k) {
    for (unsigned c = 0; c < sizeof chunks / sizeof *chunks; ++c) {
      for (unsigned m = 0; m < 3; ++m) {
        omp_sched_t got;
        int chunk = chunks[c], got_chunk;
        omp_set_schedule((omp_sched_t)(wanted[k].kind | (m == 1 ? omp_sched_monotonic : 0)), chunk);
        omp_get_schedule(&got, &got_chunk);
        CHECK((got & ~omp_sched_monotonic) == wanted[k].kind);
        struct loops kind = at_run_time[m];
        kind.is_static = wanted[k].is_static;
        kind.is_monotonic |= kind.is_static || m == 1;
        kind.chunked = chunk > 0 && wanted[k].kind != omp_sched_auto;
        printf("%s ", wanted[k].name);
        ranges(&kind, chunk > 0 ? chunk : 1);
      }
    }
  }
}

// Loops without a barrier between them, of different schedules: a member may be several constructs ahead.
static void chains(void) {
  static int times[400];
  int last = 0;
#pragma omp parallel
  for (int round = 0; round < 150; ++round) {
#pragma omp for schedule(dynamic, 3) nowait
    for (int i = 0; i < 100; ++i) __atomic_add_fetch(&times[i], 1, __ATOMIC_RELAXED);
#pragma omp for schedule(guided) nowait
    for (ull i = 100; i < 200; ++i) __atomic_add_fetch(&times[i], 1, __ATOMIC_RELAXED);
#pragma omp for schedule(static, 2) nowait
    for (int i = 200; i < 300; ++i) __atomic_add_fetch(&times[i], 1, __ATOMIC_RELAXED);
#pragma omp for schedule(monotonic : dynamic) nowait
    for (long i = 399; i >= 300; --i) __atomic_add_fetch(&times[i], 1, __ATOMIC_RELAXED);
#pragma omp single nowait
    __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
  }
  int right = 0;
  for (int i = 0; i < 400; ++i) right += times[i] == 150;
  CHECK(right == 400 && last == 150);
  printf("chains without barriers: %d\n", right);
}

// The members meet inside a loop: a chunk each, all at the same time.
static void concurrently(void) {
  const int n = omp_get_max_threads();
  int count[3] = {0, 0, 0};
#pragma omp parallel num_threads(n)
  {
#pragma omp for schedule(static, 1)
    for (int i = 0; i < n; ++i) meet(&count[0], n);
#pragma omp for schedule(dynamic, 1)
    for (int i = 0; i < n; ++i) meet(&count[1], n);
#pragma omp for schedule(guided, 1)
    for (int i = 0; i < n; ++i) meet(&count[2], n);
  }
  printf("members meet in loops: %d %d %d\n", count[0], count[1], count[2]);
}

// No member ends while a chunk has not begun. So where each chunk waits until all members are in one, all have as many;
// a member that kept a chunk for later would leave the others waiting for ever.
static void no_chunk_is_kept(void) {
  const int n = omp_get_max_threads();
  enum { loops = 200, rounds = 3, chunk = 5 };
  static int count[loops][rounds];
  int chunks = 0;
#pragma omp parallel num_threads(n) reduction(+ : chunks)
  for (int loop = 0; loop < loops; ++loop) {
    int mine = 0;
#pragma omp for schedule(nonmonotonic : dynamic, chunk)
    for (int i = 0; i < rounds * n * chunk; ++i) {
      if (i % chunk == 0) meet(&count[loop][mine++], n);
    }
    chunks += mine == rounds;
  }
  printf("as many chunks for each: %d\n", chunks);
}

int main(void) {
  setvbuf(stdout, NULL, _IOLBF, 0);
  static const int chunks[] = {1, 4, 300};
  for (unsigned k = 0; k < sizeof kinds / sizeof *kinds; ++k) {
    for (unsigned c = 0; c < (kinds[k].chunked ? 3 : 1); ++c) ranges(&kinds[k], chunks[c]);
  }
  schedules_at_run_time();
  chains();
  concurrently();
  no_chunk_is_kept();
  return result();
}
