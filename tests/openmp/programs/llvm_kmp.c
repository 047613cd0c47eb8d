/* SPDX-License-Identifier: MIT */
/* The functions kmp_... of LLVM's omp.h. For Clang. */
#define _GNU_SOURCE
#include "../conformance/check.h"

#include <limits.h>
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void* kmpc_malloc(size_t);
void kmpc_free(void*);
void ompc_set_num_threads(int);
int kmp_get_num_known_threads(void);

static int size_of_region(void) {
  int size = 0;
#pragma omp parallel
#pragma omp single
  size = omp_get_num_threads();
  return size;
}

static size_t own_stack(void) {
  pthread_attr_t mine;
  size_t size = 0;
  pthread_getattr_np(pthread_self(), &mine);
  pthread_attr_getstacksize(&mine, &size);
  pthread_attr_destroy(&mine);
  return size;
}

static void* with_larger_stacks(void* unused) {
  (void)unused;
  size_t stack = 0;
  kmp_set_stacksize_s(12 << 20);
  CHECK(kmp_get_stacksize_s() == 12 << 20 && kmp_get_stacksize() == 12 << 20);
#pragma omp parallel num_threads(2) reduction(max : stack)
  stack = omp_get_thread_num() == 1 ? own_stack() : 0;
  CHECK(stack >= 12 << 20 && stack < 13 << 20);
  return NULL;
}

static void waiting(void) {
  const int before = kmp_get_blocktime();
  CHECK(before == 200);
  for (int i = 0; i < 3; ++i) {
    const int times[] = {0, 5, INT_MAX};
    kmp_set_blocktime(times[i]);
    CHECK(kmp_get_blocktime() == times[i]);
    CHECK(size_of_region() == omp_get_max_threads());
  }
  static int kept;
#pragma omp threadprivate(kept)
#pragma omp parallel num_threads(4)
  kept = omp_get_thread_num() + 1;
  kmp_set_blocktime(0); /* other teams, the same threads */
#pragma omp parallel num_threads(4)
  CHECK(kept == omp_get_thread_num() + 1);
}

static void memory(void) {
  char* block = kmp_malloc(10);
  strcpy(block, "lockstep");
  block = kmp_realloc(block, 100000);
  CHECK(strcmp(block, "lockstep") == 0);
  kmp_free(block);
  block = kmp_calloc(7, 9);
  CHECK(block[0] == 0 && block[62] == 0);
  kmpc_free(block);
  for (size_t align = 1; align <= 4096; align *= 2) {
    void* const aligned = kmp_aligned_malloc(align, align);
    CHECK(aligned != NULL && (uintptr_t)aligned % align == 0);
    kmp_free(aligned);
  }
  CHECK(kmp_aligned_malloc(128, 127) == NULL);
  kmpc_free(kmpc_malloc(1));
}

static void masks(void) {
  kmp_affinity_mask_t all, one;
  cpu_set_t now;
  kmp_create_affinity_mask(&all);
  kmp_create_affinity_mask(&one);
  CHECK(kmp_get_affinity(&all) == 0);
  int first = -1, count = 0;
  for (int cpu = 0; cpu < kmp_get_affinity_max_proc(); ++cpu) {
    if (kmp_get_affinity_mask_proc(cpu, &all) != 1) continue;
    if (first < 0) first = cpu;
    ++count;
  }
  sched_getaffinity(0, sizeof now, &now);
  CHECK(count == CPU_COUNT(&now) && first >= 0);
  CHECK(kmp_get_affinity_mask_proc(first, &one) == 0);
  CHECK(kmp_set_affinity_mask_proc(first, &one) == 0 && kmp_get_affinity_mask_proc(first, &one) == 1);
  CHECK(kmp_set_affinity_mask_proc(-1, &one) == -1 && kmp_set_affinity_mask_proc(INT_MAX, &one) == -1);
  CHECK(kmp_set_affinity(&one) == 0 && sched_getaffinity(0, sizeof now, &now) == 0);
  CHECK(CPU_COUNT(&now) == 1 && CPU_ISSET(first, &now));
  CHECK(kmp_unset_affinity_mask_proc(first, &one) == 0 && kmp_set_affinity(&one) != 0);
  CHECK(kmp_set_affinity(&all) == 0);
  kmp_destroy_affinity_mask(&all);
  kmp_destroy_affinity_mask(&one);
  CHECK(all == NULL);
}

int main(void) {
  pthread_t thread;
  waiting();
  CHECK(kmp_get_stacksize_s() >= 65536);
  pthread_create(&thread, NULL, with_larger_stacks, NULL);
  pthread_join(thread, NULL);
  memory();
  masks();
  kmp_set_defaults("NO_SUCH_VARIABLE=1|OMP_SCHEDULE=guided,7");
  omp_sched_t kind;
  int chunk;
  omp_get_schedule(&kind, &chunk);
  CHECK(kind == omp_sched_guided && chunk == 7);
  ompc_set_num_threads(3);
  CHECK(size_of_region() == 3 && kmp_get_num_known_threads() >= 3);
  kmp_set_warnings_off();
  kmp_set_warnings_on();
  kmp_set_disp_num_buffers(3);
  CHECK(kmp_get_library() == 3);
  kmp_set_library_serial();
  CHECK(kmp_get_library() == 1 && size_of_region() == 1);
  kmp_set_library_throughput();
  return failures != 0;
}
