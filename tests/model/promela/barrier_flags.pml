// SPDX-License-Identifier: MIT
// Barrier up to 8 participants: each publishes its phase on its own line and waits for all others.
//
// Models: the flags of src/wait/ranked_phases.hpp on published_words of src/wait/published_words.hpp; see lib/board.inc
// for what is below, and for the memory.
// A fast thread laps into the next phase while others still wake up, or look, in this one.
//
// Checked: RANKED-1, no thread returns from phase p before all have arrived in it, and then every phase is p or
// p + 1; no thread sleeps for ever; every thread ends, if no thread is forgotten by the scheduler.
// Bounds: 3 participants, 2 phases, and 2 participants, 4 phases; of 3 participants only SLEEPERS sleep,
// the others spin (nightly all sleep). `both`: the fence on both sides; else the sleeper pays alone, with a
// fence that reaches the awaited writer only, which promises less than the system's barrier.
//
//@ variant three_both safety -DTHREADS=3 -DPHASES=2 -DSLEEPERS=2 -DPAYER_BOTH
//@ variant three_asymmetric safety -DTHREADS=3 -DPHASES=2 -DSLEEPERS=1
//@ variant two_both -DTHREADS=2 -DPHASES=4 -DSLEEPERS=2 -DPAYER_BOTH
//@ variant two_asymmetric -DTHREADS=2 -DPHASES=4 -DSLEEPERS=2
//@ variant sleepers_both nightly -DTHREADS=3 -DPHASES=2 -DSLEEPERS=3 -DPAYER_BOTH
//@ variant sleepers_asymmetric nightly safety -DTHREADS=3 -DPHASES=2 -DSLEEPERS=3
//@ variant phases_both nightly safety -DTHREADS=3 -DPHASES=3 -DSLEEPERS=2 -DPAYER_BOTH
//@ bug mark_is_a_flag three_both end -DBUG_MARK_IS_A_FLAG
//@ bug no_second_look two_asymmetric end -DBUG_NO_SECOND_LOOK
//@ bug no_notifier_fence two_both end -DBUG_NO_NOTIFIER_FENCE
//@ bug no_sleeper_fence two_both end -DBUG_NO_SLEEPER_FENCE
//@ bug wake_one three_both end -DBUG_WAKE_ONE
//@ bug waits_for_all_but_one three_both assert -DBUG_WAITS_FOR_ALL_BUT_ONE
#define FENCE_OF_THE_AWAITED_ONLY
#define WRITERS THREADS
#define SPURIOUS 0
#define MAY_SLEEP (me < SLEEPERS)
#include "lib/board.inc"

byte ended;

proctype participant(byte me) {
  BOARD_LOCALS;
  byte reached, at, writer;
  do
  :: reached == PHASES -> break
  :: else ->
    advance(me);
    atomic { at = 1; writer = (me + 1) % THREADS };
#ifdef BUG_WAITS_FOR_ALL_BUT_ONE
    at = 2;
#endif
    do
    :: at == THREADS -> break
    :: else ->
      wait_for_phase(writer, reached + 1);
      atomic { at++; writer = (writer + 1) % THREADS }
    od;
    atomic {
      writer = 0; at = 0;
      reached++;
      // own[t] is in how many phases t has arrived
      assert(own[0] >= reached && own[1] >= reached && own[THREADS - 1] >= reached);
      assert(own[0] <= reached + 1 && own[1] <= reached + 1 && own[THREADS - 1] <= reached + 1)
    }
  od;
  atomic { reached = 0; ended++ }
}

init {
  atomic {
    run participant(0);
    run participant(1);
#if THREADS > 2
    run participant(2)
#endif
  }
}

ltl all_end { <> (ended == THREADS) }
