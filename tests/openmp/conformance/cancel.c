// SPDX-License-Identifier: MIT
// environment: OMP_CANCELLATION=true
// cancel.c -- cancellation of regions, loops, sections, taskgroups; what comes after works as before
#include <omp.h>
#include <stdlib.h>

#include "check.h"

// More iterations than anybody can wait for: only cancellation ends these loops.
static const long endless = 1L << 50;

static void cancel_region(void) {
  const int n = omp_get_max_threads();
  for (int round = 0; round < 40; ++round) {
    int after = 0, before = 0, by_point = 0;
#pragma omp parallel
    {
      add(&before, 1);
      if (omp_get_thread_num() == n - 1) {
#pragma omp cancel parallel
        add(&after, 1);  // not reached: the thread that cancels leaves
      }
      if (round % 2 == 0) {
#pragma omp barrier
        add(&after, 1);  // nor this: the barrier lets nobody through
      } else {
        for (;;) {
#pragma omp cancellation point parallel
          sched_yield();
        }
      }
      add(&by_point, 1);
    }
    CHECK(before == n && after == 0 && by_point == 0);
  }
  int never = 0;
#pragma omp parallel
  {
#pragma omp cancel parallel if (get(&never))
    add(&never, 0);
#pragma omp barrier
#pragma omp cancellation point parallel
#pragma omp critical
    ++never;
  }
  CHECK(never == n);
  printf("region: %d not cancelled\n", never);
}

#define CANCELLED(NAME, ...)                                                  \
  static void cancelled_##NAME(void) {                                        \
    const int n = omp_get_max_threads();                                      \
    int after = 0, left = 0, again = 0, passed = 0;                           \
    PRAGMA(omp parallel)                                                      \
    for (int round = 0; round < 10; ++round) {                                \
      PRAGMA(omp for schedule(__VA_ARGS__))                                   \
      for (long i = 0; i < endless; ++i) {                                    \
        if (i == 0) {                                                         \
          PRAGMA(omp cancel for)                                              \
          add(&after, 1);                                                     \
        }                                                                     \
        PRAGMA(omp cancellation point for)                                    \
        sched_yield();                                                        \
      }                                                                       \
      add(&left, 1);                                                          \
      PRAGMA(omp for schedule(__VA_ARGS__) reduction(+ : again))              \
      for (int i = 0; i < 100; ++i) again += 1;                               \
      PRAGMA(omp for schedule(__VA_ARGS__))                                   \
      for (unsigned long long i = 1ull << 62; i > 0; --i) {                   \
        if (i == 1ull << 62) {                                                \
          PRAGMA(omp cancel for)                                              \
        }                                                                     \
        PRAGMA(omp cancellation point for)                                    \
        sched_yield();                                                        \
      }                                                                       \
      add(&passed, 1);                                                        \
    }                                                                         \
    CHECK(after == 0 && left == 10 * n && again == 1000 && passed == 10 * n); \
    int few = 0;                                                              \
    PRAGMA(omp parallel)                                                      \
    PRAGMA(omp for schedule(__VA_ARGS__))                                     \
    for (long i = 0; i < endless; ++i) {                                      \
      add(&few, 1);                                                           \
      PRAGMA(omp cancel for)                                                  \
      add(&after, 1);                                                         \
    }                                                                         \
    CHECK(few >= 1 && few <= n && after == 0);                                \
    printf("loop, " #NAME ": %d %d\n", left / n, again);                      \
  }
CANCELLED(static_blocks, static)
CANCELLED(static_chunks, static, 5)
CANCELLED(dynamic, dynamic)
CANCELLED(dynamic_monotonic, monotonic : dynamic, 3)
CANCELLED(guided, guided)
CANCELLED(runtime, runtime)

static void cancel_sections(void) {
  int ran = 0, after = 0, left = 0, points = 0;
#pragma omp parallel num_threads(3)
  for (int round = 0; round < 20; ++round) {
#pragma omp sections
    {
#pragma omp section
      {
        add(&ran, 1);
#pragma omp cancel sections
        add(&after, 1);
      }
#pragma omp section
      for (;;) {
        add(&points, 1);
#pragma omp cancellation point sections
        sched_yield();
      }
    }
    add(&left, 1);
#pragma omp sections
    {
#pragma omp section
      add(&ran, 1);
#pragma omp section
      add(&ran, 1);
    }
  }
  CHECK(ran == 60 && after == 0 && left == 60);
  (void)points;
  printf("sections: %d %d\n", ran, left);
}

