// SPDX-License-Identifier: MIT
// broken_calls.c -- loaded in front of a runtime: the call that BROKEN names does not do what it should
//
// mutants.py checks that the conformance programs notice each.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned long long ull;

static bool is_broken(const char* name) {
  static const char* broken;
  if (broken == NULL) {
    broken = getenv("BROKEN");
    if (broken == NULL) broken = "";
  }
  return strcmp(broken, name) == 0;
}

// A call that does nothing at all where it is broken, and returns DEFAULT.
#define BREAK(RESULT, DEFAULT, NAME, PARAMETERS, ARGUMENTS)     \
  RESULT NAME PARAMETERS {                                      \
    static RESULT(*real) PARAMETERS;                            \
    if (is_broken(#NAME)) return DEFAULT;                       \
    if (real == NULL) *(void**)&real = dlsym(RTLD_NEXT, #NAME); \
    return real ARGUMENTS;                                      \
  }
BREAK(void, , GOMP_barrier, (void), ())
BREAK(void, , GOMP_critical_start, (void), ())
BREAK(void, , GOMP_critical_end, (void), ())
BREAK(void, , GOMP_critical_name_start, (void** name), (name))
BREAK(void, , GOMP_atomic_start, (void), ())
BREAK(void, , GOMP_ordered_start, (void), ())
BREAK(bool, true, GOMP_single_start, (void), ())
BREAK(void, , GOMP_taskwait, (void), ())
BREAK(void, , GOMP_taskgroup_end, (void), ())
BREAK(void, , GOMP_loop_end, (void), ())
BREAK(void, , GOMP_sections_end, (void), ())
BREAK(bool, false, GOMP_loop_dynamic_next, (long* from, long* to), (from, to))
BREAK(bool, false, GOMP_loop_nonmonotonic_dynamic_next, (long* from, long* to), (from, to))
BREAK(bool, false, GOMP_loop_guided_next, (long* from, long* to), (from, to))
BREAK(bool, false, GOMP_loop_ull_guided_next, (ull * from, ull* to), (from, to))
BREAK(unsigned, 0, GOMP_sections_next, (void), ())
BREAK(bool, false, GOMP_cancel, (int kind, bool does), (kind, does))
BREAK(bool, false, GOMP_cancellation_point, (int kind), (kind))
BREAK(int, 0, omp_get_thread_num, (void), ())
BREAK(int, 1, omp_get_level, (void), ())
BREAK(int, 0, omp_in_final, (void), ())
BREAK(void, , omp_set_num_threads, (int number), (number))
BREAK(void, , omp_set_schedule, (int kind, int chunk), (kind, chunk))

// Others do half of it.
void GOMP_parallel(void (*function)(void*), void* data, unsigned threads, unsigned flags) {
  static void (*real)(void (*)(void*), void*, unsigned, unsigned);
  if (real == NULL) *(void**)&real = dlsym(RTLD_NEXT, "GOMP_parallel");
  real(function, data, is_broken("GOMP_parallel") ? 1 : threads, flags);
}
void GOMP_task(void (*function)(void*), void* data, void (*copy)(void*, void*), long size,
               long align, bool may_wait, unsigned flags, void** depend, int priority,
               void* event) {
  typedef void (*call)(void (*)(void*), void*, void (*)(void*, void*), long, long, bool, unsigned,
                       void**, int, void*);
  static call real;
  if (is_broken("GOMP_task")) return;
  if (is_broken("GOMP_task depend")) flags &= ~8u;
  if (is_broken("GOMP_task final")) flags &= ~2u;
  if (is_broken("GOMP_task at once")) may_wait = false;
  if (real == NULL) *(void**)&real = dlsym(RTLD_NEXT, "GOMP_task");
  real(function, data, copy, size, align, may_wait, flags, depend, priority, event);
}
void* GOMP_single_copy_start(void) {
  typedef void* (*call)(void);
  static call real;
  static char wrong[4096];
  if (real == NULL) *(void**)&real = dlsym(RTLD_NEXT, "GOMP_single_copy_start");
  void* const data = real();
  return is_broken("GOMP_single_copy_start") && data != NULL ? wrong : data;
}

#ifdef WITH_DOACROSS
// Cannot be passed on, so it has a library of its own.
void GOMP_doacross_wait(long first, ...) { (void)first; }
#endif
