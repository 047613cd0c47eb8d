/* SPDX-License-Identifier: MIT
 * Teams and their regions: who runs, what comes back, what is refused. */
#include <pthread.h>
#include <stdlib.h>

#include "check.h"

enum { most = 64 };

struct seen {
  size_t calls[most]; /* by rank; each member writes its own */
  size_t size;
  int result, failing_rank;
  const lockstep_team* team;
  int code_inside;
};

static int count(lockstep_member* me, void* context) {
  struct seen* seen = context;
  ++seen->calls[lockstep_member_rank(me)];
  if (lockstep_member_rank(me) == 0) seen->size = lockstep_member_size(me);
  return 0;
}

static void regions_run_on_every_member_once(size_t members) {
  struct seen seen = {{0}, 0, 0, 0, NULL, 0};
  lockstep_team* team = check_team(members);
  int round;
  size_t rank;
  CHECK(lockstep_team_size(team) == members);
  for (round = 0; round < 100; ++round) CHECK_OK(lockstep_team_run(team, count, &seen));
  CHECK(seen.size == members);
  for (rank = 0; rank < most; ++rank) CHECK(seen.calls[rank] == (rank < members ? 100u : 0u));
  CHECK_OK(lockstep_team_run_on(team, 1, count, &seen));
  CHECK(seen.size == 1 && seen.calls[0] == 101 && seen.calls[members - 1] == (members == 1 ? 101u : 100u));
  CHECK_FAILS(lockstep_team_run_on(team, 0, count, &seen), LOCKSTEP_ERROR_ARGUMENT, "members");
  CHECK_FAILS(lockstep_team_run_on(team, members + 1, count, &seen), LOCKSTEP_ERROR_ARGUMENT, "members");
  CHECK_OK(lockstep_team_pause(team));
  CHECK_OK(lockstep_team_run(team, count, &seen));
  CHECK_OK(lockstep_team_pause(team));
  CHECK_OK(lockstep_team_resume(team));
  CHECK_OK(lockstep_team_run(team, count, &seen));
  CHECK(seen.calls[0] == 103);
  CHECK_OK(lockstep_team_destroy(team));
}

/* The member that fails does so while the others wait for it. */
static int fail_one(lockstep_member* me, void* context) {
  struct seen* seen = context;
  int code;
  if ((int)lockstep_member_rank(me) == seen->failing_rank) return seen->result;
  while ((code = lockstep_member_sync_threads(me)) == 0) {
  }
  return code;
}

/* All fail, each with another number. */
static int fail_all(lockstep_member* me, void* context) {
  (void)context;
  return 100 + (int)lockstep_member_rank(me);
}

/* What a function of the library has refused is handed on, with its text. */
static int fail_as_the_library(lockstep_member* me, void* context) {
  struct seen* seen = context;
  int code;
  if ((int)lockstep_member_rank(me) == seen->failing_rank) {
    return lockstep_member_await_step(me, 1000, 1);
  }
  while ((code = lockstep_member_sync_threads(me)) == 0) {
  }
  return code;
}

static void results_of_callbacks_come_back(size_t members) {
  struct seen seen = {{0}, 0, 0, 0, NULL, 0};
  lockstep_team* team = check_team(members);
  for (seen.failing_rank = 0; seen.failing_rank < (int)members; ++seen.failing_rank) {
    seen.result = 7;
    CHECK_FAILS(lockstep_team_run(team, fail_one, &seen), 7, "lockstep_team_run: a callback has returned 7");
    seen.result = LOCKSTEP_STOPPED;
    CHECK_CODE(lockstep_team_run(team, fail_one, &seen), LOCKSTEP_STOPPED);
    seen.result = LOCKSTEP_TIMED_OUT;
    CHECK_FAILS(lockstep_team_run(team, fail_one, &seen), LOCKSTEP_TIMED_OUT, "LOCKSTEP_TIMED_OUT");
    CHECK_FAILS(lockstep_team_run(team, fail_as_the_library, &seen), LOCKSTEP_ERROR_RANK, "rank 1000");
    CHECK(strstr(lockstep_last_error(), "lockstep_team_run: lockstep_member_await_step") != NULL);
  }
  CHECK_CODE(lockstep_team_run(team, fail_all, NULL), 100); /* that of the lowest rank */
  CHECK_CODE(lockstep_team_run_on(team, 1, fail_all, NULL), 100);
  seen.calls[0] = 0;
  CHECK_OK(lockstep_team_run(team, count, &seen)); /* it stays usable */
  CHECK(seen.calls[0] == 1);
  CHECK_OK(lockstep_team_destroy(team));
}

