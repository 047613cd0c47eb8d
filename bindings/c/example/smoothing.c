/* SPDX-License-Identifier: MIT
 * A rod is held at 1 at one end and at 0 at the other. Each step replaces each inner value by the mean of its neighbours,
 * until the largest change is small. One region for all steps: each member keeps its block, and one barrier with a maximum
 * in it ends a step.
 *
 *   cc smoothing.c $(pkg-config --cflags --libs lockstep-c) -lm && ./a.out
 */
#include <math.h>
#include <stdio.h>

#include <lockstep.h>

enum { n = 102 };

struct rod {
  double x[2][n]; /* read and written in turn */
  double tolerance;
  int steps, newest;
};

static int smooth(lockstep_member* me, void* context) {
  struct rod* rod = context;
  int64_t first, last;
  int from = 0, steps = 0, code;
  double change;
  if ((code = lockstep_member_block(me, 1, n - 1, &first, &last)) != 0) return code;
  do {
    const double* x = rod->x[from];
    double* next = rod->x[1 - from];
    double mine = 0;
    int64_t i;
    for (i = first; i < last; ++i) {
      next[i] = 0.5 * (x[i - 1] + x[i + 1]);
      mine = fmax(mine, fabs(next[i] - x[i]));
    }
    /* From here on all members see all values, and have the same change. */
    if ((code = lockstep_member_sync_double(me, LOCKSTEP_MAX, mine, &change)) != 0) return code;
    from = 1 - from;
    ++steps;
  } while (change >= rod->tolerance);
  if (lockstep_member_rank(me) == 0) {
    rod->steps = steps;
    rod->newest = from;
  }
  return 0;
}

static int add_up(int64_t first, int64_t last, double* sum, void* context) {
  const struct rod* rod = context;
  for (; first < last; ++first) *sum += rod->x[rod->newest][first];
  return 0;
}

int main(void) {
  static struct rod rod;
  lockstep_team* team;
  double sum = 0;
  int code;
  rod.x[0][0] = rod.x[1][0] = 1;
  rod.tolerance = 1e-7;
  code = lockstep_team_create(NULL, &team); /* one member per usable CPU */
  if (code == 0) code = lockstep_team_run(team, smooth, &rod);
  if (code == 0) code = lockstep_team_reduce_double(team, 0, n, LOCKSTEP_SUM, add_up, &rod, &sum);
  if (code != 0) {
    fprintf(stderr, "%s\n", lockstep_last_error());
    return 1;
  }
  printf("%d steps, sum %f\n", rod.steps, sum);
  return lockstep_team_destroy(team);
}
