// SPDX-License-Identifier: MIT
// Barrier above 8 participants: each thread counts itself in, the last one publishes the phase of all.
//
// Models: a node of the tree of src/wait/ranked_phases.hpp, which has all participants, on published_words of
// src/wait/published_words.hpp; see lib/board.inc for what is below, and for the memory.
// The store that sets arrived_ back is made at once: no thread looks at arrived_ before the advance after it,
// and the store reaches memory before the advance does.
//
// Checked: RANKED-1, no thread returns from phase p before all have arrived in it, and every phase is p or p + 1
// then; RANKED-3; no thread sleeps for ever; every thread ends, if no thread is forgotten by the scheduler.
// Bounds: 3 participants, 2 phases (3 nightly), no spurious return (1 nightly).
//
//@ variant both -DPHASES=2 -DPAYER_BOTH
//@ variant asymmetric safety -DPHASES=2
//@ variant both_long nightly -DPHASES=4 -DPAYER_BOTH -DSPURIOUS=1
//@ variant asymmetric_long nightly -DPHASES=3 -DSPURIOUS=1
//@ bug resets_after_advance both assert -DBUG_RESETS_AFTER_ADVANCE
//@ bug counts_in_two_steps both end -DBUG_COUNTS_IN_TWO_STEPS
//@ bug mark_is_a_flag both end -DBUG_MARK_IS_A_FLAG
//@ bug wake_one both end -DBUG_WAKE_ONE
//@ bug no_heavy_fence asymmetric end -DBUG_NO_HEAVY_FENCE
//@ bug notifier_looks_first asymmetric end -DBUG_LOOK_BEFORE_STORE
#define THREADS 3
#define WRITERS 1
#ifndef SPURIOUS
#define SPURIOUS 0
#endif
#include "lib/board.inc"

byte arrived, ended;
byte arrivals[THREADS];

inline arrive() {
  atomic {
    arrivals[me]++;
    before = arrived;
#ifdef BUG_COUNTS_IN_TWO_STEPS
  };
  atomic {
    arrived = before + 1;
#else
    arrived++;
#endif
    assert(arrived <= THREADS)
  };
  if
  :: before + 1 == THREADS ->
#ifdef BUG_RESETS_AFTER_ADVANCE
    advance(0);
    arrived = 0
#else
    arrived = 0;
    advance(0)
#endif
  :: else
  fi
}

proctype participant(byte me) {
  BOARD_LOCALS;
  byte reached, before;
  do
  :: reached == PHASES -> break
  :: else ->
    arrive();
    wait_for_phase(0, reached + 1);
    atomic {
      before = 0;
      reached++;
      assert(arrivals[0] >= reached && arrivals[1] >= reached && arrivals[2] >= reached);
      assert(own[0] == reached)  // not p + 1 before this thread arrives again
    }
  od;
  atomic { reached = 0; ended++ }
}

init { atomic { run participant(0); run participant(1); run participant(2) } }

ltl all_end { <> (ended == THREADS) }
