// SPDX-License-Identifier: MIT
// Three threads want permits, one of them until a deadline; others release them.
//
// Models: counting_semaphore of include/lockstep/semaphore.hpp (release) and queued_word of src/wait/parking_lot.hpp
// (try_take, take_as, leave, serve: here enqueue and hand_over); see lib/parking.inc for the queue. A try that fails changes
// nothing: the tries while a thread lingers are one try, made later. A thread that leaves the queue also hands over in
// the shipped code, which no waiter relies on: all want the same.
//
// Checked: SEMAPHORE-1, permits are neither made nor lost; SEMAPHORE-2, the bit is set exactly while the queue is not
// empty; a permit is not lost to a thread whose time is up; nobody sleeps for ever, every thread ends, if no
// thread is forgotten by the scheduler: there is a permit for each that waits without a deadline.
// Bounds: 2 acquirers without a deadline, 1 with, which gives back what it gets; 1 permit at first, 1
// released by another thread; no spurious return (1 nightly).
//
//@ variant released
//@ variant released_spuriously nightly -DSPURIOUS=1
//@ bug hands_over_nothing released end -DBUG_RELEASES_SILENTLY
//@ bug enqueues_blindly released end -DBUG_ENQUEUES_BLINDLY
//@ bug looks_before_change released end -DBUG_LOOKS_BEFORE_CHANGE
//@ bug leaves_the_bit_clear released assert -DBUG_LEAVES_THE_BIT_CLEAR
//@ bug time_out_eats_permit released end -DBUG_TIME_OUT_EATS_PERMIT
//@ bug parked_sleeps_unannounced released end -DBUG_PARKED_SLEEPS_UNANNOUNCED
//@ unreached . (each role uses some of what is inlined in it)
#define THREADS 3
#ifndef SPURIOUS
#define SPURIOUS 0
#endif
#include "lib/parking.inc"

#define WAITING 1
#define ONE 2

byte word = ONE;
bool queue_lock;
chan queue = [THREADS] of { byte };
byte held, given, ended;  // permits: with threads, by releases
#define LOCALS PARKING_LOCALS; byte seen, next, served, woken; bool taken, left

inline try_acquire() {
  atomic {
    if
    :: word >= ONE && (word & WAITING) == 0 -> word = word - ONE; taken = true
    :: else
    fi
  }
}

inline enqueue() {
  lock_queue(queue_lock);
  do
  :: true ->
#ifndef BUG_ENQUEUES_BLINDLY
    try_acquire();
#endif
    if
    :: taken -> break
    :: else ->
      seen = word;
      if
#ifdef BUG_ENQUEUES_BLINDLY
      :: atomic { true -> word = word | WAITING; queue ! me }; break
#else
      :: seen >= ONE && (seen & WAITING) == 0
      :: atomic { (seen < ONE || (seen & WAITING) != 0) && word == seen -> word = seen | WAITING; queue ! me };
        break
      :: (seen < ONE || (seen & WAITING) != 0) && word != seen
#endif
      fi
    fi
  od;
  seen = 0;
  unlock_queue(queue_lock)
}

inline leave() {
  lock_queue(queue_lock);
  if
  :: queue ?? [eval(me)] ->
    atomic { queue ?? eval(me); left = true };
#ifdef BUG_LEAVES_THE_BIT_CLEAR
    atomic { word = word & ~WAITING }
#else
    seen = word;
    do
    :: nempty(queue) -> break
    :: empty(queue) ->
      if
      :: atomic { word == seen -> word = seen & ~WAITING }; break
      :: word != seen -> seen = word
      fi
    od
#endif
  :: else
#ifdef BUG_TIME_OUT_EATS_PERMIT
    -> left = true
#endif
  fi;
  seen = 0;
  assert((word & WAITING) != 0 || empty(queue));
  unlock_queue(queue_lock)
}

inline acquire() {
  try_acquire();
  if
  :: taken
  :: else ->
    enqueue();
    if
    :: taken
    :: else ->
      wait_parked();
      if
      :: notified -> taken = true
      :: else -> leave(); taken = !left
      fi
    fi
  fi;
  left = false; notified = false; past = false
}

inline release() {
#ifdef BUG_LOOKS_BEFORE_CHANGE
  seen = word;
  word = word + ONE;
#else
  atomic { seen = word; word = word + ONE };
#endif
#ifndef BUG_RELEASES_SILENTLY
  if
  :: (seen & WAITING) != 0 -> hand_over()
  :: else
  fi;
#endif
  seen = 0
}

// The chosen are woken after the queue's lock is free; `woken` has a bit for each.
inline hand_over() {
  lock_queue(queue_lock);
  if
  :: empty(queue)
  :: nempty(queue) ->
    do
    :: true ->
      seen = word;
      atomic { served = (seen / ONE < len(queue) -> seen / ONE : len(queue)) };
      if
      :: d_step { word == seen ->
           word = (seen - served * ONE) & ~(served == len(queue) -> WAITING : 0) }; break
      :: word != seen
      fi
    od;
    do
    :: served == 0 -> break
    :: served > 0 ->
      atomic { queue ? next; served-- };
      notify_parked(next);
      atomic { if :: sleeps -> woken = woken | (1 << next) :: else fi; sleeps = false; next = 0 }
    od
  fi;
  assert((word & WAITING) != 0 || empty(queue));
  unlock_queue(queue_lock);
  do
  :: woken == 0 -> break
  :: (woken & 1) != 0 -> futex_wake_all(0); woken = woken & ~1
  :: (woken & 2) != 0 -> futex_wake_all(1); woken = woken & ~2
  :: (woken & 4) != 0 -> futex_wake_all(2); woken = woken & ~4
  od
}

proctype acquirer(byte me) {
  LOCALS;
  acquire();
  atomic { assert(taken); held++; taken = false; ended++ }
}

proctype has_deadline(byte me) {
  LOCALS;
  timed = true;
  acquire();
  timed = false;
  if
  :: taken -> taken = false; release()
  :: else
  fi;
  ended++
}

proctype releaser() {
  LOCALS;
  byte me = THREADS;
  atomic { given++ };
  release();
  ended++
}

init {
  atomic {
    run acquirer(0);
    run acquirer(1);
    run has_deadline(2);
    run releaser()
  }
  (ended == THREADS + 1);
  assert(word == 0 && held == 1 + given)
}

ltl all_end { <> (ended == THREADS + 1) }
