/* SPDX-License-Identifier: MIT */
/* Handlers of pthread_atfork() that use OpenMP. */
#define _DEFAULT_SOURCE 1

#include <omp.h>

#define FORK_USE use
#include "../../support/fork_handlers.h"

static int region_of(int threads) {
  int members = 0, critical = 0;
#pragma omp parallel num_threads(threads) reduction(+ : members)
  {
    int i;
    ++members;
    for (i = 0; i < 10; ++i)
#pragma omp critical
      ++critical;
  }
  return members != threads || critical != threads * 10;
}

static int use(enum fork_use what) {
  switch (what) {
    case fork_region:
      return region_of(3);
    case fork_pause:
      return omp_pause_resource_all(omp_pause_soft) != 0 || region_of(4) != 0;
    case fork_own_team:
      return region_of(2);
    case fork_anew:
      return omp_pause_resource_all(omp_pause_hard) != 0;
    default:
      return 0;
  }
}

int main(void) { return fork_handlers("/proc/self/exe") != 0; }
