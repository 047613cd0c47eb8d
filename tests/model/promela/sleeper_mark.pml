// SPDX-License-Identifier: MIT
// Three threads take turns; each waits for the one before it. All sleep on one mark, and all notify.
//
// Models: turns by a number, on the mark of src/wait/published_words.hpp, wait_engine and process_fence; see
// lib/board.inc for these and for the memory. (Callers of a team queue otherwise: src/region/turns.hpp.)
// The notifier of a turn meets sleepers of the next ones, and other notifiers: the mark must step.
//
// The variant 'both' has the fence on both sides (fence_payer::both); 'refused' has a system that may
// refuse its barrier at any time, and then sleeps are timed.
//
// Checked: one thread at a time has its turn; nobody sleeps for ever; every thread ends, if no thread is
// forgotten by the scheduler (so every wait returns).
// Bounds: 3 threads, 4 turns in all (6 nightly), 1 spurious return.
//
//@ variant asymmetric -DTURNS=4
//@ variant refused -DTURNS=3 -DWITH_REFUSED_BARRIER
//@ variant both -DTURNS=4 -DPAYER_BOTH
//@ variant asymmetric_long nightly -DTURNS=6
//@ variant refused_long nightly -DTURNS=5 -DWITH_REFUSED_BARRIER
//@ variant both_long nightly -DTURNS=6 -DPAYER_BOTH
//@ bug no_heavy_fence asymmetric end -DBUG_NO_HEAVY_FENCE
//@ bug notifier_looks_first asymmetric end -DBUG_LOOK_BEFORE_STORE
//@ bug no_second_look asymmetric end -DBUG_NO_SECOND_LOOK
//@ bug mark_is_a_flag asymmetric end -DBUG_MARK_IS_A_FLAG
//@ bug wake_before_step asymmetric end -DBUG_WAKE_BEFORE_STEP
//@ bug wake_one asymmetric end -DBUG_WAKE_ONE
//@ bug refused_sleeps_long refused end -DBUG_REFUSED_SLEEPS_LONG
//@ bug no_notifier_fence both end -DBUG_NO_NOTIFIER_FENCE
//@ bug no_sleeper_fence both end -DBUG_NO_SLEEPER_FENCE
//@ bug flag_with_both both cycle -DBUG_MARK_IS_A_FLAG
#define THREADS 3
#define WRITERS 1
#define SPURIOUS 1
#define REACHED(w, target) (SEEN(w) == target)
#include "lib/board.inc"

byte ended, having_turn;

proctype thread(byte me) {
  BOARD_LOCALS;
  byte number = me;  // tickets.fetch_add, in the order of the threads
  do
  :: number >= TURNS -> break
  :: else ->
    wait_for_phase(0, number);
    having_turn++;
    assert(having_turn == 1);
    having_turn--;
    advance(0);
    number = number + THREADS
  od;
  atomic { number = 0; ended++ }
}

init { atomic { run thread(0); run thread(1); run thread(2) } }

ltl all_end { <> (ended == THREADS) }
