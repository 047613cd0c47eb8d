// SPDX-License-Identifier: MIT
// not Clang: it calls GCC's runtime by its names
// old_calls.c -- the calls that GCC made before versions 4.9 and 9, written by hand, as no compiler of today makes them
#include <limits.h>
#include <omp.h>
#include <stdbool.h>
#include <stdlib.h>

#include "check.h"

typedef unsigned long long ull;
typedef void (*outlined)(void*);

void GOMP_parallel_start(outlined, void*, unsigned);
void GOMP_parallel_end(void);
void GOMP_parallel(outlined, void*, unsigned, unsigned);
void GOMP_parallel_sections_start(outlined, void*, unsigned, unsigned);
void GOMP_parallel_sections(outlined, void*, unsigned, unsigned, unsigned);
unsigned GOMP_sections_start(unsigned);
unsigned GOMP_sections_next(void);
void GOMP_sections_end(void);
void GOMP_sections_end_nowait(void);
void GOMP_loop_end(void);
void GOMP_loop_end_nowait(void);
void GOMP_barrier(void);
void GOMP_ordered_start(void);
void GOMP_ordered_end(void);
void GOMP_critical_start(void);
void GOMP_critical_end(void);
void GOMP_critical_name_start(void**);
void GOMP_critical_name_end(void**);
void GOMP_atomic_start(void);
void GOMP_atomic_end(void);
bool GOMP_single_start(void);
void* GOMP_single_copy_start(void);
void GOMP_single_copy_end(void*);
void GOMP_task(outlined, void*, void (*)(void*, void*), long, long, bool,
               unsigned);  // as of GCC 4.4 to 4.8
void GOMP_taskwait(void);

// A kind of loop: the combined starts of before GCC 4.9 and after, the start, the next one.
#define DECLARE(KIND)                                                                          \
  void GOMP_parallel_loop_##KIND##_start(outlined, void*, unsigned, long, long, long, long);   \
  void GOMP_parallel_loop_##KIND(outlined, void*, unsigned, long, long, long, long, unsigned); \
  bool GOMP_loop_##KIND##_start(long, long, long, long, long*, long*);                         \
  bool GOMP_loop_##KIND##_next(long*, long*);                                                  \
  bool GOMP_loop_ordered_##KIND##_start(long, long, long, long, long*, long*);                 \
  bool GOMP_loop_ordered_##KIND##_next(long*, long*);                                          \
  bool GOMP_loop_ull_##KIND##_start(bool, ull, ull, ull, ull, ull*, ull*);                     \
  bool GOMP_loop_ull_##KIND##_next(ull*, ull*);                                                \
  bool GOMP_loop_ull_ordered_##KIND##_start(bool, ull, ull, ull, ull, ull*, ull*);             \
  bool GOMP_loop_ull_ordered_##KIND##_next(ull*, ull*);
DECLARE(static)
DECLARE(dynamic)
DECLARE(guided)
void GOMP_parallel_loop_runtime_start(outlined, void*, unsigned, long, long, long);
void GOMP_parallel_loop_runtime(outlined, void*, unsigned, long, long, long, unsigned);
bool GOMP_loop_runtime_start(long, long, long, long*, long*);
bool GOMP_loop_runtime_next(long*, long*);
bool GOMP_loop_ordered_runtime_start(long, long, long, long*, long*);
bool GOMP_loop_ordered_runtime_next(long*, long*);
bool GOMP_loop_ull_runtime_start(bool, ull, ull, ull, ull*, ull*);
bool GOMP_loop_ull_runtime_next(ull*, ull*);
bool GOMP_loop_ull_ordered_runtime_start(bool, ull, ull, ull, ull*, ull*);
bool GOMP_loop_ull_ordered_runtime_next(ull*, ull*);

enum { most = 1000 };
static int visits[most];
static long sequence[most];
static int length;

static int each_once(int count) {
  int right = 0;
  for (int i = 0; i < most; ++i) right += visits[i] == (i < count);
  memset(visits, 0, sizeof visits);
  return right == most;
}

struct shared {
  int members, met, size, last;
  void* lock;
  long sum;
};

static void body_of_region(void* data) {
  struct shared* const all = data;
  CHECK(omp_get_num_threads() == all->size && omp_get_level() >= 1);
  meet(&all->met, all->size);
  GOMP_critical_start();
  all->members += 1;
  GOMP_critical_end();
  GOMP_critical_name_start(&all->lock);
  all->sum += omp_get_thread_num();
  GOMP_critical_name_end(&all->lock);
  GOMP_barrier();
  CHECK(all->members == all->size);
  if (GOMP_single_start()) all->last = 1;
  long* from = GOMP_single_copy_start();
  long copied = 31;
  if (from == NULL) {
    copied = 32;
    GOMP_single_copy_end(&copied);
  } else {
    CHECK(*from == 32);
  }
  GOMP_barrier();
  GOMP_atomic_start();
  all->sum += copied == 32 ? 100 : 1;
  GOMP_atomic_end();
}

