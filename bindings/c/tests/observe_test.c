/* SPDX-License-Identifier: MIT
 * Timeline, ledger and watchdog through C. Takes a directory in which it may write. */
#include <stdlib.h>

#include "check.h"

static int work(lockstep_member* me, void* context) {
  int code = lockstep_trace_scope_begin("solve");
  (void)context;
  if (code == 0) code = lockstep_member_sync_threads(me);
  if (code == 0) code = lockstep_trace_scope_end();
  return code;
}

/* The whole text of a file; the caller frees it. */
static char* text_of(const char* path) {
  FILE* file = fopen(path, "rb");
  char* text = NULL;
  long size;
  if (file == NULL) return NULL;
  if (fseek(file, 0, SEEK_END) == 0 && (size = ftell(file)) >= 0 && fseek(file, 0, SEEK_SET) == 0) {
    text = malloc((size_t)size + 1);
    if (text != NULL) text[fread(text, 1, (size_t)size, file)] = '\0';
  }
  fclose(file);
  return text;
}

static void a_trace_is_recorded_and_written(lockstep_team* team, const char* path) {
  char* text;
  char summary[8192];
  CHECK(lockstep_is_tracing() == 0);
  CHECK_FAILS(lockstep_trace_stop(NULL), LOCKSTEP_ERROR_USE, "no trace runs");
  CHECK_OK(lockstep_trace_start(4096));
  CHECK(lockstep_is_tracing() == 1);
  CHECK_FAILS(lockstep_trace_start(0), LOCKSTEP_ERROR_USE, "runs already");
  CHECK_OK(lockstep_name_this_thread("main thread"));
  CHECK_OK(lockstep_trace_mark("half way", 50));
  CHECK_OK(lockstep_trace_counter("residual", 0.25));
  CHECK_OK(lockstep_team_run(team, work, NULL));
  CHECK_OK(lockstep_trace_write(path));
  CHECK_OK(lockstep_trace_stop(path));
  CHECK(lockstep_is_tracing() == 0);
  text = text_of(path);
  CHECK(text != NULL);
  if (text != NULL) {
    CHECK(strstr(text, "half way") != NULL && strstr(text, "residual") != NULL);
    CHECK(strstr(text, "solve") != NULL && strstr(text, "sync_threads") != NULL);
    CHECK(strstr(text, "main thread") != NULL);
    free(text);
  }
  CHECK_OK(lockstep_trace_summary(summary, sizeof summary, NULL));
  CHECK(strstr(summary, "sync_threads") != NULL);
  CHECK_OK(lockstep_trace_start(0));
  CHECK_OK(lockstep_trace_stop(NULL));
  CHECK_FAILS(lockstep_trace_write("/no/such/directory/trace.json"), LOCKSTEP_ERROR_SYSTEM, "/no/such/directory");
  CHECK_OK(lockstep_name_this_thread(NULL));
}

static void scopes_nest_so_deep(void) {
  int depth;
  for (depth = 0; depth < 64; ++depth) CHECK_OK(lockstep_trace_scope_begin("scope"));
  CHECK_FAILS(lockstep_trace_scope_begin("scope"), LOCKSTEP_ERROR_USE, "64 scopes");
  for (depth = 0; depth < 64; ++depth) CHECK_OK(lockstep_trace_scope_end());
  CHECK_FAILS(lockstep_trace_scope_end(), LOCKSTEP_ERROR_USE, "no scope");
}

static void ledgers_count(lockstep_team* team) {
  char text[16384];
  size_t length = 0;
  int round;
  CHECK_OK(lockstep_team_keep_ledger(team, 1));
  for (round = 0; round < 100; ++round) CHECK_OK(lockstep_team_run(team, work, NULL));
  CHECK_OK(lockstep_team_ledger_json(team, text, sizeof text, &length));
  CHECK(length < sizeof text && strstr(text, "sync_threads") != NULL && strstr(text, "solve") != NULL);
  CHECK_OK(lockstep_team_ledger_table(team, text, sizeof text, NULL));
  CHECK(strstr(text, "sync_threads") != NULL);
  CHECK_OK(lockstep_team_reset_ledger(team));
  CHECK_OK(lockstep_team_keep_ledger(team, 0));
  CHECK_OK(lockstep_team_ledger_json(team, text, sizeof text, NULL));
  CHECK(strstr(text, "sync_threads") == NULL);
}

static void the_watchdog_watches(void) {
  char text[4096];
  size_t length = 0;
  CHECK_OK(lockstep_who_waits(text, sizeof text, &length));
  CHECK(length == 0);
  CHECK_OK(lockstep_watchdog_start(INT64_C(60000000000), 0));
  CHECK_OK(lockstep_who_waits(text, sizeof text, &length));
  CHECK(length > 0);
  CHECK_OK(lockstep_watchdog_stop());
  CHECK_OK(lockstep_watchdog_stop());
}

int main(int argc, char** argv) {
  char path[4096];
  lockstep_team* team;
  if (argc != 2) {
    fprintf(stderr, "usage: %s DIRECTORY\n", argv[0]);
    return 2;
  }
  snprintf(path, sizeof path, "%s/c_trace.json", argv[1]);
  team = check_team(2);
  a_trace_is_recorded_and_written(team, path);
  scopes_nest_so_deep();
  ledgers_count(team);
  the_watchdog_watches();
  CHECK_OK(lockstep_team_destroy(team));
  return check_result();
}
