// SPDX-License-Identifier: MIT
// A team of three runs regions, and ends: fork, job, join, terminate.
//
// Models: announcement, return and end of regions, as src/region/region_board.hpp has them on one line of its tree,
// with words of forks (writer 0: the caller) and of joins (writers 1 and 2: the workers); see lib/board.inc for what
// is below, and for the memory. Claims, shares and the tree itself are explored on the shipped code.
// The job is written before the fork's phase and reaches memory before it does. A worker that reads it after that phase
// sees it, or a later one, which is excluded here. Not here: the queue of outside threads (sleeper_mark.pml), nested runs, exceptions.
//
// Checked: every member performs every region, once, with the region's own job, and the job is not
// overwritten while a worker may read it; run() returns after all have performed it; nobody sleeps for
// ever; every worker ends after the destructor has terminated the forks, and the destructor returns, if
// no thread is forgotten by the scheduler.
// Bounds: 3 members, 2 regions (3 nightly), no spurious return (1 nightly); `workers_sleep`: the caller only
// spins; `asymmetric`: of the members only one worker sleeps, and its fence reaches the awaited writer only.
//
//@ variant workers_sleep safety -DREGIONS=2 -DPAYER_BOTH -DFIRST_SLEEPER=1
//@ variant all_sleep safety -DREGIONS=1 -DPAYER_BOTH
//@ variant asymmetric -DREGIONS=2 -DFIRST_SLEEPER=1 -DLAST_SLEEPER=1 -DFENCE_OF_THE_AWAITED_ONLY
//@ variant both_long nightly -DREGIONS=2 -DPAYER_BOTH -DSPURIOUS=1
//@ variant both_regions nightly safety -DREGIONS=3 -DPAYER_BOTH
//@ variant asymmetric_long nightly safety -DREGIONS=2
//@ bug terminates_silently all_sleep end -DBUG_TERMINATES_SILENTLY
//@ bug terminate_does_not_look_again all_sleep end -DBUG_IGNORES_TERMINATE_BEFORE_SLEEP
//@ bug returns_without_join workers_sleep assert -DBUG_RETURNS_WITHOUT_JOIN
//@ bug joins_one_worker_only workers_sleep assert -DBUG_JOINS_ONE_WORKER_ONLY
//@ bug reports_before_work workers_sleep assert -DBUG_REPORTS_BEFORE_WORK
//@ bug wake_one all_sleep end -DBUG_WAKE_ONE
//@ bug notifier_looks_first asymmetric end -DBUG_LOOK_BEFORE_STORE
//@ bug no_sleeper_fence all_sleep end -DBUG_NO_SLEEPER_FENCE
#define THREADS 3
#define WRITERS 3
#ifndef SPURIOUS
#define SPURIOUS 0
#endif
#ifndef FIRST_SLEEPER
#define FIRST_SLEEPER 0
#endif
#ifndef LAST_SLEEPER
#define LAST_SLEEPER 2
#endif
#define MAY_SLEEP (me >= FIRST_SLEEPER && me <= LAST_SLEEPER)
#define WITH_TERMINATE
#include "lib/board.inc"

byte job;                // the number of the region it belongs to
byte performed[THREADS]; // regions
byte working, workers_ended;
bool ended;

inline perform() {
  atomic { working++; assert(job == performed[me] + 1) };
  atomic { working--; assert(job == performed[me] + 1); performed[me]++ }
}

inline run_region() {
  atomic { assert(working == 0); job++ };
  advance(0);
  perform();
#ifndef BUG_RETURNS_WITHOUT_JOIN
  wait_for_phase(1, performed[0]);
#ifndef BUG_JOINS_ONE_WORKER_ONLY
  wait_for_phase(2, performed[0]);
#endif
#endif
  assert(performed[1] == performed[0] && performed[2] == performed[0])
}

proctype caller(byte me) {
  BOARD_LOCALS;
  do
  :: performed[0] == REGIONS -> break
  :: else -> run_region()
  od;
  terminate();
  (workers_ended == 2);  // the native joins
  ended = true
}

proctype worker(byte me) {
  BOARD_LOCALS;
  do
  :: true ->
    wait_for_phase(0, performed[me] + 1);
    if
    :: TERMINATED -> break
    :: else
    fi;
#ifdef BUG_REPORTS_BEFORE_WORK
    advance(me);
    perform()
#else
    perform();
    advance(me)
#endif
  od;
  atomic { assert(performed[me] == REGIONS); workers_ended++ }
}

init {
  atomic {
    holder[1] = 1;
    holder[2] = 2;
    run caller(0);
    run worker(1);
    run worker(2)
  }
}

ltl all_end { <> ended }
