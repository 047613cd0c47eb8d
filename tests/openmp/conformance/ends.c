// SPDX-License-Identifier: MIT
// cases: master worker task critical handler thread return
// ends.c -- exit() inside a region, from each kind of place, with the other members waiting; regions in atexit handlers
#include <omp.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "check.h"

static int nothing;
static int in_handler;
static int in_region = 1;

static void handler(void) {
  int members = 0;
#pragma omp parallel num_threads(3) reduction(+ : members)
  members += 1;
  if (!in_region) CHECK(members == 3);
  in_handler = 1;
  printf("handler, %d\n", in_region || members == 3);
}

__attribute__((destructor)) static void at_end(void) {
  CHECK(in_handler == 1);
  printf("%s\n", failures ? "FAILED" : "end");
  fflush(stdout);
  if (failures) _exit(1);
}

static void* another_thread(void* unused) {
  (void)unused;
#pragma omp parallel num_threads(2)
  {
#pragma omp barrier
#pragma omp master
    exit(0);
#pragma omp barrier
  }
  return NULL;
}

int main(int count, char** arguments) {
  const char* const from = count > 1 ? arguments[1] : "return";
  setvbuf(stdout, NULL, _IOLBF, 0);
  atexit(handler);
#pragma omp parallel num_threads(4)
  {
#pragma omp barrier
  }
  printf("from %s\n", from);
  if (strcmp(from, "master") == 0) {
#pragma omp parallel num_threads(4)
    {
      if (omp_get_thread_num() == 0) exit(0);
#pragma omp barrier
    }
  } else if (strcmp(from, "worker") == 0) {
#pragma omp parallel num_threads(4)
    {
      if (omp_get_thread_num() == 2) {
        usleep(20000);  // the others sleep in the barrier by now
        exit(0);
      }
#pragma omp barrier
    }
  } else if (strcmp(from, "task") == 0) {
#pragma omp parallel num_threads(4)
#pragma omp single
    {
#pragma omp task
      exit(0);
#pragma omp taskwait
    }
  } else if (strcmp(from, "critical") == 0) {
#pragma omp parallel num_threads(4)
    {
#pragma omp critical
      exit(0);
    }
  } else if (strcmp(from, "thread") == 0) {
    pthread_t id;
    pthread_create(&id, NULL, another_thread, NULL);
#pragma omp parallel num_threads(2)
    while (!get(&nothing)) sched_yield();
  } else {
    in_region = 0;
    if (strcmp(from, "handler") == 0) exit(0);
    return 0;
  }
  printf("the region has ended\n");
  return 1;
}
