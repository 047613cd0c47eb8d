// SPDX-License-Identifier: MIT
// One thread notifies, and runs ahead; two wait; it may terminate in the end.
//
// Models: fan_out of include/lockstep/fan.hpp and src/toolbox/fan.cpp (notify, wait, terminate) on published_words of
// src/wait/published_words.hpp; see lib/board.inc for what is below, and for the memory.
//
// Checked: a wait returns only for a notification that was made; none is lost; nobody sleeps for ever;
// with terminate, every wait returns, the last ones false; every thread ends, if no thread is forgotten.
// Bounds: 2 waiters, 2 notifications (1 with terminate), 1 spurious return (3 to 5, nightly).
//
//@ variant asymmetric safety -DNOTIFICATIONS=2
//@ variant both safety -DNOTIFICATIONS=2 -DPAYER_BOTH
//@ variant terminated safety -DNOTIFICATIONS=1 -DWITH_TERMINATE
//@ variant terminated_both -DNOTIFICATIONS=1 -DWITH_TERMINATE -DPAYER_BOTH
//@ variant asymmetric_long nightly -DNOTIFICATIONS=4
//@ variant both_long nightly -DNOTIFICATIONS=5 -DPAYER_BOTH
//@ variant terminated_long nightly -DNOTIFICATIONS=3 -DWITH_TERMINATE
//@ bug wake_one asymmetric end -DBUG_WAKE_ONE
//@ bug no_heavy_fence asymmetric end -DBUG_NO_HEAVY_FENCE
//@ bug no_wake both end -DBUG_NO_WAKE
//@ bug no_notifier_fence both end -DBUG_NO_NOTIFIER_FENCE
//@ bug terminates_silently terminated end -DBUG_TERMINATES_SILENTLY
#define THREADS 3
#define WRITERS 1
#define SPURIOUS 1
#include "lib/board.inc"

byte ended;

proctype notifier(byte me) {
  BOARD_LOCALS;
  byte made;
  do
  :: made == NOTIFICATIONS -> break
  :: else ->
    advance(0);
    made++
  od;
#ifdef WITH_TERMINATE
  terminate();
#endif
  atomic { made = 0; ended++ }
}

proctype waiter(byte me) {
  BOARD_LOCALS;
  byte reached;
  do
#ifndef WITH_TERMINATE
  :: reached == NOTIFICATIONS -> break
#endif
#ifdef WITH_TERMINATE
  :: true ->
#else
  :: else ->
#endif
    wait_for_phase(0, reached + 1);
    if
    :: TERMINATED -> break
    :: else ->
      reached++;
      assert(own[0] >= reached)
    fi
  od;
  atomic { reached = 0; ended++ }
}

init { atomic { run notifier(0); run waiter(1); run waiter(2) } }

ltl all_end { <> (ended == THREADS) }
