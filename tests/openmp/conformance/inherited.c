// SPDX-License-Identifier: MIT
// inherited.c -- what a thread of a region has of the thread that made it, and what changes later do (docs/openmp.md)
#define _GNU_SOURCE
#include <fenv.h>
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>

#include "check.h"
#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

/// What is looked at: rounding, flushing of denormal numbers to zero, blocked signals, CPUs.
struct state {
  int rounding, flushes, is_blocked, cpus;
};

static void set_flush(int yes) {
#if defined(__SSE2__)
  _mm_setcsr((_mm_getcsr() & ~0x8040u) | (yes ? 0x8040u : 0));
#else
  (void)yes;
#endif
}
static int flushes(void) {
#if defined(__SSE2__)
  return (_mm_getcsr() & 0x8040u) == 0x8040u;
#else
  return 0;
#endif
}
static struct state here(void) {
  sigset_t blocked;
  cpu_set_t cpus;
  pthread_sigmask(SIG_BLOCK, NULL, &blocked);
  sched_getaffinity(0, sizeof cpus, &cpus);
  return (struct state){fegetround(), flushes(), sigismember(&blocked, SIGUSR1), CPU_COUNT(&cpus)};
}
static void change(int rounding, int flush, int block, const cpu_set_t* cpus) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGUSR1);
  fesetround(rounding);
  set_flush(flush);
  pthread_sigmask(block ? SIG_BLOCK : SIG_UNBLOCK, &signals, NULL);
  sched_setaffinity(0, sizeof *cpus, cpus);
}
static int equal(struct state a, struct state b) {
  return a.rounding == b.rounding && a.flushes == b.flushes && a.is_blocked == b.is_blocked &&
         a.cpus == b.cpus;
}

static struct state seen[8];
static int members(int n) {
  int met = 0;
#pragma omp parallel num_threads(n)
  {
    seen[omp_get_thread_num()] = here();
    meet(&met, n);
  }
  return met;
}

int main(void) {
  const int n = omp_get_max_threads();
  cpu_set_t all, one;
  sched_getaffinity(0, sizeof all, &all);
  int cpu = 0;
  while (!CPU_ISSET(cpu, &all)) ++cpu;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);

  change(FE_UPWARD, 1, 1, &one);
  const struct state at_first = here();
  CHECK(at_first.rounding == FE_UPWARD && at_first.is_blocked == 1 && at_first.cpus == 1);
  members(n);
  for (int i = 0; i < n; ++i) CHECK(equal(seen[i], at_first));

  // A change in the thread that makes the regions is its own: the others keep what they began with.
  change(FE_DOWNWARD, 0, 0, &all);
  const struct state later = here();
  for (int region = 0; region < 100; ++region) {
    members(n);
    CHECK(equal(seen[0], later));
    for (int i = 1; i < n; ++i) CHECK(equal(seen[i], at_first));
  }
  // A change in a thread of a region stays with it. The CPUs are left alone: lockstep may move a thread between them.
#pragma omp parallel num_threads(n)
  change(FE_TOWARDZERO, 1, 0, &all);
  const struct state last = here();
  for (int region = 0; region < 100; ++region) {
    members(n);
    for (int i = 0; i < n; ++i) CHECK(equal(seen[i], last));
  }
  printf("inherited, flushes %d\n", at_first.flushes);
  return result();
}
