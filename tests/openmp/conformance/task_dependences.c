// SPDX-License-Identifier: MIT
// task_dependences.c -- depend(): random graphs, whose tasks say when they ran; each kind in each form
#include <omp.h>
#include <sys/resource.h>

#include "check.h"

enum { addresses = 7, tasks = 400, kinds = 4 };
enum kind { in, out, inout, mutexinoutset };

static struct {
  int address[2], kind[2];
  int begin, end, runs;
} plan[tasks];
static char words[addresses];
static int now;
static unsigned seed;

static int draw(int below) {
  seed = seed * 1664525u + 1013904223u;
  return (int)((seed >> 8) % (unsigned)below);
}

static void run(int i) {
  plan[i].begin = add(&now, 1);
  for (volatile int spin = 0; spin < (i % 5) * 40; ++spin) continue;
  ++plan[i].runs;
  plan[i].end = add(&now, 1);
}

#define OBJECT(KIND) \
  case KIND: { \
    PRAGMA(omp depobj(*object) depend(KIND : *word)) \
    break; \
  }
static void make_object(omp_depend_t* object, int kind, char* word) {
  switch (kind) {
    OBJECT(in)
    OBJECT(out)
    OBJECT(inout)
    OBJECT(mutexinoutset)
  }
}

static void make_by_objects(int i) {
  omp_depend_t first, second;
  make_object(&first, plan[i].kind[0], &words[plan[i].address[0]]);
  make_object(&second, plan[i].kind[1], &words[plan[i].address[1]]);
#pragma omp task depend(depobj : first, second) firstprivate(i)
  run(i);
#pragma omp depobj(first) destroy
#pragma omp depobj(second) destroy
}

// The same through the clauses themselves, for pairs that have one.
#define PAIR(FIRST, SECOND, ...)                   \
  case FIRST * kinds + SECOND: {                   \
    PRAGMA(omp task __VA_ARGS__ firstprivate(i))   \
    run(i);                                        \
    break;                                         \
  }
static void make(int i) {
  char* const a = &words[plan[i].address[0]];
  char* const b = &words[plan[i].address[1]];
  switch (plan[i].kind[0] * kinds + plan[i].kind[1]) {
    PAIR(in, in, depend(in : *a, *b))
    PAIR(out, in, depend(out : *a) depend(in : *b))
    PAIR(in, inout, depend(in : *a) depend(inout : *b))
    PAIR(out, out, depend(out : *a, *b))
    PAIR(mutexinoutset, in, depend(mutexinoutset : *a) depend(in : *b))
    PAIR(inout, inout, depend(inout : *a, *b) if (i % 3))
    default: make_by_objects(i);
  }
}

static int conflicts(int i, int j, int* only_apart) {
  int found = 0;
  *only_apart = 1;
  for (int a = 0; a < 2; ++a) {
    for (int b = 0; b < 2; ++b) {
      const int one = plan[i].kind[a], other = plan[j].kind[b];
      if (plan[i].address[a] != plan[j].address[b] || (one == in && other == in)) continue;
      found = 1;
      if (one != mutexinoutset || other != mutexinoutset) *only_apart = 0;
    }
  }
  return found;
}

static void random_graph(unsigned with_seed) {
  seed = with_seed;
  now = 0;
  for (int i = 0; i < tasks; ++i) {
    for (int a = 0; a < 2; ++a) {
      plan[i].address[a] = draw(addresses);
      plan[i].kind[a] = draw(3) == 0 ? draw(kinds) : in;
    }
    plan[i].runs = 0;
  }
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < tasks; ++i) {
    if (i % 97 == 96) {
      char* const word = &words[draw(addresses)];
#pragma omp taskwait depend(inout : *word)
      for (int j = 0; j < i; ++j) {
        for (int a = 0; a < 2; ++a) {
          if (word == &words[plan[j].address[a]]) CHECK(get(&plan[j].runs) == 1);
        }
      }
    }
    make(i);
  }
  int wrong = 0;
  for (int j = 0; j < tasks; ++j) {
    wrong += plan[j].runs != 1;
    for (int i = 0; i < j; ++i) {
      int only_apart;
      if (!conflicts(i, j, &only_apart)) continue;
      const int in_order = plan[i].end < plan[j].begin;
      wrong += !(in_order || (only_apart && plan[j].end < plan[i].begin));
    }
  }
  CHECK(wrong == 0);
}

static void iterators(void) {
  int value[32] = {0}, sum = 0;
#pragma omp parallel
#pragma omp single
  {
    for (int i = 0; i < 32; ++i) {
#pragma omp task depend(out : value[i]) firstprivate(i) shared(value)
      value[i] = i + 1;
    }
#pragma omp task depend(iterator(i = 0 : 32 : 2), in : value[i]) shared(value, sum)
    for (int i = 0; i < 32; i += 2) sum += value[i];
#pragma omp task depend(iterator(i = 0 : 0), in : value[i]) shared(value)
    CHECK(1);
  }
  CHECK(sum == 256);
  printf("iterators: %d\n", sum);
}

// A chain in which each link is made by the one before, whose parents end early.
static void grow(int depth, int* count) {
  char first, second;
  (void)first, (void)second;
  if (depth == 0) return;
#pragma omp task depend(out : first) firstprivate(depth) shared(count)
  {
    add(count, 1);
    grow(depth - 1, count);
  }
#pragma omp task depend(in : first) depend(out : second) shared(count)
  add(count, 1);
#pragma omp task depend(in : second) shared(count) if (0)
  add(count, 1);
}

static long most_memory(void) {
  struct rusage used;
  getrusage(RUSAGE_SELF, &used);
  return used.ru_maxrss;
}

// What has ended takes no memory, though its addresses are never named again, or only read again. Others end the tasks:
// the thread that makes them waits for that without running any.
static void forgotten(void) {
  enum { many = 32000, kilobytes = 8192 };
  static char each[many], one;
  (void)each, (void)one;
  int count = 0;
  const long before = most_memory();
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < many; ++i) {
#pragma omp task depend(out : each[i]) shared(count)
    add(&count, 1);
#pragma omp task depend(in : one) shared(count)
    add(&count, 1);
    while (i % 16 == 0 && omp_get_num_threads() > 1 && get(&count) < 2 * (i + 1)) sched_yield();
  }
  CHECK(count == 2 * many);
#ifndef __SANITIZE_THREAD__
  CHECK(most_memory() - before < kilobytes);
#endif
}

int main(void) {
  for (unsigned i = 1; i <= 20; ++i) random_graph(i);
  printf("20 random graphs\n");
  iterators();
  forgotten();
  int count = 0;
#pragma omp parallel
#pragma omp single
  grow(200, &count);
  CHECK(count == 600);
  // Alone: everything is in order without a wait.
  omp_set_num_threads(1);
  for (unsigned i = 30; i <= 33; ++i) random_graph(i);
  return result();
}
