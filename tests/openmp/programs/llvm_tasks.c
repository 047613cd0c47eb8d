// SPDX-License-Identifier: MIT
// llvm_tasks.c -- what compilers of LLVM do otherwise than GCC with tasks: memory that the program fills in, untied tasks
// in parts, reductions that the runtime combines, many addresses in depend(), taskloops whose tasks are copies
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "../conformance/check.h"

static int threads;

typedef struct {
  long sum, count;
} pair;
static void join(pair* to, const pair* from) {
  to->sum += from->sum;
  to->count += from->count;
}
static void begin(pair* copy, const pair* original) {
  copy->sum = original->sum == 5 ? 0 : 1000;
  copy->count = 0;
}
#pragma omp declare reduction(pairs : pair : join(&omp_out, &omp_in)) \
    initializer(begin(&omp_priv, &omp_orig))

static void task_reductions(void) {
  long sum = 1, product = 1, by_loop = 0, by_sections = 0, by_region = 0;
  pair both = {5, 0};
#pragma omp parallel num_threads(threads) reduction(task, + : by_region)
  {
#pragma omp single
#pragma omp taskgroup task_reduction(+ : sum) task_reduction(pairs : both)
    {
      for (int i = 0; i < 40; ++i) {
#pragma omp task in_reduction(+ : sum) in_reduction(pairs : both)
        {
          sum += i;
          both.sum += i;
#pragma omp task in_reduction(pairs : both)
          ++both.count;
          if (i == 7) {
#pragma omp taskgroup task_reduction(* : product)
            for (int k = 1; k < 9; ++k) {
#pragma omp task in_reduction(* : product) in_reduction(+ : sum)
              product *= k, sum += 1;
            }
          }
        }
      }
    }
#pragma omp task in_reduction(+ : by_region)
    by_region += 1;
    by_region += 10;
#pragma omp for reduction(task, + : by_loop) schedule(dynamic)
    for (int i = 0; i < 50; ++i) {
#pragma omp task in_reduction(+ : by_loop)
      by_loop += i;
    }
#pragma omp sections reduction(task, + : by_sections)
    {
#pragma omp section
      {
#pragma omp task in_reduction(+ : by_sections)
        by_sections += 3;
      }
#pragma omp section
      by_sections += 4;
    }
  }
  CHECK(sum == 1 + 780 + 8 && product == 40320);
  CHECK(both.sum == 5 + 780 && both.count == 40);
  CHECK(by_loop == 1225 && by_sections == 7);
  CHECK(by_region == 11L * threads);
  long looped = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
#pragma omp taskloop reduction(+ : looped) grainsize(3)
  for (int i = 0; i < 100; ++i) looped += i;
  CHECK(looped == 4950);
}

static void untied_tasks(void) {
  int parts = 0, children = 0, called = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
  {
    for (int i = 0; i < 30; ++i) {
#pragma omp task untied firstprivate(i) shared(parts, children)
      {
        int mine = i;
        add(&parts, 1);
#pragma omp taskyield
        mine += 100;
#pragma omp task shared(children)
        add(&children, 1);
#pragma omp taskwait
        if (mine == i + 100) add(&parts, 1);
      }
#pragma omp task untied if (0) shared(called)
      {
        add(&called, 1);
#pragma omp taskyield
        add(&called, 1);
      }
      CHECK(get(&called) == 2 * (i + 1));
    }
  }
  CHECK(parts == 60 && children == 30);
}

