// SPDX-License-Identifier: MIT
// What the runtime asks the system while it waits: this program has sched_yield() and clock_gettime() of its own, which
// count. What is checked depends on no time but this: if a row of 16 tasks is held up for 13 ms, `tasks` fails, and is
// tried again. And what glibc gives back to the system.
//
// argument: flush, tasks, or memory
#define _GNU_SOURCE
#include <dlfcn.h>
#include <omp.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "../conformance/check.h"

static _Thread_local int yields;
int sched_yield(void) {
  ++yields;
  return (int)syscall(SYS_sched_yield);
}

// The clock of a thread that fetches tasks: it goes on by `step` with each look. Looks between tasks are counted.
enum { step = 3000, most_visits = 1000 };
static _Thread_local int is_scripted, looks;
static _Thread_local long long now;
int clock_gettime(clockid_t which, struct timespec* at) {
  if (!is_scripted || which != CLOCK_MONOTONIC) return (int)syscall(SYS_clock_gettime, which, at);
  ++looks;
  now += step;
  at->tv_sec = now / 1000000000;
  at->tv_nsec = now % 1000000000;
  return 0;
}

// A loop with flush yields at each 256th flush.
static void check_flush(void) {
  void (*const flush)(void*) = (void (*)(void*))dlsym(RTLD_DEFAULT, "__kmpc_flush");
  CHECK(flush != NULL);
  for (int i = 0; i < 1000; ++i) flush(NULL);
  CHECK(yields == 0);  // this thread is none of OpenMP's yet
  CHECK(omp_get_max_threads() > 0);
  for (int i = 0; i < 10 * 256; ++i) flush(NULL);
  CHECK(yields == 10);
}

// One member makes tasks that cost more to hand over than to run: 1 ms against nothing. Then it stops, with a full
// deque. A thread that comes for tasks takes two at a time, and then stays away for four times as long as that took.
// Here that is 4 looks at its clock, whose steps are so short that two tasks do not seem worth fetching.
static volatile int is_released, ended;
static int looks_before[most_visits], visits;

static void spend(long long nanoseconds) {
  struct timespec from, at;
  clock_gettime(CLOCK_MONOTONIC, &from);
  do {
    clock_gettime(CLOCK_MONOTONIC, &at);
  } while ((at.tv_sec - from.tv_sec) * 1000000000LL + at.tv_nsec - from.tv_nsec < nanoseconds);
}

static void run_task(void) {
  if (omp_get_thread_num() == 0) return;
  if (!is_scripted) {  // the first task that has been fetched
    while (!is_released) sched_yield();
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    now = at.tv_sec * 1000000000LL + at.tv_nsec;
    is_scripted = 1;
  }
  if (looks > 0 && visits < most_visits) looks_before[visits++] = looks;
  looks = 0;
  __atomic_add_fetch(&ended, 1, __ATOMIC_SEQ_CST);
}

static int made, run_here;
static void make_task(void) {
  const int before = run_here;
  ++made;
#pragma omp task
  {
    if (omp_get_thread_num() == 0) ++run_here;
    run_task();
  }
  if (run_here == before) spend(1000000);
}
static void run_some(int count) {
  for (int i = 0; i < count; ++i) {
#pragma omp taskyield
  }
}
// The deque is full, and stays so.
static void make_tasks_until_they_run_at_once(void) {
  for (int in_a_row = 0; in_a_row < 100;) {
    const int before = run_here;
    make_task();
    in_a_row = run_here != before ? in_a_row + 1 : 0;
  }
}

static void check_tasks(void) {
#pragma omp parallel num_threads(2)
#pragma omp master
  {
    make_tasks_until_they_run_at_once();
    run_some(40);
    make_tasks_until_they_run_at_once();  // what both cost is known
    run_some(4);
    make_tasks_until_they_run_at_once();  // and said, as some are pushed
    is_released = 1;
    while (__atomic_load_n(&ended, __ATOMIC_SEQ_CST) != made - run_here) sched_yield();
  }
  int pairs = 0;
  for (int i = 0; i < visits; ++i) pairs += looks_before[i] >= 6;
  if (pairs < 28) {
    printf("%d tasks in %d visits, after %d of which the thread stayed away\n", ended, visits,
           pairs);
  }
  CHECK(pairs >= 28);
}

// A program that takes and frees blocks in each step faults their pages in once, unless the user has set a limit.
static void check_memory(void) {
  enum { steps = 100, blocks = 8, size = 1 << 18, pages = blocks * (size >> 12) };
#pragma omp parallel num_threads(2)
  CHECK(omp_get_num_threads() == 2);
  struct rusage before, after;
  getrusage(RUSAGE_SELF, &before);
  for (int i = 0; i < steps; ++i) {
    char* volatile taken[blocks];
    for (int k = 0; k < blocks; ++k) {
      taken[k] = malloc(size);
      CHECK(taken[k] != NULL);
      memset(taken[k], i, size);
    }
    for (int k = 0; k < blocks; ++k) free(taken[k]);
  }
  getrusage(RUSAGE_SELF, &after);
  const long faults = after.ru_minflt - before.ru_minflt;
  if (getenv("MALLOC_MMAP_THRESHOLD_") == NULL) {
    CHECK(faults < 4 * pages);
  } else {
    CHECK(faults > steps / 2);  // a huge page is one fault
  }
}

int main(int count, char** arguments) {
  CHECK(count == 2);
  if (strcmp(arguments[1], "flush") == 0) {
    check_flush();
#ifdef __GLIBC__
  } else if (strcmp(arguments[1], "memory") == 0) {
    check_memory();
#endif
  } else if (omp_get_num_procs() > 1) {  // a crowd has other ways
    check_tasks();
  }
  return 0;
}
