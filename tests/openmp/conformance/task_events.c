// SPDX-License-Identifier: MIT
// only lockstep: libgomp hangs where a lone thread makes a task that depends on one with an unfulfilled event
// task_events.c -- detached tasks: fulfilled inside, later, by other threads, by threads that are not OpenMP's
#include <omp.h>
#include <pthread.h>
#include <stdlib.h>

#include "check.h"

static omp_event_handle_t handed_over;
static int is_handed_over;
static char word, words[500];

static void* fulfils(void* ran) {
  wait_for(&is_handed_over, 1);
  CHECK(*(int*)ran == 0);
  sched_yield();
  omp_fulfill_event(handed_over);
  return NULL;
}

static void by_foreign_thread(int threads) {
  int ran = 0, before_event = 0;
  pthread_t other;
  set(&is_handed_over, 0);
  pthread_create(&other, NULL, fulfils, &ran);
#pragma omp parallel num_threads(threads)
#pragma omp single
  {
    omp_event_handle_t event;
#pragma omp task depend(out : word) detach(event) shared(before_event)
    {
      before_event = 1;
      handed_over = event;
      set(&is_handed_over, 1);
    }
#pragma omp task depend(in : word) shared(ran, before_event)
    {
      CHECK(before_event == 1);
      set(&ran, 1);
    }
#pragma omp taskwait
    CHECK(ran == 1);
  }
  pthread_join(other, NULL);
  CHECK(ran == 1);
}

static void later_by_the_same(void) {
  omp_event_handle_t first, second;
  int order[3] = {0}, at = 0;
#pragma omp task detach(first) depend(out : word) shared(order, at)
  order[at++] = 1;
#pragma omp task detach(second) depend(inout : word) shared(order, at)
  {
    order[at++] = 2;
    omp_fulfill_event(second);
  }
#pragma omp task depend(in : word) shared(order, at)
  order[at++] = 3;
  CHECK(at <= 1);
  omp_fulfill_event(first);
#pragma omp taskwait
  CHECK(at == 3 && order[0] == 1 && order[1] == 2 && order[2] == 3);
}

static void many(void) {
  enum { count = 500 };
  omp_event_handle_t* const events = malloc(count * sizeof *events);
  int bodies = 0, followers = 0;
#pragma omp parallel
#pragma omp single
  {
    for (int i = 0; i < count; ++i) {
      omp_event_handle_t event;
#pragma omp task detach(event) depend(out : words[i]) shared(bodies)
      add(&bodies, 1);
      events[i] = event;
#pragma omp task depend(in : words[i]) shared(followers, bodies)
      add(&followers, 1);
    }
    for (int i = count; i-- > 0;) {
#pragma omp task firstprivate(i)
      omp_fulfill_event(events[i]);
    }
  }
  CHECK(bodies == count && followers == count);
  free(events);
}

static void in_taskgroup(void) {
  int is_open = 0;
#pragma omp parallel
#pragma omp single
  {
    omp_event_handle_t event;
#pragma omp taskgroup
    {
#pragma omp task detach(event) shared(is_open)
      {
#pragma omp task firstprivate(event) shared(is_open)
        {
          set(&is_open, 1);
          omp_fulfill_event(event);
        }
      }
    }
    CHECK(get(&is_open) == 1);
  }
}

int main(void) {
  for (int i = 0; i < 20; ++i) {
    by_foreign_thread(1 + i % 4);
    later_by_the_same();
    in_taskgroup();
  }
  many();
#pragma omp parallel num_threads(1)
  later_by_the_same();
  return result();
}