static int stop_and_go_on(lockstep_member* me, void* context) {
  int* codes = context;
  if (lockstep_member_rank(me) == 0) {
    if (lockstep_member_request_stop(me) != 0) return 1;
  }
  while (!lockstep_member_stop_requested(me)) {
  }
  codes[lockstep_member_rank(me)] = lockstep_member_sync_threads(me);
  return 0;
}

static void a_region_that_is_stopped_says_so(void) {
  int codes[3] = {1, 1, 1};
  lockstep_team* team = check_team(3);
  CHECK_CODE(lockstep_team_run(team, stop_and_go_on, codes), LOCKSTEP_STOPPED);
  CHECK(codes[0] == LOCKSTEP_STOPPED && codes[1] == LOCKSTEP_STOPPED && codes[2] == LOCKSTEP_STOPPED);
  CHECK_OK(lockstep_team_request_stop(team)); /* no region runs: nothing */
  CHECK_OK(lockstep_team_destroy(team));
}

/* Another thread stops a region whose members wait for it alone. */
struct stopper {
  lockstep_team* team;
  lockstep_event* runs;
};
static void* stop_from_outside(void* context) {
  struct stopper* of = context;
  if (lockstep_event_wait(of->runs) != 0) return NULL;
  lockstep_team_request_stop(of->team);
  return NULL;
}
static int wait_for_stop(lockstep_member* me, void* context) {
  struct stopper* of = context;
  if (lockstep_member_rank(me) != 0) return lockstep_member_await_step(me, 0, 1); /* never published */
  lockstep_event_notify(of->runs);
  while (!lockstep_member_stop_requested(me)) {
  }
  return 0;
}
static void another_thread_stops_a_region(void) {
  struct stopper of;
  pthread_t thread;
  of.team = check_team(2);
  CHECK_OK(lockstep_event_create(LOCKSTEP_POLICY_UNSET, &of.runs));
  CHECK(pthread_create(&thread, NULL, stop_from_outside, &of) == 0);
  CHECK_CODE(lockstep_team_run(of.team, wait_for_stop, &of), LOCKSTEP_STOPPED);
  pthread_join(thread, NULL);
  lockstep_event_destroy(of.runs);
  CHECK_OK(lockstep_team_destroy(of.team));
}

/* Inside a region. */
static int use_inside(lockstep_member* me, void* context) {
  struct seen* seen = context;
  lockstep_team* team = (lockstep_team*)(size_t)seen->team;
  if (lockstep_member_rank(me) != 0) return 0;
  seen->code_inside = lockstep_team_destroy(team);
  if (lockstep_team_pause(team) != LOCKSTEP_ERROR_USE) return 1;
  if (strncmp(lockstep_last_error(), "lockstep_team_pause: ", 21) != 0) return 5;
  if (strstr(lockstep_last_error(), "::") != NULL) return 6;
  if (lockstep_team_resume(team) != LOCKSTEP_ERROR_USE) return 2;
  if (lockstep_team_keep_ledger(team, 1) != LOCKSTEP_ERROR_USE) return 3;
  if (lockstep_team_reset_ledger(team) != LOCKSTEP_ERROR_USE) return 4;
  return lockstep_team_run(team, count, seen); /* on this member alone */
}
static void inside_a_region_only_loops_and_regions_are_allowed(void) {
  struct seen seen = {{0}, 0, 0, 0, NULL, 0};
  lockstep_team* team = check_team(2);
  seen.team = team;
  CHECK_OK(lockstep_team_run(team, use_inside, &seen));
  CHECK(seen.code_inside == LOCKSTEP_ERROR_USE);
  CHECK(seen.calls[0] == 1 && seen.calls[1] == 0 && seen.size == 1);
  CHECK_OK(lockstep_team_destroy(team));
}

struct hooks {
  size_t starts[most], ends[most];
};
static void note_start(size_t rank, void* context) { ++((struct hooks*)context)->starts[rank]; }
static void note_end(size_t rank, void* context) { ++((struct hooks*)context)->ends[rank]; }