static void cancel_taskgroup(void) {
  int ended = 0, began = 0, outside = 0, groups = 0, nested = 0;
#pragma omp parallel
#pragma omp single
  for (int round = 0; round < 20; ++round) {
#pragma omp task shared(outside)
    add(&outside, 1);
#pragma omp taskgroup
    {
#pragma omp task shared(ended)
      {
#pragma omp cancel taskgroup
        add(&ended, 1);
      }
      for (int i = 0; i < 30; ++i) {
#pragma omp task shared(began, ended)
        {
          add(&began, 1);
#pragma omp cancel taskgroup
          add(&ended, 1);
        }
      }
    }
    add(&groups, 1);
#pragma omp taskgroup
    for (int i = 0; i < 5; ++i) {
#pragma omp task shared(outside)
      add(&outside, 1);
#pragma omp task shared(nested)
      {
#pragma omp taskgroup
        {
#pragma omp task
          {
#pragma omp cancel taskgroup
          }
        }
        add(&nested, 1);  // only the inner group was cancelled
      }
    }
  }
  CHECK(began <= 20 * omp_get_max_threads() && ended == 0);
  CHECK(outside == 120 && groups == 20 && nested == 100);
  printf("taskgroup: %d %d %d\n", outside, groups, nested);
}

// The group itself cancels; its tasks that began go on to their next point, the others never run.
static void cancel_by_the_group(void) {
  int began = 0, finished = 0;
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
  {
    for (int i = 0; i < 50; ++i) {
#pragma omp task shared(began, finished)
      {
        add(&began, 1);
        while (omp_get_num_threads() > 1) {
#pragma omp cancellation point taskgroup
          sched_yield();
        }
        add(&finished, omp_get_num_threads() > 1);
      }
      if (i == 20) {
#pragma omp task if (0)
        {
#pragma omp cancel taskgroup
        }
      }
    }
  }
  CHECK(began <= 21 && finished == 0);
  printf("taskgroup by an undeferred task: %d\n", finished);
}

static void cancel_with_tasks(void) {
  // Tasks of a cancelled region may be dropped; the region ends, and the next one works.
  for (int round = 0; round < 20; ++round) {
    int ran = 0, sum = 0;
#pragma omp parallel num_threads(4)
    {
      for (int i = 0; i < 10; ++i) {
#pragma omp task shared(ran)
        add(&ran, 1);
      }
#pragma omp cancel parallel
    }
    CHECK(ran <= 40);
#pragma omp parallel num_threads(4)
    {
#pragma omp task shared(sum)
      add(&sum, 1);
#pragma omp barrier
#pragma omp task shared(sum)
      add(&sum, 1);
    }
    CHECK(sum == 8);
  }
  printf("regions with tasks\n");
}

static void cancel_inner(void) {
  int inner = 0, outer = 0;
  omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
  {
#pragma omp parallel num_threads(3)
    {
      add(&inner, 1);
#pragma omp cancel parallel
      add(&inner, 100);
    }
#pragma omp barrier
#pragma omp cancellation point parallel
    add(&outer, 1);
  }
  CHECK(inner == 6 && outer == 2);
  printf("inner region: %d %d\n", inner, outer);
}

static void in_one(void) {
  int count = 0;
#pragma omp parallel num_threads(1)
  {
#pragma omp for schedule(dynamic)
    for (long i = 0; i < endless; ++i) {
      ++count;
#pragma omp cancel for if (i == 3)
    }
#pragma omp for
    for (int i = 0; i < 10; ++i) {
      ++count;
#pragma omp cancellation point for
    }
#pragma omp cancel parallel
    count = 1000;
  }
  CHECK(count == 14);
  printf("region of one: %d\n", count);
}

int main(void) {
  CHECK(omp_get_cancellation());
  cancel_region();
  cancelled_static_blocks();
  cancelled_static_chunks();
  cancelled_dynamic();
  cancelled_dynamic_monotonic();
  cancelled_guided();
  cancelled_runtime();
  cancel_sections();
  cancel_taskgroup();
  cancel_by_the_group();
  cancel_with_tasks();
  cancel_inner();
  in_one();
  return result();
}