static void regions(void) {
  long sum = 0;
  for (int n = 1; n <= 6; ++n) {
    for (int round = 0; round < 20; ++round) {
      struct shared all = {0, 0, n, 0, NULL, 0};
      if (round % 2 == 0) {
        GOMP_parallel_start(body_of_region, &all, (unsigned)n);
        body_of_region(&all);
        GOMP_parallel_end();
      } else {
        GOMP_parallel(body_of_region, &all, (unsigned)n, 0);
      }
      CHECK(all.members == n && all.last == 1 && all.sum == n * (n - 1) / 2 + 99 + n);
      sum += all.sum;
    }
  }
  struct shared usual = {0, 0, omp_get_max_threads(), 0, NULL, 0};
  GOMP_parallel_start(body_of_region, &usual, 0);
  body_of_region(&usual);
  GOMP_parallel_end();
  CHECK(usual.members == omp_get_max_threads() && omp_get_level() == 0);
  printf("regions: %ld\n", sum);
}

static void inner_region(void* data) {
  struct shared inner = {0, 0, 2, 0, NULL, 0};
  GOMP_parallel_start(body_of_region, &inner, 2);
  CHECK(omp_get_level() == 2);
  body_of_region(&inner);
  GOMP_parallel_end();
  CHECK(omp_get_level() == 1);
  add(data, inner.members);
}
static void nested(void) {
  int members = 0;
  omp_set_max_active_levels(2);
  GOMP_parallel_start(inner_region, &members, 3);
  inner_region(&members);
  GOMP_parallel_end();
  omp_set_max_active_levels(1);
  CHECK(members == 6);
  printf("nested: %d\n", members);
}

// Loops of every kind: in one region, and combined with it.
#define WALK(TYPE, FIRST, NEXT, DO)       \
  {                                       \
    TYPE from, to;                        \
    if (FIRST) do {                       \
        for (TYPE i = from; i != to;) DO; \
      } while (NEXT(&from, &to));         \
  }

static void visit(long i) {
  if (i >= 0 && i < most)
    add(&visits[i], 1);
  else
    failed(__FILE__, __LINE__, "an iteration of the loop");
}
static void in_order(long i) {
  GOMP_ordered_start();
  sequence[length++] = i;
  GOMP_ordered_end();
}
static int was_in_order(int count) {
  int good = length == count;
  for (int i = 0; i < count && good; ++i) good = sequence[i] == i;
  length = 0;
  return good;
}

