// SPDX-License-Identifier: MIT
// Three threads lock and unlock the lock of the library's queues.
//
// Models: short_lock (lock, unlock, attempt) and word_waiter::sleep of src/wait/wait_engine.hpp; futex:
// lib/futex.inc. One word, changed by read-modify-writes: one memory for all is exact. This is why the other models may have an ideal lock.
//
// Checked: mutual exclusion; nobody sleeps for ever; every thread ends, if none is forgotten by the
// scheduler (each locks a bounded number of times: the lock is not fair).
// Bounds: 3 threads, 2 times each (4 times, and 4 threads, nightly), 1 spurious return.
//
//@ variant three -DTHREADS=3 -DTIMES=2
//@ variant three_long nightly -DTHREADS=3 -DTIMES=4
//@ variant four nightly -DTHREADS=4 -DTIMES=2
//@ bug takes_as_held three end -DBUG_TAKES_AS_HELD
//@ bug unlock_looks_first three end -DBUG_UNLOCK_LOOKS_FIRST
//@ bug announces_by_store three end -DBUG_ANNOUNCES_BY_STORE
//@ bug takes_in_two_steps three assert -DBUG_TAKES_IN_TWO_STEPS
#define SPURIOUS 1
#define WORD 0
#include "lib/futex.inc"

#define SLEEPING 1
#define FREE 0
#define HELD 2
#define SLEPT_ON (HELD | SLEEPING)

byte word, holders, ended;

inline ready() {
#ifdef BUG_TAKES_IN_TWO_STEPS
  if
  :: word == FREE -> word = take_as; taken = true
  :: else
  fi
#else
  atomic { if :: word == FREE -> word = take_as; taken = true :: else fi }
#endif
}

inline sleep() {
  seen = word;
  if
  :: seen == FREE -> skip
  :: else ->
#ifndef BUG_TAKES_AS_HELD
    take_as = SLEPT_ON;
#endif
    is_marked = true;
    if
    :: (seen & SLEEPING) != 0 -> skip
    :: else ->
#ifdef BUG_ANNOUNCES_BY_STORE
      word = seen | SLEEPING
#else
      atomic { is_marked = (word == seen); if :: is_marked -> word = seen | SLEEPING :: else fi }
#endif
    fi;
    if
    :: is_marked -> futex_wait(word, WORD, (seen | SLEEPING), false, unused)
    :: else
    fi
  fi
}

inline lock() {
  do
  :: taken -> break
  :: else ->
    ready();
    if
    :: taken -> break
    :: else -> sleep()
    fi
  od
}

inline unlock() {
#ifdef BUG_UNLOCK_LOOKS_FIRST
  old = word;
  word = FREE;
#else
  atomic { old = word; word = FREE };
#endif
  if
  :: old == SLEPT_ON -> futex_wake_one(WORD)
  :: else
  fi;
  old = 0
}

proctype thread(byte me) {
  byte times, take_as, old, seen;
  bool taken, is_marked, unused;
  do
  :: times == TIMES -> break
  :: else ->
    take_as = HELD;
    lock();
    holders++;
    assert(holders == 1);
    holders--;
    atomic { taken = false; is_marked = false; take_as = 0; seen = 0 };
    unlock();
    times++
  od;
  atomic { times = 0; ended++ }
}

init {
  atomic {
    run thread(0);
    run thread(1);
    run thread(2);
#if THREADS > 3
    run thread(3)
#endif
  }
}

ltl all_end { <> (ended == THREADS) }