static void options_are_taken_and_checked(void) {
  struct hooks hooks = {{0}, {0}};
  const unsigned absent_cpu = 100000, cpus[] = {0};
  lockstep_team_options options = LOCKSTEP_TEAM_OPTIONS_INIT;
  struct {
    lockstep_team_options known;
    char later[16];
  } newer;
  lockstep_team* team;
  CHECK(lockstep_team_size(NULL) == 0);

  options.members = 3;
  options.policy = LOCKSTEP_POLICY_BLOCK;
  options.name = "named";
  options.bind = LOCKSTEP_BIND_NONE;
  options.anticipate = LOCKSTEP_NO;
  options.learn = LOCKSTEP_NO;
  options.cpu_separation = LOCKSTEP_NO;
  options.ledger = LOCKSTEP_YES;
  options.on_start = note_start;
  options.on_exit = note_end;
  options.hook_context = &hooks;
  CHECK_OK(lockstep_team_create(&options, &team));
  CHECK(lockstep_team_size(team) == 3);
  CHECK_OK(lockstep_team_destroy(team));
  CHECK(hooks.starts[0] == 0 && hooks.starts[1] == 1 && hooks.starts[2] == 1);
  CHECK(hooks.ends[0] == 0 && hooks.ends[1] == 1 && hooks.ends[2] == 1);

  CHECK_OK(lockstep_team_create(NULL, &team)); /* as the environment says */
  CHECK(lockstep_team_size(team) >= 1);
  CHECK_OK(lockstep_team_destroy(team));

  CHECK_FAILS(lockstep_team_options_init(&options, 8), LOCKSTEP_ERROR_ARGUMENT, "sizeof(lockstep_team_options)");
  CHECK_OK(lockstep_team_options_init(&options, sizeof options));
  CHECK(options.size == sizeof options && options.members == 0 && options.name == NULL);

  options.members = 65537;
  team = (lockstep_team*)&options;
  CHECK_FAILS(lockstep_team_create(&options, &team), LOCKSTEP_ERROR_ARGUMENT, "65537");
  CHECK(team == NULL);
  options.members = 1;
  options.policy = -4;
  CHECK_FAILS(lockstep_team_create(&options, &team), LOCKSTEP_ERROR_ARGUMENT, "policy -4");
  options.policy = 1000; /* nanoseconds to spin */
  options.learn = 3;
  CHECK_FAILS(lockstep_team_create(&options, &team), LOCKSTEP_ERROR_ARGUMENT, "options.learn is 3");
  options.learn = LOCKSTEP_YES;
  options.bind = 6;
  CHECK_FAILS(lockstep_team_create(&options, &team), LOCKSTEP_ERROR_ARGUMENT, "options.bind is 6");
  options.bind = LOCKSTEP_BIND_CPUS;
  CHECK_FAILS(lockstep_team_create(&options, &team), LOCKSTEP_ERROR_ARGUMENT, "options.cpus");
  options.cpus = &absent_cpu;
  options.cpu_count = 1;
  CHECK_FAILS(lockstep_team_create(&options, &team), LOCKSTEP_ERROR_ARGUMENT, "CPU 100000, which this process may not use");
  options.cpus = cpus;
  options.cpu_count = (size_t)-1;
  CHECK_FAILS(lockstep_team_create(&options, &team), LOCKSTEP_ERROR_ARGUMENT, "options.cpu_count is ");
  options.cpu_count = 1;
  CHECK_OK(lockstep_team_create(&options, &team));
  CHECK_OK(lockstep_team_destroy(team));
  options.reserved = 1;
  CHECK_FAILS(lockstep_team_create(&options, &team), LOCKSTEP_ERROR_ARGUMENT, "options.reserved");
  options.reserved = 0;
  options.bind = LOCKSTEP_BIND_CLOSE;
  CHECK_OK(lockstep_team_create(&options, &team));
  CHECK_OK(lockstep_team_destroy(team));
  options.bind = LOCKSTEP_BIND_SPREAD;
  CHECK_OK(lockstep_team_create(&options, &team));
  CHECK_OK(lockstep_team_destroy(team));
  options.bind = LOCKSTEP_BIND_CORES;
  CHECK_OK(lockstep_team_create(&options, &team));
  CHECK_OK(lockstep_team_destroy(team));
  options.size = 0;
  CHECK_FAILS(lockstep_team_create(&options, &team), LOCKSTEP_ERROR_ARGUMENT, "options of 0 bytes");

  /* A program that knows later options. */
  memset(&newer, 0, sizeof newer);
  CHECK_OK(lockstep_team_options_init(&newer.known, sizeof newer));
  CHECK(newer.known.size == sizeof newer);
  newer.known.members = 1;
  CHECK_OK(lockstep_team_create(&newer.known, &team));
  CHECK_OK(lockstep_team_destroy(team));
  newer.later[15] = 1;
  CHECK_FAILS(lockstep_team_create(&newer.known, &team), LOCKSTEP_ERROR_ARGUMENT, "update it");
}