#define KIND(NAME, CHUNK_FIRST, CHUNK_LAST)                                                        \
  static void loops_in_region_##NAME(void* data) {                                                 \
    (void)data;                                                                                    \
    WALK(long, GOMP_loop_##NAME##_start(-5, 295, 3, CHUNK_FIRST& from, &to),                       \
         GOMP_loop_##NAME##_next, (visit((i + 5) / 3), i += 3))                                    \
    GOMP_loop_end();                                                                               \
    WALK(long, GOMP_loop_##NAME##_start(LONG_MIN + 50, LONG_MIN, -1, CHUNK_FIRST & from, &to),     \
         GOMP_loop_##NAME##_next, (visit(100 + (i - LONG_MIN - 1)), --i))                          \
    GOMP_loop_end_nowait();                                                                        \
    WALK(ull,                                                                                      \
         GOMP_loop_ull_##NAME##_start(true, ULLONG_MAX - 100, ULLONG_MAX, 2, CHUNK_FIRST & from,   \
                                      &to),                                                        \
         GOMP_loop_ull_##NAME##_next, (visit(150 + (long)((ULLONG_MAX - i) / 2 - 1)), i += 2))     \
    GOMP_loop_end_nowait();                                                                        \
    WALK(ull, GOMP_loop_ull_##NAME##_start(false, 60, 0, (ull) - 1, CHUNK_FIRST & from, &to),      \
         GOMP_loop_ull_##NAME##_next, (visit(200 + (long)i - 1), --i))                             \
    GOMP_loop_end();                                                                               \
    WALK(long, GOMP_loop_##NAME##_start(5, 5, 1, CHUNK_FIRST& from, &to), GOMP_loop_##NAME##_next, \
         (visit(i), ++i))                                                                          \
    GOMP_loop_end();                                                                               \
    WALK(long, GOMP_loop_ordered_##NAME##_start(0, 70, 1, CHUNK_FIRST& from, &to),                 \
         GOMP_loop_ordered_##NAME##_next, (in_order(i), ++i))                                      \
    GOMP_loop_end();                                                                               \
    if (omp_get_thread_num() == 0) CHECK(was_in_order(70));                                        \
    GOMP_barrier();                                                                                \
    WALK(ull, GOMP_loop_ull_ordered_##NAME##_start(true, 10, 90, 1, CHUNK_FIRST& from, &to),       \
         GOMP_loop_ull_ordered_##NAME##_next, (in_order((long)i - 10), ++i))                       \
    GOMP_loop_end();                                                                               \
    if (omp_get_thread_num() == 0) CHECK(was_in_order(80));                                        \
  }                                                                                                \
  static void combined_##NAME(void* data) {                                                        \
    long from, to;                                                                                 \
    while (GOMP_loop_##NAME##_next(&from, &to)) {                                                  \
      for (long i = from; i < to; i += 2) visit(i / 2);                                            \
    }                                                                                              \
    GOMP_loop_end_nowait();                                                                        \
    add(data, 1);                                                                                  \
  }                                                                                                \
  static void kind_##NAME(void) {                                                                  \
    int members = 0;                                                                               \
    for (int round = 0; round < 10; ++round) {                                                     \
      GOMP_parallel(loops_in_region_##NAME, NULL, 0, 0);                                           \
      CHECK(each_once(260));                                                                       \
      GOMP_parallel_start(loops_in_region_##NAME, NULL, 3);                                        \
      loops_in_region_##NAME(NULL);                                                                \
      GOMP_parallel_end();                                                                         \
      CHECK(each_once(260));                                                                       \
      GOMP_parallel_loop_##NAME##_start(combined_##NAME, &members, 3, 0, 1000, 2 CHUNK_LAST);      \
      combined_##NAME(&members);                                                                   \
      GOMP_parallel_end();                                                                         \
      CHECK(each_once(500));                                                                       \
      GOMP_parallel_loop_##NAME(combined_##NAME, &members, 2, 0, 1000, 2 CHUNK_LAST, 0);           \
      CHECK(each_once(500));                                                                       \
    }                                                                                              \
    CHECK(members == 50);                                                                          \
    printf("%s: %d\n", #NAME, members);                                                            \
  }
#define CHUNK_IN_FRONT 4,
#define CHUNK_AT_END , 4
#define NONE
KIND(static, CHUNK_IN_FRONT, CHUNK_AT_END)
KIND(dynamic, CHUNK_IN_FRONT, CHUNK_AT_END)
KIND(guided, CHUNK_IN_FRONT, CHUNK_AT_END)
KIND(runtime, NONE, NONE)

static void sections_in_region(void* data) {
  for (int round = 0; round < 20; ++round) {
    for (unsigned at = GOMP_sections_start(5); at != 0; at = GOMP_sections_next()) {
      CHECK(at <= 5);
      add((int*)data + at, 1);
    }
    if (round % 2)
      GOMP_sections_end();
    else
      GOMP_sections_end_nowait();
  }
}
static void combined_sections(void* data) {
  for (unsigned at = GOMP_sections_next(); at != 0; at = GOMP_sections_next())
    add((int*)data + at, 1);
  GOMP_sections_end_nowait();
}
static void sections(void) {
  int runs[6] = {0};
  GOMP_parallel_start(sections_in_region, runs, 4);
  sections_in_region(runs);
  GOMP_parallel_end();
  GOMP_parallel_sections_start(combined_sections, runs, 3, 5);
  combined_sections(runs);
  GOMP_parallel_end();
  GOMP_parallel_sections(combined_sections, runs, 3, 5, 0);
  for (int i = 1; i <= 5; ++i) CHECK(runs[i] == 22);
  printf("sections: %d\n", runs[5]);
}

static void one_task(void* argument) { add(*(int**)argument, 1); }
static void make_tasks(void* data) {
  if (omp_get_thread_num() == 0) {
    for (int i = 0; i < 100; ++i)
      GOMP_task(one_task, &data, NULL, sizeof data, _Alignof(void*), true, 0);
    GOMP_taskwait();
    CHECK(get(data) == 100);
    for (int i = 0; i < 100; ++i)
      GOMP_task(one_task, &data, NULL, sizeof data, _Alignof(void*), i % 2, 1);
  }
}
static void tasks(void) {
  int count = 0;
  GOMP_parallel_start(make_tasks, &count, 3);
  make_tasks(&count);
  GOMP_parallel_end();
  CHECK(count == 200);
  printf("tasks: %d\n", count);
}

int main(void) {
  regions();
  nested();
  kind_static();
  kind_dynamic();
  kind_guided();
  kind_runtime();
  omp_set_schedule(omp_sched_dynamic, 3);
  kind_runtime();
  omp_set_schedule(omp_sched_guided, 2);
  kind_runtime();
  sections();
  tasks();
  return result();
}
