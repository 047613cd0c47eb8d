// SPDX-License-Identifier: MIT
// parallel.c -- regions: sizes, ranks, levels, nesting, thread-private data, control variables
#define _GNU_SOURCE
#include <omp.h>
#include <sched.h>
#include <stdlib.h>

#include "check.h"

enum { most = 64 };

static void sizes(void) {
  for (int n = 1; n <= 9; ++n) {
    int met = 0, seen[most] = {0}, sizes_right = 0;
#pragma omp parallel num_threads(n) default(none) shared(n, met, seen, sizes_right)
    {
      const int rank = omp_get_thread_num();
      if (rank >= 0 && rank < n) ++seen[rank];
      if (omp_get_num_threads() == n && omp_get_level() == 1 && omp_get_active_level() == (n > 1) &&
          omp_in_parallel() == (n > 1) && omp_get_ancestor_thread_num(0) == 0 &&
          omp_get_ancestor_thread_num(1) == rank && omp_get_team_size(1) == n &&
          omp_get_team_size(0) == 1 && omp_get_team_size(2) == -1) {
        add(&sizes_right, 1);
      }
      meet(&met, n);
    }
    CHECK(sizes_right == n);
    for (int i = 0; i < n; ++i) CHECK(seen[i] == 1);
    printf("size %d: %d members\n", n, met);
  }
  CHECK(omp_get_level() == 0 && !omp_in_parallel() && omp_get_num_threads() == 1 &&
        omp_get_thread_num() == 0);
  CHECK(omp_get_ancestor_thread_num(-1) == -1 && omp_get_ancestor_thread_num(1) == -1);
}

static void default_size(void) {
  int members = 0, one = 0, level = 0;
#pragma omp parallel
#pragma omp atomic
  ++members;
  CHECK(members == omp_get_max_threads());
#pragma omp parallel if (members < 0)
  {
    ++one;
    level = 10 * omp_get_level() + omp_get_active_level();
    CHECK(!omp_in_parallel() && omp_get_num_threads() == 1);
  }
  CHECK(one == 1 && level == 10);
  printf("default size: %d, if(0): %d at level %d\n", members, one, level);
}

static void changing_sizes(void) {
  long sum = 0, expected = 0;
  for (int i = 0; i < 1500; ++i) {
    const int n = 1 + (i * 7 + i / 5) % 6;
    expected += (long)n * (n + 1) / 2;
#pragma omp parallel num_threads(n) reduction(+ : sum)
    sum += omp_get_thread_num() + 1;
  }
  CHECK(sum == expected);
  printf("1500 regions of changing sizes: %ld\n", sum);
}

// One large region, then a row of smaller ones, short and long: whether the runtime goes to the smaller size or not, each
// region has its members, and the threads that are in all of them keep their data.
static int kept_by_thread;
#pragma omp threadprivate(kept_by_thread)
static void rows_of_smaller_sizes(void) {
  long members = 0, expected = 0;
  int right = 0, all = 0;
#pragma omp parallel num_threads(5)
  kept_by_thread = 100 + omp_get_thread_num();
  for (int row = 0; row < 40; ++row) {
#pragma omp parallel num_threads(5) reduction(+ : members, right)
    {
      ++members;
      right += omp_get_thread_num() >= 2 || kept_by_thread == 100 + omp_get_thread_num();
    }
    expected += 5;
    all += 5;
    const int length = row % 3 == 0 ? 2 : row % 3 == 1 ? 20 : 90;
    for (int i = 0; i < length; ++i) {
      const int n = 2 + (row % 2 && i % 2);
      int sizes = 0;
#pragma omp parallel num_threads(n) reduction(+ : members, right, sizes)
      {
        ++members;
        sizes += omp_get_num_threads();
        right += omp_get_thread_num() >= 2 || kept_by_thread == 100 + omp_get_thread_num();
      }
      CHECK(sizes == n * n);
      expected += n;
      all += n;
    }
  }
  CHECK(members == expected && right == all);
  printf("rows of smaller regions: %ld\n", members);
}

static void nested(void) {
  int inner_sizes = 0, inner_members = 0;
  CHECK(omp_get_max_active_levels() == 1);
#pragma omp parallel num_threads(2)
#pragma omp parallel num_threads(3)
  {
    add(&inner_sizes, omp_get_num_threads());
    CHECK(omp_get_level() == 2 && omp_get_active_level() == 1 && omp_get_team_size(1) == 2);
  }
  CHECK(inner_sizes == 2);
  omp_set_max_active_levels(3);
  for (int round = 0; round < 20; ++round) {
    int outer = 0, met[4] = {0}, sum = 0;
    inner_members = 0;
#pragma omp parallel num_threads(4)
    {
      const int mine = omp_get_thread_num();
      int of_mine = 0;
      meet(&outer, 4);
#pragma omp parallel num_threads(3) reduction(+ : of_mine)
      {
        const int rank = omp_get_thread_num();
        CHECK(omp_get_level() == 2 && omp_get_active_level() == 2 && omp_get_num_threads() == 3);
        CHECK(omp_get_ancestor_thread_num(1) == mine && omp_get_ancestor_thread_num(2) == rank);
        CHECK(omp_get_team_size(1) == 4 && omp_get_team_size(2) == 3);
        meet(&met[mine], 3);
        of_mine += 100 * mine + rank;
        add(&inner_members, 1);
#pragma omp barrier
        if (rank == 1) {
#pragma omp parallel num_threads(2)
          {
            CHECK(omp_get_level() == 3 && omp_get_ancestor_thread_num(2) == 1 &&
                  omp_get_num_threads() == 2);
#pragma omp parallel num_threads(2)
            CHECK(omp_get_level() == 4 && omp_get_active_level() == 3 &&
                  omp_get_num_threads() == 1);
          }
        }
      }
      add(&sum, of_mine);
    }
    CHECK(sum == 4 * 3 + 3 * 600 && inner_members == 12);
  }
  omp_set_max_active_levels(1);
  printf("nested: %d in regions of one, %d in regions of three\n", inner_sizes, inner_members);
}

