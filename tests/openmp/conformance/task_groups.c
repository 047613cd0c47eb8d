// SPDX-License-Identifier: MIT
// task_groups.c -- taskgroup: waits for descendants; reductions of taskgroups, loops, sections and regions by tasks
#include <omp.h>

#include "check.h"

static int ended;

static void spread(int depth) {
  if (depth > 0) {
#pragma omp task
    spread(depth - 1);
#pragma omp task
    spread(depth - 1);
  }
  add(&ended, 1);
}

// Nobody waits for the inner tasks but the group.
static void descendants(int threads) {
  int inside = 0, outside = 0;
  ended = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
  {
#pragma omp task
    spread(3);
#pragma omp taskgroup
    {
#pragma omp task
      spread(6);
#pragma omp taskgroup
      {
#pragma omp task
        spread(4);
      }
    }
    inside = get(&ended);
#pragma omp taskwait
    outside = get(&ended);
  }
  CHECK(inside >= 127 + 31);
  CHECK(outside >= inside && ended == 127 + 31 + 15);
}

static long sum_tree(long from, long to) {
  long left = 0, right = 0;
  if (to - from < 8) {
    for (long i = from; i < to; ++i) left += i;
    return left;
  }
  const long middle = from + (to - from) / 2;
#pragma omp taskgroup task_reduction(+ : left, right)
  {
#pragma omp task in_reduction(+ : left)
    left += sum_tree(from, middle);
#pragma omp task in_reduction(+ : right)
    right += sum_tree(middle, to);
  }
  return left + right;
}

struct pair {
  int smallest, count;
};
static void join(struct pair* into, const struct pair* from) {
  if (from->smallest < into->smallest) into->smallest = from->smallest;
  into->count += from->count;
}
#pragma omp declare reduction(join : struct pair : join(&omp_out, &omp_in)) \
    initializer(omp_priv = {1 << 30, 0})

static void reductions(int threads) {
  long sum = 0;
  struct pair all = {1 << 30, 0};
  int array[5] = {0};
#pragma omp parallel num_threads(threads)
#pragma omp single
  {
    sum = sum_tree(0, 1000);
#pragma omp taskgroup task_reduction(+ : array[1 : 3])
    for (int i = 0; i < 300; ++i) {
#pragma omp task in_reduction(+ : array[1 : 3]) firstprivate(i)
      array[1 + i % 3] += i;
    }
  }
  CHECK(sum == 499500);
  CHECK(array[0] == 0 && array[1] == 14850 && array[2] == 14950 && array[3] == 15050 &&
        array[4] == 0);
#pragma omp parallel num_threads(threads)
#pragma omp single
  {
    struct pair now = {1 << 30, 0};
#pragma omp taskgroup task_reduction(join : now)
    {
#pragma omp task in_reduction(join : now)
      {
        ++now.count;
// The private copy of the outer task stands for the variable here.
#pragma omp task in_reduction(join : now)
        {
          now.count += 2;
          now.smallest = 7;
        }
      }
    }
    all = now;
  }
  CHECK(all.smallest == 7 && all.count == 3);

  long by_region = 0;
#pragma omp parallel num_threads(threads) reduction(task, + : by_region)
  {
    by_region += 1;
#pragma omp task in_reduction(+ : by_region)
    by_region += 100;
  }
  CHECK(by_region == 101 * threads);

  long by_loop = 0, product = 1;
#pragma omp parallel num_threads(threads)
  {
#pragma omp for reduction(task, + : by_loop) schedule(dynamic, 3)
    for (int i = 0; i < 100; ++i) {
      by_loop += i;
#pragma omp task in_reduction(+ : by_loop) firstprivate(i)
      by_loop += 1000 * i;
    }
#pragma omp for reduction(task, + : by_loop) schedule(static)
    for (int i = 0; i < 100; ++i) {
#pragma omp task in_reduction(+ : by_loop)
      ++by_loop;
    }
#pragma omp sections reduction(task, * : product)
    {
#pragma omp section
      {
#pragma omp task in_reduction(* : product)
        product *= 3;
      }
#pragma omp section
      product *= 5;
    }
#ifdef __clang__  // whose version 19 has no 'task' there
#pragma omp for reduction(task, + : by_loop)
    for (int i = 0; i < threads; ++i)
#else
#pragma omp scope reduction(task, + : by_loop)
#endif
    {
#pragma omp task in_reduction(+ : by_loop)
      by_loop += 5;
    }
  }
  CHECK(by_loop == 4950 + 4950 * 1000 + 100 + 5 * threads);
  CHECK(product == 15);
}

int main(void) {
  for (int threads = 1; threads <= 5; ++threads) {
    for (int i = 0; i < 20; ++i) {
      descendants(threads);
      reductions(threads);
    }
  }
  return result();
}
