// SPDX-License-Identifier: MIT
// only lockstep: libgomp hangs in the first region of a child whose parent has opened one
// fork.c -- children of a process that has opened regions: they open regions, make tasks, fork again, and exit
#include <omp.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static int kept = 1;
#pragma omp threadprivate(kept)

// A lock of the program that another thread holds when a child is made stays held in the child, with any runtime.
static int has_critical = 1;

// A bit of everything; 0 if it was right.
static int work(int n) {
  int met = 0, sum = 0, tasks = 0;
#pragma omp parallel num_threads(n) reduction(+ : sum)
  {
    meet(&met, n);
    sum += omp_get_num_threads();
#pragma omp for schedule(dynamic, 2)
    for (int i = 0; i < 50; ++i) sum += i;
#pragma omp single
    for (int i = 0; i < 20; ++i) {
#pragma omp task shared(tasks)
      add(&tasks, 1);
    }
    if (has_critical) {
#pragma omp critical
      sum += 1;
    }
  }
  return sum == n * n + 1225 + has_critical * n && tasks == 20 ? 0 : 1;
}

static int status_of(pid_t child) {
  int status = -1;
  if (waitpid(child, &status, 0) != child || !WIFEXITED(status)) return -1;
  return WEXITSTATUS(status);
}

static void regions_in_children(void) {
  int good = 0;
  for (int round = 0; round < 20; ++round) {
    CHECK(work(3) == 0);
    const pid_t child = fork();
    if (child == 0) {
      int bad = 0;
      for (int n = 1; n <= 5; ++n) bad |= work(n);
      if (round % 4 == 0) {  // and its child
        const pid_t grandchild = fork();
        if (grandchild == 0) _exit(work(4));
        bad |= status_of(grandchild) != 0;
      }
      if (round % 2) _exit(bad);
      fclose(stdout);  // the parent's text is not to be written again
      exit(bad);
    }
    good += status_of(child) == 0;
    CHECK(work(2) == 0);
  }
  CHECK(good == 20);
  printf("regions in children: %d\n", good);
}

static void levels(void) {
  omp_set_max_active_levels(2);
  int sum = 0;
#pragma omp parallel num_threads(2)
#pragma omp parallel num_threads(2)
  add(&sum, 1);
  const pid_t child = fork();
  if (child == 0) {
    int inner = 0;
#pragma omp parallel num_threads(3)
#pragma omp parallel num_threads(2)
    add(&inner, 1);
    _exit(inner != 6);
  }
  CHECK(sum == 4 && status_of(child) == 0);
  omp_set_max_active_levels(1);
  printf("nested regions in a child: %d\n", sum);
}

// The calling thread's own data goes with it.
static void data(void) {
  kept = 44;
  omp_set_num_threads(3);
  const pid_t child = fork();
  if (child == 0) {
    int right = 0;
#pragma omp parallel reduction(+ : right) copyin(kept)
    right += kept == 44 && omp_get_num_threads() == 3;
    _exit(right != 3);
  }
  CHECK(status_of(child) == 0);
  printf("data of a child\n");
}

// A thread forks while others are in regions.
static void* keeps_busy(void* stop) {
  while (!get(stop)) {
    if (work(2) != 0) set(stop, -1);
  }
  return NULL;
}
static void beside_others(void) {
  int stop = 0, good = 0;
  pthread_t other;
  has_critical = 0;
  CHECK(pthread_create(&other, NULL, keeps_busy, &stop) == 0);
  for (int round = 0; round < 15; ++round) {
    CHECK(work(3) == 0);
    const pid_t child = fork();
    if (child == 0) _exit(work(3) | work(2));
    good += status_of(child) == 0;
  }
  CHECK(get(&stop) == 0);
  set(&stop, 1);
  pthread_join(other, NULL);
  CHECK(good == 15);
  printf("beside a thread in regions: %d\n", good);
}

// A member of a region forks: the child is that member alone. It may leave, and run another program.
static void inside_of_a_region(void) {
  int good = 0;
#pragma omp parallel num_threads(3) reduction(+ : good)
  {
    const pid_t child = fork();
    if (child == 0) {
      char* const arguments[] = {(char*)"true", NULL};
      if (omp_get_thread_num() == 1) execv("/bin/true", arguments);
      _exit(0);
    }
    good += status_of(child) == 0;
#pragma omp barrier
    good += 10;
  }
  CHECK(good == 33);
  printf("forks inside of a region: %d\n", good);
}

int main(void) {
  setvbuf(stdout, NULL, _IOLBF, 0);
  alarm(60);  // for children, too, whose parent would wait for ever
  regions_in_children();
  levels();
  data();
  beside_others();
  inside_of_a_region();
  return result();
}