struct large {
  double values[40];
  int tag;
};

static void large_stack(void) {
  int sum = 0;
#pragma omp parallel num_threads(3) reduction(+ : sum)
  {
    volatile char block[1 << 20];
    for (int i = 0; i < 1 << 20; i += 4096) block[i] = 1;
    for (int i = 0; i < 1 << 20; i += 4096) sum += block[i];
  }
  CHECK(sum == 3 * 256);
  printf("a megabyte of stack: %d\n", sum);
}

static int counter = 3;
static struct large table;
static int* counter_at[most];
#pragma omp threadprivate(counter, table)

static void thread_private(void) {
  int sum = 0, moved = 0;
  counter = 40;
  table.tag = 77;
  table.values[39] = 1.5;
#pragma omp parallel num_threads(5) copyin(counter, table)
  {
    CHECK(counter == 40 && table.tag == 77 && table.values[39] == 1.5);
    counter_at[omp_get_thread_num()] = &counter;
    counter += omp_get_thread_num();
    table.tag = omp_get_thread_num();
  }
  for (int round = 0; round < 200; ++round) {
#pragma omp parallel num_threads(5) reduction(+ : moved)
    {
      moved += counter_at[omp_get_thread_num()] != &counter || table.tag != omp_get_thread_num();
      counter += 10;
    }
  }
  CHECK(moved == 0);
#pragma omp parallel num_threads(5) reduction(+ : sum)
  sum += counter;
  CHECK(sum == 5 * (40 + 2000) + 10 && counter == 2040);
#pragma omp parallel num_threads(3) copyin(counter)
  counter += 1;
  CHECK(counter == 2041);
  printf("thread-private: %d, moved %d\n", sum, moved);
}

static void control_variables(void) {
  const int before = omp_get_max_threads();
  int inside = 0;
#pragma omp parallel num_threads(3)
  {
    omp_set_num_threads(2 + omp_get_thread_num());
    omp_set_schedule(omp_sched_guided, 3 + omp_get_thread_num());
#pragma omp barrier
    omp_sched_t kind;
    int chunk;
    omp_get_schedule(&kind, &chunk);
    CHECK(omp_get_max_threads() == 2 + omp_get_thread_num());
    CHECK(kind == omp_sched_guided && chunk == 3 + omp_get_thread_num());
#pragma omp critical
    inside += omp_get_max_threads();
  }
  CHECK(omp_get_max_threads() == before && inside == 9);
  omp_set_num_threads(6);
  int members = 0;
#pragma omp parallel
  {
    CHECK(omp_get_max_threads() == 6);
#pragma omp atomic
    ++members;
  }
  CHECK(members == 6);
  omp_set_num_threads(before);
  printf("control variables: %d, %d\n", inside, members);
}

static void without_optimiser(void* data) { add((int*)data, 1); }

static void region_in_called_function(int depth, int* count) {
  if (depth == 0) {
    without_optimiser(count);
    return;
  }
#pragma omp parallel num_threads(depth)
  region_in_called_function(depth - 1, count);
}

static void slots_of_others(void) {
  // What each member wrote before the end of a region all see after it, without atomics.
  static int slots[8], seen;
  for (int round = 0; round < 300; ++round) {
#pragma omp parallel num_threads(8)
    slots[omp_get_thread_num()] = round;
    int right = 0;
    for (int i = 0; i < 8; ++i) right += slots[i] == round;
    CHECK(right == 8);
#pragma omp parallel num_threads(8) reduction(+ : seen)
    seen += slots[(omp_get_thread_num() + 3) % 8] == round;
  }
  CHECK(seen == 2400);
  printf("slots of others: %d\n", seen);
}

// omp_get_num_procs() says what there is for the calling thread at the time of the call.
static void processors(void) {
  cpu_set_t all, one;
  sched_getaffinity(0, sizeof all, &all);
  const int before = omp_get_num_procs();
  CHECK(before >= 1 && before <= CPU_COUNT(&all));
  int cpu = 0;
  while (!CPU_ISSET(cpu, &all)) ++cpu;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
#pragma omp parallel num_threads(3)
  {
    if (omp_get_thread_num() > 0) sched_setaffinity(0, sizeof one, &one);
    const int now = omp_get_num_procs();
    CHECK(now == (omp_get_thread_num() > 0 ? 1 : before));
    sched_setaffinity(0, sizeof all, &all);
  }
  sched_setaffinity(0, sizeof one, &one);
#ifndef __clang__  // asks once in a function
  CHECK(omp_get_num_procs() == 1);
#endif
  omp_set_dynamic(1);
#pragma omp parallel num_threads(8)
  CHECK(omp_get_num_threads() == 1);
  omp_set_dynamic(0);
  sched_setaffinity(0, sizeof all, &all);
  CHECK(omp_get_num_procs() == before);
}

int main(void) {
  processors();
  sizes();
  default_size();
  changing_sizes();
  rows_of_smaller_sizes();
  nested();
  large_stack();
  thread_private();
  control_variables();
  slots_of_others();
  int count = 0;
  region_in_called_function(4, &count);
  CHECK(count == 4);
  omp_set_max_active_levels(8);
  region_in_called_function(4, &count);
  CHECK(count == 28);
  printf("regions in called functions: %d\n", count);
  return result();
}