static void the_default_team_is_one(void) {
  struct seen seen = {{0}, 0, 0, 0, NULL, 0};
  lockstep_team *first, *second;
  CHECK_OK(lockstep_default_team(&first));
  CHECK_OK(lockstep_default_team(&second));
  CHECK(first == second && lockstep_team_size(first) >= 1);
  CHECK_OK(lockstep_team_run(first, count, &seen));
  CHECK(seen.calls[0] == 1);
  CHECK_FAILS(lockstep_team_destroy(first), LOCKSTEP_ERROR_USE, "never destroyed");
}

static void null_is_refused(void) {
  lockstep_team* team = check_team(1);
  CHECK_OK(lockstep_team_destroy(NULL));
  CHECK_OK(lockstep_team_destroy(team));
}

/* Threads of their own use one team at the same time, and have texts of their own. */
struct user {
  lockstep_team* team;
  int number, failures;
};
static int fail_with_number(lockstep_member* me, void* context) {
  return lockstep_member_rank(me) == 0 ? ((struct user*)context)->number : 0;
}
static void* use_in_thread(void* context) {
  struct user* user = context;
  char expected[64];
  int round;
  snprintf(expected, sizeof expected, "a callback has returned %d", user->number);
  if (lockstep_last_error()[0] != '\0') ++user->failures; /* a new thread has none */
  for (round = 0; round < 200; ++round) {
    if (lockstep_team_run(user->team, fail_with_number, user) != user->number) ++user->failures;
    if (strstr(lockstep_last_error(), expected) == NULL) ++user->failures;
  }
  return NULL;
}
static void threads_share_a_team(void) {
  struct user users[3];
  pthread_t threads[3];
  int i;
  lockstep_team* team = check_team(2);
  for (i = 0; i < 3; ++i) {
    users[i].team = team;
    users[i].number = i + 1;
    users[i].failures = 0;
    CHECK(pthread_create(&threads[i], NULL, use_in_thread, &users[i]) == 0);
  }
  for (i = 0; i < 3; ++i) {
    pthread_join(threads[i], NULL);
    CHECK(users[i].failures == 0);
  }
  CHECK_OK(lockstep_team_destroy(team));
}

static void codes_and_version_have_names(void) {
  char text[1024], small[4];
  size_t length = 0, whole = 0;
  CHECK(lockstep_c_version() == LOCKSTEP_C_VERSION);
  CHECK(strchr(lockstep_version(), '.') != NULL);
  CHECK(strcmp(lockstep_code_name(0), "LOCKSTEP_OK") == 0);
  CHECK(strcmp(lockstep_code_name(LOCKSTEP_ERROR_GRAPH), "LOCKSTEP_ERROR_GRAPH") == 0);
  CHECK(strcmp(lockstep_code_name(7), "callback result") == 0);
  CHECK(strcmp(lockstep_code_name(-7), "unknown code") == 0);
  CHECK(lockstep_usable_cpus() >= 1);
  CHECK_OK(lockstep_build_info(text, sizeof text, &length));
  CHECK(length == strlen(text) && strstr(text, lockstep_version()) != NULL);
  CHECK_OK(lockstep_build_info(NULL, 0, &whole));
  CHECK(whole == length);
  CHECK_OK(lockstep_build_info(small, sizeof small, &whole)); /* cut, and ended */
  CHECK(whole == length && strlen(small) == 3 && strncmp(small, text, 3) == 0);
  CHECK_OK(lockstep_build_info(small, 1, NULL));
  CHECK(small[0] == '\0');
}

int main(void) {
  CHECK(lockstep_last_error()[0] == '\0');
  regions_run_on_every_member_once(1);
  regions_run_on_every_member_once(2);
  regions_run_on_every_member_once(5);
  regions_run_on_every_member_once(17);
  results_of_callbacks_come_back(1);
  results_of_callbacks_come_back(3);
  a_region_that_is_stopped_says_so();
  another_thread_stops_a_region();
  inside_a_region_only_loops_and_regions_are_allowed();
  options_are_taken_and_checked();
  the_default_team_is_one();
  null_is_refused();
  threads_share_a_team();
  codes_and_version_have_names();
  return check_result();
}
