/* SPDX-License-Identifier: MIT
 * tests/support/fork_handlers.h -- programs whose handlers of fork() use the library, for C++, C and OpenMP
 *
 * A program defines FORK_USE, a function that does one thing with the library, and calls fork_handlers() as its main().
 * Each case is a process of its own, which registers its handlers once: the program called again. */
#ifndef FORK_HANDLERS_H
#define FORK_HANDLERS_H

#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* What is done. */
enum fork_use { fork_nothing, fork_region, fork_pause, fork_own_team, fork_anew, fork_uses };
static const char* const fork_use_names[] = {"nothing", "a region", "a pause", "a team of its own",
                                             "another team"};

/* 0 if it went well. fork_anew ends the team of the program and makes another; fork_own_team makes, uses and ends one. */
static int FORK_USE(enum fork_use what);

enum fork_time { fork_by_constructor, fork_in_main, fork_after_use, fork_times };
static const char* const fork_time_names[] = {"by a constructor", "in main()",
                                              "after the first region"};
enum fork_place { fork_prepare, fork_parent, fork_child, fork_everywhere, fork_places };
static const char* const fork_place_names[] = {"before fork()", "in the parent", "in the child",
                                               "in all handlers"};
enum fork_caller { fork_by_main, fork_by_thread, fork_callers };
static const char* const fork_caller_names[] = {"main()", "another thread"};

static struct {
  enum fork_time time;
  enum fork_place place;
  enum fork_use use;
  enum fork_caller caller;
} fork_case;
static int fork_handler_calls, fork_failures;

static void fork_handle(enum fork_place here) {
  ++fork_handler_calls;
  if (fork_case.place == here || fork_case.place == fork_everywhere)
    fork_failures += FORK_USE(fork_case.use) != 0;
}
static void fork_before(void) { fork_handle(fork_prepare); }
static void fork_in_parent(void) { fork_handle(fork_parent); }
static void fork_in_child(void) {
  alarm(100); /* what hangs ends by a signal */
  fork_handle(fork_child);
}
static void fork_register(enum fork_time now) {
  if (fork_case.time == now) pthread_atfork(fork_before, fork_in_parent, fork_in_child);
}

/* The case is in the environment, which constructors see as well. */
__attribute__((constructor)) static void fork_read_case(void) {
  const char* const text = getenv("LOCKSTEP_TEST_FORK_CASE");
  int time, place, use, caller;
  if (text == NULL || sscanf(text, "%d %d %d %d", &time, &place, &use, &caller) != 4) return;
  fork_case.time = (enum fork_time)time;
  fork_case.place = (enum fork_place)place;
  fork_case.use = (enum fork_use)use;
  fork_case.caller = (enum fork_caller)caller;
  fork_register(fork_by_constructor);
}

static int fork_status_of(pid_t child) {
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

static void* fork_and_wait(void* unused) {
  const pid_t child = fork();
  if (child == 0)
    _exit(FORK_USE(fork_region) != 0 || FORK_USE(fork_own_team) != 0 || fork_failures != 0);
  fork_failures += fork_status_of(child) != 0;
  return unused;
}

static void fork_otherwise(void) {
  char name[] = "true";
  char* const arguments[] = {name, NULL};
  char* const variables[] = {NULL};
  pid_t child = vfork();
  if (child == 0) {
    execve("/bin/true", arguments, variables);
    _exit(9);
  }
  fork_failures += fork_status_of(child) != 0;
  fork_failures += posix_spawn(&child, "/bin/true", NULL, NULL, arguments, variables) != 0;
  fork_failures += fork_status_of(child) != 0;
}

/* In the process of a case. */
static int fork_run_case(void) {
  int i;
  alarm(100);
  fork_register(fork_in_main);
  fork_failures += FORK_USE(fork_anew) != 0 || FORK_USE(fork_region) != 0;
  fork_register(fork_after_use);
  for (i = 0; i < 3; ++i) {
    if (fork_case.caller == fork_by_main) {
      fork_and_wait(NULL);
    } else {
      pthread_t thread;
      pthread_create(&thread, NULL, fork_and_wait, NULL);
      pthread_join(thread, NULL);
    }
    fork_failures += FORK_USE(fork_region) != 0;
    fork_otherwise();
  }
  fork_failures += FORK_USE(fork_region) != 0;
  fork_failures += fork_handler_calls < 6; /* two in the parent, at each fork() */
  return fork_failures != 0;
}

static int fork_call_again(const char* program, const char* text) {
  const pid_t child = fork();
  if (child == 0) {
    setenv("LOCKSTEP_TEST_FORK_CASE", text, 1);
    execl(program, program, (char*)NULL);
    _exit(127);
  }
  return fork_status_of(child);
}

/* The number of cases that failed. Says on stderr which. */
static int fork_handlers(const char* program) {
  int time, place, use, caller, wrong = 0;
  if (getenv("LOCKSTEP_TEST_FORK_CASE") != NULL) return fork_run_case();
  for (time = 0; time < fork_times; ++time)
    for (place = 0; place < fork_places; ++place)
      for (use = fork_region; use < fork_uses; ++use)
        for (caller = 0; caller < fork_callers; ++caller) {
          char text[80];
          int status;
          snprintf(text, sizeof text, "%d %d %d %d", time, place, use, caller);
          status = fork_call_again(program, text);
          if (status == 0) continue;
          ++wrong;
          fprintf(stderr, "registered %s, %s %s, fork() by %s: status %#x\n", fork_time_names[time],
                  fork_use_names[use], fork_place_names[place], fork_caller_names[caller],
                  (unsigned)status);
        }
  return wrong;
}

#endif
