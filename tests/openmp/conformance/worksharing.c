// SPDX-License-Identifier: MIT
// worksharing.c -- sections, single, critical, barrier, flush, atomic, cancellation that is not enabled
#include <omp.h>
#include <stdlib.h>

#include "check.h"

static void sections(void) {
  int runs[9] = {0}, first = 3, last = 0;
#pragma omp parallel
  for (int round = 0; round < 60; ++round) {
#pragma omp sections firstprivate(first) lastprivate(last) nowait
    {
#pragma omp section
      add(&runs[0], first);
#pragma omp section
      add(&runs[1], 1);
#pragma omp section
      add(&runs[2], 1);
#pragma omp section
      last = add(&runs[3], 1) * 0 + 9;
    }
#pragma omp sections
    {
#pragma omp section
      add(&runs[4], 1);
    }
#pragma omp sections
    {
      add(&runs[5], 1);
#pragma omp section
      add(&runs[6], 1);
    }
  }
  CHECK(runs[0] == 180 && runs[1] == 60 && runs[2] == 60 && runs[3] == 60 && runs[4] == 60 &&
        runs[5] == 60 && runs[6] == 60);
  CHECK(last == 9);
  int met = 0, together = 0;
#pragma omp parallel sections num_threads(3)
  {
#pragma omp section
    meet(&met, 3);
#pragma omp section
    meet(&met, 3);
#pragma omp section
    {
      meet(&met, 3);
      together = omp_get_num_threads();
    }
  }
  CHECK(together == 3);
  printf("sections: %d %d, %d at the same time\n", runs[0], runs[3], met);
}

static int held;
#pragma omp threadprivate(held)

static void single(void) {
  int times = 0, wrong = 0, without_wait = 0;
#pragma omp parallel num_threads(5) reduction(+ : wrong)
  {
    int table[30], scalar = -1;
    double real = 0;
    for (int round = 0; round < 200; ++round) {
#pragma omp single copyprivate(table, scalar, real, held)
      {
        add(&times, 1);
        for (int i = 0; i < 30; ++i) table[i] = round + i;
        scalar = round;
        real = round / 2.0;
        held = 3 * round;
      }
      wrong +=
          scalar != round || table[29] != round + 29 || real != round / 2.0 || held != 3 * round;
#pragma omp single
      scalar = add(&times, 1);
#pragma omp single nowait
      add(&without_wait, 1);
    }
  }
  CHECK(times == 400 && wrong == 0 && without_wait == 200);
  // The first that comes takes it: the others need not come at all until it is done.
  int taken = 0, by = -1;
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 0) wait_for(&taken, 1);
#pragma omp single nowait
    {
      by = omp_get_thread_num();
      set(&taken, 1);
    }
  }
  CHECK(by == 1);
  printf("single: %d, wrong %d, without wait %d, taken by %d\n", times, wrong, without_wait, by);
}

static void critical(void) {
  // Long enough for several members to come at once.
  long unnamed = 0, left = 0, right = 0, both = 0;
  int inside = 0, crowded = 0;
#pragma omp parallel num_threads(6)
  for (int i = 0; i < 500; ++i) {
#pragma omp critical
    {
      crowded += add(&inside, 1) != 1;
      if (i % 16 == 0) sched_yield();  // others may come, if nothing keeps them out
      ++unnamed;
      add(&inside, -1);
    }
#pragma omp critical(left_one)
    {
      const long before = left;
      if (i % 16 == 0) sched_yield();
      left = before + 1;
#pragma omp critical(right_one) hint(omp_sync_hint_contended)
      ++right;
    }
#pragma omp critical(third_one) hint(omp_sync_hint_uncontended)
    both += i;
  }
  CHECK(unnamed == 3000 && left == 3000 && right == 3000 && both == 6 * 124750 && crowded == 0);
  // Different names do not exclude each other.
  int in_a = 0, in_b = 0;
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 0) {
#pragma omp critical(a)
      {
        set(&in_a, 1);
        wait_for(&in_b, 1);
      }
    } else {
#pragma omp critical(b)
      {
        set(&in_b, 1);
        wait_for(&in_a, 1);
      }
    }
  }
  printf("critical: %ld %ld %ld %ld\n", unnamed, left, right, both);
}