// The last of many tasks that wait for each other, by more addresses than a small task has room for.
static void dependences(void) {
  enum { wide = 40 };
  int cells[wide] = {0}, order = 0, wrong = 0, readers = 0;
  omp_depend_t object;
#pragma omp depobj(object) depend(in : cells[0])
#pragma omp parallel num_threads(threads)
#pragma omp single
  for (int round = 0; round < 20; ++round) {
    for (int i = 0; i < wide; ++i) {
#pragma omp task depend(out : cells[i]) firstprivate(i, round) shared(cells)
      cells[i] = round + i;
    }
#pragma omp task depend(iterator(k = 0 : wide), in : cells[k]) shared(cells, wrong, order)
    {
      for (int i = 0; i < wide; ++i) wrong += cells[i] != round + i;
      ++order;
    }
#pragma omp depobj(object) update(inoutset)
    for (int i = 0; i < 4; ++i) {
#pragma omp task depend(depobj : object) shared(readers)
      add(&readers, 1);
    }
#pragma omp depobj(object) update(mutexinoutset)
#pragma omp task depend(depobj : object) shared(readers, wrong)
    if (get(&readers) != 4 * (round + 1)) add(&wrong, 1);
#pragma omp task if (0) depend(inout : cells[wide - 1])
    if (cells[wide - 1] != round + wide - 1) add(&wrong, 1);
#pragma omp taskwait depend(inout : omp_all_memory)
    if (order != round + 1) add(&wrong, 1);
  }
#pragma omp depobj(object) destroy
  CHECK(wrong == 0 && order == 20 && readers == 80);
}

static void events(void) {
  int ended = 0, after = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
  {
    omp_event_handle_t event;
    int data = 0;
#pragma omp task detach(event) depend(out : data)
    add(&ended, 1);
#pragma omp task depend(in : data) shared(after)
    after = get(&ended);
#pragma omp task firstprivate(event) shared(ended)
    {
      add(&ended, 10);
      omp_fulfill_event(event);
    }
#pragma omp taskwait
  }
  CHECK(after == 11);
}

static void taskloops(void) {
  enum { size = 200 };
  static int runs[size];
  int at[4] = {1, 2, 3, 4}, last = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
  {
#pragma omp taskloop firstprivate(at) lastprivate(last) num_tasks(17)
    for (int i = 0; i < size; ++i) {
      at[i % 4] += 1;
      add(&runs[i], 1);
      last = i;
    }
    CHECK(last == size - 1);
#pragma omp taskloop nogroup grainsize(7) untied
    for (int i = size - 1; i >= 0; i -= 1) add(&runs[i], 1);
#pragma omp taskloop collapse(2) if (0)
    for (int i = 0; i < 20; ++i)
      for (int k = 0; k < 10; ++k) add(&runs[i * 10 + k], 1);
#pragma omp taskloop priority(4)
    for (unsigned long long i = 0; i < size; i += 2) add(&runs[i], 1);
#pragma omp taskloop
    for (int i = 0; i < 0; ++i) add(&runs[0], 100);
  }
  for (int i = 0; i < size; ++i) {
    CHECK(runs[i] == 3 + (i % 2 == 0));
    runs[i] = 0;
  }
  CHECK(at[0] == 1);
}

static void leave(int depth, int* count) {
  add(count, 1);
  if (depth == 0) return;
#pragma omp task firstprivate(count)
  leave(depth - 1, count);
#pragma omp task firstprivate(count) untied
  leave(depth - 1, count);
}
// Parents end before their children, in regions inside regions, and in one that is cancelled.
static void ends(void) {
  int count = 0, cancelled = 0;
#pragma omp parallel num_threads(threads)
  {
    leave(5, &count);
#pragma omp parallel num_threads(2)
#pragma omp single nowait
    leave(4, &count);
  }
  CHECK(count == threads * (63 + 31));
#pragma omp parallel num_threads(threads)
#pragma omp single
#pragma omp taskgroup
  for (int i = 0; i < 50; ++i) {
#pragma omp task shared(cancelled)
    {
      add(&cancelled, 1);
#pragma omp cancel taskgroup
    }
  }
  CHECK(omp_get_cancellation() ? cancelled >= 1 && cancelled <= 50 : cancelled == 50);
#pragma omp parallel num_threads(threads)
  {
    for (int i = 0; i < 20; ++i) {
#pragma omp task shared(cancelled)
      add(&cancelled, 1);
    }
    if (omp_get_thread_num() == 0) {
#pragma omp cancel parallel
    }
#pragma omp barrier
  }
}

int main(void) {
  static const int sizes[] = {1, 2, 3, 8, 64};
  omp_set_max_active_levels(2);
  for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
    threads = sizes[i];
    task_reductions();
    untied_tasks();
    dependences();
    events();
    taskloops();
    ends();
  }
  return failures != 0;
}
