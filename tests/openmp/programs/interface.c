/* SPDX-License-Identifier: MIT */
/* The functions of omp.h that tell and set what a task has, in regions and outside. */
#include <dlfcn.h>
#include <omp.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

#include "../conformance/check.h"

static void outside(void) {
  CHECK(omp_get_num_threads() == 1 && omp_get_thread_num() == 0);
  CHECK(!omp_in_parallel() && omp_get_level() == 0 && omp_get_active_level() == 0);
  CHECK(omp_get_ancestor_thread_num(0) == 0 && omp_get_team_size(0) == 1);
  CHECK(omp_get_ancestor_thread_num(1) == -1 && omp_get_team_size(1) == -1);
  CHECK(omp_get_ancestor_thread_num(-1) == -1 && omp_get_team_size(-1) == -1);
  CHECK(omp_get_num_teams() == 1 && omp_get_team_num() == 0 && !omp_in_final());
  CHECK(omp_get_num_procs() >= 1 && omp_get_max_threads() >= 1);
}

static void settings(void) {
  omp_set_num_threads(3);
  CHECK(omp_get_max_threads() == 3);
  omp_set_num_threads(-3);
  CHECK(omp_get_max_threads() == 1);
  omp_set_dynamic(5);
  CHECK(omp_get_dynamic() == 1);
  omp_set_dynamic(0);
  CHECK(omp_get_dynamic() == 0);
  CHECK(omp_get_supported_active_levels() >= 1);
  omp_set_max_active_levels(3);
  omp_set_max_active_levels(-1);
  CHECK(omp_get_max_active_levels() == 3 && omp_get_nested());
  omp_set_max_active_levels(1000000);
  CHECK(omp_get_max_active_levels() == omp_get_supported_active_levels());
  omp_set_nested(0);
  CHECK(omp_get_max_active_levels() == 1 && !omp_get_nested());
  omp_set_nested(1);
  CHECK(omp_get_max_active_levels() == omp_get_supported_active_levels() && omp_get_nested());
  omp_set_max_active_levels(0);
  omp_set_nested(0);
  CHECK(omp_get_max_active_levels() == 0);
  omp_set_max_active_levels(1);
  omp_set_default_device(4);
  CHECK(omp_get_default_device() == 4);
  omp_set_default_device(0);
  omp_set_num_teams(4);
  omp_set_num_teams(-1);
  omp_set_teams_thread_limit(3);
  omp_set_teams_thread_limit(-1);
  CHECK(omp_get_max_teams() == 4 && omp_get_teams_thread_limit() == 3);
  omp_set_num_teams(0);
  omp_set_teams_thread_limit(0);
}

static void schedules(void) {
  /* kind, chunk, and what is found then */
  const int rows[][4] = {{1, 0, 1, 0},
                         {1, -1, 1, 0},
                         {1, 5, 1, 5},
                         {2, 0, 2, 1},
                         {2, -1, 2, 1},
                         {3, 7, 3, 7},
                         {4, 2, 4, 7},
                         {9, 9, 4, 7},
                         {(int)0x80000002, 4, (int)0x80000002, 4},
                         {(int)0x80000001, 0, (int)0x80000001, 0}};
  for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
    omp_sched_t kind;
    int chunk = -1;
    omp_set_schedule((omp_sched_t)rows[i][0], rows[i][1]);
    omp_get_schedule(&kind, &chunk);
    CHECK((int)kind == rows[i][2] && chunk == rows[i][3]);
  }
}

/* What a task sets is its own, and its children's. */
static void inheritance(void) {
  omp_set_num_threads(2);
  omp_set_max_active_levels(2);
#pragma omp parallel num_threads(3)
  {
    CHECK(omp_get_max_threads() == 2);
    omp_set_num_threads(4 + omp_get_thread_num());
#pragma omp barrier
    CHECK(omp_get_max_threads() == 4 + omp_get_thread_num());
#pragma omp parallel num_threads(2)
    CHECK(omp_get_max_threads() == 4 + omp_get_ancestor_thread_num(1));
#pragma omp task if (0)
    omp_set_num_threads(77);
    CHECK(omp_get_max_threads() == 4 + omp_get_thread_num());
#pragma omp task final(1)
    CHECK(omp_in_final());
#pragma omp taskwait
    CHECK(!omp_in_final());
  }
  CHECK(omp_get_max_threads() == 2);
  omp_set_max_active_levels(1);
#pragma omp parallel if (0)
  CHECK(omp_get_level() == 1 && omp_get_active_level() == 0 && !omp_in_parallel());
}

static void* other_thread(void* unused) {
  outside();
  CHECK(omp_get_max_threads() != 2 || omp_get_num_procs() == 2);
#pragma omp parallel num_threads(2)
  CHECK(omp_get_num_threads() == 2);
  return unused;
}

static void affinity(void) {
  char text[64] = "";
  omp_set_affinity_format("t%n");
  CHECK(omp_get_affinity_format(text, sizeof text) == 3 && strcmp(text, "t%n") == 0);
  CHECK(omp_get_affinity_format(text, 3) == 3 && strcmp(text, "t%") == 0);
  CHECK(omp_get_affinity_format(NULL, 0) == 3);
  CHECK(omp_capture_affinity(text, sizeof text, NULL) == 2 && strcmp(text, "t0") == 0);
  CHECK(omp_capture_affinity(text, sizeof text, "%%%L|%5N|%.4n|%0.4n|%{num_teams}") == 20);
  CHECK(strcmp(text, "%0|1    |   0|0000|1") == 0);
  CHECK(omp_capture_affinity(text, sizeof text, "%0.4a") == 4 && strcmp(text, "-001") == 0);
#pragma omp parallel num_threads(2)
  {
    char mine[64], wanted[64];
    sprintf(wanted, "1 %d 2 0", omp_get_thread_num());
    omp_capture_affinity(mine, sizeof mine, "%{nesting_level} %{thread_num} %{num_threads} %a");
    CHECK(strcmp(mine, wanted) == 0);
  }
  CHECK(omp_get_place_num_procs(-1) == 0 && omp_get_place_num_procs(1 << 20) == 0);
}

static void devices_and_time(void) {
  CHECK(omp_get_num_devices() == 0 && omp_get_initial_device() == 0 && omp_is_initial_device());
  CHECK(omp_get_device_num() == 0);
  CHECK(omp_pause_resource(omp_pause_soft, 0) == 0 && omp_pause_resource(omp_pause_hard, 5) != 0);
  CHECK(omp_pause_resource_all(omp_pause_soft) == 0);
  CHECK(omp_get_wtick() > 0 && omp_get_wtick() < 1);
  const double begin = omp_get_wtime();
  const struct timespec pause = {0, 20000000};
  nanosleep(&pause, NULL);
  CHECK(omp_get_wtime() - begin >= 0.02);
}

/* A function that this GCC's omp.h may not have. */
static void newer(void) {
  int (*in_explicit_task)(void) = (int (*)(void))dlsym(RTLD_DEFAULT, "omp_in_explicit_task");
  CHECK(in_explicit_task != NULL);
  if (in_explicit_task == NULL) return;
  CHECK(!in_explicit_task());
#pragma omp parallel num_threads(2)
  {
    CHECK(!in_explicit_task());
#pragma omp task
    CHECK(in_explicit_task());
  }
}

int main(void) {
  outside();
  settings();
  schedules();
  inheritance();
  affinity();
  devices_and_time();
  newer();
  pthread_t thread;
  pthread_create(&thread, NULL, other_thread, NULL);
  pthread_join(thread, NULL);
  return failures != 0;
}
