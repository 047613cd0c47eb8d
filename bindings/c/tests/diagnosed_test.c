/* SPDX-License-Identifier: MIT
 * A library that is built with LOCKSTEP_C_DIAGNOSE_MISUSE ends the program at a wrong use, and says which. */
#include <signal.h>
#include <stdlib.h>

#include "check.h"

static int return_early(lockstep_member* me, void* context) {
  (void)context;
  return lockstep_member_rank(me) == 1 ? 0 : lockstep_member_sync_threads(me);
}

/* The test passes by what is said; ctest takes a program that is ended by a signal for a failure. */
static void say(int number) {
  (void)number;
  fputs("SIGABRT\n", stderr);
  _Exit(0);
}

int main(void) {
  signal(SIGABRT, say);
  return lockstep_team_run(check_team(2), return_early, NULL);
}