static void barriers(void) {
  static int slots[8];
  int wrong = 0;
#pragma omp parallel num_threads(8) reduction(+ : wrong)
  for (int round = 1; round <= 300; ++round) {
    slots[omp_get_thread_num()] = round;
#pragma omp barrier
    for (int i = 0; i < 8; ++i) wrong += slots[i] != round;
#pragma omp barrier
  }
  CHECK(wrong == 0);
#pragma omp barrier
  int data = 0, flag = 0, seen = 0;
#pragma omp parallel sections num_threads(2)
  {
#pragma omp section
    {
      data = 42;
#pragma omp flush
#pragma omp atomic write
      flag = 1;
#pragma omp flush(flag, data)
    }
#pragma omp section
    {
      int there = 0;
      while (!there) {
#pragma omp flush
#pragma omp atomic read
        there = flag;
        sched_yield();
      }
#pragma omp flush acq_rel
      seen = data;
    }
  }
  CHECK(seen == 42);
  printf("barriers: wrong %d, flushed %d\n", wrong, seen);
}

// Atomic operations on what no instruction of the processor changes: for these GCC calls the runtime.
struct padded {  // an unaligned neighbour on either side
  char before;
  long double number;
  char after;
} __attribute__((packed));

static void atomics(void) {
  static struct padded packed;
  long double swapped = 0, sum = 0, last;
  __int128 wide = 0;
#pragma omp parallel num_threads(4) reduction(+ : sum)
  for (int i = 0; i < 400; ++i) {
    long double old;
#pragma omp atomic
    packed.number += 0.5L;
#pragma omp atomic update seq_cst
    wide = wide + ((__int128)1 << 70);
#pragma omp atomic capture acq_rel
    {
      old = swapped;
      swapped = 1 + i;
    }
    sum += old;
  }
#pragma omp atomic read
  last = swapped;
  CHECK(sum + last == 4 * 80200); /* each value that was swapped in came out again, or is left */
#pragma omp atomic write
  swapped = 8;
#pragma omp atomic
  swapped = 48 / swapped;
  CHECK(swapped == 6 && packed.number == 800 && packed.before == 0 && packed.after == 0);
  CHECK(wide == (__int128)1600 << 70);
  printf("atomic: %g %g\n", (double)packed.number, (double)swapped);
}

static void without_cancellation(void) {
  int after = 0, iterations = 0, parts = 0, tasks = 0;
  CHECK(!omp_get_cancellation());
#pragma omp parallel num_threads(3)
  {
#pragma omp for reduction(+ : iterations)
    for (int i = 0; i < 100; ++i) {
#pragma omp cancel for
      iterations += 1;
#pragma omp cancellation point for
    }
#pragma omp sections
    {
#pragma omp section
      {
#pragma omp cancel sections
        add(&parts, 1);
      }
#pragma omp section
      add(&parts, 1);
    }
#pragma omp single
#pragma omp taskgroup
    for (int i = 0; i < 10; ++i) {
#pragma omp task
      {
#pragma omp cancel taskgroup
        add(&tasks, 1);
      }
    }
#pragma omp cancel parallel
#pragma omp cancellation point parallel
    add(&after, 1);
  }
  CHECK(after == 3 && iterations == 100 && parts == 2 && tasks == 10);
  printf("without OMP_CANCELLATION: %d %d %d %d\n", after, iterations, parts, tasks);
}

// What is not in a region is a region of one.
static int sum, last;
static void outside_of_regions(void) {
#pragma omp for schedule(dynamic) lastprivate(last) reduction(+ : sum)
  for (int i = 0; i < 20; ++i) {
    last = i;
    sum += i;
  }
#pragma omp sections lastprivate(last)
  {
#pragma omp section
    last += 1;
#pragma omp section
    last = 50;
  }
#pragma omp single copyprivate(held)
  held = 5;
#pragma omp critical
  sum += 1;
#pragma omp barrier
#pragma omp master
  sum += 1;
#pragma omp taskgroup
#pragma omp task shared(sum)
  sum += 1;
#pragma omp task shared(sum)
  sum += 1;
#pragma omp taskwait
#pragma omp taskyield
#pragma omp atomic
  sum += 1;
#pragma omp flush
  CHECK(sum == 195 && last == 50 && held == 5);
  printf("outside of regions: %d %d %d\n", sum, last, held);
}

int main(void) {
  sections();
  single();
  critical();
  barriers();
  atomics();
  without_cancellation();
  outside_of_regions();
  return result();
}
