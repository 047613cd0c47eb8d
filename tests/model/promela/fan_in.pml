// SPDX-License-Identifier: MIT
// Two threads notify, and run ahead; one waits for both; one of the two may terminate in the end.
//
// Models: fan_in of include/lockstep/fan.hpp and src/toolbox/fan.cpp (notify, wait, terminate) on published_words of
// src/wait/published_words.hpp; see lib/board.inc for what is below, and for the memory.
//
// Checked: a wait returns only when each notifier has notified once more, so that a fast one does not stand
// in for a slow one; no notification is lost; nobody sleeps for ever; with terminate, every wait returns,
// the last one false; every thread ends, if no thread is forgotten by the scheduler.
// Bounds: 2 notifiers, 2 notifications each, 1 spurious return (3 nightly; 5 with the fence on both sides).
//
//@ variant asymmetric safety -DNOTIFICATIONS=2
//@ variant both safety -DNOTIFICATIONS=2 -DPAYER_BOTH
//@ variant terminated safety -DNOTIFICATIONS=2 -DWITH_TERMINATE
//@ variant terminated_both -DNOTIFICATIONS=2 -DWITH_TERMINATE -DPAYER_BOTH
//@ variant asymmetric_long nightly -DNOTIFICATIONS=3
//@ variant both_long nightly safety -DNOTIFICATIONS=5 -DPAYER_BOTH
//@ variant terminated_long nightly safety -DNOTIFICATIONS=3 -DWITH_TERMINATE
//@ bug fast_for_slow asymmetric assert -DBUG_FAST_FOR_SLOW -DMAY_SLEEP=false
//@ bug no_heavy_fence asymmetric end -DBUG_NO_HEAVY_FENCE
//@ bug no_second_look both end -DBUG_NO_SECOND_LOOK
//@ bug no_notifier_fence both end -DBUG_NO_NOTIFIER_FENCE
//@ bug terminate_forgets_a_mark terminated end -DBUG_TERMINATE_FORGETS_A_MARK
#define THREADS 3
#define WRITERS 2
#define SPURIOUS 1
#ifdef BUG_FAST_FOR_SLOW
#define REACHED(w, target) (SEEN(0) + SEEN(1) >= 2 * (target))
#endif
#include "lib/board.inc"

// With terminate the waiter waits in vain for notifier 1, which falls behind.
#ifdef WITH_TERMINATE
#define TO_MAKE (me == 0 -> NOTIFICATIONS : NOTIFICATIONS - 1)
#else
#define TO_MAKE NOTIFICATIONS
#endif

byte ended;

proctype notifier(byte me) {
  BOARD_LOCALS;
  byte made;
  do
  :: made == TO_MAKE -> break
  :: else ->
    advance(me);
    made++
  od;
#ifdef WITH_TERMINATE
  if
  :: me == 0 -> terminate()
  :: else
  fi;
#endif
  atomic { made = 0; ended++ }
}

proctype waiter(byte me) {
  BOARD_LOCALS;
  byte reached;
  do
#ifdef WITH_TERMINATE
  :: true ->
#else
  :: reached == NOTIFICATIONS -> break
  :: else ->
#endif
    wait_for_phase(0, reached + 1);
    wait_for_phase(1, reached + 1);
    if
    :: TERMINATED -> break
    :: else ->
      reached++;
      assert(own[0] >= reached && own[1] >= reached)
    fi
  od;
  atomic { reached = 0; ended++ }
}

init {
  atomic {
    holder[1] = 1;
    run notifier(0);
    run notifier(1);
    run waiter(2)
  }
}

ltl all_end { <> (ended == THREADS) }
