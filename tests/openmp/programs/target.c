/* SPDX-License-Identifier: MIT */
/* target and teams, on the host; memory of devices. */
#include <errno.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "../conformance/check.h"

/* Functions, because GCC wants no calls of the interface right in a teams construct. */
__attribute__((noinline)) static int team(void) { return omp_get_team_num(); }
__attribute__((noinline)) static int teams(void) { return omp_get_num_teams(); }
__attribute__((noinline)) static int limit(void) { return omp_get_thread_limit(); }
__attribute__((noinline)) static void add_one(int* to) { __atomic_add_fetch(to, 1, __ATOMIC_RELAXED); }

static void regions(void) {
  int x = 1, kept = 10;
#pragma omp target map(tofrom : x) firstprivate(kept) device(5)
  {
    x = 2;
    kept = 20;
    CHECK(omp_is_initial_device() && omp_get_level() == 0);
  }
  CHECK(x == 2 && kept == 10);
#pragma omp parallel num_threads(2)
  {
    omp_set_num_threads(7);
    int level = -1, members = 0;
#pragma omp target map(tofrom : level, members)
    {
      level = omp_get_level();
#pragma omp parallel num_threads(2)
#pragma omp atomic
      members += omp_get_num_threads();
    }
    CHECK(level == 0 && members == 4);
    CHECK(omp_get_level() == 1 && omp_get_num_threads() == 2 && omp_get_max_threads() == 7);
  }
#pragma omp target thread_limit(1) map(tofrom : x)
  {
    x = omp_get_thread_limit();
#pragma omp parallel num_threads(2)
    CHECK(omp_get_num_threads() == 1);
  }
  CHECK(x == 1 && limit() > 1);
}

static void data(void) {
  int a[4] = {1, 2, 3, 4};
#pragma omp target data map(tofrom : a)
  {
#pragma omp target
    a[0] += 10;
#pragma omp target update from(a)
    CHECK(a[0] == 11);
  }
#pragma omp target enter data map(to : a)
#pragma omp target map(alloc : a)
  a[1] += 10;
#pragma omp target exit data map(from : a)
  CHECK(a[0] == 11 && a[1] == 12);
}

/* Tasks, target regions and transfers in the order of their dependences. */
static void in_order(void) {
  for (int round = 0; round < 200; ++round) {
    int x = 0, y = 0, step = 3;
#pragma omp parallel num_threads(3)
#pragma omp single
    {
#pragma omp task depend(out : x) shared(x)
      x = 1;
#pragma omp target nowait depend(inout : x) map(tofrom : x) firstprivate(step)
      x += step;
      step = 100;
#pragma omp target update to(x) nowait depend(inout : x)
#pragma omp task depend(in : x) depend(out : y) shared(x, y)
      y = x * 10;
#pragma omp target depend(in : y) map(tofrom : y)
      y += 2;
      CHECK(y == 42);
#pragma omp target enter data map(to : y) depend(inout : y)
    }
    CHECK(x == 4 && y == 42);
  }
}

static void leagues(void) {
  int seen = 0, sum = 0;
#pragma omp teams num_teams(3) thread_limit(2) reduction(+ : sum) shared(seen)
  {
    CHECK(teams() == 3 && limit() == 2);
    seen |= 1 << team();
#pragma omp parallel reduction(+ : sum) num_threads(8)
    {
      CHECK(omp_get_num_threads() <= 2 && omp_get_num_teams() == 3);
      sum += omp_get_team_num() + 1;
    }
  }
  CHECK(seen == 7 && sum >= 6);
  CHECK(teams() == 1 && team() == 0 && limit() > 2);
  int count = 0;
#pragma omp teams
  add_one(&count);
  CHECK(count >= 1);
  seen = 0;
#pragma omp target teams num_teams(3) map(tofrom : seen)
  {
    CHECK(teams() == 3);
    seen |= 1 << team();
  }
  CHECK(seen == 7);
  int squares[100];
#pragma omp target teams distribute parallel for map(from : squares)
  for (int i = 0; i < 100; ++i) squares[i] = i * i;
  for (int i = 0; i < 100; ++i) CHECK(squares[i] == i * i);
}

static void memory(void) {
  char from[6][6], to[4][8];
  for (int i = 0; i < 36; ++i) from[i / 6][i % 6] = (char)i;
  const int host = omp_get_initial_device();
  char* const block = omp_target_alloc(100, host);
  CHECK(block != NULL && omp_target_alloc(100, 7) == NULL);
  CHECK(omp_target_is_present(block, host) && !omp_target_is_present(block, 7) && omp_target_is_present(NULL, 7));
  CHECK(omp_target_memcpy(block, from, 10, 5, 6, host, host) == 0 && block[5] == 6 && block[14] == 15);
  CHECK(omp_target_memcpy(block, from, 10, 0, 0, host, 7) == EINVAL);
  const size_t volume[] = {2, 3}, to_at[] = {1, 4}, from_at[] = {3, 2}, to_size[] = {4, 8}, from_size[] = {6, 6};
  memset(to, -1, sizeof to);
  CHECK(omp_target_memcpy_rect(to, from, 1, 2, volume, to_at, from_at, to_size, from_size, host, host) == 0);
  for (int i = 0; i < 4; ++i) {
    for (int k = 0; k < 8; ++k) {
      const int is_in = i >= 1 && i < 3 && k >= 4 && k < 7;
      CHECK(to[i][k] == (is_in ? from[i + 2][k - 2] : -1));
    }
  }
  CHECK(omp_target_memcpy_rect(NULL, NULL, 1, 0, NULL, NULL, NULL, NULL, NULL, host, host) >= 3);
  CHECK(omp_target_memcpy_rect(to, from, 1, 0, volume, to_at, from_at, to_size, from_size, host, host) == EINVAL);
  CHECK(omp_target_associate_ptr(block, from, 4, 0, host) == EINVAL && omp_target_disassociate_ptr(block, host) == EINVAL);
  omp_target_free(block, host);
}

int main(void) {
  regions();
  data();
  in_order();
  leagues();
  memory();
  return failures != 0;
}
