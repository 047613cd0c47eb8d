/* SPDX-License-Identifier: MIT */
/* Prints what the functions of omp.h say of the control variables: NAME VALUE in lines. */
#include <omp.h>
#include <stdio.h>

int main(void) {
  omp_sched_t kind;
  int chunk;
  omp_get_schedule(&kind, &chunk);
  printf("threads %d\n", omp_get_max_threads());
  printf("dynamic %d\n", omp_get_dynamic());
  printf("levels %d\n", omp_get_max_active_levels());
  printf("nested %d\n", omp_get_nested());
  printf("limit %d\n", omp_get_thread_limit());
  printf("schedule %x,%d\n", (unsigned)kind, chunk);
  printf("bind %d\n", (int)omp_get_proc_bind());
  printf("places %d\n", omp_get_num_places());
  printf("place %d\n", omp_get_place_num());
  printf("cancellation %d\n", omp_get_cancellation());
  printf("priority %d\n", omp_get_max_task_priority());
  printf("device %d\n", omp_get_default_device());
  printf("teams %d\n", omp_get_max_teams());
  printf("teams_limit %d\n", omp_get_teams_thread_limit());
  printf("allocator %ld\n", (long)omp_get_default_allocator());
  for (int place = 0; place < omp_get_num_places(); ++place) {
    int cpus[1024];
    omp_get_place_proc_ids(place, cpus);
    printf("cpus_of_%d", place);
    for (int i = 0; i < omp_get_place_num_procs(place); ++i) printf(" %d", cpus[i]);
    printf("\n");
  }
  return 0;
}
