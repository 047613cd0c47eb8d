// SPDX-License-Identifier: MIT
// One thread locks once, against two that lock and unlock for ever, and one that gives up at deadlines.
//
// Models: mutex of include/lockstep/mutex.hpp; see lib/mutex.inc, lib/parking.inc and lib/futex.inc.
//
// Checked: MUTEX-1, mutual exclusion; MUTEX-2, a queue that is not empty is marked in the word; MUTEX-3, at most one
// thread is on its way; MUTEX-4, a thread that queues up behind p others is overtaken at most
// (p + 1) * (bypass_limit + 1) times by others than these; nobody sleeps for ever; once it has queued up,
// the thread that locks once gets the lock, however fast the others are, if no thread is forgotten by the
// scheduler. (Before that, its compare-exchange and the queue's lock may fail for ever in theory.)
// Bounds: 3 threads, bypass_limit 1 (2 nightly), no end of rounds. `timed`: the third has a deadline
// once (nightly: always; then progress is not checked, because the lock of the queue is not a fair one).
//
//@ variant three -DLIMIT=1
//@ variant timed safety -DLIMIT=1 -DDEADLINES=1
//@ variant timed_twice nightly -DLIMIT=1 -DDEADLINES=2
//@ variant timed_for_ever nightly safety -DLIMIT=1 -DDEADLINES=255
//@ variant more_bypasses nightly -DLIMIT=2 -DDEADLINES=1 -DSPURIOUS=1
//@ bug unlock_looks_first three end -DBUG_UNLOCK_LOOKS_FIRST
//@ bug enqueues_blindly three end -DBUG_ENQUEUES_BLINDLY
//@ bug no_reservation three assert -DBUG_NO_RESERVATION
//@ bug no_reservation_starves three cycle -DBUG_NO_RESERVATION -DNO_BOUND
//@ bug wakes_two three assert -DBUG_WAKES_TWO
//@ bug parked_sleeps_unannounced three end -DBUG_PARKED_SLEEPS_UNANNOUNCED
//@ bug comes_back_silently three end -DBUG_COMES_BACK_SILENTLY
//@ bug leaves_the_bit_clear timed assert -DBUG_LEAVES_THE_BIT_CLEAR
//@ unreached assert\(\(overtaken  (where the lock is taken from an idle word)
#define THREADS 3
#ifndef DEADLINES
#define DEADLINES 0
#endif
#ifndef SPURIOUS
#define SPURIOUS 0
#endif

// Of thread 0, which locks once: how many stood before it when it queued up, how often it was overtaken.
byte before, overtaken;
byte holders;
bool waits, has_locked;
#ifdef NO_BOUND
#define COUNT_OVERTAKING
#else
#define COUNT_OVERTAKING \
  if \
  :: me != 0 && waits -> overtaken++; assert(overtaken <= (before + 1) * (LIMIT + 1) + before) \
  :: else \
  fi
#endif
#define ACQUIRED holders++; COUNT_OVERTAKING
#define QUEUED \
  if \
  :: me == 0 -> waits = true; before = len(queue) - 1 + ((word & WAKING) != 0 -> 1 : 0) \
  :: else \
  fi

#include "lib/mutex.inc"

inline hold() {
  assert(holders == 1);
  atomic { assert(queue_lock || QUEUE_IS_MARKED); holders-- };
  taken = false;
  unlock()
}

proctype user(byte me; byte deadlines) {
  MUTEX_LOCALS;
end:
  do
  :: if
     :: deadlines > 0 -> timed = true; if :: deadlines < 255 -> deadlines-- :: else fi
     :: else
     fi;
     lock();
     timed = false;
     if
     :: taken && me != 0 -> hold()
     :: taken && me == 0 ->
       atomic { has_locked = true; waits = false; before = 0; overtaken = 0 };
       hold();
       break
     :: else
     fi
  od
}

init {
  atomic {
    run user(0, 0);
    run user(1, 0);
    run user(2, DEADLINES)
  }
}

ltl gets_the_lock { [] (waits -> <> has_locked) }
