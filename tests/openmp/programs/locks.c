/* SPDX-License-Identifier: MIT */
/* Locks: they exclude, in crowds too; nested ones belong to tasks, those of OpenMP 2.5 to threads. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <omp.h>
#include <string.h>

#include "../conformance/check.h"

enum { rounds = 20000, crowd = 8 };

static void plain(void) {
  omp_lock_t lock;
  memset(&lock, 0xff, sizeof lock);
  omp_init_lock(&lock);
  CHECK(omp_test_lock(&lock) == 1 && omp_test_lock(&lock) == 0);
  omp_unset_lock(&lock);
  int count = 0;
#pragma omp parallel num_threads(crowd)
  for (int i = 0; i < rounds; ++i) {
    if (i % 3 != 0) {
      omp_set_lock(&lock);
    } else {
      while (!omp_test_lock(&lock)) continue;
    }
    ++count;
    omp_unset_lock(&lock);
  }
  CHECK(count == crowd * rounds);
  omp_destroy_lock(&lock);
}

/* It may be unset by another thread than has set it. */
static void handed_over(void) {
  omp_lock_t lock;
  int seen = 0;
  omp_init_lock(&lock);
  omp_set_lock(&lock);
#pragma omp parallel num_threads(2)
  if (omp_get_thread_num() == 0) {
    omp_set_lock(&lock);
    CHECK(seen == 1);
    omp_unset_lock(&lock);
  } else {
    seen = 1;
    omp_unset_lock(&lock);
  }
  omp_destroy_lock(&lock);
}

static void nested(void) {
  omp_nest_lock_t lock;
  memset(&lock, 0xff, sizeof lock);
  omp_init_nest_lock(&lock);
  CHECK(omp_test_nest_lock(&lock) == 1 && omp_test_nest_lock(&lock) == 2);
  omp_set_nest_lock(&lock);
  CHECK(omp_test_nest_lock(&lock) == 4);
#pragma omp parallel num_threads(2)
  CHECK(omp_test_nest_lock(&lock) == 0); /* another task, also on the thread that holds it */
  for (int i = 0; i < 4; ++i) omp_unset_nest_lock(&lock);
  int count = 0;
#pragma omp parallel num_threads(crowd)
  for (int i = 0; i < rounds; ++i) {
    omp_set_nest_lock(&lock);
    omp_set_nest_lock(&lock);
    ++count;
    omp_unset_nest_lock(&lock);
    ++count;
    omp_unset_nest_lock(&lock);
  }
  CHECK(count == 2 * crowd * rounds);
  omp_destroy_nest_lock(&lock);
}

/* 8 bytes; what a region's thread 0 holds is its own inside. */
static void nested_of_threads(void) {
  struct old_lock {
    char bytes[8];
  } __attribute__((aligned(4)));
  struct {
    int before; /* so that the lock is not aligned as a pointer is */
    struct old_lock lock;
    char guard[8];
  } __attribute__((aligned(8))) memory;
  void (*init)(void*) = (void (*)(void*))dlvsym(RTLD_DEFAULT, "omp_init_nest_lock", "OMP_1.0");
  void (*set)(void*) = (void (*)(void*))dlvsym(RTLD_DEFAULT, "omp_set_nest_lock", "OMP_1.0");
  void (*unset)(void*) = (void (*)(void*))dlvsym(RTLD_DEFAULT, "omp_unset_nest_lock", "OMP_1.0");
  int (*test)(void*) = (int (*)(void*))dlvsym(RTLD_DEFAULT, "omp_test_nest_lock", "OMP_1.0");
  CHECK(init != NULL && set != NULL && unset != NULL && test != NULL);
  memset(&memory, 0x55, sizeof memory);
  init(&memory.lock);
  set(&memory.lock);
  CHECK(test(&memory.lock) == 2);
#pragma omp parallel num_threads(2)
  {
    const int depth = test(&memory.lock);
    CHECK(depth == (omp_get_thread_num() == 0 ? 3 : 0));
    if (depth > 0) unset(&memory.lock);
  }
  unset(&memory.lock);
  unset(&memory.lock);
  int count = 0;
#pragma omp parallel num_threads(crowd)
  for (int i = 0; i < rounds; ++i) {
    set(&memory.lock);
    set(&memory.lock);
    ++count;
    unset(&memory.lock);
    unset(&memory.lock);
  }
  CHECK(count == crowd * rounds);
  for (int i = 0; i < 8; ++i) CHECK(memory.guard[i] == 0x55);
}

int main(void) {
  plain();
  handed_over();
  nested();
  nested_of_threads();
  return failures != 0;
}
