/* SPDX-License-Identifier: MIT
 * Handlers of pthread_atfork() that use teams. */
#define _DEFAULT_SOURCE 1 /* for vfork() */

#define FORK_USE use
#include "../../../tests/support/fork_handlers.h"
#include "check.h"

static int count_in(lockstep_member* me, void* context) {
  size_t* const calls = context;
  const int code = lockstep_member_sync_threads(me);
  ++calls[lockstep_member_rank(me)];
  return code;
}

static void region_on(lockstep_team* team, size_t members) {
  size_t calls[3] = {0, 0, 0};
  size_t rank;
  CHECK_OK(lockstep_team_run(team, count_in, calls));
  for (rank = 0; rank < members; ++rank) CHECK(calls[rank] == 1);
}

static int use(enum fork_use what) {
  static lockstep_team* team = NULL;
  switch (what) {
    case fork_region:
      region_on(team, 3);
      break;
    case fork_pause:
      CHECK_OK(lockstep_team_pause(team));
      region_on(team, 3);
      break;
    case fork_own_team: {
      lockstep_team* const own = check_team(2);
      region_on(own, 2);
      CHECK_OK(lockstep_team_destroy(own));
      break;
    }
    case fork_anew:
      CHECK_OK(lockstep_team_destroy(team));
      team = check_team(3);
      break;
    default:
      break;
  }
  return check_failures;
}

int main(void) { return fork_handlers("/proc/self/exe") != 0; }
